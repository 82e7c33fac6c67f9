"""The bound of :mod:`bochner.learning.double_mixture.bound`, maximised."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture.bound import N_LATENT, Bound, Factor, Objective
from bochner.learning.double_mixture.evidence import ComponentPrior
from bochner.learning.double_mixture.observed import Observed
from bochner.learning.double_mixture.setting import Setting
from bochner.learning.double_mixture.starts import from_scales, random_starts

_TRIAL = 15
_MEMORY = 20
_LIMITS = (50.0, 1e3, 1e3, 12.0)
_NOWHERE = 1e100


@dataclass(frozen=True, slots=True, eq=False)
class Ascent:
    """A maximisation of the bound: where it is, and how it came there.

    Attributes
    ----------
    objective : Objective
    factors : tuple of Factor
    history : ndarray of shape (n_iter + 1,)
        The bound at the start and after every iteration, which never falls.
    changes : ndarray of shape (n_iter,)
        Frobenius norm of the change of the labels' probabilities in every iteration.
    """

    objective: Objective
    factors: tuple[Factor, ...]
    history: Array
    changes: Array

    def then(self, other: "Ascent") -> "Ascent":
        """Return the ascent that goes on as another that began where this one ended."""
        return Ascent(
            other.objective,
            other.factors,
            np.append(self.history, other.history[1:]),
            np.append(self.changes, other.changes),
        )


class Chart:
    """Unconstrained coordinates of factors of one shape."""

    def __init__(self, n_factors: int, truncation: int, dim: int) -> None:
        self.lower = np.tril_indices(dim)
        n_lower = len(self.lower[0])
        self.shapes = ((truncation,), (truncation, dim), (truncation, n_lower), (truncation,))
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        self.ends = np.cumsum(sizes)
        self.n_factors, self.size, self.dim = n_factors, int(sum(sizes)), dim
        limits = np.repeat(_LIMITS, sizes)
        self.limits = np.tile(limits, n_factors)

    def flatten(self, factors: tuple[Factor, ...]) -> Array:
        """Return coordinates of factors: logarithms for weights."""
        logarithms = [np.log(np.maximum(factor.weights, 1e-20)) for factor in factors]
        return self._joined(logarithms, factors)

    def factors(self, x: Array) -> tuple[Factor, ...]:
        """Return the factors at coordinates."""
        return tuple(map(self._factor, np.split(x, self.n_factors)))

    def gradient(self, factors: tuple[Factor, ...], gradients: tuple[Factor, ...]) -> Array:
        """Return the gradient by coordinates from those by the factors' parts."""
        by_logarithms = [
            factor.weights * (by.weights - factor.weights @ by.weights)
            for factor, by in zip(factors, gradients, strict=True)
        ]
        return self._joined(by_logarithms, gradients)

    def _factor(self, x: Array) -> Factor:
        parts = np.split(x, self.ends[:-1])
        logarithms, means, entries, log_scales = (
            part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)
        )
        weights = np.exp(logarithms - logarithms.max())
        roots = np.zeros((len(means), self.dim, self.dim))
        roots[:, self.lower[0], self.lower[1]] = entries
        return Factor(weights / weights.sum(), means, roots, log_scales)

    def _joined(self, first: list[Array], factors: tuple[Factor, ...]) -> Array:
        pieces = [
            piece.ravel()
            for head, factor in zip(first, factors, strict=True)
            for piece in (
                head,
                factor.means,
                factor.roots[:, self.lower[0], self.lower[1]],
                factor.log_scales,
            )
        ]
        return np.concatenate(pieces)


def infer(
    data: Observed,
    signs: tuple[float, ...],
    setting: Setting,
    rng: Generator,
) -> tuple[Ascent, Bound]:
    """Return the best of some ascents of the bound.

    First with the sign that prevails alone, then with both: the bound itself, which pays for
    every component, decides whether the other sign is needed. All starts get some iterations,
    and the best of them the rest.

    Parameters
    ----------
    data : Observed
    signs : tuple of float
        The sign that prevails, and the other.
    setting : Setting
    rng : numpy.random.Generator
    """
    prior = ComponentPrior(data.deltas.shape[1])
    one, both = (
        Objective(data, np.array(some), prior, setting.concentration, setting.noise)
        for some in (signs[:1], signs)
    )
    trial = min(_TRIAL, setting.max_iter)
    ascents = [
        _climbed(one, start, trial, setting.tol)
        for start in random_starts(rng, data, one.signs, setting)
    ]
    best = max(ascents, key=_height)
    starts = random_starts(rng, data, both.signs, setting)
    starts.append((*best.factors, *from_scales(rng, data, both.signs[1:], setting.truncation)))
    ascents += [_climbed(both, start, trial, setting.tol) for start in starts]
    best = max(ascents, key=_height)
    if len(best.history) > trial and trial < setting.max_iter:
        left = setting.max_iter - trial
        best = best.then(_climbed(best.objective, best.factors, left, setting.tol))
    return best, best.objective.bound(best.factors)


def _height(ascent: Ascent) -> float:
    return float(ascent.history[-1])


def _climbed(objective: Objective, start: tuple[Factor, ...], max_iter: int, tol: float) -> Ascent:
    chart = Chart(len(start), *start[0].means.shape)

    def negated(x: Array) -> tuple[float, Array]:
        factors = chart.factors(x)
        with np.errstate(over="ignore", invalid="ignore"):
            found = objective.bound(factors)
            gradient = chart.gradient(factors, found.gradients)
        if not (np.isfinite(found.value) and np.isfinite(gradient).all()):
            return _NOWHERE, np.zeros_like(x)
        return -found.value, -gradient

    x = np.clip(chart.flatten(start), -chart.limits, chart.limits)
    visited = [x]
    history = [-negated(x)[0]]

    def record(intermediate_result: Any) -> None:
        visited.append(intermediate_result.x.copy())
        history.append(-float(intermediate_result.fun))

    found = minimize(  # type: ignore[call-overload]
        negated,
        x,
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack((-chart.limits, chart.limits)),
        callback=record,
        options={"maxiter": max_iter, "maxcor": _MEMORY, "ftol": tol, "gtol": 0.0},
    )
    weights = np.array([[factor.weights for factor in chart.factors(x)] for x in visited])
    changes = np.sqrt(N_LATENT * np.sum(np.diff(weights, axis=0) ** 2, axis=(1, 2)))
    return Ascent(objective, chart.factors(found.x), np.array(history), changes)
