"""Training rows of a table, their copies, and the groups that are left out together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from bochner._base.arrays import Array, Index, as_array
from bochner._base.checks import (
    check_classes,
    check_targets,
    is_frame,
    labels,
    numbers,
    of_numpy,
    refuse_masked,
    refuse_missing_targets,
    refuse_no_rows,
)
from bochner._base.frames import as_frame
from bochner._base.names import refuse_repeated, shown
from bochner._base.warn import warn_user
from bochner.engines import PartitionedRows
from bochner.features.chunks import are_whole
from bochner.files.columns import Column, read_column, rows_of
from bochner.files.stamps import sortable_times
from bochner.linear.argument_checks import checked_weight
from bochner.tables.encoder import is_pandas, read_columns
from bochner.tables.level_means import Removal
from bochner.tables.observations import Keys, bits, mixed
from bochner.tables.table_partitions import Others, collected_table

_LEAST_RATIO = 5.0
"""Pairs of equal rows, relative to their number by chance, from which equal rows are copies. In 172
public tables with equal rows, the ratio is mostly between 0.5 and 2 if entries are coarse."""

_FEWEST_DIFFERENT = 20
"""Fewest different rows of a table with copies: fewer may be levels of a design. If each of them is
there an even number of times, say, the table was written twice: that is improbable by chance."""

_MOST_COMPARED = 100_000
"""Rows, drawn at random, whose pairs are counted: more take time and hardly change the ratio."""


def originals(columns: Sequence[Keys]) -> Index:
    """Return the index (n,) of the first row of which a row is a copy; its own index without.

    ``columns`` has hashes (n,) of the entries of each column, with the target. Rows may be equal by
    chance if entries are coarse. Their number is estimated from the pairs of rows that differ in
    one column only, and from how often two entries of this column are equal.

    >>> number, level = np.arange(40) % 30, np.arange(40) % 2
    >>> hashes = [np.asarray(each, dtype=np.uint64) for each in (number, 7 * number, level)]
    >>> originals(hashes)[28:33].tolist(), originals(hashes[2:])[:4].tolist()
    ([28, 29, 0, 1, 2], [0, 1, 2, 3])
    """
    n = len(columns[0])
    salts = mixed(np.arange(1, len(columns) + 1, dtype=np.uint64))
    hashes = [mixed(column + salt) for column, salt in zip(columns, salts, strict=True)]
    keys: Keys = np.stack(hashes).sum(axis=0, dtype=np.uint64)
    _, first, row, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    if not _FEWEST_DIFFERENT <= len(counts) < n:
        return np.arange(n)
    if (n_written := int(np.gcd.reduce(counts))) > 1:
        return _written_again(row, counts // n_written)
    some = np.random.default_rng(0).permutation(n)[:_MOST_COMPARED]
    n_pairs = _pairs(keys[some])
    by_chance = max(_by_chance(keys[some], each[some], n_pairs) for each in hashes)
    return first[row] if n_pairs > _LEAST_RATIO * by_chance else np.arange(n)


def _written_again(row: Index, n_originals: Index) -> Index:
    """Return the first row (n,) of each original; equal rows may have several originals."""
    order = np.argsort(row, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(row)) - np.searchsorted(row[order], row[order])
    original = row * int(n_originals.max()) + place % n_originals[row]
    _, first, number = np.unique(original, return_index=True, return_inverse=True)
    return first[number]


def _pairs(keys: Keys) -> float:
    """Return the number of pairs of equal keys."""
    counts = np.unique(keys, return_counts=True)[1].astype(np.float64)
    return float(np.sum(counts * (counts - 1.0))) / 2.0


def _by_chance(keys: Keys, column: Keys, n_pairs: float) -> float:
    """Return the expected number of equal rows, from the pairs that differ in one column only."""
    n = len(keys)
    is_equal = _pairs(column) / (0.5 * n * (n - 1))
    return (
        (_pairs(keys - column) - n_pairs) * is_equal / (1.0 - is_equal) if is_equal < 1.0 else 0.0
    )


_GREATEST_RATIO = 1e8
"""Greatest ratio of two weights: from 1e10 on variances lose the digits of the function."""

_MOST_ROWS = 200_000
"""Most rows that counts are expanded to; beyond it, several copies become one row with a weight."""

_COPIED_SHARE = 0.05
"""Share of copies among the rows from which errors are too small by some per cent."""

_FEWEST_DATES = 10
"""Fewest distinct dates for rows to count as sorted in time."""

_PROBES = 20
"""Rows whose entries are read first, which rules out most columns that are not sorted dates."""


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The training rows of a table, all of positive weight. Equal rows are independent."""

    X: Any  # Table of n rows
    y: NDArray[Any]  # (n,) or (n, t)
    weights: Array | None  # (n,): With mean one; None for ones
    removal: Removal
    n_given: int  # Number of rows of positive weight that the user passed
    unit: float  # Divisor of the weights (n,)
    order: NDArray[np.intp] | None = None  # (n,): Row indices in order of time
    others: Others | None = None  # Rows outside the sample, if the rows are a sample
    classes: NDArray[Any] | None = None  # (C,): Labels by class index, if targets are indices
    are_counts: bool = False  # Whether weights say how many observations a row represents

    @property
    def weights_or_ones(self) -> Array:
        """Weights (n,) of mean one."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    @property
    def noise_unit(self) -> float:
        """Factor of the noise of new rows, which have the mean weight or count as one row."""
        return self.unit if self.are_counts else 1.0

    def part(self, chosen: NDArray[np.intp]) -> "TableRows":
        """Return the ``chosen`` rows, in their order."""
        weights, order = _at(self.weights, chosen), None
        unit = 1.0 if weights is None else float(weights.mean())
        if self.order is not None:
            order = np.argsort(np.argsort(self.order)[chosen], kind="stable")
        return TableRows(
            rows_of(self.X, chosen),
            self.y[chosen],
            None if weights is None else weights / unit,
            self.removal.part(chosen),
            len(chosen),
            unit * self.unit,
            order,
            are_counts=self.are_counts,
        )


def training_rows(
    model: Any,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | str | None,
    time: Any,
    *,
    is_numeric: bool,
) -> TableRows:
    """Return the validated rows of a table, or a sample of its partitions; classes are indices."""
    partitions, name = None, type(model).__name__
    if is_partitioned(X):
        _refuse_in_partitions(bool(model.base_models), groups, time)
        partitions = collected_table(X, y, sample_weight, numeric=is_numeric)
        sample = partitions.sample
        X, y, sample_weight = sample.X, sample.y, sample.weight
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    X = X if is_pandas(X) else as_frame("X", X)
    refuse_no_rows("y", y)
    refuse_masked("y", y)
    if is_frame(y):
        refuse_repeated(list(map(str, getattr(y, "columns", ()))), "y")
    refuse_missing_targets(y)
    read = of_numpy(y) if is_numeric else labels(y)
    # Memory order changes rounding.
    with np.errstate(over="ignore", invalid="ignore"):
        complete = check_array(read, ensure_2d=False, dtype=None, order="C", input_name="y")
    checked = _checked_numbers if is_numeric else partial(_checked_labels, name=name)
    target = checked(np.asarray(complete))
    check_consistent_length(X, target)
    weights = None
    if sample_weight is not None:
        weights = checked_weight(sample_weight, target)
        assert weights is not None
        _check_weight_ratio(weights)
        checked(target[weights > 0.0])  # All rows of a class may have had weight zero
    classes = None
    if not is_numeric:
        target, classes = _coded(X, target, weights)
    are_counts = model.weights == "counts"
    rows = table_rows(X, target, weights, groups, time, are_counts=are_counts)
    rows = replace(rows, classes=classes)
    if partitions is None and rows.removal.groups is None:
        note_sorted_dates(X)
    if partitions is None or partitions.is_whole:
        return rows
    n_given = sum(partitions.lengths)
    return replace(rows, others=Others(partitions, rows.unit, classes), n_given=n_given)


def is_partitioned(X: object) -> bool:
    """Return whether rows are a Dask collection or in partitions of another engine."""
    package = type(X).__module__.partition(".")[0]
    return package in ("dask", "dask_expr") or isinstance(X, PartitionedRows)


def _refuse_in_partitions(has_base_models: bool, *roles: ArrayLike | str | None) -> None:
    """Raise ValueError for base models, groups and times, which need all rows in memory."""
    what = "base_models" if has_base_models else "groups and time"
    if has_base_models or any(role is not None for role in roles):
        raise ValueError(
            f"{what} need rows in memory, and X is in partitions: leave them out, or pass some of "
            "the rows, such as X.sample(frac=0.1).compute()."
        )


def _checked_numbers(y: NDArray[np.generic]) -> NDArray[np.generic]:
    targets = as_array(numbers(y))
    check_targets(targets)
    return targets


def _checked_labels(y: NDArray[np.generic], name: str) -> NDArray[np.generic]:
    y = np.asarray(column_or_1d(labels(y), warn=True))
    check_classes(y)
    if len(np.unique(y)) < 2:
        raise ValueError(f"{name} needs at least two classes, got 1 class: {shown(y[0])}.")
    return y


def _coded(
    X: Any, y: NDArray[np.generic], weights: Array | None
) -> tuple[NDArray[np.intp], NDArray[np.generic]]:
    """Return class indices and labels; the order of classes does not depend on the labels."""
    names, first, number = np.unique(y, return_index=True, return_inverse=True)
    total = np.bincount(number, weights)
    keys = np.zeros(len(names), dtype=np.uint64)
    if len(np.unique(total)) < len(total):
        keys += np.iinfo(np.uint64).max
        np.minimum.at(keys, number, row_keys(read_columns(X), np.empty((len(y), 0))))
    order = np.lexsort((first, keys, -total))
    return np.argsort(order)[number], names[order]


def _check_weight_ratio(weights: Array) -> None:
    """Raise ValueError if the greatest weight is too large a multiple of the smallest."""
    present = weights[weights > 0.0]
    if present.size and present.max() > _GREATEST_RATIO * present.min():
        raise ValueError(
            f"sample_weight must have a ratio of at most {_GREATEST_RATIO:g} between positive "
            f"numbers; got {present.min():.3g} and {present.max():.3g}. Use 0 for rows that do not "
            "count."
        )


def table_rows(
    X: object,
    y: NDArray[np.generic],
    weights: Array | None,
    groups: ArrayLike | str | None,
    time: ArrayLike | str | None,
    *,
    are_counts: bool = False,
) -> TableRows:
    """Return the rows of positive weight, with the groups that are left out together."""
    if groups is not None and time is not None:
        raise ValueError(
            "groups and time both define which rows are left out together: give one of them."
        )
    labels, times = _per_row("groups", X, groups, len(y)), _per_row("time", X, time, len(y))
    unit, n_given = 1.0, len(y)
    if weights is not None:
        rows = np.flatnonzero(weights)
        n_given, weights = len(rows), weights[rows]
        if are_counts:
            repeats = _repeats(weights)
            rows, weights = np.repeat(rows, repeats), np.repeat(weights / repeats, repeats)
        X, y, labels, times = rows_of(X, rows), y[rows], _at(labels, rows), _at(times, rows)
        unit = float(weights.mean())
        weights = None if np.ptp(weights) == 0.0 else weights / unit
    warn_of_copies = not are_counts and groups is None and time is None
    ordered = _in_order_of_entries(X, y, (weights, labels, times), warn_of_copies)
    if ordered is not None:
        X, y, labels, times = (
            rows_of(X, ordered),
            y[ordered],
            _at(labels, ordered),
            _at(times, ordered),
        )
        weights = _at(weights, ordered)
    removal = Removal() if labels is None else Removal.of_labels(labels)
    removal = removal if times is None else Removal.of_times(times)
    order = None if times is None else np.argsort(times, kind="stable")
    return TableRows(X, y, weights, removal, n_given, unit, order, are_counts=are_counts)


def _at(entries: NDArray[Any] | None, rows: NDArray[np.intp]) -> Any:
    return None if entries is None else entries[rows]


def _repeats(counts: Array) -> NDArray[np.int64]:
    """Return the number of copies of each row; raise ValueError for fractions of rows."""
    if not (is_whole := are_whole(counts)).all():
        raise ValueError(
            "weights='counts' needs whole numbers in sample_weight, got "
            f"{counts[~is_whole][0]:.6g}: round them, or use weights='precisions'."
        )
    factor = min(1.0, _MOST_ROWS / float(counts.sum()))
    return np.maximum(np.round(factor * counts), 1.0).astype(np.int64)


def _in_order_of_entries(
    X: object, y: NDArray[np.generic], others: Sequence[NDArray[Any] | None], warn_of_copies: bool
) -> NDArray[np.intp] | None:
    """Return an order of rows that depends only on their entries; ``None`` if all rows differ."""
    entries = [y, *(other for other in others if other is not None)]
    codes = [np.unique(entry, return_inverse=True)[1].reshape(len(y), -1) for entry in entries]
    columns, targets = read_columns(X), np.column_stack(codes).astype(np.float64)
    keys = row_keys(columns, targets)
    _, counts = np.unique(keys, return_counts=True)
    if len(counts) == len(keys):
        return None
    if warn_of_copies:
        is_copy = originals(entry_hashes(columns, targets)) < np.arange(len(y))
        if np.mean(is_copy) >= _COPIED_SHARE:
            warn_user(
                f"{int(is_copy.sum()):,} of the {len(y):,} rows are copies of another row with the "
                "same target, and each counts as independent. Errors and intervals are too small "
                "if they are one observation: drop them, or pass its number as groups."
            )
    codes = [_ranks(column) for column in columns]
    return np.lexsort((*targets.T[::-1], *codes[::-1]))  # By entries, then by targets


def _per_row(name: str, X: Any, entries_or_name: Any, n_samples: int) -> NDArray[np.generic] | None:
    """Return labels (n,) from entries per row or a named column of the table, or ``None``."""
    if entries_or_name is None:
        return None
    if isinstance(entries_or_name, str):
        if entries_or_name not in getattr(X, "columns", ()):
            raise ValueError(
                f"{name} names the column {shown(entries_or_name)}, which the table does not have."
            )
        entries_or_name = X[entries_or_name]
    entries = np.asarray(entries_or_name)
    if entries.shape == (n_samples, 1):
        entries = entries[:, 0]
    if entries.shape != (n_samples,):
        got = len(entries) if entries.ndim == 1 else f"an array of shape {entries.shape}"
        raise ValueError(f"{name} must have an entry for each of the {n_samples} rows, got {got}.")
    has_gaps = any(e is None or getattr(e, "is_snan", bool)() or e != e for e in entries.tolist())
    if np.ma.is_masked(entries_or_name) or has_gaps:
        raise ValueError(f"{name} must not have missing entries.")
    if name == "time":
        has_shape = entries.shape == np.shape(entries_or_name)
        return sortable_times(name, entries_or_name if has_shape else entries)
    return np.asarray(labels(entries, name))


def is_sorted(dates: Array) -> bool:
    """Return whether dates (n,) ascend or descend, with at least ten distinct dates."""
    return int(np.sum(np.diff(dates) != 0.0)) + 1 >= _FEWEST_DATES and _is_monotone(dates)


def note_sorted_dates(X: Any) -> None:
    """Warn if the rows of a table of pandas or polars are sorted by a column of dates."""
    is_pandas = hasattr(X, "iloc")
    if not (is_pandas or hasattr(X, "get_column")):
        return
    probes = np.unique(np.linspace(0, len(X) - 1, _PROBES).round().astype(np.intp))
    for place, name in enumerate(X.columns):
        entries = X.iloc[:, place] if is_pandas else X.get_column(name)
        few = _dates(name, entries.iloc[probes] if is_pandas else entries[probes])
        if len(few) and _is_monotone(few) and is_sorted(_dates(name, entries)):
            warn_user(
                f"The rows are in the order of the dates {shown(name)}. If the rows to predict are "
                f'later, pass time={name!r} to fit (--time "{name}" in the command): without it, '
                "errors and intervals are too small."
            )
            return


def _is_monotone(dates: Array) -> bool:
    steps = np.diff(dates)
    return bool((steps >= 0.0).all() or (steps <= 0.0).all())


def _dates(name: object, entries: Any) -> Array:
    """Return dates (n,) as numbers; an empty array if some are missing or no dates."""
    column = read_column(str(name), entries)
    is_complete = column.kind == "date" and bool(column.present.all())
    return as_array(column.values) if is_complete else np.empty(0)


def row_keys(columns: Sequence[Column], target: NDArray[np.float64]) -> Keys:
    """Return a hash per row; among n, two different rows share one with probability n² / 4e19."""
    keys = np.zeros(len(target), dtype=np.uint64)
    for entries in entry_hashes(columns, target):
        keys = mixed(keys + entries)
    return keys


def entry_hashes(columns: Sequence[Column], target: NDArray[np.float64]) -> list[Keys]:
    """Return a hash (n,) of the entries of each column and target (n, t)."""
    return [*map(_numbers, columns), *map(bits, target.T)]


def _ranks(column: Column) -> NDArray[np.intp]:
    """Return ranks of entries: of numbers by size, of texts by the alphabet, missing ones first."""
    if column.values.dtype.kind == "f":
        return np.unique(column.values, return_inverse=True)[1]
    entries = zip(column.raw.tolist(), column.present.tolist(), strict=True)
    texts = [f"1{entry}" if there else "" for entry, there in entries]
    return np.unique(texts, return_inverse=True)[1]


def _numbers(column: Column) -> Keys:
    """Return a hash of each entry: its bits, or a digest of its text."""
    if column.values.dtype.kind == "f":
        return bits(column.values)
    entries = zip(column.raw.tolist(), column.present.tolist(), strict=True)
    texts = [f"{type(entry).__name__} {entry}" if there else "" for entry, there in entries]
    digests = {
        text: int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
        for text in set(texts)
    }
    return np.array([digests[text] for text in texts], dtype=np.uint64)
