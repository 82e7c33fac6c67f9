"""Where the maximisation of the bound starts."""

from itertools import starmap

import numpy as np
from numpy.random import Generator
from scipy.optimize import nnls

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture.bound import Factor
from bochner.learning.double_mixture.observed import Observed
from bochner.learning.double_mixture.setting import Setting

_CANDIDATES = 200
_PAIRS = 2_000
_PENALTY = 0.01
_LENGTHS = (0.05, 10.0)
_ROUNDS = 10
_WIDTH = 0.2
_LEAST_WEIGHT = 1e-3
_RANGE = 3.0
_WIDTHS = np.geomspace(0.01, 10.0, 61)


def random_starts(
    rng: Generator, data: Observed, signs: Array, setting: Setting
) -> list[tuple[Factor, ...]]:
    """Return as many starts as the setting says, each of a kind of its own but for the last."""
    makers = (from_width, from_atoms, *[from_scales] * setting.n_starts)[: setting.n_starts]
    return [make(rng, data, signs, setting.truncation) for make in makers]


def from_width(rng: Generator, data: Observed, signs: Array, truncation: int) -> tuple[Factor, ...]:
    """Return factors that are nearly the one Gaussian kernel nearest to the similarities."""
    square = np.sum(data.deltas**2, axis=1)
    waves = np.exp(-0.5 * np.multiply.outer(square, _WIDTHS**2))
    products = (signs[0] * data.counts * data.values) @ waves
    gains = np.maximum(products, 0.0) ** 2 / (data.counts @ waves**2)
    width = float(_WIDTHS[int(np.argmax(gains))])
    dim = data.deltas.shape[1]
    first = _round(rng, dim, truncation, width)
    weights = np.append(1.0, np.full(truncation - 1, _LEAST_WEIGHT))
    first = Factor(weights / weights.sum(), *_moved_up(first, truncation // 2))
    return (first, *from_scales(rng, data, signs[1:], truncation))


def from_atoms(rng: Generator, data: Observed, signs: Array, truncation: int) -> tuple[Factor, ...]:
    """Return factors about clusters of single frequencies that explain the similarities.

    Candidate frequencies of random directions and lengths get weights of both signs, by least
    squares with a penalty on their sum, which leaves few of them: an approximate split of the
    measure itself into its positive and its negative part.
    """
    dim = data.deltas.shape[1]
    chosen = rng.permutation(len(data.values))[:_PAIRS]
    omega = _candidates(rng, dim)
    waves = np.cos(data.deltas[chosen] @ omega.T)
    design = np.concatenate([sign * waves for sign in signs], axis=1)
    penalty = np.full((1, design.shape[1]), _PENALTY * np.sqrt(len(chosen)))
    target = np.append(data.values[chosen], 0.0)
    weights = nnls(np.concatenate((design, penalty)), target, maxiter=30 * design.shape[1])[0]
    atoms = ((omega, share) for share in np.split(weights, len(signs)))
    return tuple(_about_clusters(rng, *pair, truncation) for pair in atoms)


def from_scales(
    rng: Generator, data: Observed, signs: Array, truncation: int
) -> tuple[Factor, ...]:
    """Return factors whose components are round, of a range of widths about a random one."""
    return tuple(_round(rng, data.deltas.shape[1], truncation) for _ in signs)


def _candidates(rng: Generator, dim: int) -> Array:
    """Return random frequencies, and zero, in inverse typical distances."""
    low, high = np.log(_LENGTHS)
    directions = rng.standard_normal((_CANDIDATES, dim))
    omega: Array = directions * np.exp(rng.uniform(low, high, (_CANDIDATES, 1)))
    omega[0] = 0.0
    return omega


def _round(rng: Generator, dim: int, truncation: int, middle: float | None = None) -> Factor:
    """Return a factor of round components of a range of widths, about a random one or a given."""
    middle = np.exp(rng.uniform(-1.0, 1.0)) if middle is None else middle
    steps = np.arange(truncation) - truncation // 2
    width = middle * _RANGE ** (steps / max(truncation // 2, 1))
    return Factor(
        np.full(truncation, 1.0 / truncation),
        _WIDTH * width[:, None] * rng.standard_normal((truncation, dim)),
        width[:, None, None] * np.eye(dim),
        2.0 * np.log(width),
    )


def _moved_up(factor: Factor, index: int) -> tuple[Array, Array, Array]:
    """Return means, roots and log scales, those of one component first."""
    order = np.argsort(np.arange(len(factor.weights)) != index, kind="stable")
    return factor.means[order], factor.roots[order], factor.log_scales[order]


def _about_clusters(rng: Generator, omega: Array, weight: Array, truncation: int) -> Factor:
    """Return a factor about clusters of weighted frequencies, whose signs mean nothing."""
    kept = np.flatnonzero(weight > 0.0)
    factor = _round(rng, omega.shape[1], truncation)
    if not len(kept):
        return factor
    labels, omega = _clusters(omega[kept], weight[kept], truncation)
    weight = weight[kept]
    weights = np.full(truncation, _LEAST_WEIGHT)
    means, roots, log_scales = factor.means, factor.roots, factor.log_scales
    for k in range(int(labels.max()) + 1):
        mine = labels == k
        share = weight[mine] / weight[mine].sum()
        means[k] = share @ omega[mine]
        centred = omega[mine] - means[k]
        covariance = (centred.T * share) @ centred + _WIDTH**2 * np.eye(len(means[k]))
        roots[k] = np.linalg.cholesky(covariance)
        log_scales[k] = np.log(np.trace(covariance) / len(covariance))
        weights[k] += weight[mine].sum() / weight.sum()
    return Factor(weights / weights.sum(), means, roots, log_scales).ordered()


def _clusters(omega: Array, weight: Array, most: int) -> tuple[Array, Array]:
    """Return labels and frequencies, each negated if that brings it nearer to its centre."""
    centres = omega[np.argsort(-weight)[:most]]
    for _ in range(_ROUNDS):
        square = np.sum(omega**2, axis=1)[:, None] + np.sum(centres**2, axis=1)
        product = omega @ centres.T
        labels = np.argmin(square - 2.0 * np.abs(product), axis=1)
        sign = np.where(product[np.arange(len(omega)), labels] < 0.0, -1.0, 1.0)
        turned = omega * sign[:, None]
        used = np.unique(labels)
        labels = np.searchsorted(used, labels)
        groups = [labels == k for k in range(len(used))]
        centres = np.array(list(starmap(_centre, ((turned, weight, mine) for mine in groups))))
    return labels, turned


def _centre(omega: Array, weight: Array, mine: Array) -> Array:
    centre: Array = np.average(omega[mine], axis=0, weights=weight[mine])
    return centre
