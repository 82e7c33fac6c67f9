"""Asymmetric kernels: shifted and hyperbolic Gaussians, and kernels of two linear maps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from bochner._base.arrays import (
    Array,
    InputRows,
    LengthScale,
    as_array,
    as_positive,
    as_scalar_or_tuple,
    frozen_array,
    steps,
)
from bochner._base.limits import LARGEST_ENTRY
from bochner.kernels.base import Kernel
from bochner.kernels.kernel_parameters import POSITIVE, checked_rows, convert_fields
from bochner.kernels.stationary import Gaussian, LagKernel


@dataclass(frozen=True, slots=True, repr=False)
class _Skewed(LagKernel):
    """Base of Gaussian kernels skewed by a vector, which are symmetric if the vector is zero."""

    length_scale: LengthScale = 1.0

    parameter_domains = MappingProxyType({"length_scale": POSITIVE})

    def __post_init__(self) -> None:
        _, name = self.per_input
        convert_fields(self, length_scale=as_positive, **{name: as_scalar_or_tuple})
        vector = getattr(self, name)
        if np.abs(vector).max() > LARGEST_ENTRY:
            raise ValueError(f"{name} must be within {LARGEST_ENTRY:g}, got {vector!r:.60}.")

    @property
    def is_symmetric(self) -> bool:
        return not np.any(getattr(self, self.per_input[1]))

    @property
    def T(self) -> Kernel:
        _, name = self.per_input
        opposite = as_scalar_or_tuple(name, 0.0 - as_array(getattr(self, name)))
        return self if self.is_symmetric else replace(self, **{name: opposite})


@dataclass(frozen=True, slots=True, repr=False)
class ShiftGaussian(_Skewed):
    r"""The shifted Gaussian kernel, :math:`k(\Delta) = \exp(-\|(\Delta + r)/\ell\|_2^2 / 2)`.

    The kernel is one where :math:`y = x + r`, so each row resembles rows that are shifted by
    :math:`r`. The transpose has the shift :math:`-r`.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, in the units of the inputs; one number, or one per input. Given, not learned.
    shift : float or sequence of d floats, default=1.0
        :math:`r`, in the units of the inputs; given, not learned. A number is the same for every
        input. With zero it is the Gaussian kernel, and symmetric.

    References
    ----------
    He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022, equation (9).

    Examples
    --------
    >>> from bochner.kernels import ShiftGaussian
    >>> k = ShiftGaussian(1.0, shift=0.5)
    >>> k([[0.0]], [[0.5]]), k.T([[0.0]], [[0.5]]).round(4)
    (array([[1.]]), array([[0.6065]]))
    """

    shift: LengthScale = 1.0

    per_input = ("length_scale", "shift")

    def evaluate(self, X: Array, Y: Array) -> Array:
        return np.exp(_log_gaussian(self.length_scale, X + as_array(self.shift), Y))


@dataclass(frozen=True, slots=True, repr=False)
class SinhGaussian(_Skewed):
    r"""The skewed Gaussian, :math:`e^{-\|\Delta/\ell\|_2^2/2} (1 + \sinh(\beta \cdot \Delta))`.

    The symmetric part is the Gaussian kernel. The transpose has the vector :math:`-\beta`.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, in the units of the inputs; one number, or one per input. Given, not learned.
    beta : float or sequence of d floats, default=1.0
        :math:`\beta`, in the inverse units of the inputs; given. A number is the same for every
        input. With zero it is the Gaussian kernel, and symmetric.

    References
    ----------
    He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022, equation (10).

    Examples
    --------
    >>> from bochner.kernels import SinhGaussian
    >>> k = SinhGaussian(1.0, beta=0.5)
    >>> k([[1.0]], [[0.0]]).round(4), k([[0.0]], [[1.0]]).round(4)
    (array([[0.9226]]), array([[0.2905]]))
    """

    beta: LengthScale = 1.0

    per_input = ("length_scale", "beta")

    def evaluate(self, X: Array, Y: Array) -> Array:
        # A sum of three Gaussians, because the hyperbolic sine alone may overflow.
        exponent = _log_gaussian(self.length_scale, X, Y)
        tilt = _tilt(self.beta, X, Y)
        K = 0.5 * (np.exp(exponent + tilt) - np.exp(exponent - tilt))
        K += np.exp(exponent, out=exponent)
        return K

    @property
    def symmetrised(self) -> Kernel:
        # The hyperbolic sine is odd and cancels.
        return self if self.is_symmetric else Gaussian(self.length_scale)


@dataclass(frozen=True, slots=True, repr=False)
class CoshGaussian(_Skewed):
    r"""The tilted Gaussian, :math:`k(\Delta) = e^{-\|\Delta/\ell\|_2^2/2} e^{\beta \cdot \Delta}`.

    It is a shifted Gaussian with the greatest value :math:`\exp(\|\ell \beta\|_2^2 / 2)` at the lag
    :math:`\ell^2 \beta`, with elementwise products. The symmetric part has the factor
    :math:`\cosh(\beta \cdot \Delta)`, hence the name; the transpose has the vector :math:`-\beta`.

    Parameters
    ----------
    length_scale, beta : float or sequence of d floats, default=1.0
        :math:`\ell` and :math:`\beta`, as in :class:`SinhGaussian`; given, not learned.

    References
    ----------
    He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022, equation (11).

    Examples
    --------
    >>> from bochner.kernels import CoshGaussian
    >>> k = CoshGaussian(1.0, beta=0.5)
    >>> k([[1.0]], [[0.0]]), k([[0.0]], [[1.0]]).round(4)
    (array([[1.]]), array([[0.3679]]))
    """

    beta: LengthScale = 1.0

    per_input = ("length_scale", "beta")

    def evaluate(self, X: Array, Y: Array) -> Array:
        # Exponents add before the exponential, so that neither factor can overflow alone.
        return np.exp(_log_gaussian(self.length_scale, X, Y) + _tilt(self.beta, X, Y))


def _log_gaussian(length_scale: LengthScale, X: Array, Y: Array) -> Array:
    r"""Return the exponents :math:`-\|\Delta/\ell\|_2^2 / 2` (n, n2) of a Gaussian kernel."""
    scale = as_array(length_scale)
    return -0.5 * cdist(X / scale, Y / scale, "sqeuclidean")


def _tilt(beta: LengthScale, X: Array, Y: Array) -> Array:
    r"""Return the products :math:`\beta \cdot \Delta` (n, n2) of a vector and lags of rows."""
    # A common offset is subtracted first, to avoid cancellation. Sums, not matrix products, give
    # equal results for equal rows on both sides.
    left: Array = ((X - Y[0]) * as_array(beta)).sum(axis=1)
    right: Array = ((Y - Y[0]) * as_array(beta)).sum(axis=1)
    return as_array(np.subtract.outer(left, right))


_SHOWN_ENTRIES = 64
"""Largest number of entries of a matrix that the repr shows; of larger matrices it shows shapes."""

_DIAGONAL_BLOCK = 64
"""Rows whose Gram matrix is formed for its diagonal: more rows waste values, fewer add calls."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bilinear(Kernel):
    r"""A kernel of projected inputs, :math:`k(x, y) = \kappa(x L, y R)` with row vectors.

    The similarity of queries and keys in attention is of this form. The left and the right
    argument may have different widths, which the matrices map to the same width. Two such kernels
    are equal if their kernels and matrices are equal.

    Parameters
    ----------
    kernel : Kernel
        :math:`\kappa`, on inputs with q columns.
    left : array-like of shape (d, q)
        :math:`L`, the matrix for the left argument; given, not learned. It converts the units of
        this argument into the units of the kernel.
    right : array-like of shape (d2, q), default=None
        :math:`R`, the matrix for the right argument, also given; ``None`` means ``left``. The
        kernel is symmetric if :math:`\kappa` is symmetric and the matrices are equal.

    References
    ----------
    Wright and Gonzalez, "Transformers are deep infinite-dimensional non-Mercer binary kernel
    machines", 2021, for attention as an asymmetric kernel.

    Examples
    --------
    >>> from bochner.kernels import Bilinear, Gaussian
    >>> k = Bilinear(Gaussian(), left=[[1.0], [0.0]], right=[[2.0]])
    >>> k([[1.0, 5.0]], [[0.5], [1.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    kernel: Kernel
    left: Array
    right: Array

    def __init__(self, kernel: Kernel, left: ArrayLike, right: ArrayLike | None = None) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"Bilinear needs a Kernel, such as Gaussian(1.0), got {kernel!r}.")
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "left", _matrix("left", left))
        is_shared = right is None or right is left
        object.__setattr__(self, "right", self.left if is_shared else _matrix("right", right))
        try:
            kernel.check_widths(self.left.shape[1], self.right.shape[1])
        except ValueError as problem:
            raise ValueError(
                f"left has shape {self.left.shape} and right {self.right.shape}; the products "
                f"X @ left and Y @ right must have the columns that the kernel takes: {problem}"
            ) from problem

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor, so that copies are checked and read-only, too.
        return Bilinear, (self.kernel, self.left, None if self.right is self.left else self.right)

    @property
    def _key(self) -> tuple[object, ...]:
        return self.kernel, self.left.shape, self.left.tobytes(), self.right.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bilinear) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        right = "" if self._has_one_matrix else f", {_shown(self.right)}"
        return f"Bilinear({self.kernel!r}, {_shown(self.left)}{right})"

    @property
    def is_symmetric(self) -> bool:
        return self.kernel.is_symmetric and self._has_one_matrix

    @property
    def _has_one_matrix(self) -> bool:
        return self.right is self.left or np.array_equal(self.left, self.right)

    @property
    def T(self) -> Kernel:
        return self if self.is_symmetric else Bilinear(self.kernel.T, self.right, self.left)

    @property
    def symmetrised(self) -> Kernel:
        if len(self.left) != len(self.right):
            raise ValueError(
                f"A kernel of {len(self.left)} inputs on the left and {len(self.right)} on the "
                f"right cannot be symmetrised: its arguments cannot be exchanged."
            )
        return self if self.is_symmetric else 0.5 * (self + self.T)

    def resolved(self, names: Sequence[str] | None, rows: InputRows | None = None) -> Kernel:
        inner = self.kernel.resolved(None, None if rows is None else rows @ self.left)
        return self if inner is self.kernel else Bilinear(inner, self.left, self.right)

    def maps(self, dim: int) -> tuple[Array, Array]:
        """Return the matrices of the left and the right argument."""
        return self.left, self.right

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.kernel._values(X @ self.left, Y @ self.right)

    def _gram(self, X: Array, Y: Array) -> Array:
        # Inputs are projected once for all blocks, because this may cost more than the kernel.
        return self.kernel._gram(X @ self.left, Y @ self.right)

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_dim(rows.shape[1])
        left, right = rows @ self.left, rows @ self.right
        _check_products("X @ left", self.kernel.check_inputs, left)
        _check_products("X @ right", self.kernel.check_right_inputs, right)
        if self._has_one_matrix:
            return self.kernel.diag(left)
        value = np.empty(len(rows))
        for block in steps(len(rows), _DIAGONAL_BLOCK):
            value[block] = self.kernel._values(left[block], right[block]).diagonal()
        return value

    def check_dim(self, dim: int) -> None:
        self.check_widths(dim, dim)

    def check_widths(self, left: int, right: int) -> None:
        for name, matrix, width in (("left", self.left, left), ("right", self.right, right)):
            if len(matrix) != width:
                raise ValueError(
                    f"The {name} argument of this Bilinear kernel has {len(matrix)} inputs (the "
                    f"rows of {name}), but the data have {width}."
                )

    def right_dim(self, dim: int) -> int:
        return len(self.right)

    def check_inputs(self, X: InputRows) -> None:
        _check_products("X @ left", self.kernel.check_inputs, X @ self.left)

    def check_right_inputs(self, Y: InputRows) -> None:
        _check_products("Y @ right", self.kernel.check_right_inputs, Y @ self.right)


def _matrix(name: str, value: Any) -> Array:
    # Equal matrices get the same memory layout, which affects rounding, and the same sign of zero,
    # which affects hashes.
    matrix = frozen_array(name, np.ascontiguousarray(value, dtype=np.float64) + 0.0, None)
    if np.ndim(value) != 2 or not matrix.size:
        raise ValueError(
            f"{name} must be a matrix of shape (inputs, columns), both positive, got shape "
            f"{np.shape(value)}."
        )
    return matrix


def _shown(matrix: Array) -> str:
    rows, columns = matrix.shape
    return f"<{rows} x {columns}>" if matrix.size > _SHOWN_ENTRIES else str(matrix.tolist())


def _check_products(name: str, check: Callable[[Any], None], products: Array) -> None:
    try:
        check(products)
    except ValueError as problem:
        raise ValueError(f"In the products {name}: {problem}") from problem
