"""Inference by maximising the bound with the exact expectations of cosines."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.descent import MANY_CORRECTIONS, minimised
from bochner._base.registry import register
from bochner.learned.component_evidence import ComponentPrior
from bochner.learned.learned_mixture import (
    Expectation,
    LearnedMixture,
    LearnedPart,
    MixtureSettings,
)
from bochner.learned.mixture_bound import N_LATENT, Bound, Factor, Objective
from bochner.learned.mixture_starts import from_scales, random_starts
from bochner.learned.similarity_sketch import PairSimilarities, Sketch, observed, spread_rows
from bochner.spectral import ByMass

# Iterations of every start before the best start continues: each start costs 15 / 200 of a full
# ascent. More iterations would compare starts more reliably but take more time.
_TRIAL = 15
# Bounds of the coordinates (log weights, means, roots, log scales), in units of the typical
# distance. They exclude overflow only: exp(50) and 1e3 are far outside of every prior.
_LIMITS = (50.0, 1e3, 1e3, 12.0)
# Value of the negated bound if it overflows: the line search steps back from such points.
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
    """The maximum of the bound with exact expectations, both signs together.

    It splits the spectral measure and not the matrix of similarities: the positive and the negative
    part of an eigendecomposition are not stationary even if the kernel is.
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
        factors = zip(ascent.objective.signs.tolist(), masses, ascent.factors, strict=True)
        parts = [
            _part_of_factor(sign, data.unit * float(mass), factor, data, sketch.distance)
            for sign, mass, factor in factors
            if mass > 0.0
        ]
        parts.sort(key=lambda part: -part.sign)
        noise = data.unit * bound.noise
        return LearnedMixture(tuple(parts), ascent.history[1:], ascent.changes, noise, ByMass())


def _part_of_factor(
    sign: float, mass: float, factor: Factor, data: PairSimilarities, distance: float
) -> LearnedPart:
    """Return a part in the units of the inputs, isotropic outside of the span of the sketch."""
    factor = factor.ordered()
    labels = np.eye(len(factor.weights))
    is_used = factor.weights >= _LEAST_WEIGHT
    basis = data.basis
    complement = np.eye(len(basis)) - basis @ basis.T
    inside = basis @ factor.covariances[is_used] @ basis.T
    outside = np.exp(factor.log_scales[is_used])[:, None, None] * complement
    return LearnedPart(
        sign,
        mass,
        factor.weights[is_used] / factor.weights[is_used].sum(),
        factor.means[is_used] @ basis.T / distance,
        (inside + outside) / distance**2,
        labels[is_used],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Ascent:
    """A maximisation of the bound: its result and its record."""

    objective: Objective
    factors: tuple[Factor, ...]
    history: Array  # (n_iter + 1,): Bound at the start and after each iteration; it never falls
    changes: Array  # (n_iter,): Frobenius norms of the change of label probabilities


def best_ascent(
    data: PairSimilarities, signs: tuple[float, ...], settings: MixtureSettings, rng: Generator
) -> tuple[Ascent, Bound]:
    """Return the best of several ascents of the bound, and the bound at its end.

    Ascents with the prevailing sign, the first of ``signs``, are compared with ascents with both
    signs by the bound, which penalises components. All starts run some iterations, and the best one
    continues.
    """
    prior = ComponentPrior(data.deltas.shape[1])
    one_sign, both_signs = (
        Objective(data, np.array(objective_signs), prior, settings.concentration, settings.noise)
        for objective_signs in (signs[:1], signs)
    )
    # All starts are compared after a few iterations, and only the best one is completed.
    trial = min(_TRIAL, settings.max_iter)
    sizes = settings.n_starts, settings.truncation
    ascents = [
        _climbed(one_sign, start, trial, settings.tol)
        for start in random_starts(rng, data, one_sign.signs, *sizes)
    ]
    best = max(ascents, key=lambda ascent: ascent.history[-1])
    starts = random_starts(rng, data, both_signs.signs, *sizes)
    second = from_scales(rng, data, both_signs.signs[1:], settings.truncation)
    starts.append((*best.factors, *second))
    ascents += [_climbed(both_signs, start, trial, settings.tol) for start in starts]
    best = max(ascents, key=lambda ascent: ascent.history[-1])
    if len(best.history) > trial and trial < settings.max_iter:
        more = _climbed(best.objective, best.factors, settings.max_iter - trial, settings.tol)
        history = np.append(best.history, more.history[1:])
        best = Ascent(best.objective, more.factors, history, np.append(best.changes, more.changes))
    return best, best.objective.bound(best.factors)


def _climbed(objective: Objective, start: tuple[Factor, ...], max_iter: int, tol: float) -> Ascent:
    """Return the ascent by L-BFGS from one start."""
    shape = start[0].means.shape

    def factors_at(x: Array) -> tuple[Factor, ...]:
        return tuple(_factor_at(part, *shape) for part in np.split(x, len(start)))

    def negated(x: Array) -> tuple[float, Array]:
        factors = factors_at(x)
        with np.errstate(over="ignore", invalid="ignore"):
            bound = objective.bound(factors)
            pairs = zip((factor.weights for factor in factors), bound.gradients, strict=True)
            # By the chain rule of the softmax, from which weights r are computed
            parts = [_coordinates(r * (by.weights - r @ by.weights), by) for r, by in pairs]
            gradient = np.concatenate(parts)
        if not (np.isfinite(bound.value) and np.isfinite(gradient).all()):
            return _OVERFLOW, np.zeros_like(x)
        return -bound.value, -gradient

    def record(point: Array, loss: float) -> None:
        visited.append(point)
        history.append(-loss)

    limits = np.tile(np.repeat(_LIMITS, _sizes(*shape)), len(start))
    logarithms = [np.log(np.maximum(factor.weights, _LEAST_LOGARITHM)) for factor in start]
    x = np.concatenate([_coordinates(*pair) for pair in zip(logarithms, start, strict=True)])
    x = np.clip(x, -limits, limits)
    visited, history = [x], [-negated(x)[0]]
    end = minimised(
        negated,
        x,
        n_steps=max_iter,
        bounds=np.column_stack((-limits, limits)),
        decrease=tol,
        slope=0.0,
        n_corrections=MANY_CORRECTIONS,
        visit=record,
    )
    weights = np.array([[factor.weights for factor in factors_at(x)] for x in visited])
    changes = np.sqrt(N_LATENT * np.sum(np.diff(weights, axis=0) ** 2, axis=(1, 2)))
    return Ascent(objective, factors_at(end.point), np.array(history), changes)


def _sizes(truncation: int, dim: int) -> NDArray[np.intp]:
    """Return the numbers of coordinates: log weights, means, entries of roots, log scales."""
    return truncation * np.array((1, dim, dim * (dim + 1) // 2, 1))


def _coordinates(first: Array, factor: Factor) -> Array:
    """Return coordinates of a factor, or of gradients, with ``first`` in place of the weights."""
    lower = factor.roots[:, *np.tril_indices(factor.means.shape[1])]
    return np.concatenate((first, factor.means.ravel(), lower.ravel(), factor.log_scales))


def _factor_at(x: Array, truncation: int, dim: int) -> Factor:
    """Return the factor with the coordinates ``x``, the inverse of :func:`_coordinates`."""
    ends = np.cumsum(_sizes(truncation, dim))
    logarithms, means, entries, log_scales = np.split(x, ends[:-1])
    # Softmax: logarithms of weights are defined up to a constant.
    weights = np.exp(logarithms - logarithms.max())
    roots = np.zeros((truncation, dim, dim))
    roots[:, *np.tril_indices(dim)] = entries.reshape(truncation, -1)
    return Factor(weights / weights.sum(), means.reshape(truncation, dim), roots, log_scales)
