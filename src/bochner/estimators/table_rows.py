"""The distinct rows of a table to fit, with what is left out together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner._numerics.checked import labels
from bochner._numerics.limits import FLOAT64_EPS
from bochner.estimators.table_partitions import Others
from bochner.tables.columns import rows_of
from bochner.tables.encoder import read_columns
from bochner.tables.repeated import row_keys

_BLOCKS = 10
"""Blocks of rows in time. The latest two together, a fifth of the rows, are left out last."""


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The distinct rows of a table to fit, all of positive weight."""

    X: Any  # Table of n rows
    y: NDArray[Any]  # (n,) or (n, t)
    weights: Array | None  # (n,): Of mean one
    groups: NDArray[np.int64] | None  # (n,): Numbers of groups that are left out together
    latest: NDArray[np.bool_] | None  # (n,): Rows of the latest block in time
    n_given: int  # Rows of positive weight, equal ones included
    unit: float  # What weights (n,) were divided by
    order: NDArray[np.intp] | None = None  # (n,): Numbers of the rows from first to last in time
    others: Others | None = None  # Rows of which these are a sample


def table_rows(X: Any, y: NDArray[Any], weights: Array | None, groups: Any, time: Any) -> TableRows:
    """Return the rows of positive weight, with their groups, or blocks in time."""
    if groups is not None and time is not None:
        raise ValueError("groups and time both say what is left out together: give one of them.")
    labels = _per_row("groups", X, groups, len(y))
    times = _per_row("time", X, time, len(y))
    if weights is not None:
        # Weights below the rounding of the mean count as much as that: the rows stay, their noise
        # remains a float, and the sum of all is the same up to rounding.
        kept, least = np.flatnonzero(weights), FLOAT64_EPS * weights.mean()
        X, y, weights = rows_of(X, kept), y[kept], np.maximum(weights[kept], least)
        labels, times = (None if part is None else part[kept] for part in (labels, times))
    n_given = len(y)
    first, weights, unit = _distinct(X, y, weights, labels, times)
    if first is not None:
        X, y = rows_of(X, first), y[first]
        labels, times = (None if part is None else part[first] for part in (labels, times))
    if times is not None:
        order = np.argsort(times, kind="stable")
        ranks = np.argsort(order, kind="stable")
        labels = np.minimum(_BLOCKS * ranks // len(y), _BLOCKS - 2)
        if labels.max() < _BLOCKS - 2:
            raise ValueError(
                f"time leaves the latest fifth of the rows out: expected at least {_BLOCKS // 2} "
                f"different rows, got {len(y)}."
            )
        return TableRows(X, y, weights, labels, labels == _BLOCKS - 2, n_given, unit, order)
    numbers = None if labels is None else np.unique(labels, return_inverse=True)[1]
    if numbers is not None and not numbers.any():
        raise ValueError("groups must have at least two different labels, got one.")
    return TableRows(X, y, weights, numbers, None, n_given, unit)


def _distinct(
    X: Any, y: NDArray[Any], weights: Array | None, *others: NDArray[Any] | None
) -> tuple[NDArray[np.intp] | None, Array | None, float]:
    """Return the first of each set of equal rows, in an order of their entries, and their weights.

    Weights have a mean of one, and the last value is what they were divided by.

    Equal rows are one row of their total weight: left out by itself, it would be predicted by the
    others. Rows of one total weight stay in their order, without weights, so that a table whose
    every row is there twice is learned as the table itself.
    """
    told = [np.unique(each, return_inverse=True)[1] for each in (y, *others) if each is not None]
    target = np.column_stack([each.reshape(len(y), -1) for each in told]).astype(np.float64)
    found, first, number = np.unique(
        row_keys(read_columns(X), target), return_index=True, return_inverse=True
    )
    total = np.bincount(number, weights)
    unit = float(total.mean())
    if np.ptp(total) == 0.0:
        return (None if len(found) == len(y) else np.sort(first)), None, unit
    return first, total / unit, unit


def _per_row(name: str, X: Any, given: Any, n_samples: int) -> NDArray[Any] | None:
    """Return what is given for each row, or a named column of the table; ``None`` if nothing."""
    if given is None:
        return None
    if isinstance(given, str):
        if given not in getattr(X, "columns", ()):
            raise ValueError(f"{name} names the column {given!r}, which the table does not have.")
        given = X[given]
    found = np.asarray(given)
    if found.shape == (n_samples, 1):
        found = found[:, 0]
    if found.shape != (n_samples,):
        got = len(found) if found.ndim == 1 else f"an array of shape {found.shape}"
        raise ValueError(f"{name} must have an entry for each of the {n_samples} rows, got {got}.")
    if np.ma.is_masked(given) or any(e is None or e != e for e in found.tolist()):
        raise ValueError(f"{name} must not have missing entries.")
    return np.asarray(labels(found, name))
