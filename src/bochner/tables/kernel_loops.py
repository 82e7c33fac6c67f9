"""Compiled sums of kernel values, formed in tiles, between new rows and the rows of a law."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import DTypeLike, NDArray

from bochner._base.arrays import Array, Floats
from bochner._base.compiling import compiled, inner
from bochner._base.vector_loops import FASTER, LOOSE, add, copy

_LOG2E = 1.4426950408889634
"""The logarithm of e to base two."""

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
"""The logarithm of two in two parts; products of the first part with exponents are exact."""

_SHIFTER = 6755399441055744.0
"""1.5 times 2 to the power of 52: a sum with it is rounded to an integer in its last bits."""

Codes = NDArray[np.uint16]
Indices = NDArray[np.intp]

_TILE = 2048
"""Rows whose distances are summed together: with shorter tiles slices cost up to a half more."""

_COLUMNS_PER_CHANGE = 3
"""Columns per changed column from which a change, of two distances a column, is faster."""

_LARGEST_CHANGE = 256.0
"""Largest distance that a change removes: its rounding error moves an exponent by 2e-5."""

_SINGLE_LOG2E = np.float32(1.4426950408889634)  # The logarithm of e to base two
_SINGLE_LN2_HIGH, _SINGLE_LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)  # Sum: ln 2
_SINGLE_SHIFTER = np.float32(12582912.0)  # 1.5 times 2 to the 23rd
"""Single-precision versions of the constants of this file.
Products of the first part of the logarithm of two with exponents are exact."""

# Coefficients of the exponential series. The next term is smaller than a rounding error.
_C6, _C5, _C4, _C3 = map(np.float32, (1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0))
_HALF, _ONE = np.float32(0.5), np.float32(1.0)  # A float64 would make the sums float64


class Columns(NamedTuple):
    """Rows by columns: numbers in units of length scales, and level codes."""

    is_absolute: bool  # City-block distances if true, else squared Euclidean
    values: Floats  # (c, n)
    ends: Floats  # (c, 2): Smallest and largest value of each column
    codes: Codes  # (b, n)
    steps: Floats  # (b,): Distance of two levels


def _bits(context: Any, shifted: Any) -> Any:
    """Return two to the power of the integer in the last bits of a sum with a shifter."""
    width, digits, bias = (32, 23, 127) if shifted == types.float32 else (64, 52, 1023)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = ir.IntType(width)
        exponent = builder.shl(builder.bitcast(arguments[0], bits), bits(digits))
        return builder.bitcast(builder.add(exponent, bits(bias << digits)), arguments[0].type)

    return shifted(shifted), code


_power_of_two: Any = intrinsic(_bits)


def exponential(value: float) -> float:
    """Return the exponential of a number between the smallest exponent and zero."""
    raise NotImplementedError


# exp(x) = 2^n exp(r) with |r| <= log(2) / 2, so that a short series of exp(r) suffices.
@inner(fastmath=LOOSE)
def _single_exponential(value: float) -> float:
    shifted = value * _SINGLE_LOG2E + _SINGLE_SHIFTER
    n = shifted - _SINGLE_SHIFTER
    r = (value - n * _SINGLE_LN2_HIGH) - n * _SINGLE_LN2_LOW
    p = ((_C6 * r + _C5) * r + _C4) * r + _C3
    p = (p * r + _HALF) * r + _ONE
    return (p * r + _ONE) * _power_of_two(shifted)  # type: ignore[no-any-return]


@inner(fastmath=LOOSE)
def _double_exponential(value: float) -> float:
    shifted = value * _LOG2E + _SHIFTER
    n = shifted - _SHIFTER
    r = (value - n * _LN2_HIGH) - n * _LN2_LOW
    p = (r * (1.0 / 6227020800.0) + 1.0 / 479001600.0) * r + 1.0 / 39916800.0
    p = (p * r + 1.0 / 3628800.0) * r + 1.0 / 362880.0
    p = (p * r + 1.0 / 40320.0) * r + 1.0 / 5040.0
    p = (p * r + 1.0 / 720.0) * r + 1.0 / 120.0
    p = ((p * r + 1.0 / 24.0) * r + 1.0 / 6.0) * r + 0.5
    p = p * r + 1.0
    return (p * r + 1.0) * _power_of_two(shifted)  # type: ignore[no-any-return]


@overload(exponential, jit_options={"fastmath": LOOSE})
def _exponential_by_type(value: Any) -> Callable[..., float]:
    # Numba compares the annotations of an overload and of the function that it returns.
    def single(value: Any) -> float:
        return _single_exponential(value)

    def double(value: Any) -> float:
        return _double_exponential(value)

    return single if value == types.float32 else double


@inner(fastmath=LOOSE)
def _add_column(
    is_absolute: bool, column: Floats, entry: float, sign: np.float32, sums: Floats
) -> None:
    if is_absolute:
        for k in range(sums.size):
            sums[k] += sign * abs(entry - column[k])
    else:
        for k in range(sums.size):
            sums[k] += sign * (entry - column[k]) * (entry - column[k])


@inner(fastmath=LOOSE)
def _add_four_columns(
    is_absolute: bool,
    columns: tuple[Floats, Floats, Floats, Floats],
    row: Floats,
    first: int,
    sums: Floats,
) -> None:
    """Add the distances in four columns at once, so that sums are read and written once."""
    c, d, e, f = columns
    x, y, z, w = row[first], row[first + 1], row[first + 2], row[first + 3]
    if is_absolute:
        for k in range(sums.size):
            sums[k] += (abs(x - c[k]) + abs(y - d[k])) + (abs(z - e[k]) + abs(w - f[k]))
    else:
        for k in range(sums.size):
            sums[k] += ((x - c[k]) * (x - c[k]) + (y - d[k]) * (y - d[k])) + (
                (z - e[k]) * (z - e[k]) + (w - f[k]) * (w - f[k])
            )


@inner(fastmath=LOOSE)
def _add_levels(codes: Codes, code: int, step: float, sums: Floats) -> None:
    zero = step - step  # Has the precision of ``step``
    for k in range(sums.size):
        sums[k] += step if codes[k] != code else zero


@inner(fastmath=LOOSE)
def _add_four_levels(
    codes: tuple[Codes, Codes, Codes, Codes], levels: Codes, steps: Floats, first: int, sums: Floats
) -> None:
    c, d, e, f = codes
    i, j, m, n = levels[first], levels[first + 1], levels[first + 2], levels[first + 3]
    x, y, z, w = steps[first], steps[first + 1], steps[first + 2], steps[first + 3]
    zero = x - x
    for k in range(sums.size):
        sums[k] += ((x if c[k] != i else zero) + (y if d[k] != j else zero)) + (
            (z if e[k] != m else zero) + (w if f[k] != n else zero)
        )


@inner(fastmath=LOOSE)
def _set_values(is_root: bool, profile: Floats, distances: Floats, values: Floats) -> None:
    """Write kernel values of distances."""
    factor, p0, p1, p2, most = profile[0], profile[1], profile[2], profile[3], profile[4]
    if is_root:
        for k in range(distances.size):
            u = min(factor * np.sqrt(distances[k]), most)
            values[k] = (p0 + u * (p1 + u * p2)) * exponential(-u)
    else:
        for k in range(distances.size):
            u = min(factor * distances[k], most)
            values[k] = (p0 + u * (p1 + u * p2)) * exponential(-u)


@inner(fastmath=FASTER)
def _product(values: Floats, coef: Floats) -> float:
    total = values[0] * coef[0]  # An initial 0.0 would be float64
    for k in range(1, values.size):
        total += values[k] * coef[k]
    return total  # type: ignore[no-any-return]


@inner()
def _part(values: Any, place: int, start: int, size: int) -> Any:
    # A function, because Numba takes long to translate the slice at each place of its use.
    return values[place, start : start + size]


@inner()
def _four_parts(values: Any, first: int, start: int, size: int) -> Any:
    return (
        _part(values, first, start, size),
        _part(values, first + 1, start, size),
        _part(values, first + 2, start, size),
        _part(values, first + 3, start, size),
    )


@inner()
def _set_origins(columns: Columns, rows: Floats, levels: Codes, origins: Indices) -> None:
    """Replace the indices of rows that differ in few columns from an earlier row by its index."""
    origin = 0
    most = (rows.shape[1] + levels.shape[1]) // _COLUMNS_PER_CHANGE
    for i in range(1, len(rows)):
        n_changed = 0
        for b in range(levels.shape[1]):
            n_changed += levels[i, b] != levels[origin, b]
        for c in range(rows.shape[1]):
            if rows[i, c] != rows[origin, c]:
                low, high = columns.ends[c, 0], columns.ends[c, 1]
                far = max(high - rows[i, c], rows[i, c] - low)
                far = max(far, high - rows[origin, c], rows[origin, c] - low)
                size = far if columns.is_absolute else far * far
                n_changed += 1 if size <= _LARGEST_CHANGE else most + 1
        if n_changed > most:
            origin = i
        origins[i] = origin


@inner(fastmath=LOOSE)
def _set_distances(columns: Columns, row: Floats, levels: Codes, start: int, sums: Floats) -> None:
    """Write distances of a row from stored rows, from index ``start`` on."""
    size = sums.size
    for k in range(size):
        sums[k] = 0.0
    values_of, codes_of = columns.values, columns.codes
    n_fours = row.size // 4 * 4
    for c in range(0, n_fours, 4):
        of_values = _four_parts(values_of, c, start, size)
        _add_four_columns(columns.is_absolute, of_values, row, c, sums)
    for c in range(n_fours, row.size):
        _add_column(columns.is_absolute, _part(values_of, c, start, size), row[c], _ONE, sums)
    n_fours = levels.size // 4 * 4
    for b in range(0, n_fours, 4):
        _add_four_levels(_four_parts(codes_of, b, start, size), levels, columns.steps, b, sums)
    for b in range(n_fours, levels.size):
        _add_levels(_part(codes_of, b, start, size), levels[b], columns.steps[b], sums)


@inner(fastmath=LOOSE)
def _change_distances(
    columns: Columns,
    rows: tuple[Floats, Floats],
    levels: tuple[Codes, Codes],
    start: int,
    of_origin: Floats,
    sums: Floats,
) -> None:
    """Write distances of a row, from those of the row before a change of some columns."""
    size = sums.size
    copy(of_origin, sums)
    for c in range(rows[0].size):
        if rows[0][c] != rows[1][c]:
            column = _part(columns.values, c, start, size)
            _add_column(columns.is_absolute, column, rows[0][c], _ONE, sums)
            _add_column(columns.is_absolute, column, rows[1][c], -_ONE, sums)
    for b in range(levels[0].size):
        if levels[0][b] != levels[1][b]:
            codes = _part(columns.codes, b, start, size)
            _add_levels(codes, levels[0][b], columns.steps[b], sums)
            _add_levels(codes, levels[1][b], -columns.steps[b], sums)
    for k in range(size):
        sums[k] = max(sums[k], sums[k] - sums[k])  # Zero in the precision of the sums


@compiled()
def add_kernel_products(
    columns: Columns,
    is_root: bool,
    profile: Floats,
    rows: Floats,
    levels: Codes,
    coef: Floats,
    scratch: Floats,
    out: Array,
    values: Floats,
    are_similar: bool,
) -> None:
    """Add kernel values times coefficients (t, n) to ``out`` (n', t), or write kernel values.

    ``rows`` (n', c) and ``levels`` (n', b) are the numbers and the codes of new rows. Kernel values
    are written to ``values`` (n', n) unless it has no columns. If rows ``are_similar``, distances
    of a row follow from those of an earlier one by the columns that differ.
    """
    n_rows, origins = coef.shape[1], np.arange(len(rows))
    if are_similar:
        _set_origins(columns, rows, levels, origins)
    for start in range(0, n_rows, scratch.shape[1]):
        size = min(scratch.shape[1], n_rows - start)
        of_origin, of_row = _part(scratch, 0, 0, size), _part(scratch, 1, 0, size)
        of_tile = _part(scratch, 2, 0, size)
        for i in range(len(rows)):
            distances, j = of_origin, origins[i]
            if i == j:
                _set_distances(columns, rows[i], levels[i], start, distances)
            else:
                distances, pair = of_row, (rows[i], rows[j])
                _change_distances(
                    columns, pair, (levels[i], levels[j]), start, of_origin, distances
                )
            _set_values(is_root, profile, distances, of_tile)
            for target in range(len(coef)):
                out[i, target] += _product(of_tile, _part(coef, target, start, size))
            if values.shape[1] > 0:
                copy(of_tile, _part(values, i, start, size))


@compiled()
def add_residual_products(
    columns: Columns,
    is_root: bool,
    profile: Floats,
    rows: Floats,
    levels: Codes,
    coef: Array,
    weights: Array,
    targets: Array,
    scratch: Floats,
    values: Floats,
    products: Array,
    squares: Array,
) -> None:
    """Add kernel values times weighted residuals to ``products`` (t, n), and their squares (t,)."""
    n_rows = coef.shape[1]
    for first in range(0, len(rows), len(values)):
        count = min(len(values), len(rows) - first)
        for start in range(0, n_rows, scratch.shape[1]):
            size = min(scratch.shape[1], n_rows - start)
            distances = _part(scratch, 0, 0, size)
            for k in range(count):
                row, codes = rows[first + k], levels[first + k]
                _set_distances(columns, row, codes, start, distances)
                _set_values(is_root, profile, distances, _part(values, k, start, size))
        for k in range(count):
            i = first + k
            for target in range(len(coef)):
                residual = targets[i, target] - _product(values[k], coef[target])
                squares[target] += weights[i] * residual * residual
                add(weights[i] * residual, values[k], products[target])


def scratch_of(dtype: DTypeLike, tile: int = _TILE) -> Floats:
    """Return scratch memory (3, tile) for the distances and the kernel values of a tile."""
    return np.empty((3, tile), dtype)


@compiled()
def level_codes(
    X: Array, starts: NDArray[np.int64], widths: NDArray[np.int64], codes: Codes
) -> bool:
    """Write the codes (n, b) of the levels of rows (n, d); return whether blocks are one-hot."""
    for i in range(len(X)):
        for b in range(starts.size):
            level, count = 0, 0
            for j in range(widths[b]):
                entry = X[i, starts[b] + j]
                if entry == 1.0:
                    level = j
                    count += 1
                elif entry != 0.0:
                    return False
            if count != 1:
                return False
            codes[i, b] = level
    return True
