"""Columns of numbers and categories for methods that take neither dates nor text."""

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import pandas as pd

MOST_LEVELS = 254
"""Levels of a category that HistGradientBoosting takes, less one."""


class Columns:
    """Encoder that keeps numbers, splits dates into parts, and makes text categorical.

    A date becomes its day since 1970 and its year, month, day of the month, weekday and hour.
    Columns that are constant and without gaps among the training rows are left out. Levels of text
    are those of the training rows; others become gaps. With ``most_levels``, levels beyond the most
    frequent ones become gaps, too. Names of columns are replaced, because some packages refuse
    brackets and quotes in them.
    """

    def __init__(self, most_levels: int | None = None) -> None:
        self.most_levels = most_levels

    def fit(self, frame: pd.DataFrame) -> Self:
        """Learn levels of text, and which columns vary."""
        self.levels_: dict[str, pd.Index[Any]] = {}
        for name in frame:
            if is_text(frame[name]):
                counts = frame[name].astype("object").map(str, na_action="ignore").value_counts()
                self.levels_[str(name)] = pd.Index(sorted(counts.index[: self.most_levels]))
        varying = self._expanded(frame).nunique(dropna=False) > 1
        self.names_ = list(varying[varying].index)
        return self

    def transform(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return columns of floats and of categories."""
        expanded = self._expanded(frame)[self.names_]
        return expanded.set_axis([f"x{place}" for place in range(expanded.shape[1])], axis=1)

    def _expanded(self, frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(dict(self._columns(frame)), index=frame.index)

    def _columns(self, frame: pd.DataFrame) -> Iterator[tuple[str, Any]]:
        for name in map(str, frame):
            column = frame[name]
            if name in self.levels_:
                levels = self.levels_[name]
                text = column.astype("object").map(str, na_action="ignore")
                yield name, pd.Categorical(text.where(text.isin(levels)), categories=levels)
            elif pd.api.types.is_datetime64_any_dtype(column):
                dates = column.dt
                yield f"{name}, days", (column - pd.Timestamp(0)) / pd.Timedelta(days=1)
                for part in ("year", "month", "day", "day_of_week", "hour"):
                    yield f"{name}, {part}", getattr(dates, part).astype(np.float64)
            else:
                yield name, column.astype(np.float64)


def is_text(column: "pd.Series[Any]") -> bool:
    """Return whether a column is neither of numbers nor of dates."""
    types = pd.api.types
    return not (types.is_numeric_dtype(column) or types.is_datetime64_any_dtype(column))


def filled(frame: pd.DataFrame, means: "pd.Series[Any]") -> pd.DataFrame:
    """Return the frame with missing numbers replaced by means, and indicators of missing numbers.

    ``means`` are those of the training rows, of all columns of numbers.
    """
    numbers = frame[list(means.index)]
    missing = numbers.isna().add_suffix(", missing").astype(np.float64)
    return pd.concat([frame.assign(**numbers.fillna(means)), missing], axis=1)
