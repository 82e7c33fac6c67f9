"""Tests whether locally stationary kernels are positive definite."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner._base.limits import NEGLIGIBLE
from bochner.kernels.base import Kernel, Product, Scaled, Sum
from bochner.kernels.spectral_mixture import SpectralMixture
from bochner.kernels.stationary import Anova, Gaussian

_MOST_TERMS = 256
"""Largest number of terms of a factor, because all pairs of terms of two factors are compared; with
more terms, the definiteness is undecided."""


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

    ``holds`` is True if the kernel is proven to be positive definite, False if it is proven not to
    be and None if it is undecided; ``reason`` explains the result.
    """

    holds: bool | None
    reason: str


def definiteness(envelope: Kernel, stationary: Kernel, dim: int) -> Definiteness:
    r"""Return whether :math:`\kappa_1((x + y)/2 - c)\, \kappa_s(x - y)` is positive definite.

    With :math:`\kappa_s` equal to :math:`e^{-\delta^\top S \delta / 2}` times any
    positive definite function, an envelope :math:`e^{-u^\top \Sigma u / 2}` leaves the kernel
    positive definite if :math:`T = S - \Sigma / 4` is positive semidefinite, and only then if that
    function is constant. For an envelope
    :math:`e^{-u^\top \Sigma u / 2} \sum_q w_q \cos(m_q \cdot u)` it suffices that
    :math:`\sum_{m_q \neq 0} w_q\, e^{m_q^\top T^{-1} m_q / 8} \leq w_0`, the weight without a mean.
    """
    slow, fast = gaussian_terms(envelope, dim), gaussian_terms(stationary, dim)
    if all(term.is_exact for term in slow) and _suffices(slow, fast):
        changes = any(term.mean.any() or term.covariance.any() for term in slow)
        slowly = "changes slowly enough for the spectrum of the stationary factor"
        return Definiteness(True, f"the envelope {slowly if changes else 'is constant'}")
    if len(slow) == len(fast) == 1 and all(t.is_exact and not t.mean.any() for t in (*slow, *fast)):
        return Definiteness(False, "the envelope falls too fast for the stationary factor")
    return Definiteness(None, "no condition that is known proves or refutes it")


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
