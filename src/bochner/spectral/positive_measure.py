r"""The measure of :math:`e^{\langle x, y \rangle}` on imaginary frequencies, adapted to rows.

With ``u`` and ``v`` the mapped centred queries and keys, and :math:`z = u + v`,
:math:`e^{\langle u, v \rangle} = e^{-\|u\|^2/2 - \|v\|^2/2}\, E\, e^{\omega \cdot z}` for
:math:`\omega \sim N(0, I)`. Its variance grows exponentially with :math:`\|z\|^2`, so that maps and
centres make :math:`E \|z\|^2` least.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from bochner._base.arrays import Array, as_array, frozen_array, squared_norms
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.registry import register
from bochner.spectral.laws import Chi, Isotropic
from bochner.spectral.schemes import Scheme, resolve_scheme

_LEAST_PRODUCT = 1e-290
"""Sum of products, relative to that of the largest features, below which underflow matters."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class PositiveFrequencies:
    r"""A finite sum of positive terms that approximates :math:`e^{\langle x L,\, y R \rangle}`.

    With :math:`u = x L - c`, :math:`v = y R - c'`,

    .. math:: \hat k(x, y) = e^{\langle x L, c' \rangle + \langle c, y R \rangle
              - \langle c, c' \rangle} \sum_j a_j\,
              e^{\omega_j \cdot u - \|u\|^2 / 2}\, e^{\omega_j \cdot v - \|v\|^2 / 2},

    whose mean is the kernel if :math:`\omega` (m, q) is standard normal and the weights are
    :math:`1/m` (Choromanski et al., "Rethinking attention with performers", 2021, Lemma 1).
    """

    omega: Array
    log_weight: Array
    left: Array
    right: Array
    centre_left: Array
    centre_right: Array

    def __post_init__(self) -> None:
        omega = frozen_array("omega", self.omega, None)
        if omega.ndim != 2 or 0 in omega.shape:
            raise ValueError(f"omega must have shape (m, q), both positive, got {omega.shape}.")
        m, q = omega.shape
        object.__setattr__(self, "omega", omega)
        object.__setattr__(self, "log_weight", frozen_array("log_weight", self.log_weight, (m,)))
        for name in ("left", "right"):
            matrix = frozen_array(name, getattr(self, name), None)
            if matrix.ndim != 2 or len(matrix) == 0 or matrix.shape[1] != q:
                raise ValueError(
                    f"{name} must have shape (inputs, {q}), as omega has {q} columns, got "
                    f"{matrix.shape}."
                )
            object.__setattr__(self, name, matrix)
        for name in ("centre_left", "centre_right"):
            object.__setattr__(self, name, frozen_array(name, getattr(self, name), (q,)))

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that copies are checked and read-only, too.
        return PositiveFrequencies, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def n_features(self) -> int:
        """Number of features, ``m``: one for each frequency."""
        return len(self.omega)

    def log_features(self, X: ArrayLike) -> Array:
        """Return the logarithms (n, m) of the left features of queries ``X`` (n, d)."""
        return self._logs(X, self.left, self.centre_left, self.centre_right)

    def log_features_right(self, Y: ArrayLike) -> Array:
        """Return the logarithms (n, m) of the right features of keys ``Y`` (n, d2)."""
        return self._logs(Y, self.right, self.centre_right, self.centre_left)

    def gram(self, X: ArrayLike, Y: ArrayLike) -> Array:
        r"""Return the approximate Gram matrix (n, n2), with infinity for entries that overflow."""
        left, right = self.log_features(X), self.log_features_right(Y)
        top = left.max(axis=1, keepdims=True)
        other = right.max(axis=1, keepdims=True).T
        relative = np.exp(left - top) @ np.exp(right.T - other)
        with np.errstate(over="ignore", invalid="ignore"):
            gram = np.exp(top + other) * relative
        # If the largest features of two rows differ in frequency, all products may underflow.
        underflows = relative < _LEAST_PRODUCT
        for i in np.flatnonzero(underflows.any(axis=1)):
            of_row = underflows[i]
            with np.errstate(over="ignore"):
                gram[i, of_row] = np.exp(logsumexp(left[i] + right[of_row], axis=1))
        return as_array(gram)

    def attention(self, queries: ArrayLike, keys: ArrayLike, values: ArrayLike) -> Array:
        r"""Return attention outputs (n, t): values (n2, t) of keys averaged for each query.

        .. math:: \sum_j \hat k(q_i, k_j)\, v_j \Big/ \sum_j \hat k(q_i, k_j)
        """
        left, right = self.log_features(queries), self.log_features_right(keys)
        mass = logsumexp(right, axis=0)
        of_features = np.exp(right - mass).T @ as_array(values)
        shares = left + mass
        shares = np.exp(shares - logsumexp(shares, axis=1, keepdims=True))
        return as_array(shares @ of_features)

    def _logs(self, X: ArrayLike, matrix: Array, shift: Array, other_shift: Array) -> Array:
        mapped = as_array(X) @ matrix
        if mapped.size and np.abs(mapped).max() > LARGEST_ENTRY:
            raise ValueError(
                f"Rows are too large: their products with the maps must be at most "
                f"{LARGEST_ENTRY:g} in size; scale the rows by a smaller factor."
            )
        u = mapped - shift
        of_row = (
            mapped @ other_shift - 0.5 * (shift @ other_shift) - 0.5 * np.einsum("ij,ij->i", u, u)
        )
        return as_array(u @ self.omega.T + of_row[:, None] + 0.5 * self.log_weight)


@dataclass(frozen=True, slots=True, eq=False)
class PositiveMeasure:
    r"""Frequencies :math:`\omega \sim N(0, S^{-1})` with weights, for mapped and centred inputs."""

    left: Array
    right: Array
    centre_left: Array
    centre_right: Array
    precision: Array

    @classmethod
    def adapted(
        cls, X: Array, Y: Array, temperature: float = 1.0, *, reshaped: bool = True
    ) -> "PositiveMeasure":
        r"""Return the measure of :math:`e^{\langle x, y \rangle / T}` for rows (n, d) and (n2, d).

        The root of the geometric mean :math:`C_x^{-1} \# C_y` of covariances is the map ``M`` of
        least :math:`E \|x M\|^2 + E \|y M^{-\top}\|^2`. Without ``reshaped``, the precision is one.
        """
        means = X.mean(axis=0), Y.mean(axis=0)
        centred = zip((X, Y), means, strict=True)
        first, second = ((rows - mean).T @ (rows - mean) / len(rows) for rows, mean in centred)
        (shape, size), (other_shape, other_size) = _shrunk(first), _shrunk(second)
        inner, outer = _power(shape, 0.5), _power(shape, -0.5)
        mean = outer @ _power(inner @ other_shape @ inner, 0.5) @ outer
        balance = (other_size / size) ** 0.25
        left = _power(mean, 0.5) * (balance / np.sqrt(temperature))
        right = _power(mean, -0.5) / (balance * np.sqrt(temperature))
        # Axes along which the coordinates of u + v are uncorrelated
        square, axes = np.linalg.eigh(left.T @ first @ left + right.T @ second @ right)
        left, right = left @ axes, right @ axes
        precision = best_precision(square) if reshaped else np.ones(len(square))
        return cls(left, right, means[0] @ left, means[1] @ right, precision)

    def sample(
        self, m: int, rng: np.random.Generator, scheme: str | Scheme = "orthogonal"
    ) -> PositiveFrequencies:
        """Draw ``m`` frequencies in opposite pairs, for an unbiased estimate of the kernel."""
        law = Isotropic(Chi(), len(self.precision))
        half = np.asarray(law.draw(-(-m // 2), rng, resolve_scheme(scheme)).omega)
        normal = np.concatenate([half, -half])[:m]
        omega = normal / np.sqrt(self.precision)
        # The logarithm of the standard normal density over that of the draw
        ratio = 0.5 * (squared_norms(normal) - squared_norms(omega))
        ratio -= 0.5 * np.log(self.precision).sum()
        return PositiveFrequencies(
            omega, ratio - np.log(m), self.left, self.right, self.centre_left, self.centre_right
        )


def best_precision(square: Array) -> Array:
    """Return the precisions ``S`` (q,) that minimise the mean log variance of the estimate.

    It is the smaller root of :math:`S^2 - (3 + 2 E z_i^2) S + 2 = 0`.
    """
    middle = 3.0 + 2.0 * np.maximum(square, 0.0)
    # This form avoids the cancellation of the usual formula
    return as_array(4.0 / (middle + np.sqrt(middle**2 - 8.0)))


def _shrunk(covariance: Array) -> tuple[Array, float]:
    """Return a covariance divided by its mean variance plus the identity, and the mean variance."""
    unit, size = np.eye(len(covariance)), float(np.trace(covariance)) / len(covariance)
    if size < np.finfo(np.float64).tiny:  # All rows are equal up to rounding
        return unit, 1.0
    return as_array(covariance / size + unit), size


def _power(matrix: Array, exponent: float) -> Array:
    """Return a power of a symmetric positive definite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return as_array((vectors * values**exponent) @ vectors.T)
