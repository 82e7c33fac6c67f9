"""Pairwise distances, faster than `scipy.spatial.distance.cdist` for one-hot columns."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.compiling import compiled

Metric = Literal["cityblock", "euclidean", "sqeuclidean"]

Places = NDArray[np.intp]

_FEWEST_ROWS, _FEWEST_COLUMNS = 16, 16
"""Numbers of rows and columns from which a search for columns of mostly one value saves time."""

_BASE_ROWS = 31  # Number of rows whose median in a column is taken as the value of most rows
_SPARSE = 0.08
"""Largest share of pairs of rows without the value of most rows for which only these pairs are
computed: a pair found in a list takes ten times as long as a pair of a loop."""

_BITS = 51
"""Bits of the greatest sum of distances as a whole number: whole numbers of doubles have 53."""

_TILE = 512  # Rows of the second table in a tile, whose 100 columns fit a cache of half a megabyte


def distances(X: Array, Y: Array, metric: Metric) -> Array:
    """Return the distances (n, n2) between rows (n, d) and rows (n2, d), in float64."""
    rows, columns = (
        np.array(X, np.float64, order="C"),
        np.array(np.transpose(Y), np.float64, order="C"),
    )
    if rows.shape[1] != len(columns):
        raise ValueError(f"X has {rows.shape[1]} columns, but Y has {len(columns)}.")
    sums = np.zeros((len(rows), columns.shape[1]))
    is_sparse = np.zeros(len(columns), dtype=bool)
    if len(rows) >= _FEWEST_ROWS and len(columns) >= _FEWEST_COLUMNS:
        places = np.linspace(0, len(rows) - 1, _BASE_ROWS).astype(np.intp)
        base = np.sort(rows[places], axis=0)[_BASE_ROWS // 2]
        rows_differ, columns_differ = rows != base, columns != base[:, None]
        shares = rows_differ.mean(axis=0) * columns_differ.mean(axis=1)
        is_sparse = np.asarray(shares <= _SPARSE, dtype=bool)
    if is_sparse.any():
        chosen = np.flatnonzero(is_sparse)
        parts = rows[:, chosen], columns[chosen], base[chosen]
        is_other = rows_differ[:, chosen], columns_differ[chosen]
        if _add_sparse_columns(*parts, is_other, metric == "cityblock", sums):
            rows, columns = np.ascontiguousarray(rows[:, ~is_sparse]), columns[~is_sparse]
    (_add_absolute if metric == "cityblock" else _add_squares)(rows, columns, sums)
    return np.sqrt(sums, out=sums) if metric == "euclidean" else sums


def _add_sparse_columns(
    rows: Array,
    columns: Array,
    base: Array,
    is_other: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    is_absolute: bool,
    sums: Array,
) -> bool:
    """Add distances along columns of mostly ``base`` (c,); return False if sums may overflow."""
    other_rows, other_columns = is_other
    row, column = np.nonzero(other_rows)
    values, of_column = rows[row, column], np.nonzero(other_columns)
    column_values = columns[of_column]
    size = abs if is_absolute else np.square
    from_base, column_sizes = size(values - base[column]), size(column_values - base[of_column[0]])
    bounds = np.zeros((2, len(base)))
    np.maximum.at(bounds[0], column, from_base)
    np.maximum.at(bounds[1], of_column[0], column_sizes)
    # (a - b)^2 <= 2 (a^2 + b^2) bounds the squares.
    most = 4.0 * float(bounds.sum())
    if not most < np.inf:
        return False
    if most == 0.0:
        return not len(values) and not len(column_values)
    unit = 2.0 ** (np.ceil(np.log2(most)) - _BITS)
    starts = np.searchsorted(row, np.arange(len(rows) + 1))
    ends = np.searchsorted(of_column[0], np.arange(len(base) + 1))
    _add_corrected(
        starts,
        column,
        values,
        np.rint(from_base / unit),
        ends,
        of_column[1],
        column_values,
        np.rint(column_sizes / unit),
        is_absolute,
        unit,
        np.zeros(sums.shape[1]),
        np.empty(sums.shape[1]),
        sums,
    )
    return True


@compiled()
def _add_corrected(
    starts: Places,
    column: Places,
    values: Array,
    from_base: Array,
    ends: Places,
    places: Places,
    column_values: Array,
    column_sizes: Array,
    is_absolute: bool,
    unit: float,
    shared: Array,
    total: Array,
    sums: Array,
) -> None:
    for entry in range(places.size):
        shared[places[entry]] += column_sizes[entry]
    for i in range(sums.shape[0]):
        row_sum = 0.0
        for entry in range(starts[i], starts[i + 1]):
            row_sum += from_base[entry]
        for k in range(total.size):
            total[k] = shared[k] + row_sum
        for entry in range(starts[i], starts[i + 1]):
            j, value, length = column[entry], values[entry], from_base[entry]
            for other in range(ends[j], ends[j + 1]):
                difference = abs(value - column_values[other])
                if not is_absolute:
                    difference *= difference
                total[places[other]] += np.rint(difference / unit) - length - column_sizes[other]
        for k in range(total.size):
            sums[i, k] += unit * total[k]


@compiled()
def _add_absolute(rows: Array, columns: Array, sums: Array) -> None:
    for start in range(0, sums.shape[1], _TILE):
        for i in range(len(rows)):
            total = sums[i, start : start + _TILE]
            for j in range(len(columns)):
                value, tile = rows[i, j], columns[j, start : start + _TILE]
                for k in range(total.size):
                    total[k] += abs(value - tile[k])


@compiled()
def _add_squares(rows: Array, columns: Array, sums: Array) -> None:
    for start in range(0, sums.shape[1], _TILE):
        for i in range(len(rows)):
            total = sums[i, start : start + _TILE]
            for j in range(len(columns)):
                value, tile = rows[i, j], columns[j, start : start + _TILE]
                for k in range(total.size):
                    difference = value - tile[k]
                    total[k] += difference * difference


def decay(values: Array, rate: float = 1.0) -> Array:
    """Overwrite ``values`` by ``exp(-rate * values)`` and return it."""
    values *= -rate
    return np.exp(values, out=values)
