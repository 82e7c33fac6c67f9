r"""Compiled sums of kernel values between new rows and the rows of a law, in either precision.

Distances are sums over columns, and over columns of levels: two levels differ by a constant. A tile
of distances becomes kernel values and is multiplied by coefficients before the next one, so that no
matrix of kernel values is made where sums alone are asked for.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner._numerics.compiling import compiled
from bochner._numerics.wave_loops import LOOSE
from bochner.learning.tables.exchange_sums import _exponentials as _double_exponentials

Floats = NDArray[np.floating[Any]]
Codes = NDArray[np.uint16]

_TILE = 512
"""Rows whose distances are summed together: a hundred columns of them fit the second cache."""

_LOG2E = np.float32(1.4426950408889634)  # The logarithm of e to base two
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)  # Sum: log(2)
_SHIFTER = np.float32(12582912.0)  # 1.5 times 2 to the 23rd: added, it rounds to whole numbers
_SMALLEST = np.float32(-87.0)
"""Those of :mod:`bochner.learning.tables.exchange_sums`, for single precision. Products of the
first part of the logarithm of two with exponents are exact."""

# Coefficients of the exponential series, whose next term is below rounding
_C6, _C5, _C4, _C3 = (
    np.float32(1.0 / 720.0),
    np.float32(1.0 / 120.0),
    np.float32(1.0 / 24.0),
    np.float32(1.0 / 6.0),
)
_HALF, _ONE = np.float32(0.5), np.float32(1.0)  # In single precision, as products with them are


class Columns(NamedTuple):
    """The rows of a law by columns: numbers in length scales, and numbers of levels."""

    is_absolute: bool  # City-block distances, else squared Euclidean ones
    values: Floats  # (c, n)
    codes: Codes  # (b, n)
    steps: Floats  # (b,): Distance of two levels


def _exponentials(values: Any, powers: Any) -> None:
    """Replace numbers, zero or less, by their exponentials; ``powers`` is room for as many."""
    raise NotImplementedError


@compiled(fastmath=LOOSE)
def _single_exponentials(values: Any, powers: Any, bits: Any) -> None:
    for k in range(values.size):
        values[k] = max(values[k], _SMALLEST)
        powers[k] = values[k] * _LOG2E + _SHIFTER
    for k in range(values.size):
        n = powers[k] - _SHIFTER
        r = (values[k] - n * _LN2_HIGH) - n * _LN2_LOW
        p = _C6 * r + _C5
        p = p * r + _C4
        p = p * r + _C3
        p = p * r + _HALF
        p = p * r + _ONE
        values[k] = p * r + _ONE
    for k in range(values.size):
        bits[k] = (bits[k] << np.int32(23)) + np.int32(1065353216)  # 127 << 23
    for k in range(values.size):
        values[k] *= powers[k]


@overload(_exponentials)
def _exponentials_by_type(values: Any, powers: Any) -> Any:
    def single(values: Any, powers: Any) -> None:
        _single_exponentials(values, powers, powers.view(np.int32))

    def double(values: Any, powers: Any) -> None:
        _double_exponentials(values, powers, powers.view(np.int64))

    return single if values.dtype == types.float32 else double


@compiled(fastmath=LOOSE)
def _add_column(is_absolute: bool, column: Any, entry: Any, sums: Any) -> None:
    if is_absolute:
        for k in range(sums.size):
            sums[k] += abs(entry - column[k])
    else:
        for k in range(sums.size):
            sums[k] += (entry - column[k]) * (entry - column[k])


@compiled(fastmath=LOOSE)
def _add_four_columns(
    is_absolute: bool, columns: tuple[Any, Any, Any, Any], row: Any, first: int, sums: Any
) -> None:
    """Add distances by four columns: sums are read and written once for all of them."""
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


@compiled(fastmath=LOOSE)
def _add_levels(codes: Any, code: Any, step: Any, sums: Any) -> None:
    zero = step - step
    for k in range(sums.size):
        sums[k] += step if codes[k] != code else zero


@compiled(fastmath=LOOSE)
def _add_four_levels(
    codes: tuple[Any, Any, Any, Any], levels: Any, steps: Any, first: int, sums: Any
) -> None:
    c, d, e, f = codes
    i, j, m, n = levels[first], levels[first + 1], levels[first + 2], levels[first + 3]
    x, y, z, w = steps[first], steps[first + 1], steps[first + 2], steps[first + 3]
    zero = x - x
    for k in range(sums.size):
        sums[k] += ((x if c[k] != i else zero) + (y if d[k] != j else zero)) + (
            (z if e[k] != m else zero) + (w if f[k] != n else zero)
        )


@compiled(fastmath=LOOSE)
def _add_polynomial(
    is_root: bool, profile: Any, sums: Any, arguments: Any, polynomial: Any
) -> None:
    """Write minus ``u`` to arguments, and the polynomial of a profile."""
    factor, p0, p1, p2 = profile[0], profile[1], profile[2], profile[3]
    if is_root:
        for k in range(sums.size):
            arguments[k] = factor * np.sqrt(sums[k])
    else:
        for k in range(sums.size):
            arguments[k] = factor * sums[k]
    for k in range(sums.size):
        polynomial[k] = p0 + arguments[k] * (p1 + arguments[k] * p2)
        arguments[k] = -arguments[k]


@compiled(fastmath=LOOSE | {"reassoc"})
def _product(values: Any, coef: Any) -> float:
    total = values[0] * coef[0]
    for k in range(1, values.size):
        total += values[k] * coef[k]
    return total  # type: ignore[no-any-return]


@compiled()
def _tile(
    columns: Columns,
    is_root: bool,
    profile: Any,
    row: Any,
    levels: Any,
    start: int,
    room: tuple[Any, Any, Any, Any],
) -> None:
    """Write kernel values of a row at the rows of a law from ``start`` on to the second of room."""
    sums, values, polynomial, powers = room
    size = sums.size
    for k in range(size):
        sums[k] = 0.0
    stop, values_of, codes_of = start + size, columns.values, columns.codes
    n_fours = row.size // 4 * 4
    for c in range(0, n_fours, 4):
        of_values = (
            values_of[c, start:stop],
            values_of[c + 1, start:stop],
            values_of[c + 2, start:stop],
            values_of[c + 3, start:stop],
        )
        _add_four_columns(columns.is_absolute, of_values, row, c, sums)
    for c in range(n_fours, row.size):
        _add_column(columns.is_absolute, values_of[c, start:stop], row[c], sums)
    n_fours = levels.size // 4 * 4
    for b in range(0, n_fours, 4):
        of_codes = (
            codes_of[b, start:stop],
            codes_of[b + 1, start:stop],
            codes_of[b + 2, start:stop],
            codes_of[b + 3, start:stop],
        )
        _add_four_levels(of_codes, levels, columns.steps, b, sums)
    for b in range(n_fours, levels.size):
        _add_levels(codes_of[b, start:stop], levels[b], columns.steps[b], sums)
    _add_polynomial(is_root, profile, sums, values, polynomial)
    _exponentials(values, powers)
    if profile[2] != 0.0:
        _multiply(polynomial, values)


@compiled(fastmath=LOOSE)
def _multiply(factors: Any, values: Any) -> None:
    for k in range(values.size):
        values[k] *= factors[k]


@compiled()
def add_kernel_products(
    columns: Columns,
    is_root: bool,
    profile: Floats,
    rows: Floats,
    levels: Codes,
    coef: Floats,
    out: Array,
) -> None:
    """Add sums (n', t) of kernel values times coefficients (t, n).

    ``rows`` (n', c) and ``levels`` (n', b) are new rows, ``profile`` (4,) the numbers of
    :class:`~bochner.learning.tables.exchange_sums.ExponentialProfile`, of which ``p0`` is one.
    """
    n_rows = coef.shape[1]
    room = np.empty((4, _TILE), coef.dtype)
    for start in range(0, n_rows, _TILE):
        size = min(_TILE, n_rows - start)
        parts = room[0, :size], room[1, :size], room[2, :size], room[3, :size]
        for i in range(len(rows)):
            _tile(columns, is_root, profile, rows[i], levels[i], start, parts)
            for target in range(len(coef)):
                out[i, target] += _product(parts[1], coef[target, start : start + size])


@compiled()
def write_kernel_values(
    columns: Columns,
    is_root: bool,
    profile: Floats,
    rows: Floats,
    levels: Codes,
    out: Floats,
) -> None:
    """Write kernel values (n', m) of new rows at the first rows of a law."""
    room = np.empty((4, _TILE), out.dtype)
    for start in range(0, out.shape[1], _TILE):
        size = min(_TILE, out.shape[1] - start)
        parts = room[0, :size], room[1, :size], room[2, :size], room[3, :size]
        for i in range(len(rows)):
            _tile(columns, is_root, profile, rows[i], levels[i], start, parts)
            for k in range(size):
                out[i, start + k] = parts[1][k]


@compiled()
def level_codes(X: Array, starts: Any, widths: Any, codes: Codes) -> bool:
    """Write the numbers (n, b) of levels of rows (n, d); return whether all blocks have one level.

    A block of ``widths`` columns from ``starts`` on has a single one, and zeros.
    """
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
