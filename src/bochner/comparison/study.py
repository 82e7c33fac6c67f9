"""A table model, tested and compared on held-out rows; columns that reveal the target."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone

from bochner._base.arrays import Array, Index, as_array
from bochner._base.number_texts import entries
from bochner._base.progress import Progress, silent
from bochner.comparison.contenders import OURS, add_others, timed_fit, within_time
from bochner.comparison.outcomes import LEVEL, Outcome, by_kind, outcome
from bochner.comparison.split import Roles, Split
from bochner.files.columns import KIND_NAMES, Column, labels, read_column
from bochner.tables.encoder import read_columns
from bochner.tables.sensitivity import VarianceShares
from bochner.tables.table_checks import fingerprint
from bochner.tables.table_classifier import TableClassifier
from bochner.tables.table_model import TableModel
from bochner.tables.table_regressor import TableRegressor

if TYPE_CHECKING:
    import pandas as pd

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


PACKAGES = ("bochner", "numpy", "scipy", "scikit-learn")
"""Packages whose versions are recorded, so that a result can be reproduced."""

Model = TableRegressor | TableClassifier


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Summary of a column of a table."""

    name: str
    kind: str  # "numbers", "dates", "text", ...
    n_missing: int
    n_distinct: int
    summary: str  # Range, or the most frequent texts


@dataclass(frozen=True, slots=True)
class TableFacts:
    """Summary of a table: its source, its features, and notes on problems in reading the file."""

    source: str
    n_rows: int
    columns: tuple[ColumnFacts, ...]
    notes: tuple[str, ...] = ()

    @property
    def share_missing(self) -> float:
        """Share of the entries that are missing."""
        n_entries = max(1, self.n_rows * len(self.columns))
        return sum(column.n_missing for column in self.columns) / n_entries


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A fitted model, one of its targets, and the test predictions of this target by all methods.

    ``outcomes`` by method begin with the model's, ``OURS``. Importance and interactions are None
    if not computed; ``record`` has facts that reproduce the fit; ``row_names`` name test rows.
    """

    model: Model
    target: str
    table: TableFacts
    split: Split
    outcomes: Mapping[str, Outcome]
    importance: VarianceShares | None = None
    interactions: VarianceShares | None = None
    record: Mapping[str, Any] = field(default_factory=dict)
    row_names: Sequence[str] = ()
    leaks: Sequence[Leak] = ()
    number: int = 0  # Index of the target among those of the model

    @property
    def own(self) -> Outcome:
        """Test outcome of the fitted model itself."""
        return self.outcomes[OURS]

    @property
    def is_classification(self) -> bool:
        """Whether the target holds classes."""
        return self.own.classes is not None

    @property
    def others(self) -> Mapping[str, Outcome]:
        """Test outcomes of the compared methods, by the names of the methods."""
        return {name: outcome for name, outcome in self.outcomes.items() if name != OURS}

    @property
    def by_kind(self) -> Mapping[str, Outcome]:
        """Outcomes by kind of test rows; empty if all of them are like the training rows."""
        return by_kind(self.own, self.model.unlike_rows(self.split.X_test))


def refitted(model: Model, split: Split, progress: Progress = silent) -> Model:
    """Return the model fitted to all rows, with the record of the test of the first fit."""
    everything = split.everything
    assert everything is not None, "the rows were split by a file"
    again: Model = clone(model)
    sides = {"groups": everything.groups, "time": everything.time}
    timed_fit(again, everything, callback=progress.relay, **sides)
    # Test rows are no longer new rows, so that equal rows by chance are those of the first fit.
    keys = fingerprint(everything.X, everything.X_test)
    keys["chance"] = model.record_["fingerprint"]["chance"]
    again.record_ = model.record_ | again.record_ | {"fingerprint": keys, "refitted": True}
    return again


def extended_studies(
    studies: Sequence[Study],
    split: Split,
    *,
    compare: bool = True,
    seed: int = 0,
    until: float = inf,
    progress: Progress = silent,
) -> tuple[list[Study], list[str]]:
    """Return studies with other methods and importances, and names of what took too long.

    A method stops after the seconds of the fit, and all work at ``until`` of ``perf_counter``.
    """
    model, own, left_out = studies[0].model, studies[0].own, list[str]()
    if compare:
        # The importance of columns takes about as long as the comparison.
        half = until if until == inf else perf_counter() + 0.5 * (until - perf_counter())
        options: dict[str, Any] = {"level": own.level, "seed": seed, "n_jobs": model.n_jobs}
        outcomes = [dict(study.outcomes) for study in studies]
        left_out += add_others(
            outcomes, split, **options, until=half, longest=own.seconds, progress=progress
        )
        studies = [replace(s, outcomes=o) for s, o in zip(studies, outcomes, strict=True)]
    progress("computing the importance of columns")
    if shares := within_time(lambda: shares_of(model), until):
        return [replace(study, **shares) for study in studies], left_out
    return list(studies), [*left_out, "importance of columns"]


def measured_studies(
    model: Model,
    split: Split,
    targets: Sequence[str],
    table: TableFacts,
    *,
    level: float = LEVEL,
    seconds: float = np.nan,
    is_analysed: bool = True,
    **shared: Any,
) -> list[Study]:
    """Return one study per target of a fitted model, from the test rows of a split.

    The attributes ``shared`` are equal in all studies.
    """
    if is_analysed:
        shared |= shares_of(model)
    columns, studies = read_columns(split.X), list[Study]()
    time = split.column if split.kind == "time" else None
    outcomes = own_outcomes(model, split, level, seconds)
    for number, (name, of_target) in enumerate(zip(targets, outcomes, strict=True)):
        part = split.of_target(number)
        suspects = leaks(columns, part.y, split.task == "classification", time)
        own = {"leaks": suspects, "number": number, **shared}
        studies.append(Study(model, name, table, part, of_target, **own))
    return studies


def shares_of(model: TableModel) -> dict[str, Any]:
    """Return the importance of the columns of a model, and the interactions of the first ones."""
    importance = model.importance()
    return {"importance": importance, "interactions": model.interactions(importance)}


def fit_facts(
    studies: Sequence[Study], roles: Roles, layout: Mapping[str, Any]
) -> dict[str, object]:
    """Return the facts about a fit and its test that are stored in the model file."""
    first, several = studies[0], len(studies) > 1
    split, scores = first.split, [study.own.scores() for study in studies]
    columns = roles.names | ({} if split.column is None else {split.kind: split.column})
    tested = {
        f"test_{name}": [of_target[name].value for of_target in scores] if several else score.value
        for name, score in scores[0].items()
        if np.isfinite(score.value)
    }
    return {
        "target": list(roles.target) if several else roles.target[0],
        "dropped": list(roles.drop),
        **columns,
        "task": split.task,
        "source": first.table.source,
        "layout": dict(layout),
        "fingerprint": fingerprint(split.X, split.X_test),
        "interval": first.own.level,
        "n_columns": split.X.shape[1],
        "n_test_samples": len(split.y_test),
        **tested,
    }


def row_names(rows: pd.DataFrame, ids: pd.Series | None = None) -> list[str]:
    """Return row names: the row number, counted from one, and the entry of the name column."""
    numbers = [f"row {int(place) + 1:,}" for place in rows.index]
    if ids is None:
        return numbers
    known = ids.loc[rows.index]
    return [f"{n} ({ids.name!r} {value})" for n, value in zip(numbers, known, strict=True)]


def table_facts(frame: pd.DataFrame, source: str, notes: Sequence[str] = ()) -> TableFacts:
    """Return the summary of a table of features."""
    columns = tuple(_column_facts(str(name), frame[name]) for name in frame.columns)
    return TableFacts(source, len(frame), columns, tuple(notes))


_DIGITS = 6  # Number of digits of the minimum and maximum of a numeric column
_MOST_TEXTS = 3  # Number of texts listed in the summary of a column


def _column_facts(name: str, series: pd.Series) -> ColumnFacts:
    column = read_column(name, series)
    present = column.raw[column.present]
    if not len(present):
        return ColumnFacts(name, KIND_NAMES[column.kind], len(series), 0, "")
    if column.kind == "numeric":
        ends = np.nanmin(column.values), np.nanmax(column.values)
        low, high = entries([float(end) for end in ends], _DIGITS)
        n_distinct, summary = len(np.unique(column.values[column.present])), f"{low} to {high}"
    elif column.kind == "date":
        times = column.wall_times()
        unit = "M8[D]" if (times == times.astype("M8[D]")).all() else "M8[m]"
        low, high = (str(end.astype(unit)) for end in (times.min(), times.max()))
        n_distinct, summary = len(np.unique(times)), f"{low} to {high}".replace("T", " ")
    else:
        texts, counts = np.unique(present.astype(str), return_counts=True)
        order = np.argsort(-counts, kind="stable")[:_MOST_TEXTS]
        shown = [f"{texts[i]} ({counts[i] / len(present):.0%})" for i in order]
        n_distinct, summary = len(texts), ", ".join(shown)
    n_missing = len(series) - len(present)
    return ColumnFacts(name, KIND_NAMES[column.kind], n_missing, n_distinct, summary)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the recorded packages."""
    numbers = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):  # Not installed, but run from a source checkout
            numbers[name] = version(name)
    return numbers


def own_outcomes(
    model: Model, split: Split, level: float = LEVEL, seconds: float = np.nan
) -> list[dict[str, Outcome]]:
    """Return, for each target, a mapping from the model's name to its outcome."""
    whole = outcome(model, split, level, seconds)
    if split.y.ndim == 1:
        return [{OURS: whole}]
    names, units = ("y", "prediction", "lower", "upper"), np.var(split.y, axis=0)
    return [
        {OURS: replace(whole, unit=float(unit), **{n: getattr(whole, n)[:, k] for n in names})}
        for k, unit in enumerate(units)
    ]
