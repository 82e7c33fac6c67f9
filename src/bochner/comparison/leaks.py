"""Columns that nearly determine the target alone: they may be unknown when predictions are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from bochner._base.arrays import Array, Index, as_array
from bochner.files.columns import Column, labels

_LEAST_SHARE = 0.98
"""Explained share from which a column is named. Of 4,600 columns of public tables, predicted by the
other columns of their table, few are explained to 98 % by a column that does not contain them.
Targets in other units, in eight steps or with a tenth of their spread as noise reach 98 %."""

_MOST_ROWS, _FEWEST_ROWS = 4_000, 30
"""Rows that are examined: with 4,000 random rows, the standard error of a share of 98 % is 0.1 %;
of fewer than thirty, one of many columns of noise may explain the target by chance."""

_MOST_NAMED = 3  # Most columns that are named, the largest share first
_YEARS = (1_800.0, 2_100.0)
"""Range of whole numbers that may be years: times are known when predictions are made."""

_SECOND_DIFFERENCE = 6.0
"""Variance of the second differences of independent values of variance one: 1 + 4 + 1."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A column, and the share of the target that it explains alone, between 0 and 1."""

    column: str
    share: float


def leaks(
    columns: Sequence[Column], target: NDArray[Any], is_class: bool, time: str | None = None
) -> list[Leak]:
    """Return columns that explain at least 98 % of a target (n,) alone, the largest share first.

    Rows are predicted by others with the same entry, or by the two with the nearest ones. Shares
    are those of the variance of the target or its ranks, or of the error rate. Times are not named.
    Next to times, shares are those of what the two previous rows do not tell, so that lagged values
    of the target are not named.
    """
    if len(target) < _FEWEST_ROWS:
        return []
    times = [column for column in columns if _is_time(column) or column.name == time]
    rows = np.random.default_rng(0).permutation(len(target))[:_MOST_ROWS]
    scales: list[NDArray[Any]] = [np.unique(target, return_inverse=True)[1]]
    if not is_class:
        scales = [rankdata(target), target / (np.max(np.abs(target)) or 1.0)]  # Against overflow
    in_time = [_error_in_time(values, is_class, times) for values in scales]
    suspects = []
    for column in columns:
        if column.kind not in ("numeric", "text") or column in times:
            continue
        used = rows[column.present[rows]]
        if column.kind == "text" or 2 * len(used) < len(rows):
            used = rows  # Missing entries are a level
        shares = [
            1.0 - _errors(column, used, values[used], is_class).mean() / unit
            for values, most in zip(scales, in_time, strict=True)
            if (unit := min(_error_of_none(values[used], is_class), most))
        ]
        suspects.append(Leak(column.name, float(max(shares, default=0.0))))
    named = [leak for leak in suspects if leak.share >= _LEAST_SHARE]
    return sorted(named, key=lambda leak: -leak.share)[:_MOST_NAMED]


def _is_time(column: Column) -> bool:
    """Return whether a column has dates or whole numbers that may be years."""
    if column.kind != "numeric":
        return column.kind == "date"
    years = column.values[column.present]
    return _YEARS[0] <= years.min() and years.max() <= _YEARS[1] and not np.any(years % 1.0)


def _error_of_none(values: NDArray[Any], is_class: bool) -> float:
    """Return the error of predictions without any column."""
    return float(1.0 - np.bincount(values).max() / len(values) if is_class else values.var())


def _error_in_time(values: NDArray[Any], is_class: bool, times: Sequence[Column]) -> float:
    """Return the error of predictions by the previous rows in time; infinite without times."""
    for column in times:
        if column.present.all():
            ordered = values[np.argsort(column.values, kind="stable")]
            steps = np.diff(ordered) != 0 if is_class else np.diff(ordered, 2) ** 2
            return float(np.mean(steps)) / (1.0 if is_class else _SECOND_DIFFERENCE)
    return np.inf


def _errors(column: Column, rows: Index, values: NDArray[Any], is_class: bool) -> Array:
    """Return errors (n,) of left-out rows: squared, or probabilities of the wrong classes."""
    n, is_text = len(rows), column.kind == "text"
    texts = labels(column.raw[rows], column.present[rows]).astype(str) if is_text else None
    level = np.unique(column.values[rows] if texts is None else texts, return_inverse=True)[1]
    others = np.bincount(level)[level] - 1
    order = np.argsort(level, kind="stable")
    nearest = np.empty((2, n), dtype=np.intp)
    nearest[:, order] = order[[1, *range(n - 1)]], order[[*range(1, n), -2]]
    if is_class:
        pair = np.unique(level * (values.max() + 1) + values, return_inverse=True)[1]
        same = np.bincount(pair)[pair] - 1.0
        alone = np.bincount(values)[values] / n if is_text else (values[nearest] == values).mean(0)
    else:
        same = np.bincount(level, values)[level] - values
        alone = np.full(n, values.mean()) if is_text else values[nearest].mean(axis=0)
    predicted = np.where(others > 0, same / np.maximum(others, 1), alone)
    return as_array(1.0 - predicted if is_class else (values - predicted) ** 2)
