"""Inference of mixtures: maximises the lower bound with exact expectations of cosines."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.optimize import nnls

from bochner._base.arrays import Array, as_count, as_scale
from bochner._base.descent import MANY_CORRECTIONS, minimised
from bochner._base.registry import register
from bochner.learned.mixture_bound import N_LATENT, Bound, ComponentPrior, Factor, Objective
from bochner.learned.mixture_inference import (
    Inference,
    LearnedMixture,
    LearnedPart,
    PairSimilarities,
    Sketch,
    observed,
    spread_rows,
)
from bochner.spectral.measure import ByMass

# Candidate frequencies of each sign. The time and memory of their waves are proportional to it;
# half leaves gaps between the frequencies twice as wide on a line.
_N_CANDIDATES = 200
# Pairs of rows to which candidates are fitted: ten per frequency, five for each sign. The
# cost of an iteration is this number times the square of the active candidates.
_MOST_PAIRS = 2_000
# Penalty on the sum of the candidates' weights per root of the number of pairs: a wave is used
# only if it lowers the root mean square residual by the order of a hundredth of its weight.
_PENALTY = 0.01
# Range of candidate frequencies' lengths, in inverse typical distances: from a wave that is
# constant over the data (period 126) to one of period 0.63.
_LENGTHS = (0.05, 10.0)
# Largest number of clustering steps; the clusters are only a start for the ascent.
_CLUSTER_STEPS = 10
# Spread of random component means, relative to the component's width. Components then differ
# from the first step on; at zero, components of one width would stay equal.
_MEAN_SPREAD = 0.2
# Width added to the width of a cluster of frequencies, which may be a single point.
_LEAST_WIDTH = 0.2
# Initial weight of a component without frequencies: above zero, so that it can grow.
_START_WEIGHT = 1e-3
# Ratio of the widest and the middle component's width (and of the middle to the narrowest).
_WIDTH_RATIO = 3.0
# Widths tried for a single Gaussian, in steps of 12 %, in inverse typical distances.
_WIDTHS = np.geomspace(0.01, 10.0, 61)

Start = Callable[[Generator, PairSimilarities, Array, int], tuple[Factor, ...]]


def random_starts(
    rng: Generator, data: PairSimilarities, signs: Array, n_starts: int, truncation: int
) -> list[tuple[Factor, ...]]:
    """Return ``n_starts`` starts: near a Gaussian, from single frequencies, then at random."""
    kinds: list[Start] = [from_width, from_atoms, *[from_scales] * n_starts]
    return [start(rng, data, signs, truncation) for start in kinds[:n_starts]]


def from_width(
    rng: Generator, data: PairSimilarities, signs: Array, truncation: int
) -> tuple[Factor, ...]:
    """Return factors close to the single Gaussian kernel that fits the similarities best."""
    square = np.sum(data.deltas**2, axis=1)
    waves = np.exp(-0.5 * np.multiply.outer(square, _WIDTHS**2))
    products = (signs[0] * data.counts * data.values) @ waves
    gains = np.maximum(products, 0.0) ** 2 / (data.counts @ waves**2)
    width = float(_WIDTHS[int(np.argmax(gains))])
    first = _isotropic(rng, data.deltas.shape[1], truncation, width)
    order = np.argsort(np.arange(truncation) != truncation // 2, kind="stable")
    weights = np.append(1.0, np.full(truncation - 1, _START_WEIGHT))
    first = Factor(
        weights / weights.sum(), first.means[order], first.roots[order], first.log_scales[order]
    )
    return (first, *from_scales(rng, data, signs[1:], truncation))


def from_atoms(
    rng: Generator, data: PairSimilarities, signs: Array, truncation: int
) -> tuple[Factor, ...]:
    """Return factors around clusters of single frequencies that explain the similarities.

    Candidate frequencies of random directions and lengths get weights of both signs by least
    squares with a penalty on the sum of weights, so that few weights are nonzero. This is an
    approximate decomposition of the measure into its positive and its negative part.
    """
    dim = data.deltas.shape[1]
    chosen = rng.permutation(len(data.values))[:_MOST_PAIRS]
    directions = rng.standard_normal((_N_CANDIDATES, dim))
    low, high = np.log(_LENGTHS)
    log_lengths = rng.uniform(low, high, (_N_CANDIDATES, 1))
    omega: Array = directions * np.exp(log_lengths)
    # The constant, which kernels without decay need.
    omega[0] = 0.0
    waves = np.cos(data.deltas[chosen] @ omega.T)
    design = np.concatenate([sign * waves for sign in signs], axis=1)
    penalty = np.full((1, design.shape[1]), _PENALTY * np.sqrt(len(chosen)))
    target = np.append(data.values[chosen], 0.0)
    weights = nnls(np.concatenate((design, penalty)), target, maxiter=30 * design.shape[1])[0]
    shares = np.split(weights, len(signs))
    return tuple(_around_clusters(rng, omega, share, truncation) for share in shares)


def from_scales(
    rng: Generator, data: PairSimilarities, signs: Array, truncation: int
) -> tuple[Factor, ...]:
    """Return factors, one per sign, of isotropic components of widths around a random width."""
    return tuple(_isotropic(rng, data.deltas.shape[1], truncation) for _ in signs)


def _isotropic(rng: Generator, dim: int, truncation: int, middle: float | None = None) -> Factor:
    """Return a factor of isotropic components with a range of widths around ``middle``."""
    middle = np.exp(rng.uniform(-1.0, 1.0)) if middle is None else middle
    steps = np.arange(truncation) - truncation // 2
    width = middle * _WIDTH_RATIO ** (steps / max(truncation // 2, 1))
    return Factor(
        np.full(truncation, 1.0 / truncation),
        _MEAN_SPREAD * width[:, None] * rng.standard_normal((truncation, dim)),
        width[:, None, None] * np.eye(dim),
        2.0 * np.log(width),
    )


def _around_clusters(rng: Generator, omega: Array, weight: Array, truncation: int) -> Factor:
    """Return a factor with a component for each cluster of weighted frequencies (m, d)."""
    used = np.flatnonzero(weight > 0.0)
    factor = _isotropic(rng, omega.shape[1], truncation)
    if not len(used):
        return factor
    labels, omega = _clusters(omega[used], weight[used], truncation)
    weight = weight[used]
    weights = np.full(truncation, _START_WEIGHT)
    means, roots, log_scales = factor.means, factor.roots, factor.log_scales
    for k in range(int(labels.max()) + 1):
        in_cluster = labels == k
        share = weight[in_cluster] / weight[in_cluster].sum()
        means[k] = share @ omega[in_cluster]
        centred = omega[in_cluster] - means[k]
        covariance = (centred.T * share) @ centred + _LEAST_WIDTH**2 * np.eye(len(means[k]))
        roots[k] = np.linalg.cholesky(covariance)
        log_scales[k] = np.log(np.trace(covariance) / len(covariance))
        weights[k] += weight[in_cluster].sum() / weight.sum()
    return Factor(weights / weights.sum(), means, roots, log_scales).ordered()


def _clusters(omega: Array, weight: Array, most: int) -> tuple[Array, Array]:
    """Return cluster labels (m,), and the frequencies, negated if that is closer to the centre."""
    centres = omega[np.argsort(-weight)[:most]]
    for _ in range(_CLUSTER_STEPS):
        square = np.sum(omega**2, axis=1)[:, None] + np.sum(centres**2, axis=1)
        product = omega @ centres.T
        labels = np.argmin(square - 2.0 * np.abs(product), axis=1)
        sign = np.where(product[np.arange(len(omega)), labels] < 0.0, -1.0, 1.0)
        turned = omega * sign[:, None]
        used = np.unique(labels)
        labels = np.searchsorted(used, labels)
        groups = [labels == k for k in range(len(used))]
        centres = np.array([np.average(turned[g], axis=0, weights=weight[g]) for g in groups])
    return labels, turned


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
class ExactInference(Inference):
    """Inference by the maximum of a lower bound with exact expectations, for both signs jointly.

    It splits the spectral measure and not the matrix of similarities: the positive and the negative
    part of an eigendecomposition are not stationary even if the kernel is.

    Parameters
    ----------
    concentration : float, default=1.0
        Concentration of the Dirichlet processes: larger means more components.
    max_iter : int, default=200
        Number of quasi-Newton steps.
    tol : float, default=1e-5
        Relative gain of the bound at which the ascent stops.
    n_starts : int, default=3
        Number of starting points with one sign, and again with both signs.
    """

    concentration: float = 1.0
    max_iter: int = 200
    tol: float = 1e-5
    n_starts: int = 3

    scheme: ClassVar[str] = "orthogonal"
    learns_noise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        as_scale("concentration", self.concentration)
        as_scale("tol", self.tol)
        as_count("max_iter", self.max_iter)
        as_count("n_starts", self.n_starts)

    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        return spread_rows(rows, n, rng)

    def infer(
        self,
        sketch: Sketch,
        truncation: int,
        noise: float | None,
        n_frequencies: int,
        rng: Generator,
    ) -> LearnedMixture:
        data = observed(sketch, rng)
        signs = (1.0, -1.0) if float(np.trace(sketch.gram)) >= 0.0 else (-1.0, 1.0)
        ascent, bound = best_ascent(data, signs, self, truncation, noise, rng)
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
        learned_noise = data.unit * bound.noise
        records = ascent.history[1:], ascent.changes, learned_noise
        return LearnedMixture(tuple(parts), *records, ByMass())


def _part_of_factor(
    sign: float, mass: float, factor: Factor, data: PairSimilarities, distance: float
) -> LearnedPart:
    """Return a factor as a learned part in input units, isotropic outside the sketch's span."""
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
    """A maximisation of the lower bound: the factors that it ends with, and its record."""

    objective: Objective
    factors: tuple[Factor, ...]
    history: Array  # (n_iter + 1,): Bound at the start and after each iteration; it never falls
    changes: Array  # (n_iter,): Frobenius norms of the change of label probabilities


def best_ascent(
    data: PairSimilarities,
    signs: tuple[float, ...],
    settings: ExactInference,
    truncation: int,
    noise: float | None,
    rng: Generator,
) -> tuple[Ascent, Bound]:
    """Return the best of several ascents of the lower bound, and the bound at its end.

    Ascents with the prevailing sign, the first of ``signs``, are compared with ascents with both
    signs by the bound, which penalises components. All starts run some iterations, and the best one
    continues.
    """
    prior = ComponentPrior(data.deltas.shape[1])
    one_sign, both_signs = (
        Objective(data, np.array(objective_signs), prior, settings.concentration, noise)
        for objective_signs in (signs[:1], signs)
    )
    # All starts are compared after a few iterations, and only the best one is completed.
    trial = min(_TRIAL, settings.max_iter)
    sizes = settings.n_starts, truncation
    ascents = [
        _climbed(one_sign, start, trial, settings.tol)
        for start in random_starts(rng, data, one_sign.signs, *sizes)
    ]
    best = max(ascents, key=lambda ascent: ascent.history[-1])
    starts = random_starts(rng, data, both_signs.signs, *sizes)
    second = from_scales(rng, data, both_signs.signs[1:], truncation)
    starts.append((*best.factors, *second))
    ascents += [_climbed(both_signs, start, trial, settings.tol) for start in starts]
    best = max(ascents, key=lambda ascent: ascent.history[-1])
    if len(best.history) > trial and trial < settings.max_iter:
        more = _climbed(best.objective, best.factors, settings.max_iter - trial, settings.tol)
        history = np.append(best.history, more.history[1:])
        best = Ascent(best.objective, more.factors, history, np.append(best.changes, more.changes))
    return best, best.objective.bound(best.factors)


def _climbed(objective: Objective, start: tuple[Factor, ...], max_iter: int, tol: float) -> Ascent:
    """Return the ascent of the lower bound by L-BFGS from one start."""
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
    """Return how many coordinates are log weights, means, entries of roots and log scales."""
    return truncation * np.array((1, dim, dim * (dim + 1) // 2, 1))


def _coordinates(first: Array, factor: Factor) -> Array:
    """Return a factor, or a gradient, as a vector that has ``first`` in place of the weights."""
    lower = factor.roots[:, *np.tril_indices(factor.means.shape[1])]
    return np.concatenate((first, factor.means.ravel(), lower.ravel(), factor.log_scales))


def _factor_at(x: Array, truncation: int, dim: int) -> Factor:
    """Return the factor with the coordinates ``x``: log weights, means, roots and log scales."""
    ends = np.cumsum(_sizes(truncation, dim))
    logarithms, means, entries, log_scales = np.split(x, ends[:-1])
    # Softmax: logarithms of weights are defined up to a constant.
    weights = np.exp(logarithms - logarithms.max())
    roots = np.zeros((truncation, dim, dim))
    roots[:, *np.tril_indices(dim)] = entries.reshape(truncation, -1)
    return Factor(weights / weights.sum(), means.reshape(truncation, dim), roots, log_scales)
