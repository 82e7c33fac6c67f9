"""Kernels as sums of Gaussians of the lag times cosines."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from bochner._numerics.arrays import Array, as_array
from bochner.kernels._base import Kernel
from bochner.kernels.algebra import Product, Scaled, Sum
from bochner.kernels.anova import Anova
from bochner.kernels.spectral_mixture import SpectralMixture
from bochner.kernels.stationary import Gaussian

_MOST_TERMS = 256


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    r"""One term, :math:`w \exp(-\Delta^\top C \Delta / 2) \cos(\mu \cdot \Delta)\, R(\Delta)`.

    Parameters
    ----------
    weight : float
        :math:`w > 0`.
    mean : ndarray of shape (d,)
    covariance : ndarray of shape (d, d)
    is_exact : bool
        Whether :math:`R = 1`; otherwise it is some positive definite function, one at zero.
    """

    weight: float
    mean: Array
    covariance: Array
    is_exact: bool = True


def gaussian_terms(kernel: Kernel, dim: int) -> list[Term]:
    """Return the terms whose sum a positive definite function of the lag is.

    A kernel that is no such sum is one term without a Gaussian.
    """
    if isinstance(kernel, Sum):
        return [term for one in kernel.terms for term in gaussian_terms(one, dim)]
    if isinstance(kernel, Scaled):
        return [
            Term(kernel.factor * term.weight, term.mean, term.covariance, term.is_exact)
            for term in gaussian_terms(kernel.kernel, dim)
        ]
    if isinstance(kernel, Product):
        found = [_unit(dim)]
        for factor in kernel.factors:
            terms = gaussian_terms(factor, dim)
            found = [one for a, b in product(found, terms) for one in _products(a, b)]
            if len(found) > _MOST_TERMS:
                return _unknown(kernel, dim)
        return found
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


def _unit(dim: int) -> Term:
    return Term(1.0, np.zeros(dim), np.zeros((dim, dim)))


def _unknown(kernel: Kernel, dim: int) -> list[Term]:
    weight = float(kernel.diag(np.zeros((1, dim)))[0])
    return [Term(weight, np.zeros(dim), np.zeros((dim, dim)), is_exact=False)]


def _precisions(kernel: Gaussian, dim: int) -> Array:
    return np.broadcast_to(1.0 / as_array(kernel.length_scale) ** 2, dim)


def _products(a: Term, b: Term) -> list[Term]:
    """Return the product of two terms, that of two cosines being a sum."""
    weight, covariance = a.weight * b.weight, a.covariance + b.covariance
    is_exact = a.is_exact and b.is_exact
    if not (a.mean.any() and b.mean.any()):
        return [Term(weight, a.mean + b.mean, covariance, is_exact)]
    return [
        Term(0.5 * weight, mean, covariance, is_exact)
        for mean in (a.mean + b.mean, a.mean - b.mean)
    ]


def _interactions(kernel: Anova, precisions: Array) -> list[Term]:
    """Return a Gaussian for every set of inputs that may interact."""
    dim = len(precisions)
    inclusion = np.broadcast_to(kernel.inclusion, dim)
    choices = [[p for p in (0.0, 1.0) if (pi if p else 1.0 - pi) > 0.0] for pi in inclusion]
    if np.prod([len(choice) for choice in choices]) > _MOST_TERMS:
        return _unknown(kernel, dim)
    sets = [np.array(chosen) for chosen in product(*choices)]
    sets = [chosen for chosen in sets if kernel.constant or chosen.any()]
    weights = [float(np.prod(np.where(s > 0, inclusion, 1.0 - inclusion))) for s in sets]
    return [
        Term(weight / sum(weights), np.zeros(dim), np.diag(chosen * precisions))
        for weight, chosen in zip(weights, sets, strict=True)
    ]
