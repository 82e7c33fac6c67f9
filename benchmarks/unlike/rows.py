"""Training rows and test rows of each kind."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.harness import Options
from benchmarks.real.encoding import is_text
from benchmarks.unlike import design
from benchmarks.unlike.reading import importances, is_date, table_of

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Training rows and test rows of a kind.

    ``scale`` is the standard deviation of the target of the whole table, for targets of numbers.
    ``ranked`` are the columns without those of dates, the most important first.
    """

    X: pd.DataFrame
    y: NDArray[Any]  # (n,)
    X_test: pd.DataFrame
    y_test: NDArray[Any]  # (n2,)
    is_regression: bool
    scale: float
    ranked: tuple[str, ...]

    @property
    def important(self) -> str:
        """The most important column."""
        return self.ranked[0]


def rows_of(name: str, kind: str, seed: int, options: Options) -> Rows:
    """Return the rows of a kind; ``seed`` determines the split and the gaps."""
    split = _split(name, seed, options)
    if kind == design.ONE_GAP:
        return replace(split, X_test=split.X_test.assign(**{split.important: np.nan}))
    if kind in design.GAPS:
        rng, share = (
            np.random.default_rng([seed, list(design.KINDS).index(kind)]),
            design.GAPS[kind],
        )
        X_test = with_gaps(split.X_test, share, rng)
        X = with_gaps(split.X, share, rng) if kind == design.TRAINING_GAPS else split.X
        return replace(split, X=X, X_test=X_test)
    held = {design.NEW_LEVEL: held_levels, design.BEYOND: held_range, design.LATER: held_times}
    return _held_back(name, seed, options, held[kind]) if kind in held else split


@lru_cache(maxsize=2)
def _split(name: str, seed: int, options: Options) -> Rows:
    """Return complete rows, with the importances of columns among the training rows."""
    X, y = table_of(name, options.data)
    order = np.random.default_rng(seed).permutation(len(y))
    n, n_test = _sizes(len(y), options)
    split = _rows(name, X, y, order[n_test : n_test + n], order[:n_test], ())
    rises = importances(split.X, split.y, is_regression=split.is_regression)
    return replace(split, ranked=tuple(rises))


def _sizes(n_rows: int, options: Options) -> tuple[int, int]:
    """Return the greatest numbers of training rows and of test rows."""
    if options.quick:
        return design.QUICK_ROWS, design.QUICK_ROWS
    n_test = min(int(design.TEST_SHARE * n_rows), design.MOST_TEST_ROWS)
    return design.MOST_TRAINING_ROWS, n_test


def _rows(
    name: str,
    X: pd.DataFrame,
    y: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    ranked: tuple[str, ...],
) -> Rows:
    is_regression = design.EVERY[name].is_regression
    X_train, X_test = (X.iloc[part].reset_index(drop=True) for part in (train, test))
    scale = float(np.std(y)) if is_regression else 1.0
    return Rows(X_train, y[train], X_test, y[test], is_regression, scale, ranked)


def _held_back(name: str, seed: int, options: Options, held: Callable[["Context"], Mask]) -> Rows:
    """Return test rows that a rule holds back from training, and training rows of the rest."""
    X, y = table_of(name, options.data)
    ranked = _split(name, seed, options).ranked
    is_held = held(Context(X, ranked, design.EVERY[name].time, seed))
    order = np.random.default_rng(seed).permutation(len(y))
    n, n_test = _sizes(len(y), options)
    train, test = order[~is_held[order]][:n], order[is_held[order]][:n_test]
    return _rows(name, X, y, train, test, ranked)


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What decides which rows are held back: the table, and its columns by importance."""

    X: pd.DataFrame
    ranked: tuple[str, ...]
    time: str | None
    seed: int


def with_gaps(X: pd.DataFrame, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return the table with random entries missing; those of dates are kept."""
    is_missing = rng.random(X.shape) < share
    is_missing[:, [is_date(X[name]) for name in X]] = False
    return X.mask(is_missing)


def held_levels(context: Context) -> Mask:
    """Return which rows have one of the held-back levels of the most important text column.

    The column has three levels or more.
    Levels are taken in random order while at most a fifth more than the wanted share of the rows
    has them; if every level is more frequent, the rarest is held back.
    """
    texts = (context.X[name] for name in context.ranked if is_text(context.X[name]))
    column = next(column for column in texts if column.nunique() > 2)
    shares = column.value_counts(normalize=True)
    levels = list(shares.index)
    chosen: list[str] = []
    total = 0.0
    for place in np.random.default_rng(context.seed).permutation(len(shares)):
        share = float(shares.iloc[place])
        if total + share <= 1.2 * design.LEVEL_SHARE:
            chosen.append(levels[place])
            total += share
    return np.asarray(column.isin(chosen or levels[-1:]))


def held_range(context: Context) -> Mask:
    """Return which rows have the largest numbers of the most important column.

    With an odd seed they are the smallest. A column counts if the rows beyond its quantile are
    between half and one and a half of the wanted share.
    """
    sign = -1.0 if context.seed % 2 else 1.0
    for name in context.ranked:
        if not is_text(context.X[name]):
            values = sign * context.X[name].to_numpy()
            is_held = values > np.nanquantile(values, 1.0 - design.BEYOND_SHARE)
            if 0.5 <= np.mean(is_held) / design.BEYOND_SHARE <= 1.5:
                return np.asarray(is_held)
    raise ValueError("No column of numbers has a tail of the wanted share of rows.")


def held_times(context: Context) -> Mask:
    """Return which rows are the latest; rows of one time stay together."""
    times = context.X[context.time].astype("int64").to_numpy()
    return np.asarray(times > np.quantile(times, 1.0 - design.LATER_SHARE))
