"""Exponential features of exponentials of inner products: frequencies on the imaginary axis."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from bochner._base.arrays import Array, as_array, frozen_array
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.registry import register

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

    waves whose frequencies are imaginary, :math:`e^{i (-i \omega) \cdot u}`, times Gaussian
    envelopes. It is the kernel in the mean if :math:`\omega` is standard normal and the weights are
    :math:`1/m` (Choromanski et al., "Rethinking attention with performers", 2021, Lemma 1), for
    all centres ``c`` and ``c'``. All features are positive, so averages weighted by them are
    averages.

    Parameters
    ----------
    omega : array-like of shape (m, q)
        :math:`\omega`.
    log_weight : array-like of shape (m,)
        :math:`\log a`; the logarithm, since weights of accurate features differ by many orders.
    left, right : array-like of shapes (d, q) and (d2, q)
        ``L`` and ``R``.
    centre_left, centre_right : array-like of shape (q,)
        ``c`` and ``c'``, in the units of ``x L`` and ``y R``.

    Raises
    ------
    ValueError
        If shapes disagree or an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.spectral import PositiveFrequencies
    >>> omega = np.random.default_rng(0).normal(size=(10_000, 1))
    >>> f = PositiveFrequencies(omega, np.full(10_000, -np.log(10_000)), [[1.0]], [[1.0]], [0], [0])
    >>> f.gram([[0.5]], [[0.5]]).round(1), np.exp(0.25).round(1)
    (array([[1.3]]), np.float64(1.3))
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
        """Return the logarithms (n, m) of the left features of rows ``X`` (n, d)."""
        return self._logs(X, self.left, self.centre_left, self.centre_right)

    def log_features_right(self, Y: ArrayLike) -> Array:
        """Return the logarithms (n, m) of the right features of rows ``Y`` (n, d2)."""
        return self._logs(Y, self.right, self.centre_right, self.centre_left)

    def gram(self, X: ArrayLike, Y: ArrayLike) -> Array:
        r"""Return :math:`\hat k(x_i, y_j)` of shape (n, n2); infinite where it overflows."""
        left, right = self.log_features(X), self.log_features_right(Y)
        top = left.max(axis=1, keepdims=True)
        other = right.max(axis=1, keepdims=True).T
        relative = np.exp(left - top) @ np.exp(right.T - other)
        with np.errstate(over="ignore", invalid="ignore"):
            gram = np.exp(top + other) * relative
        # Rows whose largest features are different ones: all products underflow.
        underflows = relative < _LEAST_PRODUCT
        for i in np.flatnonzero(underflows.any(axis=1)):
            of_row = underflows[i]
            with np.errstate(over="ignore"):
                gram[i, of_row] = np.exp(logsumexp(left[i] + right[of_row], axis=1))
        return as_array(gram)

    def attention(self, queries: ArrayLike, keys: ArrayLike, values: ArrayLike) -> Array:
        r"""Return averages of the values of keys, weighted by the kernel.

        .. math:: \sum_j \hat k(q_i, k_j)\, v_j \Big/ \sum_j \hat k(q_i, k_j)

        The averages are computed in two steps, over keys for each feature and over features for
        each query, in O((n + n2) m (d + t)) operations. Neither step overflows, and every result
        lies between the least and the greatest value.

        Parameters
        ----------
        queries : array-like of shape (n, d)
        keys : array-like of shape (n2, d2)
        values : array-like of shape (n2, t)

        Returns
        -------
        averages : ndarray of shape (n, t)
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
