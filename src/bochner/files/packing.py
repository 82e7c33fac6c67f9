"""Arrays that model files hold in less space, without any change of a number.

Encoded tables repeat columns, and consist mostly of one-hot levels: a block of these is one number
per row, other columns of zeros and ones are bits, and equal columns are stored once. Triangular
matrices are stored without the zeros on their other side.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array

_SMALL = 2**14
"""Bytes up to which arrays are stored unpacked, because other parts of a file take more."""

_MOST_EXPANDED = 1024
"""Bytes of an array for each byte of its packed parts, at most: a file takes at most a fixed
multiple of its size in memory."""

_FEWEST_LEVELS = 9
"""Fewest levels that take less space as a byte than as bits."""

_MOST_LEVELS = 2**16
"""Most levels of a block, whose numbers have two bytes."""

TABLE_PARTS = ("source", "numbers", "codes", "widths", "bits")
"""Names of the parts of a table."""

Parts = Mapping[str, NDArray[Any]]
"""Packed parts of an array, by name."""


class _Runs(NamedTuple):
    """Columns of zeros and ones (n, q): blocks with a single one in each row, and others."""

    codes: list[NDArray[np.intp]]  # Of each block, (n,): Place of the one
    widths: list[int]
    in_blocks: list[int]  # Numbers of the columns in blocks, in their order
    others: list[int]


def pack_table(X: NDArray[np.generic]) -> Parts | None:
    """Return the parts of a table (n, d) of float64, or ``None`` unless they halve its size."""
    if X.ndim != 2 or X.dtype != np.float64 or X.nbytes <= _SMALL:
        return None
    numbers_of: dict[bytes, int] = {}
    columns = np.ascontiguousarray(X.T)
    place = np.array([numbers_of.setdefault(c.tobytes(), len(numbers_of)) for c in columns])
    first = np.unique(place, return_index=True)[1]
    distinct = columns[first]
    is_binary = ((distinct == 0.0) | (distinct == 1.0)).all(axis=1)
    is_binary &= ~np.signbit(distinct).any(axis=1)
    for parts in (_parts(distinct, place, is_binary, blocks=blocks) for blocks in (True, False)):
        n_bytes = _size(parts)
        if 2 * n_bytes < X.nbytes <= _MOST_EXPANDED * n_bytes:
            return parts
    return None


def _parts(
    distinct: Array, place: NDArray[np.intp], is_binary: NDArray[np.bool_], *, blocks: bool
) -> Parts:
    """Return the parts of distinct columns (k, n), whose places in a table are (d,)."""
    binary = np.flatnonzero(is_binary)
    runs = _runs(distinct[binary] > 0.0) if blocks else _Runs([], [], [], list(range(len(binary))))
    order = [np.flatnonzero(~is_binary), binary[runs.in_blocks], binary[runs.others]]
    codes = np.array(runs.codes, dtype=np.intp).reshape(len(runs.codes), distinct.shape[1])
    return {
        "source": np.argsort(np.concatenate(order).astype(np.intp))[place].astype(np.int32),
        "numbers": distinct[order[0]],
        "codes": codes.astype(np.uint8 if max(runs.widths, default=0) <= 256 else np.uint16),
        "widths": np.array(runs.widths, dtype=np.int32),
        "bits": np.packbits(distinct[order[2]] > 0.0, axis=1),
    }


def unpack_table(parts: Parts, shape: tuple[int, int]) -> Array:
    """Return the table of a shape; ``ValueError`` if parts from a file do not fit together."""
    n_rows, n_columns = shape
    source, widths, codes = parts["source"], parts["widths"], parts["codes"]
    if min(shape) < 0 or 8 * n_rows * n_columns > _MOST_EXPANDED * _size(parts):
        raise ValueError(f"a table of shape {shape} is far beyond its {_size(parts)} bytes")
    dims = {"source": 1, "numbers": 2, "codes": 2, "widths": 1, "bits": 2}
    is_whole = all(parts[name].dtype.kind in "iu" for name in ("source", "codes", "widths"))
    has_dims = all(parts[name].ndim == n for name, n in dims.items())
    if not (has_dims and is_whole) or parts["bits"].dtype != np.uint8 or widths.min(initial=1) < 1:
        raise ValueError("the parts of a table have unusable shapes")
    n_bits, n_distinct = parts["bits"], len(parts["numbers"]) + int(widths.sum(dtype=np.int64))
    n_distinct += len(n_bits)
    is_sound = (
        source.shape == (n_columns,)
        and parts["numbers"].shape[1] == n_rows
        and codes.shape == (len(widths), n_rows)
        and n_bits.shape[1] == (n_rows + 7) // 8
        and n_distinct <= n_columns
        and (not n_columns or 0 <= source.min() <= source.max() < n_distinct)
        and bool((codes < widths[:, None]).all())
    )
    if not is_sound:
        raise ValueError(f"the parts of a table of shape {shape} do not fit together")
    levels = [code == np.arange(width)[:, None] for code, width in zip(codes, widths, strict=True)]
    bits = np.unpackbits(n_bits, axis=1, count=n_rows)
    distinct = np.concatenate([parts["numbers"], *levels, bits]).astype(np.float64, copy=False)
    return np.ascontiguousarray(distinct[source].T)


def _runs(columns: NDArray[np.bool_]) -> _Runs:
    """Return blocks of neighbours with a single one in each entry of columns (q, n)."""
    runs = _Runs([], [], [], [])
    start, total = 0, np.zeros(columns.shape[1], dtype=np.int64)
    for stop, column in enumerate(columns, 1):
        if (total[column] > 0).any() or stop - start > _MOST_LEVELS:
            runs.others.extend(range(start, stop - 1))
            start, total = stop - 1, np.zeros_like(total)
        total += column
        if total.all():
            columns_of_run = range(start, stop)
            if len(columns_of_run) >= _FEWEST_LEVELS:
                runs.codes.append(columns[start:stop].argmax(axis=0))
                runs.widths.append(len(columns_of_run))
                runs.in_blocks.extend(columns_of_run)
            else:
                runs.others.extend(columns_of_run)
            start, total = stop, np.zeros_like(total)
    runs.others.extend(range(start, len(columns)))
    return runs


def pack_triangle(X: NDArray[np.generic]) -> tuple[NDArray[Any], bool] | None:
    """Return the rows of a triangular matrix (n, n) in one, and whether it is a lower one.

    The result is ``None`` if the matrix has other entries on both sides, or is small.
    """
    if X.ndim != 2 or X.shape[0] != X.shape[1] or X.dtype.kind != "f" or X.nbytes <= _SMALL:
        return None
    for is_lower in (True, False):
        other = np.triu(X, 1) if is_lower else np.tril(X, -1)
        if not (other.any() or np.signbit(other).any()):
            return X[_triangle(len(X), is_lower)], is_lower
    return None


def unpack_triangle(packed: NDArray[np.generic], size: int, is_lower: bool) -> NDArray[np.generic]:
    """Return a triangular matrix (n, n); ``ValueError`` for another number of entries."""
    if size < 0 or packed.shape != (size * (size + 1) // 2,):
        raise ValueError(f"a triangle of size {size} has other entries than {packed.shape}")
    matrix = np.zeros((size, size), packed.dtype)
    matrix[_triangle(size, is_lower)] = packed
    return matrix


def _triangle(size: int, is_lower: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.tril_indices(size) if is_lower else np.triu_indices(size)


def _size(parts: Parts) -> int:
    return sum(part.nbytes for part in parts.values())
