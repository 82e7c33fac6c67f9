"""Starting points for the maximisation of the bound, in units of the typical distance."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.optimize import nnls

from bochner._base.arrays import Array
from bochner.learned.mixture_bound import Factor
from bochner.learned.similarity_sketch import PairSimilarities

# Candidate frequencies of each sign. The time and memory of their waves are proportional to it;
# half leaves gaps between the frequencies twice as wide on a line.
_N_CANDIDATES = 200
# Pairs of rows that candidates are fitted to: ten for each, five for each of its two signs. The
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
_LEAST_WEIGHT = 1e-3
# Ratio of the widest and the middle component's width (and of the middle to the narrowest).
_WIDTH_RATIO = 3.0
# Widths tried for a single Gaussian, in steps of 12 %, in inverse typical distances.
_WIDTHS = np.geomspace(0.01, 10.0, 61)

Start = Callable[[Generator, PairSimilarities, Array, int], tuple[Factor, ...]]


def random_starts(
    rng: Generator, data: PairSimilarities, signs: Array, n_starts: int, truncation: int
) -> list[tuple[Factor, ...]]:
    """Return starts: one near a Gaussian, one from single frequencies, all others at random."""
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
    weights = np.append(1.0, np.full(truncation - 1, _LEAST_WEIGHT))
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
    """Return factors of isotropic components with a range of widths around a random width."""
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
    """Return a factor around clusters of weighted frequencies (m, d) of arbitrary signs."""
    used = np.flatnonzero(weight > 0.0)
    factor = _isotropic(rng, omega.shape[1], truncation)
    if not len(used):
        return factor
    labels, omega = _clusters(omega[used], weight[used], truncation)
    weight = weight[used]
    weights = np.full(truncation, _LEAST_WEIGHT)
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
    """Return labels (m,), and the frequencies with the sign that is closer to their centre."""
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
