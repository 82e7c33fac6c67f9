"""A note where the rows of a table are in the order of their dates."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bochner import TableRegressor
from bochner.tables.table_rows import note_sorted_dates

N = 40
RNG = np.random.default_rng(0)
DAYS = pd.date_range("2024-01-01", periods=N)
TABLE = pd.DataFrame({"a": RNG.normal(size=N), "day of sale": DAYS})


def notes_of(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*arguments, **options)
    return [
        str(each.message) for each in caught if "in the order of the dates" in str(each.message)
    ]


SORTED = {
    "ascending": TABLE,
    "descending": TABLE.iloc[::-1],
    "text": TABLE.assign(**{"day of sale": DAYS.astype(str)}),
    "ties": TABLE.assign(**{"day of sale": DAYS[np.arange(N) // 4]}),
    "polars": pl.DataFrame(TABLE),
    "of one name": pd.concat([TABLE[["a"]].set_axis(["day of sale"], axis=1), TABLE], axis=1),
}
UNSORTED = {
    "shuffled": TABLE.sample(frac=1.0, random_state=0),
    "one pair": TABLE.iloc[[*range(20), 21, 20, *range(22, N)]],
    "few dates": TABLE.assign(**{"day of sale": DAYS[np.arange(N) // 5]}),
    "missing": TABLE.assign(**{"day of sale": DAYS.where(np.arange(N) != 7)}),
    "numbers": pd.DataFrame({"a": np.arange(N)}),
    "array": np.arange(2.0 * N).reshape(N, 2),
}


@pytest.mark.parametrize("name", SORTED)
def test_sorted_dates_are_named_once(name):
    (note,) = notes_of(note_sorted_dates, SORTED[name])
    assert "time='day of sale'" in note
    assert '--time "day of sale"' in note


@pytest.mark.parametrize("name", UNSORTED)
def test_other_tables_have_no_note(name):
    assert not notes_of(note_sorted_dates, UNSORTED[name])


def test_fits_without_times_or_groups_have_the_note():
    y = TABLE["a"] + RNG.normal(size=N)
    regressor = TableRegressor(effort="quick", random_state=0)
    assert len(notes_of(regressor.fit, TABLE, y)) == 1
    assert not notes_of(regressor.fit, TABLE, y, time="day of sale")
