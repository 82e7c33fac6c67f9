"""Kernels as functions of two inputs, with the sums and products that their operators return."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bochner._base.arrays import Array, InputRows, as_array, check_dim, row_blocks
from bochner._base.checks import check_rows_given, column_names
from bochner._base.limits import LARGEST_ENTRY
from bochner.kernels.kernel_parameters import (
    POSITIVE,
    Columns,
    NamedParameters,
    as_columns,
    check_kernel,
    checked_rows,
    checked_shape,
    indices_of,
    joined,
    named_columns,
    refuse_sklearn,
    shown,
)


class Kernel(NamedParameters, ABC):
    """A function of two inputs, evaluated exactly on the rows of arrays; an immutable value.

    Kernels are added, subtracted, multiplied and scaled with ``+``, ``-`` and ``*``, and applied
    to some columns with :meth:`on`.
    """

    __slots__ = ()

    per_input: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that are one number or a tuple with one per input."""

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return the Gram matrix ``k(x_i, y_j)`` (n, n2) of rows ``X`` (n, d) and ``Y`` (n2, d).

        By default ``Y`` is ``X``. Rows are data frames if the kernel is :meth:`on` named columns.
        Raises ``ValueError`` if an input is not a finite two-dimensional array, or the kernel is
        not defined on rows of these widths or on some row.
        """
        left = checked_rows(X)
        right: Array = left if Y is None else check_rows_given(Y, "Y", dtype=np.float64)
        kernel = self.resolved(named_columns(column_names(X), column_names(Y)))
        kernel.check_widths(left.shape[1], right.shape[1])
        kernel.check_inputs(left)
        if right is not left or not kernel.is_symmetric:
            kernel.check_right_inputs(right)
        K: Array = kernel._gram(left, right)
        if Y is None and kernel.has_noise:
            np.fill_diagonal(K, kernel.diag(left))
        return K

    def _gram(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix of checked rows, computed in blocks of rows."""
        K = np.empty((len(X), len(Y)))
        for rows in row_blocks(len(X), K.itemsize * len(Y)):
            # Distances and norms may overflow although the kernel has a finite limit.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                K[rows] = self._values(X[rows], Y)
            self.check_finite(K[rows])
        return K

    def _values(self, X: Array, Y: Array) -> Array:
        """Return the checked result of `evaluate`, which a user's subclass may define."""
        return checked_shape(self, "evaluate", self.evaluate(X, Y), (len(X), len(Y)))

    def check_finite(self, values: Array) -> None:
        """Raise ``ValueError`` unless values of the kernel are finite."""
        if not np.isfinite(values).all():
            raise ValueError(
                f"Values of {self!r} overflow on these rows. Scale X, or the kernel, by a smaller "
                f"factor."
            )

    @abstractmethod
    def evaluate(self, X: Array, Y: Array) -> Array:
        """Return a new array ``k(x_i, y_j)`` for one block of checked rows."""

    @abstractmethod
    def diag(self, X: ArrayLike) -> Array:
        """Return ``k(x_i, x_i)``, of shape (n,), without forming the Gram matrix."""

    def check_dim(self, dim: int) -> None:
        """Raise ``ValueError`` unless the kernel is defined on inputs with ``dim`` columns."""
        for name in self.per_input:
            check_dim(name, getattr(self, name), dim)

    def check_widths(self, left: int, right: int) -> None:
        """Raise ``ValueError`` unless the kernel is defined for arguments of these widths."""
        if left != right:
            raise ValueError(f"X has {left} columns and Y has {right}: expected the same number.")
        self.check_dim(left)

    def right_dim(self, dim: int) -> int:
        """Return the number of columns of right rows if left rows have ``dim`` columns."""
        return dim

    def check_inputs(self, X: InputRows) -> None:  # Default: all valid
        """Raise ``ValueError`` unless rows ``X``, dense or CSR, are valid left arguments."""

    def check_right_inputs(self, Y: InputRows) -> None:
        """Raise ``ValueError`` unless rows ``Y``, dense or CSR, are valid right arguments."""
        self.check_inputs(Y)

    @property
    def is_symmetric(self) -> bool:
        """Whether ``k(x, y) == k(y, x)`` for all inputs."""
        return True

    @property
    def has_noise(self) -> bool:
        """Whether the kernel contains White noise, which only adds to ``k(x, x)`` of a row."""
        return any(part.has_noise for part in self.nested().values())

    def on(self, columns: "int | str | slice | Sequence[int | str]") -> "OnColumns":
        """Return this kernel restricted to some columns of the inputs; see :class:`OnColumns`."""
        return OnColumns(self, as_columns(columns))

    def resolved(self, names: "Sequence[str] | None", rows: InputRows | None = None) -> "Kernel":
        """Return a copy with positions for column ``names``, and open parameters from ``rows``."""
        parts = {n: part for n, part in self.nested().items() if isinstance(part, Kernel)}
        made = {name: part.resolved(names, rows) for name, part in parts.items()}
        return self.replaced({name: new for name, new in made.items() if new is not parts[name]})

    @property
    def T(self) -> "Kernel":
        """The transpose, ``k.T(x, y) == k(y, x)``; the kernel itself if it is symmetric."""
        return self if self.is_symmetric else Transposed(self)

    @property
    def symmetrised(self) -> "Kernel":
        """The symmetric part, ``0.5 * (k + k.T)``; the kernel itself if it is symmetric."""
        return self if self.is_symmetric else 0.5 * (self + self.T)

    def __add__(self, other: object) -> "Kernel":
        if not isinstance(other, Kernel):
            refuse_sklearn(other)
            return NotImplemented
        return Sum((*_members(self, Sum), *_members(other, Sum)))

    def __sub__(self, other: object) -> "Kernel":
        return self.__add__(-other if isinstance(other, Kernel) else other)

    def __mul__(self, other: object) -> "Kernel":
        if isinstance(other, Kernel):
            return Product((*_members(self, Product), *_members(other, Product)))
        if isinstance(other, Real):
            return Scaled(self, other)  # type: ignore[arg-type]
        refuse_sklearn(other)
        return NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> "Kernel":
        return -1.0 * self


class _Compound(Kernel):
    """Base of composite kernels, which are defined where all members are defined."""

    __slots__ = ()

    @property
    def members(self) -> tuple[Kernel, ...]:
        """The member kernels."""
        return tuple(self.nested().values())

    def check_dim(self, dim: int) -> None:
        for member in self.members:
            member.check_dim(dim)

    def check_widths(self, left: int, right: int) -> None:
        for member in self.members:
            member.check_widths(left, right)

    def right_dim(self, dim: int) -> int:
        return self.members[0].right_dim(dim)

    def check_inputs(self, X: InputRows) -> None:
        for member in self.members:
            member.check_inputs(X)

    def check_right_inputs(self, Y: InputRows) -> None:
        for member in self.members:
            member.check_right_inputs(Y)

    @property
    def is_symmetric(self) -> bool:
        # Symmetric if the members' transposes are the members in some order.
        asymmetric = [kernel for kernel in self.members if not kernel.is_symmetric]
        unmatched = [kernel.T for kernel in asymmetric]
        for kernel in asymmetric:
            if kernel not in unmatched:
                return False
            unmatched.remove(kernel)
        return True


class _Combined(_Compound):
    """Base class of kernels that combine the values of their members."""

    __slots__ = ()

    _combine: ClassVar[np.ufunc]

    def __post_init__(self) -> None:
        (name,) = (field.name for field in fields(self))  # type: ignore[arg-type]
        members = getattr(self, name)
        if not isinstance(members, list | tuple) or not members:
            raise ValueError(f"{name} must be a sequence of kernels, got {members!r:.60}.")
        for member in members:
            check_kernel(name, member)
        object.__setattr__(self, name, tuple(members))

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = self.members[0]._values(X, Y)
        for member in self.members[1:]:
            self._combine(K, member._values(X, Y), out=K)
        return K

    def diag(self, X: ArrayLike) -> Array:
        return as_array(self._combine.reduce([member.diag(X) for member in self.members]))

    @property
    def T(self) -> Kernel:
        kind: Any = type(self)  # Sum or Product
        made: Kernel = self if self.is_symmetric else kind([part.T for part in self.members])
        return made


@dataclass(frozen=True, slots=True, repr=False)
class Sum(_Combined):
    """The sum of kernels, written ``k1 + k2``."""

    terms: tuple[Kernel, ...]

    _combine = np.add

    def __repr__(self) -> str:
        return joined(" + ", list(map(repr, self.terms)))


@dataclass(frozen=True, slots=True, repr=False)
class Product(_Combined):
    """The product of kernels, written ``k1 * k2``."""

    factors: tuple[Kernel, ...]

    _combine = np.multiply

    def __repr__(self) -> str:
        return joined(" * ", list(map(_in_parentheses, self.factors)))


@dataclass(frozen=True, slots=True, repr=False)
class Scaled(_Compound):
    """A kernel times a number of either sign, written ``factor * kernel``."""

    kernel: Kernel
    factor: float

    parameter_domains = MappingProxyType({"factor": POSITIVE})

    def __post_init__(self) -> None:
        check_kernel("kernel", self.kernel)
        if not isinstance(self.factor, Real):
            raise TypeError(f"factor must be a real number, got {self.factor!r}.")
        try:
            object.__setattr__(self, "factor", float(self.factor))
        except OverflowError:  # An integer of more than 308 digits
            object.__setattr__(self, "factor", np.inf)
        if isinstance(self.kernel, Scaled):
            object.__setattr__(self, "factor", self.factor * self.kernel.factor)
            object.__setattr__(self, "kernel", self.kernel.kernel)
        size = abs(self.factor)
        if not (1.0 / LARGEST_ENTRY <= size <= LARGEST_ENTRY or size == 0.0):
            raise ValueError(
                f"A kernel can be scaled by a finite number only: zero, or one from "
                f"{1.0 / LARGEST_ENTRY:g} to {LARGEST_ENTRY:g} in size; got {self.factor}."
            )

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = self.kernel._values(X, Y)
        K *= self.factor
        return K

    def diag(self, X: ArrayLike) -> Array:
        return self.factor * self.kernel.diag(X)

    @property
    def T(self) -> Kernel:
        return self if self.is_symmetric else Scaled(self.kernel.T, self.factor)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_parentheses(self.kernel)}"


@dataclass(frozen=True, slots=True, repr=False)
class Transposed(Kernel):
    """A kernel with its arguments exchanged, written ``k.T``."""

    kernel: Kernel

    def __post_init__(self) -> None:
        check_kernel("kernel", self.kernel)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.kernel._values(Y, X).T

    def diag(self, X: ArrayLike) -> Array:
        return self.kernel.diag(X)

    def check_dim(self, dim: int) -> None:
        self.kernel.check_dim(dim)

    def check_widths(self, left: int, right: int) -> None:
        self.kernel.check_widths(right, left)

    def check_inputs(self, X: InputRows) -> None:
        self.kernel.check_right_inputs(X)

    def check_right_inputs(self, Y: InputRows) -> None:
        self.kernel.check_inputs(Y)

    @property
    def is_symmetric(self) -> bool:
        return self.kernel.is_symmetric

    @property
    def T(self) -> Kernel:
        return self.kernel

    def __repr__(self) -> str:
        return f"Transposed({self.kernel!r})"


@dataclass(frozen=True, slots=True, repr=False)
class OnColumns(Kernel):
    r"""A kernel restricted to some columns of the inputs, :math:`k(x, y) = \kappa(x_S, y_S)`.

    Written ``kernel.on(columns)``. A sum of such kernels makes an additive model, a product an
    interaction. The frequencies of :math:`\kappa` are used on the columns and zeros elsewhere.

    Parameters
    ----------
    kernel : Kernel
        :math:`\kappa`, on as many inputs as there are columns.
    columns : int, str, slice or sequence of int or str
        Different positions (negative positions count from the end), or names of the columns of a
        data frame; given, not learned. A slice needs both ends.

    Examples
    --------
    >>> from bochner.kernels import Gaussian, Matern
    >>> k = Gaussian(0.5).on([0, 2]) + Matern().on(-2)
    >>> k([[0.0, 1.0, 0.0]], [[0.0, 1.0, 0.5], [0.0, 9.0, 0.0]]).round(4)
    array([[1.6065, 1.    ]])
    """

    kernel: Kernel
    columns: Columns

    def __post_init__(self) -> None:
        check_kernel("kernel", self.kernel)
        object.__setattr__(self, "columns", as_columns(self.columns))

    def __repr__(self) -> str:
        return f"{_in_parentheses(self.kernel)}.on({shown(self.columns)})"

    def resolved(self, names: Sequence[str] | None, rows: InputRows | None = None) -> Kernel:
        columns = indices_of(self.columns, names, None if rows is None else rows.shape[1])
        inner_names = None if names is None else [str(names[column]) for column in columns]
        inner_rows = None if rows is None else rows[:, list(columns)]
        inner = self.kernel.resolved(inner_names, inner_rows)
        changes = inner is not self.kernel or columns != self.columns
        return OnColumns(inner, columns) if changes else self

    def maps(self, dim: int) -> tuple[Array, Array]:
        """Return the matrices (dim, q) that select the columns of the left and right argument."""
        chosen = np.zeros((dim, len(self.columns)))
        chosen[list(indices_of(self.columns, None, dim)), np.arange(len(self.columns))] = 1.0
        return chosen, chosen

    @property
    def is_symmetric(self) -> bool:
        return self.kernel.is_symmetric

    @property
    def T(self) -> Kernel:
        return self if self.is_symmetric else OnColumns(self.kernel.T, self.columns)

    @property
    def symmetrised(self) -> Kernel:
        return self if self.is_symmetric else OnColumns(self.kernel.symmetrised, self.columns)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.kernel._values(self._of(X), self._of(Y))

    def diag(self, X: ArrayLike) -> Array:
        return self.kernel.diag(self._of(checked_rows(X)))

    def check_dim(self, dim: int) -> None:
        indices_of(self.columns, None, dim)
        self.kernel.check_dim(len(self.columns))

    def check_widths(self, left: int, right: int) -> None:
        Kernel.check_widths(self, left, right)
        self.kernel.check_widths(len(self.columns), len(self.columns))

    def check_inputs(self, X: InputRows) -> None:
        self.kernel.check_inputs(self._of(X))

    def check_right_inputs(self, Y: InputRows) -> None:
        self.kernel.check_right_inputs(self._of(Y))

    def _of(self, X: InputRows) -> Any:
        return X[:, list(indices_of(self.columns, None, X.shape[1]))]


def _members(kernel: Kernel, kind: type[_Combined]) -> tuple[Kernel, ...]:
    """Return the members of a kernel of class ``kind``, or else a tuple of the kernel itself."""
    return kernel.members if isinstance(kernel, kind) else (kernel,)


def _in_parentheses(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum | Product | Scaled) else repr(kernel)
