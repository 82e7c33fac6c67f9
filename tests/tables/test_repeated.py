"""Keys of rows: equal for equal rows alone, whatever holds them."""

import numpy as np
import pandas as pd
import polars as pl

from bochner.tables.encoder import read_columns
from bochner.tables.table_rows import row_keys

TARGET = np.zeros((6, 1))
COLUMNS = {
    "number": [1.0, 1.0, -0.0, 0.0, np.nan, np.nan],
    "text": ["a", "b", None, None, "1", "1"],
    "date": pd.to_datetime(["2020-01-01", "2020-01-01", *["2021-03-04"] * 4]),
    "mixed numbers": pd.Series([1, 2.5, True, True, 7, 7], dtype=object),
}


def keys(table, target=TARGET):
    return row_keys(read_columns(table), target)


def test_rows_of_equal_entries_have_one_key():
    frame = pd.DataFrame(COLUMNS)
    _, number = np.unique(keys(frame), return_inverse=True)
    assert len(set(number)) == 4
    assert number[2] == number[3]
    assert number[4] == number[5]
    other_target = np.array([[0.0], [0.0], [0.0], [1.0], [0.0], [0.0]])
    assert len(set(keys(frame, other_target))) == 5


def test_keys_depend_on_entries_alone():
    frame = pd.DataFrame(COLUMNS).drop(columns="mixed numbers")
    order = np.array([3, 5, 1, 0, 2, 4])
    np.testing.assert_array_equal(keys(frame.iloc[order]), keys(frame)[order])
    np.testing.assert_array_equal(keys(pl.from_pandas(frame)), keys(frame))


def test_text_that_is_no_unicode_has_a_key():
    frame = pd.DataFrame({"text": pd.Series(["\ud800", "\ud801", *"abcd"], dtype=object)})
    assert len(set(keys(frame))) == 6
