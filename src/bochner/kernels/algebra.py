"""Kernels made of kernels: sums, products, multiples and transposes."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bochner._numerics.arrays import Array
from bochner.kernels.base import Kernel


class _Compound(Kernel):
    """The base of kernels made of kernels, defined where all of their members are."""

    __slots__ = ()

    @property
    @abstractmethod
    def members(self) -> tuple[Kernel, ...]:
        """The kernels that this one is made of."""

    def check_dim(self, dim: int) -> None:
        for member in self.members:
            member.check_dim(dim)

    def check_widths(self, left: int, right: int) -> None:
        for member in self.members:
            member.check_widths(left, right)

    def right_dim(self, dim: int) -> int:
        return self.members[0].right_dim(dim)

    def check_inputs(self, X: Any) -> None:
        for member in self.members:
            member.check_inputs(X)

    def check_right_inputs(self, Y: Any) -> None:
        for member in self.members:
            member.check_right_inputs(Y)

    @property
    def is_symmetric(self) -> bool:
        return _are_closed_under_transposition(self.members)


@dataclass(frozen=True, slots=True, repr=False)
class Sum(_Compound):
    """The sum of kernels, written ``k1 + k2``.

    Symmetric if its terms are, or if the transpose of each is among them.
    """

    terms: tuple[Kernel, ...]

    @property
    def members(self) -> tuple[Kernel, ...]:
        return self.terms

    @property
    def T(self) -> Kernel:
        return self if self.is_symmetric else Sum(tuple(term.T for term in self.terms))

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = self.terms[0].evaluate(X, Y)
        for term in self.terms[1:]:
            K += term.evaluate(X, Y)
        return K

    def diag(self, X: ArrayLike) -> Array:
        return reduce(add, (term.diag(X) for term in self.terms))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.terms))


@dataclass(frozen=True, slots=True, repr=False)
class Product(_Compound):
    """The product of kernels, written ``k1 * k2``.

    Symmetric if its factors are, or if the transpose of each is among them.
    """

    factors: tuple[Kernel, ...]

    @property
    def members(self) -> tuple[Kernel, ...]:
        return self.factors

    @property
    def T(self) -> Kernel:
        return self if self.is_symmetric else Product(tuple(k.T for k in self.factors))

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = self.factors[0].evaluate(X, Y)
        for factor in self.factors[1:]:
            K *= factor.evaluate(X, Y)
        return K

    def diag(self, X: ArrayLike) -> Array:
        return reduce(mul, (factor.diag(X) for factor in self.factors))

    def __repr__(self) -> str:
        return " * ".join(map(_in_parentheses, self.factors))


@dataclass(frozen=True, slots=True, repr=False)
class Scaled(_Compound):
    """A kernel times a number of either sign, written ``factor * kernel``."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.factor):
            raise ValueError(f"A kernel can be scaled by a finite number only, got {self.factor}.")
        if isinstance(self.kernel, Scaled):
            object.__setattr__(self, "factor", self.factor * self.kernel.factor)
            object.__setattr__(self, "kernel", self.kernel.kernel)

    @property
    def members(self) -> tuple[Kernel, ...]:
        return (self.kernel,)

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = self.kernel.evaluate(X, Y)
        K *= self.factor
        return K

    def diag(self, X: ArrayLike) -> Array:
        return self.factor * self.kernel.diag(X)

    @property
    def is_symmetric(self) -> bool:
        return self.kernel.is_symmetric

    @property
    def T(self) -> Kernel:
        return self if self.is_symmetric else Scaled(self.kernel.T, self.factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_parentheses(self.kernel)}"


@dataclass(frozen=True, slots=True, repr=False)
class Transposed(Kernel):
    """A kernel with its arguments exchanged, written ``k.T``.

    Kernels whose transposes are of their own kind return those instead.
    """

    kernel: Kernel

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.kernel.evaluate(Y, X).T

    def diag(self, X: ArrayLike) -> Array:
        return self.kernel.diag(X)

    def check_dim(self, dim: int) -> None:
        self.kernel.check_dim(dim)

    def check_widths(self, left: int, right: int) -> None:
        self.kernel.check_widths(right, left)

    def check_inputs(self, X: Any) -> None:
        self.kernel.check_right_inputs(X)

    def check_right_inputs(self, Y: Any) -> None:
        self.kernel.check_inputs(Y)

    @property
    def is_symmetric(self) -> bool:
        return self.kernel.is_symmetric

    @property
    def T(self) -> Kernel:
        return self.kernel

    def __repr__(self) -> str:
        return f"Transposed({self.kernel!r})"


def _are_closed_under_transposition(kernels: Sequence[Kernel]) -> bool:
    """Tell whether the transposes of some kernels are the same kernels in any order."""
    asymmetric = [kernel for kernel in kernels if not kernel.is_symmetric]
    unmatched = [kernel.T for kernel in asymmetric]
    for kernel in asymmetric:
        if kernel not in unmatched:
            return False
        unmatched.remove(kernel)
    return True


def terms_of(kernel: Kernel) -> tuple[Kernel, ...]:
    """Return the terms of a sum, or the one kernel."""
    return kernel.terms if isinstance(kernel, Sum) else (kernel,)


def factors_of(kernel: Kernel) -> tuple[Kernel, ...]:
    """Return the factors of a product, or the one kernel."""
    return kernel.factors if isinstance(kernel, Product) else (kernel,)


def _in_parentheses(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum | Product | Scaled) else repr(kernel)
