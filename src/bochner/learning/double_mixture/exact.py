"""Inference by maximising the bound with the exact expectations of cosines."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture.bound import N_LATENT, Bound, Factor, Objective
from bochner.learning.double_mixture.evidence import ComponentPrior
from bochner.learning.double_mixture.learned_mixture import (
    Expectation,
    LearnedMixture,
    LearnedPart,
    MixtureSettings,
)
from bochner.learning.double_mixture.sketch import Observed, Sketch, observed, spread_rows
from bochner.learning.double_mixture.starts import from_scales, random_starts
from bochner.registry import register
from bochner.spectral import ByMass

# Iterations of every start before the best one continues: each start costs 15 / 200 of a full
# ascent. More compare starts more reliably, fewer take less time.
_TRIAL = 15

# Corrections that L-BFGS keeps, twice SciPy's default: memory is proportional to it.
_MEMORY = 20

# Bounds of the coordinates (log weights, means, roots, log scales), in units of the typical
# distance. They exclude overflow only: exp(50) and 1e3 are far outside of every prior.
_LIMITS = (50.0, 1e3, 1e3, 12.0)

# Value of the negated bound where it overflows: the line search steps back from there.
_OVERFLOW = 1e100

# Smallest component weight that has a logarithm in the coordinates; exp(-46).
_LEAST_LOGARITHM = 1e-20

# Components with less than a ten-thousandth of the frequencies are dropped from the kernel.
_LEAST_WEIGHT = 1e-4

# Mass, in units of the self-similarity, of a kernel when no function of differences fits at all:
# a measure must have some mass.
_LEAST_MASS = 1e-9


@register
@dataclass(frozen=True, slots=True)
class Exact(Expectation):
    """The bound with exact expectations, both signs together, maximised.

    It does not use the eigen-split, whose parts are not functions of the difference of rows even
    where the kernel is. It splits the measure itself, at the maximum of the bound.
    """

    scheme = "orthogonal"
    max_iter = 200
    learns_noise = True

    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        return spread_rows(rows, n, rng)

    def infer(
        self, sketch: Sketch, settings: MixtureSettings, n_frequencies: int, rng: Generator
    ) -> LearnedMixture:
        data = observed(sketch, rng)
        signs = (1.0, -1.0) if float(np.trace(sketch.gram)) >= 0.0 else (-1.0, 1.0)
        ascent, bound = best_ascent(data, signs, settings, rng)
        masses = bound.masses.copy()
        if not masses.any():
            masses[0] = _LEAST_MASS
        found = zip(ascent.objective.signs.tolist(), masses, ascent.factors, strict=True)
        parts = [
            _part_of_factor(sign, data.unit * float(mass), factor, data, sketch.distance)
            for sign, mass, factor in found
            if mass > 0.0
        ]
        return LearnedMixture(
            parts=tuple(sorted(parts, key=lambda part: -part.sign)),
            bounds=ascent.history[1:],
            changes=ascent.changes,
            noise=data.unit * bound.noise,
            allocation=ByMass(),
        )


def _part_of_factor(
    sign: float, mass: float, factor: Factor, data: Observed, distance: float
) -> LearnedPart:
    """Return a part in the units of the inputs, isotropic outside of the span of the sketch."""
    factor = factor.ordered()
    labels = np.eye(len(factor.weights))
    kept = factor.weights >= _LEAST_WEIGHT
    basis = data.basis
    complement = np.eye(len(basis)) - basis @ basis.T
    inside = basis @ factor.covariances[kept] @ basis.T
    outside = np.exp(factor.log_scales[kept])[:, None, None] * complement
    return LearnedPart(
        sign,
        mass,
        factor.weights[kept] / factor.weights[kept].sum(),
        factor.means[kept] @ basis.T / distance,
        (inside + outside) / distance**2,
        labels[kept],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Ascent:
    """A maximisation of the bound: its result and its record.

    ``history`` (n_iter + 1,) is the bound at the start and after each iteration, which never falls;
    ``changes`` (n_iter,) are Frobenius norms of the change of label probabilities.
    """

    objective: Objective
    factors: tuple[Factor, ...]
    history: Array
    changes: Array

    @property
    def height(self) -> float:
        """The bound at the end."""
        return float(self.history[-1])

    def then(self, other: "Ascent") -> "Ascent":
        """Return this ascent continued by one that started where this one ended."""
        return Ascent(
            other.objective,
            other.factors,
            np.append(self.history, other.history[1:]),
            np.append(self.changes, other.changes),
        )


def best_ascent(
    data: Observed, signs: tuple[float, ...], settings: MixtureSettings, rng: Generator
) -> tuple[Ascent, Bound]:
    """Return the best of several ascents of the bound, and the bound at its end.

    ``signs`` are the prevailing sign and the other. The prevailing one is tried alone first, then
    both: the bound, which charges for every component, decides whether the other is needed. All
    starts run some iterations, and the best one continues.
    """
    prior = ComponentPrior(data.deltas.shape[1])
    one, both = (
        Objective(data, np.array(some), prior, settings.concentration, settings.noise)
        for some in (signs[:1], signs)
    )
    trial = min(_TRIAL, settings.max_iter)
    sizes = settings.n_starts, settings.truncation
    ascents = [
        _climbed(one, start, trial, settings.tol)
        for start in random_starts(rng, data, one.signs, *sizes)
    ]
    best = max(ascents, key=lambda ascent: ascent.height)
    starts = random_starts(rng, data, both.signs, *sizes)
    starts.append((*best.factors, *from_scales(rng, data, both.signs[1:], settings.truncation)))
    ascents += [_climbed(both, start, trial, settings.tol) for start in starts]
    best = max(ascents, key=lambda ascent: ascent.height)
    if len(best.history) > trial and trial < settings.max_iter:
        left = settings.max_iter - trial
        best = best.then(_climbed(best.objective, best.factors, left, settings.tol))
    return best, best.objective.bound(best.factors)


def _climbed(objective: Objective, start: tuple[Factor, ...], max_iter: int, tol: float) -> Ascent:
    """Return the ascent by L-BFGS from one start."""
    coordinates = Coordinates(len(start), *start[0].means.shape)

    def negated(x: Array) -> tuple[float, Array]:
        factors = coordinates.factors(x)
        with np.errstate(over="ignore", invalid="ignore"):
            found = objective.bound(factors)
            gradient = coordinates.gradient(factors, found.gradients)
        if not (np.isfinite(found.value) and np.isfinite(gradient).all()):
            return _OVERFLOW, np.zeros_like(x)
        return -found.value, -gradient

    limits = coordinates.limits
    x = np.clip(coordinates.flatten(start), -limits, limits)
    visited, history = [x], [-negated(x)[0]]

    def record(intermediate_result: OptimizeResult) -> None:
        visited.append(intermediate_result.x.copy())
        history.append(-float(intermediate_result.fun))

    found = minimize(  # type: ignore[call-overload]
        negated,
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack((-limits, limits)),
        callback=record,
        options={"maxiter": max_iter, "maxcor": _MEMORY, "ftol": tol, "gtol": 0.0},
    )
    weights = np.array([[factor.weights for factor in coordinates.factors(x)] for x in visited])
    changes = np.sqrt(N_LATENT * np.sum(np.diff(weights, axis=0) ** 2, axis=(1, 2)))
    return Ascent(objective, coordinates.factors(found.x), np.array(history), changes)


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Unconstrained coordinates of factors that all have ``truncation`` components."""

    n_factors: int
    truncation: int
    dim: int

    @property
    def limits(self) -> Array:
        """Bound of the size of each coordinate."""
        return np.tile(np.repeat(_LIMITS, self._sizes), self.n_factors)

    def flatten(self, factors: tuple[Factor, ...]) -> Array:
        """Return the coordinates of factors, with logarithms for weights."""
        logarithms = [np.log(np.maximum(f.weights, _LEAST_LOGARITHM)) for f in factors]
        return self._joined(logarithms, factors)

    def gradient(self, factors: tuple[Factor, ...], gradients: tuple[Factor, ...]) -> Array:
        """Return the gradient by coordinates from those by the factors' fields."""
        by_logarithms = [
            factor.weights * (by.weights - factor.weights @ by.weights)
            for factor, by in zip(factors, gradients, strict=True)
        ]
        return self._joined(by_logarithms, gradients)

    def factors(self, x: Array) -> tuple[Factor, ...]:
        """Return the factors at coordinates."""
        return tuple(map(self._factor, np.split(x, self.n_factors)))

    @property
    def _sizes(self) -> tuple[int, ...]:
        lower = self.dim * (self.dim + 1) // 2
        return tuple(self.truncation * size for size in (1, self.dim, lower, 1))

    def _factor(self, x: Array) -> Factor:
        logarithms, means, entries, log_scales = np.split(x, np.cumsum(self._sizes[:-1]))
        weights = np.exp(logarithms - logarithms.max())
        roots = np.zeros((self.truncation, self.dim, self.dim))
        roots[:, *np.tril_indices(self.dim)] = entries.reshape(self.truncation, -1)
        means = means.reshape(self.truncation, self.dim)
        return Factor(weights / weights.sum(), means, roots, log_scales)

    def _joined(self, first: list[Array], factors: tuple[Factor, ...]) -> Array:
        lower = np.tril_indices(self.dim)
        pieces = [
            piece.ravel()
            for head, factor in zip(first, factors, strict=True)
            for piece in (head, factor.means, factor.roots[:, *lower], factor.log_scales)
        ]
        return np.concatenate(pieces)
