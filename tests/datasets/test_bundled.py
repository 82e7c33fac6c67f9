"""The bundled tables are those of their files."""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner import datasets


def rows_of(name):
    with datasets.table_file(name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_weather_of_seattle_is_that_of_its_file():
    rows, weather = rows_of("seattle_weather"), datasets.load("seattle_weather")
    column = dict(zip(weather.feature_names, weather.X.T, strict=True))
    assert weather.X.shape == (1461, 5)
    for name in ("precipitation", "temp_min", "wind"):
        assert_array_equal(column[name], [float(row[name]) for row in rows])
    assert_array_equal(weather.y, [float(row["temp_max"]) for row in rows])
    kinds = np.array(weather.levels["weather"])[column["weather"].astype(int)]
    assert_array_equal(kinds, [row["weather"] for row in rows])
    assert_allclose(column["decimal_year"][[0, 366, -1]], [2012.0, 2013.0, 2015.0 + 364 / 365])


def test_carbon_dioxide_has_weeks_without_a_value():
    rows, record = rows_of("mauna_loa_co2_weekly"), datasets.load("mauna_loa_co2_weekly")
    assert record.X.shape == (2284, 1)
    assert (np.diff(record.X[:, 0]) > 0.0).all()
    assert np.isnan(record.y).sum() == sum(not row["co2"] for row in rows) == 59


def test_an_unknown_name_is_refused():
    assert datasets.available() == ("mauna_loa_co2_weekly", "seattle_weather")
    for call in (datasets.load, datasets.table_file):
        with pytest.raises(ValueError, match=r"no bundled table 'iris'.*sklearn\.datasets"):
            call("iris")
