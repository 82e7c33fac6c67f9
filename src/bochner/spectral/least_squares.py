"""Weights and phases of given frequencies, fitted to exact kernel values by least squares."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import nnls

from bochner._numerics.arrays import Array, as_array
from bochner.frequencies import Frequencies

# relative to the mean diagonal, from rounding to strong shrinkage; the held-out rows choose
_RIDGES = (1e-9, 1e-7, 1e-5, 1e-3, 1e-1)


@dataclass(frozen=True, slots=True, eq=False)
class FittedWeights:
    """Weights (m,) and phases (m,), in radians, with their error on held-out pairs of rows.

    Errors, of the fit and of the weights it started from, are relative Frobenius errors.
    """

    weight: Array
    phase: Array
    error: float
    prior_error: float

    @property
    def is_prior(self) -> bool:
        """Whether no fit did better than the weights that it started from."""
        return self.error >= self.prior_error


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows of either argument, (n, d) and (n2, d2), with their exact Gram matrix (n, n2).

    ``right`` is the same array as ``left`` where a kernel is evaluated on one set of rows.
    """

    left: Array
    right: Array
    gram: Array


def least_squares_weights(
    frequencies: Frequencies,
    fit: Sample,
    held_out: Sample,
    *,
    phases: bool = False,
    nonnegative: bool = False,
    far: Array | None = None,
    far_right: Array | None = None,
    ceiling: float = np.inf,
) -> FittedWeights:
    r"""Return the weights that fit a Gram matrix, shrunk towards those of ``frequencies``.

    Written in its coefficients :math:`b`, the kernel is a sum of terms of known values,

    .. math:: \hat k(x, y) = \sum_j a_j \cos(\varphi_j + \theta_j)
              = \sum_j \alpha_j \cos \varphi_j - \beta_j \sin \varphi_j, \qquad
              \varphi_j = \omega_j \cdot x - \nu_j \cdot y.

    The coefficients are the weights, :math:`b = a`, with phases as they are, or with ``phases``, as
    an asymmetric kernel needs, both :math:`\alpha_j = a_j \cos \theta_j` and :math:`\beta_j = a_j
    \sin \theta_j`. With :math:`T_j` the values of a term at :math:`n \times n_2` pairs of rows,

    .. math:: \min_b \Big\| K - \sum_j b_j T_j \Big\|_F^2 / (n n_2) + \lambda \|b - b_0\|^2

    is solved by its normal equations in :math:`O((n + n_2) m^2 + n n_2 m + m^3)`, without forming
    the matrix that has the terms for columns. Of several :math:`\lambda` the one of least error on
    the held-out rows is taken; :math:`b_0` itself is among the candidates. The method extends that
    of He, He, Liu, Huang, "Random Fourier features for asymmetric kernels", 2022, Algorithm 2.

    ``nonnegative`` keeps the weights of a positive definite kernel nonnegative; together with
    ``phases`` it raises ``ValueError``. No kernel value of left rows ``far`` (n_far, d) or right
    rows ``far_right`` (n_far, d2) against held-out rows may exceed ``ceiling`` in size.
    """
    if phases and nonnegative:
        raise ValueError(
            "Coefficients of cosines and sines cannot be kept nonnegative and give every phase; "
            "use one of phases=True and nonnegative=True."
        )
    unit, prior = _terms(frequencies, phases=phases)
    H, g = _normal_equations(*_sides(unit, fit), fit.gram, phases=phases)
    held = _sides(unit, held_out)
    guarded = [] if far is None else [(unit.features(far), held[1])]
    guarded += [] if far_right is None else [(held[0], unit.features_right(far_right))]
    best, least = None, _error(*held, held_out.gram, prior)
    prior_error = least
    for ridge in _RIDGES:
        damping = ridge * float(np.mean(np.diagonal(H)))
        coefficient = _solve(H, g, prior, damping, nonnegative=nonnegative)
        if coefficient is None or not _tame(guarded, coefficient, ceiling):
            continue
        error = _error(*held, held_out.gram, coefficient)
        if error < least:
            best, least = coefficient, error
    if best is None:
        return FittedWeights(frequencies.weight, frequencies.phase, least, prior_error)
    weight, phase = _polar(best) if phases else (best, frequencies.phase)
    return FittedWeights(weight, phase, least, prior_error)


def _terms(frequencies: Frequencies, *, phases: bool) -> tuple[Frequencies, Array]:
    """Return frequencies of unit weight, whose features make the terms, and the coefficients."""
    a, theta = frequencies.weight, frequencies.phase
    if not phases:
        return frequencies.with_weights(np.ones_like(a)), a
    prior: Array = np.concatenate([a * np.cos(theta), a * np.sin(theta)])
    return frequencies.with_weights(np.ones_like(a), np.zeros_like(a)), prior


def _polar(coefficient: Array) -> tuple[Array, Array]:
    alpha, beta = np.split(coefficient, 2)
    return np.hypot(alpha, beta), np.arctan2(beta, alpha)


def _sides(unit: Frequencies, sample: Sample) -> tuple[Array, Array]:
    left = unit.features(sample.left)
    if sample.right is sample.left and unit.is_symmetric:
        return left, left
    return left, unit.features_right(sample.right)


def _turned(right: Array) -> Array:
    r"""Return right features of the sine terms: those whose angle is less by a quarter turn.

    .. math:: -\sin(u - v) = \cos(u - (v - \pi / 2)) = \cos u \sin v + \sin u \, (-\cos v)
    """
    cosine, sine = np.split(right, 2, axis=1)
    return np.concatenate([sine, -cosine], axis=1)


def _normal_equations(
    left: Array, right: Array, gram: Array, *, phases: bool
) -> tuple[Array, Array]:
    r"""Return inner products of the terms with each other and with the Gram matrix.

    A term is :math:`\sum_p z^p (w^p)^\top`, ``p`` over cosine and sine, of features ``z`` on the
    left and ``w`` on the right, so that of two terms
    :math:`\langle T, T' \rangle = \sum_{pq} (z^p \cdot z'^q)(w^p \cdot w'^q)`.
    """
    n_pairs = len(left) * len(right)
    on_left = left.T @ left
    on_right = on_left if right is left else right.T @ right
    product = gram @ right
    if not phases:
        return _folded(on_left * on_right) / n_pairs, _forms(left, product) / n_pairs
    half = _turned(on_right)
    mixed = _folded(on_left * half)
    H = np.block(
        [[_folded(on_left * on_right), mixed], [mixed.T, _folded(on_left * _turned(half.T).T)]]
    )
    g = np.concatenate([_forms(left, product), _forms(left, _turned(product))])
    return H / n_pairs, g / n_pairs


def _folded(products: Array) -> Array:
    m = len(products) // 2
    return as_array(products[:m, :m] + products[:m, m:] + products[m:, :m] + products[m:, m:])


def _forms(left: Array, product: Array) -> Array:
    cosine, sine = np.split(np.einsum("ij,ij->j", left, product), 2)
    return as_array(cosine + sine)


def _solve(H: Array, g: Array, prior: Array, damping: float, *, nonnegative: bool) -> Array | None:
    target = g + damping * prior
    try:
        lower = cholesky(H + damping * np.eye(len(H)), lower=True)
    except LinAlgError:
        return None
    whitened = solve_triangular(lower, target, lower=True)
    coefficient: Array = solve_triangular(lower, whitened, lower=True, trans="T")
    if nonnegative and coefficient.min() < 0.0:
        coefficient = nnls(lower.T, whitened)[0]
    return coefficient


def _gram(left: Array, coefficient: Array, right: Array) -> Array:
    m = left.shape[1] // 2
    weighted = left * np.tile(coefficient[:m], 2)
    gram: Array = weighted @ right.T
    if len(coefficient) > m:
        gram += (left * np.tile(coefficient[m:], 2)) @ _turned(right).T
    return gram


def _error(left: Array, right: Array, gram: Array, coefficient: Array) -> float:
    size = float(np.linalg.norm(gram)) or 1.0
    return float(np.linalg.norm(_gram(left, coefficient, right) - gram)) / size


def _tame(guarded: list[tuple[Array, Array]], coefficient: Array, ceiling: float) -> bool:
    return all(
        float(np.abs(_gram(left, coefficient, right)).max()) <= ceiling for left, right in guarded
    )
