"""Series in columns, from the command line."""

import re

import numpy as np
import pandas as pd
import pytest
from cli.command import bochner, refusal, write
from cli.test_forecast import SALES, forecast, sales

from bochner import Forecaster, read_table
from bochner.files.read_options import read_types


def in_columns(n=60, n_unknown=0):
    """A table of two series in columns with a price, of which the first ends earlier."""
    rng = np.random.default_rng(3)
    price = rng.choice([1.0, 2.0], n)
    frame = sales(n).assign(south=(SALES[:n] / 2.0 - 3.0 * price + rng.normal(size=n)).round(2))
    frame.loc[n - n_unknown :, "sales"] = np.nan
    return frame.rename(columns={"sales": "north"}).assign(price=price)


TARGETS = ("--target", "north", "--target", "south")


def run_wide(folder, frame, *options):
    path, out = write(frame, folder / "wide.csv"), folder / "forecast.csv"
    result = bochner("forecast", path, *TARGETS, "--out", out, *options)
    assert result.exit_code == 0, result.output
    return result, pd.read_csv(out)


@pytest.mark.thorough
def test_series_in_columns_are_forecast_like_those_below_each_other(tmp_path):
    frame = in_columns()
    options = ("--horizon", "3", "--no-compare")
    result, wide = run_wide(tmp_path, frame, *options)
    assert list(wide) == ["series", "date", "forecast", "lower", "upper"]
    assert wide["series"].tolist() == ["north"] * 3 + ["south"] * 3
    assert "2 series of 60 values" in result.stdout
    long = frame.melt("date", ["north", "south"], "series", "sales")
    _, below = forecast(tmp_path, long, "--series", "series", *options)
    pd.testing.assert_frame_equal(wide, below)


@pytest.mark.thorough
def test_known_inputs_are_those_of_all_columns(tmp_path):
    frame = in_columns(63)
    frame.loc[60:, ["north", "south"]] = np.nan
    options = ("--known", "price", "--no-compare")
    _, found = run_wide(tmp_path, frame, *options)
    later = write(frame.loc[60:, ["date", "price"]], tmp_path / "later.csv")
    _, apart = run_wide(tmp_path, frame[:60], *options, "--future", later)
    pd.testing.assert_frame_equal(found, apart)
    values = frame[:60].set_index(pd.DatetimeIndex(frame["date"][:60]))
    inputs = pd.DataFrame({"price": frame["price"].to_numpy()}, pd.DatetimeIndex(frame["date"]))
    model = Forecaster(random_state=0)
    expected = model.fit(values[["north", "south"]], inputs[:60]).predict(3, inputs[60:])
    for name in expected:
        of_one = found.loc[found["series"] == name, "forecast"]
        np.testing.assert_allclose(of_one, expected[name], rtol=1e-4)  # Digits that count


WIDE_REFUSED = {
    "wide and long": (("--series", "date"), "--series is for series below each other"),
    "a target twice": (("--target", "south"), "'south' has two roles"),
    "a target that is known": (("--known", "south"), "'south' has two roles"),
    "a target that is no column": (("--target", "west"), "No column 'west'"),
    "inputs that end": (("--known", "price"), "reach 0 rows beyond"),
}


@pytest.mark.parametrize("case", WIDE_REFUSED)
def test_columns_that_are_no_series_are_refused(case, tmp_path):
    options, message = WIDE_REFUSED[case]
    path = write(in_columns(), tmp_path / "wide.csv")
    said = refusal(tmp_path, "forecast", path, *TARGETS, "--horizon", "3", *options)
    assert re.search(message, said), said


def times_forecast(folder, frame, *options):
    """The table that is printed with two forecasts, and what is said."""
    path, out = folder / "dates.csv", folder / "forecast.csv"
    frame.to_csv(path, index=False)
    options = ("--target", "v", "--horizon", "2", "--no-compare", "--out", out, *options)
    result = bochner("forecast", path, *options)
    assert result.exit_code == 0, result.output
    return pd.read_csv(out), " ".join(result.output.split())


TWO_HOURS = pd.date_range("2021-03-13", periods=40, freq="2h")
MONTHS = pd.date_range("2016-01-01", periods=48, freq="MS")

JOINED = {
    "date and time": (
        {"Date": TWO_HOURS.strftime("%d/%m/%Y"), "Time": TWO_HOURS.strftime("%H:%M:%S")},
        "2021-03-16 08:00:00",
    ),
    "hours with minutes": (
        {"Data": TWO_HOURS.strftime("%Y/%m/%d"), "Hora UTC": TWO_HOURS.strftime("%H00 UTC")},
        "2021-03-16 08:00:00",
    ),
    "hours from 1 to 24": (
        {
            "Date": (TWO_HOURS[1:37] - pd.Timedelta("1h")).strftime("%d/%m/%Y"),
            "Time": [f"{(hour - 1) % 24 + 1:02}:00" for hour in TWO_HOURS[1:37].hour],
        },
        "2021-03-16 02:00:00",
    ),
    "parts without names": (
        {"Unnamed: 0": MONTHS.year, "Unnamed: 1": MONTHS.strftime("%B")},
        "2020-01-01",
    ),
    "parts": (
        {name: getattr(TWO_HOURS, name) for name in ("year", "month", "day", "hour")},
        "2021-03-16 08:00:00",
    ),
    "year and month": ({"Jahr": MONTHS.year, "Monat": MONTHS.month}, "2020-01-01"),
    "names of months": ({"year": MONTHS.year, "month": MONTHS.strftime("%b")}, "2020-01-01"),
}


@pytest.mark.parametrize("case", JOINED)
def test_dates_in_several_columns_are_joined(case, tmp_path):
    columns, first = JOINED[case]
    frame = pd.DataFrame(columns)
    values = np.round(10 + np.sin(np.arange(len(frame))), 3)
    table, said = times_forecast(tmp_path, frame.assign(v=values))
    assert table.iloc[0, 0] == first
    assert "are joined into times" in said


def test_rows_of_events_at_one_time_are_no_values(tmp_path):
    frame = pd.DataFrame({"t": MONTHS, "v": np.round(10 + np.sin(np.arange(48)), 3)})
    events = pd.DataFrame({"t": MONTHS[[47, 47]] + pd.Timedelta(days=3)})
    table, said = times_forecast(tmp_path, pd.concat([frame, events]).assign(room="a"))
    assert "'room' is not used; --known takes" in said
    assert table["t"].tolist() == ["2020-01-01", "2020-02-01"]


def test_months_as_numbers_go_on_after_the_end_of_a_year(tmp_path):
    frame = pd.DataFrame(
        {"period": MONTHS.strftime("%Y%m"), "v": np.round(np.sin(np.arange(48)), 3)}
    )
    table, said = times_forecast(tmp_path, frame)
    assert table["period"].tolist() == ["2020-01-01", "2020-02-01"]
    assert "'period' holds months as numbers" in said


def test_a_column_that_is_nearly_dates_is_named(tmp_path):
    frame = pd.DataFrame({"x": [201301, 201303, 201304, 201307, 201308, 201310], "v": range(6)})
    path = write(frame, tmp_path / "near.csv")
    said = refusal(tmp_path, "forecast", path, "--target", "v", "--horizon", "2")
    assert "'x' looks like dates (row 1: 201301): --types x=date reads it." in said
    assert read_table(path, types=read_types("x=date"))["x"].dtype.kind == "M"


def test_fiscal_years_are_written_as_in_the_file(tmp_path):
    years = [f"{year}-{(year + 1) % 100:02d}" for year in range(1994, 2012)]
    values = np.round(np.arange(18) + np.sin(np.arange(18)), 3)
    table, said = times_forecast(tmp_path, pd.DataFrame({"year": years, "v": values}))
    assert table["year"].tolist() == ["2012-13", "2013-14"]
    assert "2012-13" in said
