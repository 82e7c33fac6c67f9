"""Weights, phases and masses of frequencies, fitted to exact kernel values by least squares."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import nnls

from bochner._base.arrays import Array, as_array
from bochner._base.limits import NEGLIGIBLE
from bochner.spectral.frequencies import Frequencies

# Candidate ridges relative to the mean diagonal, chosen by the error on held-out rows.
_RIDGES = (1e-9, 1e-7, 1e-5, 1e-3, 1e-1)
_MASS_RIDGE = 1e-6  # relative; its square 1e-12 is just above rounding errors


@dataclass(frozen=True, slots=True, eq=False)
class FittedWeights:
    """Fitted weights and phases (m,), with relative Frobenius errors after and before the fit."""

    weight: Array
    phase: Array
    error: float
    prior_error: float

    @property
    def is_prior(self) -> bool:
        """Whether no fit improved on the initial weights."""
        return self.error >= self.prior_error


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Left rows (n, d) and right rows (n2, d2) with their exact Gram matrix (n, n2)."""

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
    r"""Fit the frequencies' weights to a Gram matrix, shrunk towards the current weights.

    The kernel is a sum of terms :math:`b_j T_j` of known values, where :math:`b = a` are the
    weights or, with ``phases``, both :math:`\alpha_j = a_j \cos \theta_j` and
    :math:`\beta_j = a_j \sin \theta_j`:

    .. math:: \min_b \Big\| K - \sum_j b_j T_j \Big\|_F^2 / (n n_2) + \lambda \|b - b_0\|^2

    is solved by its normal equations in :math:`O((n + n_2) m^2 + n n_2 m + m^3)`. The
    :math:`\lambda` with the least error on the held-out rows is taken, or :math:`b_0` itself.

    ``nonnegative`` weights exclude ``phases``. No kernel value of left rows ``far`` (n_far, d) or
    right rows ``far_right`` (n_far, d2) against held-out rows may exceed ``ceiling`` in size.
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
    if not phases:
        return FittedWeights(best, frequencies.phase, least, prior_error)
    alpha, beta = np.split(best, 2)
    return FittedWeights(np.hypot(alpha, beta), np.arctan2(beta, alpha), least, prior_error)


def _terms(frequencies: Frequencies, *, phases: bool) -> tuple[Frequencies, Array]:
    """Return frequencies of unit weight, and the coefficients of their cosine and sine terms."""
    a, theta = frequencies.weight, frequencies.phase
    if not phases:
        return frequencies.with_weights(np.ones_like(a)), a
    prior: Array = np.concatenate([a * np.cos(theta), a * np.sin(theta)])
    return frequencies.with_weights(np.ones_like(a), np.zeros_like(a)), prior


def _sides(unit: Frequencies, sample: Sample) -> tuple[Array, Array]:
    left = unit.features(sample.left)
    if sample.right is sample.left and unit.is_symmetric:
        return left, left
    return left, unit.features_right(sample.right)


def _turned(right: Array) -> Array:
    r"""Return the right features of sine terms: :math:`-\sin(u - v) = \cos(u - (v - \pi / 2))`."""
    cosine, sine = np.split(right, 2, axis=1)
    return np.concatenate([sine, -cosine], axis=1)


def _normal_equations(
    left: Array, right: Array, gram: Array, *, phases: bool
) -> tuple[Array, Array]:
    """Return the inner products among the terms, and of the terms with the Gram matrix."""
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


def least_squares_masses(
    parts: Sequence[Frequencies], sample: Sample, value_at_zero: float | None = None
) -> list[Frequencies]:
    r"""Return the parts' frequencies with masses fitted to a Gram matrix by least squares.

    With :math:`\hat K_g` the Gram matrix of a part, factors :math:`\xi_g` of the masses solve

    .. math:: \min_\xi \Big\| K - \sum_g \xi_g \hat K_g \Big\|_F^2 \quad \text{subject to} \quad
              \xi \geq 0, \quad \sum_g \xi_g \hat k_g(0) = k(0)

    (He, He, Liu, Huang, "Random Fourier features for asymmetric kernels", 2022, (12) and Algorithm
    2). The equality is left out for ``None``, or if a part has further phases. Every feasible
    :math:`\xi` is a convex combination of vertices, at each of which one real part has all of
    :math:`k(0)`, plus nonnegative multiples of rays: one for each imaginary part, and one for each
    pair of real parts of opposite sign. Nonnegative least squares finds the multipliers.
    """
    if not parts:
        raise ValueError("At least one part of a measure is needed, got none.")
    vertices, rays = _feasible(_values_at_zero(parts, value_at_zero), value_at_zero)
    grams, target = _damped(parts, sample)
    columns = np.concatenate([target[:, None] - grams @ vertices, -grams @ rays], axis=1)
    factor = np.concatenate([vertices, rays], axis=1) @ _least(columns, vertices.shape[1])
    return [
        part.with_weights(xi * part.weight) for part, xi in zip(parts, factor.tolist(), strict=True)
    ]


def _damped(parts: Sequence[Frequencies], sample: Sample) -> tuple[Array, Array]:
    """Return the parts' Gram matrices as columns and the target, with a ridge row per part."""
    columns = [part.gram(sample.left, sample.right).ravel() for part in parts]
    target = sample.gram.ravel()
    # The ridge is relative to a part's largest possible Gram matrix, because sines of equal rows
    # are rounding errors, which must not get large masses.
    reach = np.array([np.abs(part.weight).sum() for part in parts])
    damping = _MASS_RIDGE * np.sqrt(len(target)) * reach
    size = float(np.linalg.norm(target)) or 1.0
    grams = np.concatenate([np.stack(columns, axis=1), np.diag(damping)])
    return grams / size, np.concatenate([target, damping]) / size


def _values_at_zero(parts: Sequence[Frequencies], value_at_zero: float | None) -> Array:
    """Return the kernel value of each part at lag zero, or zeros if there is no constraint."""
    real = [not part.phase.any() for part in parts]
    imaginary = [bool((np.abs(np.cos(part.phase)) < NEGLIGIBLE).all()) for part in parts]
    free = value_at_zero is None or not np.logical_or(real, imaginary).all()
    if free:
        return np.zeros(len(parts))
    origins = ((np.zeros((1, part.dim)), np.zeros((1, part.dim_right))) for part in parts)
    values = [part.gram(*origin)[0, 0] for part, origin in zip(parts, origins, strict=True)]
    return np.where(real, values, 0.0)


def _feasible(values: Array, value_at_zero: float | None) -> tuple[Array, Array]:
    """Return vertices and rays of the feasible mass factors, as columns with a row per part."""
    unit = np.eye(len(values))
    total = 0.0 if value_at_zero is None or not values.any() else value_at_zero
    helps = values * (1.0 if total >= 0.0 else -1.0)
    positive, negative = np.flatnonzero(helps > 0.0), np.flatnonzero(helps < 0.0)
    free = unit[:, helps == 0.0]
    pairs = [unit[i] / helps[i] - unit[j] / helps[j] for i in positive for j in negative]
    rays = np.concatenate([free, *(pair[:, None] for pair in pairs)], axis=1)
    if total == 0.0:
        return np.zeros((len(values), 1)), rays
    if not len(positive):
        raise ValueError(
            f"The value at zero is {value_at_zero:.6g}, but no part of zero phase has that sign: "
            f"their values at zero are {values[negative].tolist()}; give value_at_zero=None."
        )
    return unit[:, positive] * (total / values[positive]), rays


def _least(columns: Array, n_vertices: int) -> Array:
    r"""Return the :math:`z \geq 0` of least :math:`\|Mz\|`; ``n_vertices`` entries sum to one."""
    triangle = np.linalg.qr(columns, mode="r")
    ends = np.arange(columns.shape[1]) < n_vertices
    system = np.concatenate([triangle, ends[None].astype(np.float64)])
    multiplier = nnls(system, np.eye(len(system))[-1])[0]
    return as_array(multiplier / multiplier[ends].sum())
