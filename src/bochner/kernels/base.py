"""The base class of kernels.

Its operators import the algebra inside the methods, since algebra is made of kernels itself.
"""

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from bochner._numerics.arrays import Array, row_blocks


def checked_rows(X: ArrayLike) -> Array:
    """Return rows as a finite two-dimensional float64 array."""
    rows: Array = check_array(X, dtype=np.float64, input_name="X")
    return rows


def nested_tuples(value: Any) -> Any:
    """Return nested lists as tuples, which are hashable."""
    return tuple(map(nested_tuples, value)) if isinstance(value, list) else value


class Kernel(ABC):
    """A function of two inputs, evaluated exactly on arrays.

    Kernels are small immutable values. They are added, subtracted, multiplied and scaled with
    ``+``, ``-`` and ``*``. :func:`bochner.spectral_measure` returns their spectra.
    """

    __slots__ = ()

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return the Gram matrix ``k(x_i, y_j)``.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Y : array-like of shape (n2, d), default=None
            ``None`` means ``X``. The rows of a :class:`Bilinear` kernel may have another width.

        Returns
        -------
        K : ndarray of shape (n, n2)
            Filled block of rows by block of rows, so that memory beyond the result stays small.

        Raises
        ------
        ValueError
            If an input is not a finite two-dimensional array, or the kernel is not defined on
            rows of these widths or on some row.
        """
        left = checked_rows(X)
        right: Array = left if Y is None else check_array(Y, dtype=np.float64, input_name="Y")
        self.check_widths(left.shape[1], right.shape[1])
        self.check_inputs(left)
        if right is not left or not self.is_symmetric:
            self.check_right_inputs(right)
        return self._gram(left, right)

    def _gram(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix of checked rows, block of rows by block of rows."""
        K = np.empty((len(X), len(Y)))
        for rows in row_blocks(len(X), K.itemsize * len(Y)):
            K[rows] = self.evaluate(X[rows], Y)
        return K

    @abstractmethod
    def evaluate(self, X: Array, Y: Array) -> Array:
        """Return a new array ``k(x_i, y_j)`` for one block of checked rows."""

    @abstractmethod
    def diag(self, X: ArrayLike) -> Array:
        """Return ``k(x_i, x_i)``, of shape (n,), without forming the Gram matrix."""

    @abstractmethod
    def check_dim(self, dim: int) -> None:
        """Raise ``ValueError`` unless the kernel is defined on inputs with ``dim`` columns."""

    def check_widths(self, left: int, right: int) -> None:
        """Raise ``ValueError`` unless the kernel is defined for arguments of these widths."""
        if left != right:
            raise ValueError(f"X has {left} columns and Y has {right}: expected the same number.")
        self.check_dim(left)

    def right_dim(self, dim: int) -> int:
        """Return how many columns right rows have where left rows have ``dim``."""
        return dim

    def check_inputs(self, X: Any) -> None:  # noqa: B027 - most kernels take every input
        """Raise ``ValueError`` unless the kernel is defined on every row of ``X``.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Finite rows of the left argument.
        """

    def check_right_inputs(self, Y: Any) -> None:
        """Raise ``ValueError`` unless every row of ``Y`` can be the right argument."""
        self.check_inputs(Y)

    @property
    def is_symmetric(self) -> bool:
        """Whether ``k(x, y) == k(y, x)`` for all inputs."""
        return True

    @property
    def T(self) -> "Kernel":
        """The transpose, ``k.T(x, y) == k(y, x)``; a symmetric kernel itself."""
        from bochner.kernels.algebra import Transposed

        return self if self.is_symmetric else Transposed(self)

    @property
    def symmetrised(self) -> "Kernel":
        """The symmetric part, ``0.5 * (k + k.T)``; a symmetric kernel itself.

        Raises
        ------
        ValueError
            If the two arguments have different widths.
        """
        return self if self.is_symmetric else 0.5 * (self + self.T)

    def __add__(self, other: Any) -> "Kernel":
        if not isinstance(other, Kernel):
            return NotImplemented
        from bochner.kernels.algebra import Sum, terms_of

        return Sum((*terms_of(self), *terms_of(other)))

    def __sub__(self, other: Any) -> "Kernel":
        if not isinstance(other, Kernel):
            return NotImplemented
        return self + (-other)

    def __mul__(self, other: Any) -> "Kernel":
        from bochner.kernels.algebra import Product, Scaled, factors_of

        if isinstance(other, Kernel):
            return Product((*factors_of(self), *factors_of(other)))
        if isinstance(other, Real):
            return Scaled(self, float(other))
        return NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> "Kernel":
        return -1.0 * self
