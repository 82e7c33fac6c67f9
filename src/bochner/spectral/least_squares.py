"""Weights of given frequencies, fitted to exact kernel values by least squares."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import nnls

from bochner._numerics.arrays import Array
from bochner.frequencies import Frequencies

_RIDGES = (1e-9, 1e-7, 1e-5, 1e-3, 1e-1)


@dataclass(frozen=True, slots=True, eq=False)
class FittedWeights:
    """Weights, with their error on pairs of rows that had no part in the fit.

    Parameters
    ----------
    weight : ndarray of shape (m,)
    error : float
        Relative Frobenius error of the held-out Gram matrix.
    prior_error : float
        That of the weights that the fit started from.
    """

    weight: Array
    error: float
    prior_error: float

    @property
    def is_prior(self) -> bool:
        """Whether no fit did better than the weights that it started from."""
        return self.error >= self.prior_error


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows with their exact Gram matrix.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    gram : ndarray of shape (n, n)
    """

    rows: Array
    gram: Array


def least_squares_weights(
    frequencies: Frequencies,
    fit: Sample,
    held_out: Sample,
    *,
    nonnegative: bool = False,
    far: Array | None = None,
    ceiling: float = np.inf,
) -> FittedWeights:
    r"""Return the weights ``a`` that fit a Gram matrix, shrunk towards those of ``frequencies``.

    With ``c_j`` and ``s_j`` the cosine and sine features of the rows, of unit weight,

    .. math:: \min_a \Big\| K - \sum_j a_j (c_j c_j^\top + s_j s_j^\top) \Big\|_F^2 / n^2
              + \lambda \|a - a_0\|^2

    is solved by :math:`a = (H/n^2 + \lambda I)^{-1} (g/n^2 + \lambda a_0)`, where
    :math:`H = (C^\top C)^{\circ 2} + (C^\top S)^{\circ 2} + (S^\top C)^{\circ 2} +
    (S^\top S)^{\circ 2}` has elementwise squares and
    :math:`g_j = c_j^\top K c_j + s_j^\top K s_j`. Of several :math:`\lambda` the one of least
    error on the held-out rows is taken; :math:`a_0` itself is among the candidates. The cost is
    :math:`O(n m^2 + n^2 m + m^3)`.

    Parameters
    ----------
    frequencies : Frequencies
        Symmetric; its weights are :math:`a_0`.
    fit, held_out : Sample
    nonnegative : bool, default=False
        Keep the weights nonnegative, so that the kernel stays positive definite.
    far : ndarray of shape (n_far, d), default=None
        Rows far from the data, where no kernel value against the held-out rows may exceed
        ``ceiling`` in size.
    ceiling : float, default=inf

    Returns
    -------
    fitted : FittedWeights

    References
    ----------
    He, He, Liu, Huang, Shi and Suykens, "Random Fourier features for asymmetric kernels", 2022,
    Algorithm 2, which fits the total masses alone.
    """
    prior = frequencies.weight
    unit = frequencies.with_weights(np.ones_like(prior))
    H, g = _normal_equations(unit.features(fit.rows), fit.gram)
    held = unit.features(held_out.rows)
    distant = None if far is None else unit.features(far)
    best, least = prior, _error(held, held_out.gram, prior)
    prior_error = least
    for ridge in _RIDGES:
        damping = ridge * float(np.mean(np.diagonal(H)))
        weight = _solve(H, g, prior, damping, nonnegative=nonnegative)
        if weight is None or not _tame(distant, held, weight, ceiling):
            continue
        error = _error(held, held_out.gram, weight)
        if error < least:
            best, least = weight, error
    return FittedWeights(best, least, prior_error)


def _normal_equations(Z: Array, gram: Array) -> tuple[Array, Array]:
    n, m = len(Z), Z.shape[1] // 2
    products = Z.T @ Z
    np.square(products, out=products)
    H = products[:m, :m] + products[:m, m:] + products[m:, :m] + products[m:, m:]
    forms = np.einsum("ij,ij->j", Z, gram @ Z)
    return H / n**2, (forms[:m] + forms[m:]) / n**2


def _solve(H: Array, g: Array, prior: Array, damping: float, *, nonnegative: bool) -> Array | None:
    target = g + damping * prior
    try:
        lower = cholesky(H + damping * np.eye(len(H)), lower=True)
    except LinAlgError:
        return None
    whitened = solve_triangular(lower, target, lower=True)
    weight: Array = solve_triangular(lower, whitened, lower=True, trans="T")
    if nonnegative and weight.min() < 0.0:
        weight = nnls(lower.T, whitened)[0]
    return weight


def _gram(left: Array, weight: Array, right: Array) -> Array:
    gram: Array = (left * np.tile(weight, 2)) @ right.T
    return gram


def _error(Z: Array, gram: Array, weight: Array) -> float:
    size = float(np.linalg.norm(gram)) or 1.0
    return float(np.linalg.norm(_gram(Z, weight, Z) - gram)) / size


def _tame(far: Array | None, held: Array, weight: Array, ceiling: float) -> bool:
    return far is None or float(np.abs(_gram(far, weight, held)).max()) <= ceiling
