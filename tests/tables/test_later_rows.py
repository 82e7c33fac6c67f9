"""Rows of later times than the rows of a fit are told from other rows beyond the range."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from bochner import TableEncoder, TableRegressor
from bochner.tables.table_model import _trends


def fitted(**together):
    """A model of a date, a number that grows with the rows and one that falls, and a constant."""
    n = 60
    frame = pd.DataFrame(
        {
            "day": pd.date_range("2024-01-01", periods=n),
            "step": np.arange(float(n)),
            "left": -(np.arange(float(n)) ** 2),
            "size": np.random.default_rng(0).permutation(n) / 10.0,
            "same": 1.0,
        }
    )
    model = TableRegressor(effort="quick", random_state=0)
    return model.fit(frame, frame["size"], **together), frame


def moved(frame, **changes):
    """Return a row of the table with other entries."""
    return frame.iloc[[30]].assign(**changes)


def kinds(model, rows):
    """Return the reasons and the columns of the entries of a row that are unlike the fit."""
    names = np.array(rows.columns)
    entries = model.unlike_entries(rows).items()
    return {reason: list(names[mask[0]]) for reason, mask in entries if mask.any()}


NEXT_YEAR, LAST_YEAR = pd.Timestamp("2025-02-03"), pd.Timestamp("2022-02-03")


def test_later_rows_are_told_from_other_rows_beyond_the_range():
    """Later dates are later; where the fit has times, so are columns that follow these times."""
    model, frame = fitted()
    assert kinds(model, frame.iloc[[-1]]) == {}
    assert kinds(model, moved(frame, day=NEXT_YEAR, size=99.0)) == {
        "beyond the range": ["size"],
        "later": ["day"],
    }
    assert kinds(model, moved(frame, day=LAST_YEAR)) == {"beyond the range": ["day"]}
    assert kinds(model, moved(frame, step=99.0)) == {"beyond the range": ["step"]}
    model, frame = fitted(time="step")
    assert kinds(model, frame.iloc[[-1]]) == {}
    rows = moved(frame, day=NEXT_YEAR, step=99.0, left=-1e4, size=99.0, same=2.0)
    assert kinds(model, rows) == {"beyond the range": ["size"], "later": ["day", "step", "left"]}
    # Earlier rows than those of the fit are neither later nor, in these columns, beyond the range.
    assert kinds(model, moved(frame, step=-9.0, left=9.0)) == {}


def test_columns_that_stay_for_some_rows_grow_or_fall_with_time():
    days = np.arange(12.0)
    table = pd.DataFrame({"day": days // 3, "left": -(days // 2), "wave": days % 5, "y": days})
    rows = SimpleNamespace(X=table.iloc[::-1], order=np.arange(12)[::-1])
    assert _trends(TableEncoder().fit(table), rows) == {"day": 1.0, "left": -1.0, "y": 1.0}
    assert _trends(TableEncoder().fit(table), SimpleNamespace(X=table, order=None)) == {}
