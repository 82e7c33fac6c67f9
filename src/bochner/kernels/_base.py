"""What a kernel is, and the algebra of kernels."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from operator import add, mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from bochner._numerics.arrays import (
    Array,
    LengthScale,
    as_array,
    as_positive,
    check_dim,
    row_blocks,
)


class Kernel(ABC):
    """A function of two inputs, evaluated exactly on arrays.

    Kernels are small immutable values. They are added, subtracted, multiplied and scaled with
    ``+``, ``-`` and ``*``, and know nothing of their spectra:
    :func:`bochner.spectral_measure` does.
    """

    __slots__ = ()

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return the Gram matrix ``k(x_i, y_j)``.

        Parameters
        ----------
        X : array-like of shape (n, d)
        Y : array-like of shape (n2, d), default=None
            ``None`` means ``X``.

        Returns
        -------
        K : ndarray of shape (n, n2)
            Filled block of rows by block of rows, so that memory beyond the result stays small.

        Raises
        ------
        ValueError
            If an input is not a finite two-dimensional array, the numbers of columns differ, or
            the kernel is not defined on some row.
        """
        left: Array = check_array(X, dtype=np.float64, input_name="X")
        right: Array = left if Y is None else check_array(Y, dtype=np.float64, input_name="Y")
        if left.shape[1] != right.shape[1]:
            raise ValueError(
                f"X has {left.shape[1]} columns and Y has {right.shape[1]}: expected the same "
                f"number."
            )
        self.check_dim(left.shape[1])
        self.check_inputs(left)
        if right is not left:
            self.check_inputs(right)
        K = np.empty((len(left), len(right)))
        for rows in row_blocks(len(left), K.itemsize * len(right)):
            K[rows] = self.evaluate(left[rows], right)
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

    def check_inputs(self, X: Any) -> None:  # noqa: B027 - most kernels take every input
        """Raise ``ValueError`` unless the kernel is defined on every row of ``X``.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Finite.
        """

    def __add__(self, other: Any) -> "Kernel":
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum((*_terms(self), *_terms(other)))

    def __sub__(self, other: Any) -> "Kernel":
        if not isinstance(other, Kernel):
            return NotImplemented
        return self + (-other)

    def __mul__(self, other: Any) -> "Kernel":
        if isinstance(other, Kernel):
            return Product((*_factors(self), *_factors(other)))
        if isinstance(other, Real):
            return Scaled(self, float(other))
        return NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> "Kernel":
        return -1.0 * self


@dataclass(frozen=True, slots=True, repr=False)
class Sum(Kernel):
    """The sum of kernels, written ``k1 + k2``."""

    terms: tuple[Kernel, ...]

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = self.terms[0].evaluate(X, Y)
        for term in self.terms[1:]:
            K += term.evaluate(X, Y)
        return K

    def diag(self, X: ArrayLike) -> Array:
        return reduce(add, (term.diag(X) for term in self.terms))

    def check_dim(self, dim: int) -> None:
        for term in self.terms:
            term.check_dim(dim)

    def check_inputs(self, X: Any) -> None:
        for term in self.terms:
            term.check_inputs(X)

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


@dataclass(frozen=True, slots=True, repr=False)
class Product(Kernel):
    """The product of kernels, written ``k1 * k2``."""

    factors: tuple[Kernel, ...]

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = self.factors[0].evaluate(X, Y)
        for factor in self.factors[1:]:
            K *= factor.evaluate(X, Y)
        return K

    def diag(self, X: ArrayLike) -> Array:
        return reduce(mul, (factor.diag(X) for factor in self.factors))

    def check_dim(self, dim: int) -> None:
        for factor in self.factors:
            factor.check_dim(dim)

    def check_inputs(self, X: Any) -> None:
        for factor in self.factors:
            factor.check_inputs(X)

    def __repr__(self) -> str:
        return " * ".join(map(_in_parentheses, self.factors))


@dataclass(frozen=True, slots=True, repr=False)
class Scaled(Kernel):
    """A kernel times a number of either sign, written ``factor * kernel``."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.factor):
            raise ValueError(f"A kernel can be scaled by a finite number only, got {self.factor}.")
        if isinstance(self.kernel, Scaled):
            object.__setattr__(self, "factor", self.factor * self.kernel.factor)
            object.__setattr__(self, "kernel", self.kernel.kernel)

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = self.kernel.evaluate(X, Y)
        K *= self.factor
        return K

    def diag(self, X: ArrayLike) -> Array:
        return self.factor * self.kernel.diag(X)

    def check_dim(self, dim: int) -> None:
        self.kernel.check_dim(dim)

    def check_inputs(self, X: Any) -> None:
        self.kernel.check_inputs(X)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_parentheses(self.kernel)}"


@dataclass(frozen=True, slots=True)
class Stationary(Kernel):
    """A kernel of the scaled lag ``(x - y) / length_scale`` with ``k(x, x) = 1``.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        In the units of the inputs; one number, or one per input.
    """

    length_scale: LengthScale = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "length_scale", as_positive("length_scale", self.length_scale))

    @abstractmethod
    def correlation(self, X: Array, Y: Array) -> Array:
        """Return a new array of kernel values for rows already divided by the length scale."""

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.correlation(X / as_array(self.length_scale), Y / as_array(self.length_scale))

    def diag(self, X: ArrayLike) -> Array:
        return np.ones(len(check_array(X, dtype=np.float64, input_name="X")))

    def check_dim(self, dim: int) -> None:
        check_dim("length_scale", self.length_scale, dim)


def _terms(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.terms if isinstance(kernel, Sum) else (kernel,)


def _factors(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.factors if isinstance(kernel, Product) else (kernel,)


def _in_parentheses(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum | Product | Scaled) else repr(kernel)
