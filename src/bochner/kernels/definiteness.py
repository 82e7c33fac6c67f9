"""Tests whether locally stationary kernels are positive definite."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bochner._base.arrays import Array, LengthScale, as_array
from bochner._base.limits import NEGLIGIBLE
from bochner.kernels.base import Kernel, Product, Scaled, Sum
from bochner.kernels.spectral_mixture import SpectralMixture
from bochner.kernels.stationary import Anova, Gaussian

_MOST_TERMS = 256
"""Largest number of terms of a factor, because all pairs of terms of two factors are compared; with
more terms, the definiteness is undecided."""

_CLEARLY = 1e-6
"""Size of a negative eigenvalue, relative to the greatest entry, that refutes definiteness."""

_TINY = 1e-290  # Least divisor: smaller kernel values lose digits, as they are not normal floats
_STEPS = 40
"""Points of a line on each side of the centre, for every scale: ten for each factor of ten."""

_DIRECTIONS = 24
"""Number of lines through the centre on which pairs of points that refute are searched."""

_RADII = np.geomspace(1e-8, 1e8, 400)
"""Distances, in units of the inputs, among which the half-width of a factor is searched."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A Gaussian with a cosine, times another positive definite function unless ``is_exact``."""

    weight: float
    mean: Array
    covariance: Array
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Definiteness:
    """Result of a check of positive definiteness.

    ``holds`` is True if the kernel is proven to be positive definite, False if this is refuted and
    None if it is undecided; ``reason`` explains the result. A ``witness`` is a pair of inputs,
    tuples of d floats, whose two by two Gram matrix has a negative eigenvalue.
    """

    holds: bool | None
    reason: str
    witness: tuple[tuple[float, ...], tuple[float, ...]] | None = None


def definiteness(
    envelope: Kernel, stationary: Kernel, centre: LengthScale, dim: int
) -> Definiteness:
    r"""Return whether :math:`\kappa_1((x + y)/2 - c)\, \kappa_s(x - y)` is positive definite.

    **Sufficient.** With :math:`\kappa_s` equal to :math:`e^{-\delta^\top S \delta / 2}` times any
    positive definite function, an envelope :math:`e^{-u^\top \Sigma u / 2}` leaves the kernel
    positive definite if :math:`T = S - \Sigma / 4` is positive semidefinite, and only then if that
    function is constant. For an envelope
    :math:`e^{-u^\top \Sigma u / 2} \sum_q w_q \cos(m_q \cdot u)` it suffices that
    :math:`\sum_{m_q \neq 0} w_q\, e^{m_q^\top T^{-1} m_q / 8} \leq w_0`, the weight without a mean.

    **Necessary.** :math:`\kappa_1 \geq 0`, and by Cauchy and Schwarz

    .. math:: \kappa_1(u)\, |\kappa_s(\delta)| \leq \kappa_s(0)
              \sqrt{\kappa_1(u + \tfrac\delta 2)\, \kappa_1(u - \tfrac\delta 2)}.

    Pairs of points that violate it are searched on lines through the centre.
    """
    slow, fast = gaussian_terms(envelope, dim), gaussian_terms(stationary, dim)
    if all(term.is_exact for term in slow) and _suffices(slow, fast):
        changes = any(term.mean.any() or term.covariance.any() for term in slow)
        slowly = "changes slowly enough for the spectrum of the stationary factor"
        return Definiteness(True, f"the envelope {slowly if changes else 'is constant'}")
    witness = _witness(envelope, stationary, _directions(slow, fast, dim))
    if witness is None:
        unknown = "no condition that is known proves it, and no pair of points refutes it"
        return Definiteness(None, unknown)
    first, second = (tuple((point + as_array(centre)).tolist()) for point in witness)
    reason = (
        "the envelope falls too fast: between two points the kernel exceeds the geometric mean of "
        "its values at them"
    )
    if first == second:
        reason = "the envelope is negative somewhere"
    return Definiteness(False, reason, (first, second))


def _suffices(slow: list[Term], fast: list[Term]) -> bool:
    groups: list[list[Term]] = []
    for term in slow:
        matching = (g for g in groups if np.allclose(g[0].covariance, term.covariance, 1e-10, 0.0))
        if (group := next(matching, None)) is None:
            groups.append(group := [])
        group.append(term)
    return all(_group_suffices(group, term) for group in groups for term in fast)


def _group_suffices(group: list[Term], fast: Term) -> bool:
    """Return whether envelope terms of equal covariance times a stationary term are definite."""
    values, vectors = np.linalg.eigh(fast.covariance - 0.25 * group[0].covariance)
    scale = max(np.abs(fast.covariance).max(), np.abs(group[0].covariance).max())
    if values.min() < -NEGLIGIBLE * scale:
        return False
    is_positive = values > NEGLIGIBLE * scale
    slack = sum(term.weight for term in group if not term.mean.any())
    for term in (term for term in group if term.mean.any()):
        along = vectors.T @ term.mean
        if np.abs(along[~is_positive]).max(initial=0.0) > NEGLIGIBLE * np.abs(along).max():
            return False
        with np.errstate(over="ignore"):
            slack -= term.weight * np.exp(
                0.125 * np.sum(along[is_positive] ** 2 / values[is_positive])
            )
    return bool(slack >= 0.0)


def _directions(slow: list[Term], fast: list[Term], dim: int) -> Array:
    """Return unit vectors (n, dim) along which to search for two points with a negative value."""
    candidates = [np.ones(dim), *np.eye(dim)]
    candidates += [term.mean for term in (*slow, *fast) if term.mean.any()]
    for a in slow:
        for b in fast:
            candidates += list(np.linalg.eigh(b.covariance - 0.25 * a.covariance)[1].T)
    directions = np.array(candidates[: max(_DIRECTIONS, dim + 1)])
    return as_array(directions / np.linalg.norm(directions, axis=1, keepdims=True))


def _witness(envelope: Kernel, stationary: Kernel, directions: Array) -> tuple[Array, Array] | None:
    """Return the pair of points, relative to the centre, that refutes definiteness most, if any."""
    best, least = None, 0.0
    for direction in directions:
        points = _line(envelope, stationary, direction)
        K = envelope.evaluate(0.5 * points, -0.5 * points) * stationary.evaluate(points, points)
        i, j, eigenvalue = _worst_pair(K)
        if eigenvalue < least:
            best, least = (points[i], points[j]), eigenvalue
    return best


def _line(envelope: Kernel, stationary: Kernel, direction: Array) -> Array:
    """Return points (n, d) on both sides of the centre, at distances on the scales of factors."""
    origin, ray = np.zeros((1, len(direction))), _RADII[:, None] * direction
    scales = []
    for kernel in (envelope, stationary):
        value = kernel.evaluate(ray, origin)[:, 0]
        fallen = value < 0.5 * kernel.diag(origin)[0]
        if fallen.any():
            scales.append(_RADII[np.argmax(fallen)])
    steps = np.geomspace(1e-2, 1e2, _STEPS)
    radii = np.unique(np.concatenate([[0.0], *(scale * steps for scale in scales)]))
    return as_array(np.concatenate([-radii[:0:-1], radii])[:, None] * direction)


def _worst_pair(K: Array) -> tuple[int, int, float]:
    """Return the pair of indices whose Gram matrix has the least eigenvalue, and the eigenvalue."""
    diagonal = np.diagonal(K)
    greatest = np.maximum(np.abs(K), np.maximum.outer(np.abs(diagonal), np.abs(diagonal)))
    greatest = np.maximum(greatest, _TINY)
    a, b, c = diagonal[:, None] / greatest, diagonal[None, :] / greatest, K / greatest
    eigenvalue = 0.5 * (a + b) - np.sqrt(0.25 * (a - b) ** 2 + c**2)
    eigenvalue = np.where(eigenvalue < -_CLEARLY, eigenvalue * greatest, 0.0)
    i, j = np.unravel_index(int(np.argmin(eigenvalue)), K.shape)
    return int(i), int(j), float(eigenvalue[i, j])


def gaussian_terms(kernel: Kernel, dim: int) -> list[Term]:
    """Return the Gaussian terms of a kernel of the lag, or an inexact term without a Gaussian."""
    if isinstance(kernel, Sum):
        return [term for summand in kernel.terms for term in gaussian_terms(summand, dim)]
    if isinstance(kernel, Scaled):
        terms = gaussian_terms(kernel.kernel, dim)
        return [replace(term, weight=kernel.factor * term.weight) for term in terms]
    if isinstance(kernel, Product):
        expanded = [Term(1.0, np.zeros(dim), np.zeros((dim, dim)))]
        for factor in kernel.factors:
            terms = gaussian_terms(factor, dim)
            expanded = [each for a, b in product(expanded, terms) for each in _products(a, b)]
            if len(expanded) > _MOST_TERMS:
                return _unknown(kernel, dim)
        return expanded
    if isinstance(kernel, Gaussian):
        return [Term(1.0, np.zeros(dim), np.diag(_precisions(kernel, dim)))]
    if isinstance(kernel, SpectralMixture):
        factors = kernel.factors()
        return [
            Term(weight, np.array(mean), factor @ factor.T)
            for weight, mean, factor in zip(kernel.weights, kernel.means, factors, strict=True)
        ]
    if isinstance(kernel, Anova) and isinstance(kernel.kernel, Gaussian):
        return _interactions(kernel, _precisions(kernel.kernel, dim))
    return _unknown(kernel, dim)


def _unknown(kernel: Kernel, dim: int) -> list[Term]:
    weight = float(kernel.diag(np.zeros((1, dim)))[0])
    return [Term(weight, np.zeros(dim), np.zeros((dim, dim)), is_exact=False)]


def _precisions(kernel: Gaussian, dim: int) -> Array:
    return np.broadcast_to(1.0 / as_array(kernel.length_scale) ** 2, dim)


def _products(a: Term, b: Term) -> list[Term]:
    """Return the product of two terms as one or, if both have cosines, two terms."""
    weight, covariance = a.weight * b.weight, a.covariance + b.covariance
    is_exact = a.is_exact and b.is_exact
    if not (a.mean.any() and b.mean.any()):
        return [Term(weight, a.mean + b.mean, covariance, is_exact)]
    means = a.mean + b.mean, a.mean - b.mean
    return [Term(0.5 * weight, mean, covariance, is_exact) for mean in means]


def _interactions(kernel: Anova, precisions: Array) -> list[Term]:
    """Return one Gaussian term for each set of interacting inputs of an ANOVA kernel."""
    dim = len(precisions)
    inclusion = np.broadcast_to(kernel.inclusion, dim)
    choices = [[p for p in (0.0, 1.0) if (pi if p else 1.0 - pi) > 0.0] for pi in inclusion]
    if np.prod([len(choice) for choice in choices]) > _MOST_TERMS:
        return _unknown(kernel, dim)
    sets = [np.array(s) for s in product(*choices) if kernel.constant or any(s)]
    weights = [float(np.prod(np.where(s > 0, inclusion, 1.0 - inclusion))) for s in sets]
    return [
        Term(weight / sum(weights), np.zeros(dim), np.diag(chosen * precisions))
        for weight, chosen in zip(weights, sets, strict=True)
    ]
