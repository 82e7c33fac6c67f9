"""Array types, blocks of rows, and validation of constructor arguments and fields."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from threading import local
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, lapack
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import mean_variance_axis

from bochner._base import limits
from bochner._base.names import nearest, shown
from bochner._base.threads import in_order, single_threaded_blas, threads_of_factor

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Floats = NDArray[np.floating[Any]]  # float32 or float64
LengthScale = float | tuple[float, ...]


class InputRows(Protocol):
    """Rows (n, d) after validation, dense or sparse."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def mean(self, axis: int) -> Any: ...


if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
    from numpy.typing import DTypeLike as DTypeLike

    MatrixLike = ArrayLike | sparse.sparray | sparse.spmatrix | InputRows
else:  # `help` prints these names in place of unions of 300 characters
    ArrayLike, DTypeLike, MatrixLike = (
        type(name, (), {"__module__": "builtins"})
        for name in ("ArrayLike", "DTypeLike", "MatrixLike")
    )
"""``MatrixLike`` are rows that a user passes: an array, a table, or a sparse matrix."""

RandomState = int | np.random.RandomState | None
"""The values of scikit-learn's ``random_state``."""

FLOATS = (np.float64, np.float32)
LARGEST_COUNT = 2**31 - 1
"""Largest number of features, rows or draws: compiled libraries have indices up to it."""


def row_blocks(
    n_rows: int, row_bytes: int, *, block_bytes: int | None = None, least: int = 1
) -> Iterator[slice]:
    """Return slices of rows that take ``block_bytes`` each, but hold at least ``least`` rows."""
    return steps(n_rows, max(1, least, (block_bytes or limits.BLOCK_BYTES) // max(1, row_bytes)))


def steps(n_rows: int, step: int) -> Iterator[slice]:
    """Yield slices of ``step`` rows that cover ``range(n_rows)``."""
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def squared_norms(X: Any) -> Any:
    """Return the squared norms (n,) of rows in float64."""
    return as_array(row_norms(X if sparse.issparse(X) else as_array(X), squared=True))


def column_extremes(X: Any) -> tuple[Array, Array]:
    """Return the least and the greatest entry of every column, dense or CSR."""
    low, high = X.min(axis=0), X.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return as_array(low), as_array(high)


def dense_rows(X: InputRows, rows: NDArray[np.intp]) -> Array:
    """Return the chosen rows of a dense or sparse ``X`` as a dense float64 array."""
    chosen = X[rows]
    return as_array(chosen.toarray() if sparse.issparse(X) else chosen)


def some_rows(X: InputRows, size: int, rng: np.random.Generator) -> Array:
    """Return at most ``size`` random rows of ``X`` as a dense float64 array."""
    return dense_rows(X, rng.permutation(X.shape[0])[:size])


def stacked_rows(first: Any, second: Any) -> Any:
    """Return the rows of two matrices, one after the other; CSR if either is."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.vstack((first, second), "csr")
    return np.concatenate((first, second))


def frozen_array(name: str, value: ArrayLike, shape: tuple[int, ...] | None) -> Array:
    """Return a read-only copy of ``value``, finite and of ``shape`` (``None`` means any)."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must be an array of numbers, got {shown(value)}.") from error
    except OverflowError as error:
        raise ValueError(f"{name} must be numbers that float64 can hold.") from error
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite.")
    array.flags.writeable = False
    return array


def as_scalar_or_tuple(name: str, value: ArrayLike) -> LengthScale:
    """Return ``value`` as a float or a flat tuple of floats, the hashable form of a field."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} must be a number or one number per input, got {shown(value)}."
        ) from error
    except OverflowError as error:
        raise ValueError(f"{name} must be a number that float64 can hold.") from error
    if array.ndim > 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a number or one number per input, got an array of shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {shown(value)}.")
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def decimal_years(times: NDArray[np.datetime64]) -> Array:
    """Convert dates or times to decimal years, such as 2020.5 for the middle of 2020."""
    years = times.astype("M8[Y]")
    start, end = (some.astype("M8[us]") for some in (years, years + np.timedelta64(1, "Y")))
    fraction: Array = (times.astype("M8[us]") - start) / (end - start)
    return years.astype(np.int64) + 1970 + fraction  # datetime64 counts years from 1970


def times_of(years: Array) -> NDArray[np.datetime64]:
    """Return decimal years as times, the inverse of `decimal_years`; ``nan`` is not a time.

    >>> times_of(np.array([1999.5]))
    array(['1999-07-02T12:00:00.000'], dtype='datetime64[ms]')
    """
    is_time = np.isfinite(years)
    first_years = np.floor(np.where(is_time, years, 0.0))
    start, end = ((first_years + add - 1970).astype("M8[Y]").astype("M8[ms]") for add in (0, 1))
    passed = (end - start).astype(np.float64) * np.where(is_time, years - first_years, 0.0)
    return np.where(is_time, start + passed.round().astype("m8[ms]"), np.datetime64("NaT"))


def as_array(value: ArrayLike) -> Array:
    """Return ``value`` as a float64 array."""
    return np.asarray(value, dtype=np.float64)


def as_positive(name: str, value: ArrayLike) -> LengthScale:
    """Return ``value`` as a strictly positive float or tuple of floats."""
    checked = as_scalar_or_tuple(name, value)
    if np.min(checked) <= 0:
        raise ValueError(f"{name} must be positive, got {shown(value)}.")
    largest = limits.LARGEST_ENTRY
    if np.min(checked) < 1.0 / largest or np.max(checked) > largest:
        raise ValueError(
            f"{name} must be between {1.0 / largest:g} and {largest:g}, because squares of inputs "
            f"are divided by its own; got {shown(value)}."
        )
    return checked


def as_positive_scalar(name: str, value: object) -> float:
    """Return ``value`` as a strictly positive, finite float."""
    if not 0.0 < (number := _as_real(name, value)) < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {shown(value)}.")
    return number


def as_scale(name: str, value: object) -> float:
    """Return ``value`` as a positive float whose square neither under- nor overflows."""
    number, largest = as_positive_scalar(name, value), limits.LARGEST_ENTRY
    if not 1.0 / largest <= number <= largest:
        raise ValueError(
            f"{name} must be between {1.0 / largest:g} and {largest:g}, because it is squared; got "
            f"{shown(value)}."
        )
    return number


def as_finite_scalar(name: str, value: object) -> float:
    """Return ``value`` as a finite float."""
    if not np.isfinite(number := _as_real(name, value)):
        raise ValueError(f"{name} must be finite, got {shown(value)}.")
    if abs(number) > limits.LARGEST_ENTRY:
        largest = f"{limits.LARGEST_ENTRY:g}"
        raise ValueError(f"{name} must be at most {largest} in size, got {shown(value)}.")
    return number


def _as_real(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {shown(value)}.")
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf  # type: ignore[operator]


def as_level(value: object, name: str = "level") -> float:
    """Return the level of an interval as a float strictly between zero and one."""
    if isinstance(value, bool) or not isinstance(value, Real):
        what = f"a {type(value).__name__}" if hasattr(value, "shape") else repr(value)
        raise TypeError(f"{name} must be a number between 0 and 1, such as 0.9, got {what}.")
    if not 0.0 < (number := float(value)) < 1.0:
        advice = f": pass {number / 100.0:g} for {number:g} %" if 1.0 < number < 100.0 else ""
        raise ValueError(f"{name} must lie between 0 and 1, like 0.9, got {shown(value)}{advice}.")
    return number


def as_levels(value: object) -> Array:
    """Return one or several quantile levels as an array (q,)."""
    levels = np.atleast_1d(np.asarray(value, dtype=object))
    if levels.ndim != 1 or not len(levels):
        raise ValueError(
            f"levels must be numbers between 0 and 1, such as [0.1, 0.5, 0.9], got {shown(value)}."
        )
    return np.array([as_level(level, "levels") for level in levels])


def as_count(name: str, value: object) -> int:
    """Return ``value`` as a positive integer."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a positive integer, got {shown(value)}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}.")
    count = int(value)
    if count > LARGEST_COUNT:
        raise ValueError(f"{name} must be at most {LARGEST_COUNT}, got {count}.")
    return count


def as_flag(name: str, value: object) -> bool:
    """Return ``value`` as a truth value: a boolean, zero or one."""
    if isinstance(value, bool | np.bool_ | Integral) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {shown(value)}.")


def check_dim(name: str, value: LengthScale, dim: int) -> None:
    """Raise unless ``value`` is a scalar or has one entry per input."""
    if isinstance(value, tuple) and len(value) != dim:
        raise ValueError(
            f"{name} has {len(value)} entries, but the data have {dim} inputs; "
            f"give one number, or one per input."
        )


class Scratch(local):
    """Reusable memory for blocks, separate for each thread: new memory is mapped page by page."""

    def __init__(self) -> None:
        self._memory = np.empty(0, dtype=np.byte)

    def block(self, n: int, p: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return an array (n, p) in C order, which reuses the memory of the thread's last block."""
        n_bytes = n * p * np.dtype(dtype).itemsize
        if len(self._memory) < n_bytes:
            self._memory = np.empty(n_bytes, dtype=np.byte)
        return np.asarray(self._memory[:n_bytes].view(dtype).reshape(n, p))


_CONSTANT = 1e-8
"""Deviation relative to the mean up to which a column is constant: the root of the rounding."""

_DECIMALS = 8
"""Decimals of numbers in units of their deviations: half of the digits of float64."""


def spreads(X: Any, weights: Array, of_constant: float = 1.0) -> Array:
    """Return standard deviations (d,) of columns, with ``of_constant`` for constant columns."""
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0, weights=weights)
    else:
        mean = np.average(X, axis=0, weights=weights)
        variance = np.average((X - mean) ** 2, axis=0, weights=weights)
    deviation = np.sqrt(as_array(variance))
    return np.where(deviation > _CONSTANT * np.abs(mean), deviation, of_constant)


def rounded(values: Any) -> Any:
    """Round numbers of order one, dense or CSR, to half of the float64 digits."""
    if isinstance(values, np.ndarray):
        return rounded_to(values, np.empty(values.shape))
    values = sparse.csr_array(values)
    values.data = np.round(values.data, _DECIMALS) + 0.0
    return values


def rounded_to(values: Array, out: Array) -> Array:
    """Write the result of :func:`rounded` to ``out`` of the same shape, and return it."""
    np.round(values, _DECIMALS, out=out)
    out += 0.0  # replaces -0.0 by 0.0
    return out


SomeFloats = TypeVar("SomeFloats", bound=Floats)


def floored(values: SomeFloats) -> SomeFloats:
    """Raise kernel values to the squared rounding error, in place: subnormal products are slow."""
    np.maximum(values, np.finfo(values.dtype).eps ** 2, out=values)
    return values


def jittered_cholesky(matrix: Array, ridge: float = 0.0, scale: float = 0.0) -> Array:
    """Return the lower Cholesky factor of ``matrix + ridge I``, with jitter added if needed.

    The jitter grows from 1e-15 to 1e-6 of the mean diagonal, or of a greater ``scale``.
    """
    diagonal = np.arange(len(matrix))
    scale = max(float(np.mean(np.diagonal(matrix))), scale) + ridge
    for jitter in (0.0, *(10.0**exponent * scale for exponent in range(-15, -5))):
        # The transpose of a symmetric matrix in C order is itself, in Fortran order.
        shifted = np.array(matrix.T, dtype=np.float64, order="F")
        shifted[diagonal, diagonal] += ridge + jitter
        with suppress(LinAlgError), threads_of_factor(shifted.nbytes):
            return cholesky(shifted, lower=True, overwrite_a=True)
    raise LinAlgError("The matrix is not positive definite, even with a jitter of 1e-6.")


def upper_triangle(
    values: Callable[[slice], NDArray[Any]],
    blocks: Sequence[slice],
    dtype: DTypeLike,
    n_threads: int | None = None,
) -> NDArray[Any]:
    """Return a matrix whose upper triangle ``values`` computes by blocks of rows, in threads."""
    size = blocks[-1].stop
    matrix = np.zeros((size, size), dtype)

    def fill(block: slice) -> None:
        matrix[block, block.start :] = values(block)

    with single_threaded_blas() as n_all:
        for _ in in_order(fill, blocks, n_threads or n_all):
            pass
    return matrix


def pivoted_cholesky(matrix: Array) -> tuple[Array, Index]:
    """Return ``L`` (p, r) with ``L L.T`` a semidefinite ``matrix``, and its pivots (r,)."""
    factor, order, rank, _ = lapack.dpstrf(matrix, lower=1)
    rows = np.asarray(order, dtype=np.intp) - 1
    lower = np.empty((len(matrix), rank))
    lower[rows] = np.tril(factor)[:, :rank]
    return lower, rows[:rank]


_ELSEWHERE: Mapping[str, Mapping[str, str]] = {
    "gamma": {
        "length_scale": "length_scale = 1 / sqrt(2 * gamma), for exp(-gamma * distance**2)",
        "kernel": "kernel=kernels.Gaussian(length_scale), with length_scale = 1 / sqrt(2 * gamma)",
    },
    "C": {"alpha": "alpha = 1 / (2 * C)"},
    "sigma": {"length_scale": "length_scale = sigma"},
    "length_scale": {"kernel": "kernel=kernels.Gaussian(length_scale), or another kernel's"},
    "n_components": {"length_scale": "FourierFeatures(kernel, n_components) for features"},
}
"""What to write for parameters of other libraries, by a parameter that the class has."""


def hinting(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor whose error for an unknown parameter says what to write instead."""

    @wraps(init)
    def checked(self: object, *values: Any, **named: Any) -> None:
        try:
            init(self, *values, **named)
        except TypeError:
            names = list(signature(type(self)).parameters)
            unknown = next((name for name in named if name not in names), None)
            if unknown is None or getattr(type(self).__init__, "__wrapped__", None) is not init:
                raise
            hints = _ELSEWHERE.get(unknown, {})
            near = nearest(unknown, names)
            advice = next((hints[name] for name in hints if name in names), "")
            advice = f"write {advice}." if advice else f"did you mean {near!r}?" if near else ""
            raise TypeError(
                f"{type(self).__name__}() got an unexpected keyword argument {shown(unknown)}: "
                f"{advice or 'its parameters are ' + (', '.join(names) or 'none') + '.'}"
            ) from None

    return checked
