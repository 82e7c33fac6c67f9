"""The bundled tables are those of their files."""

import csv

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner import datasets


@pytest.mark.parametrize("name", datasets.available())
def test_arrays_are_the_columns_of_the_file(name):
    with datasets.table_file(name).open(encoding="utf-8") as file:
        rows = pd.DataFrame(list(csv.DictReader(file)))
    table = datasets.load(name)
    assert_array_equal(table.y, pd.to_numeric(rows.pop(table.target_name)))
    assert table.X.shape == rows.shape == (len(table.y), len(table.feature_names))
    for column, values in zip(table.feature_names, table.X.T, strict=True):
        if column == "decimal_year":
            years = pd.to_datetime(rows["date"])
            days = np.where(years.dt.is_leap_year, 366, 365)
            assert_allclose(values, years.dt.year + (years.dt.day_of_year - 1) / days)
        elif column in table.levels:
            assert_array_equal(np.array(table.levels[column])[values.astype(int)], rows[column])
        else:
            assert_array_equal(values, rows[column].astype(float))


def test_life_expectancy_is_complete_and_carbon_dioxide_is_not():
    table, record = datasets.load("gapminder"), datasets.load("mauna_loa_co2_weekly")
    assert len(table.levels["country"]) * 12 == len(table.y)
    assert np.isfinite(table.X).all()
    assert np.isfinite(table.y).all()
    assert (np.diff(record.X[:, 0]) > 0.0).all()
    assert np.isnan(record.y).sum() == 59


def test_an_unknown_name_is_refused():
    for call in (datasets.load, datasets.table_file):
        with pytest.raises(ValueError, match=r"no bundled table 'iris'.*sklearn\.datasets"):
            call("iris")
