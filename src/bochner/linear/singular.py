r"""The singular value decomposition of a Gram matrix, without forming the matrix.

With left features ``Z`` (n, p), right features ``Z'`` (n2, p) and signs ``S``, let
:math:`Z = Q R` and :math:`Z' = Q' R'` with orthonormal columns in ``Q`` and ``Q'``. Then

.. math:: \hat K = Z S Z'^\top = Q (R S R'^\top) Q'^\top, \qquad
          R S R'^\top = P \Sigma H^\top,

which gives the singular values of the Gram matrix and its singular vectors, :math:`U = Q P` and
:math:`V = Q' H`. Only the triangles ``R`` and ``R'`` (p, p) are needed. They are updated by one
block of rows after another.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, svd

from bochner._base.arrays import Array, Floats, InputRows
from bochner._base.registry import register

_ROWS = 1024
"""Least number of new rows in a step: with fewer rows, small factors would need many steps."""


def triangular_factor(features: Callable[[InputRows], Floats], X: InputRows) -> Array:
    """Return ``R`` of the QR factorisation of all features, of shape (min(n, p), p).

    ``features`` maps rows of ``X``, an array or CSR matrix, to features (n, p). Unlike the Cholesky
    factor of the Gram matrix, ``R`` has the full precision of the rows and exists for any rank.
    """
    factor: Array = np.empty((0, 0))
    start = 0
    while start < X.shape[0]:
        # At least as many new rows as rows of the factor, which every step factorises again.
        stop = start + max(_ROWS, len(factor))
        Z = features(X[start:stop]).astype(np.float64, copy=False)
        (triangle,) = qr(np.concatenate([factor.reshape(-1, Z.shape[1]), Z]), mode="r")
        factor = triangle[: Z.shape[1]]
        start = stop
    return factor


@register(shapes={"values": "r", "left": "pr", "right": "pr"})
@dataclass(frozen=True, slots=True, eq=False)
class SingularComponents:
    r"""The leading singular values of a Gram matrix, and its scores as functions of features.

    Left scores are :math:`U \Sigma^{1/2}` and right scores :math:`V \Sigma^{1/2}` on the rows, so
    that their inner products are the best approximation of the Gram matrix by its rank. For other
    rows they are

    .. math:: \mathrm{left}(x) = \hat k(x, Y) V \Sigma^{-1/2} = z(x) \cdot S R'^\top H
              \Sigma^{-1/2}, \qquad \mathrm{right}(y) = \hat k(X, y)^\top U \Sigma^{-1/2}.
    """

    values: Array  # (r,): Singular values, in descending order
    left: Array  # (p, r): Maps features to scores; zero columns for singular values of zero
    right: Array  # (p, r): The same for right features

    @classmethod
    def of(
        cls, left_factor: Array, right_factor: Array, signature: Array, n_components: int
    ) -> "SingularComponents":
        """Return at most ``n_components`` components, from ``R`` (q, p) and ``R'`` (q2, p).

        The coefficient of greatest magnitude of every left component is positive.
        """
        signed = left_factor * signature
        P, values, Ht = svd(signed @ right_factor.T, full_matrices=False)
        P, values, H = P[:, :n_components], values[:n_components], Ht[:n_components].T
        zero = values <= len(signature) * np.finfo(np.float64).eps * values.max(initial=0.0)
        root = np.where(zero, 0.0, 1.0 / np.sqrt(np.where(zero, 1.0, values)))
        left: Array = signature[:, None] * (right_factor.T @ (H * root))
        right: Array = signed.T @ (P * root)
        # Singular vectors are defined up to a sign.
        largest = np.argmax(np.abs(left), axis=0)
        sign = np.where(left[largest, np.arange(left.shape[1])] < 0.0, -1.0, 1.0)
        return cls(values, left * sign, right * sign)
