"""Series in columns and their total, from the command line."""

import re

import numpy as np
import pandas as pd
import pytest
from cli.command import bochner, refusal, write
from cli.test_forecast import MONTHS, SALES, forecast, sales

import bochner as library
from bochner import Forecaster
from bochner.comparison.forecast_fits import with_total
from bochner.files.series_table import SeriesColumns, TableSeries


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


def test_known_inputs_are_those_of_all_columns(tmp_path):
    frame = in_columns(63)
    frame.loc[60:, ["north", "south"]] = np.nan
    options = ("--known", "price", "--no-compare", "--total", "both")
    _, found = run_wide(tmp_path, frame, *options)
    later = write(frame.loc[60:, ["date", "price"]], tmp_path / "later.csv")
    _, apart = run_wide(tmp_path, frame[:60], *options, "--future", later)
    pd.testing.assert_frame_equal(found, apart)
    values = frame[:60].set_index(pd.DatetimeIndex(frame["date"][:60]))
    inputs = pd.DataFrame({"price": frame["price"].to_numpy()}, pd.DatetimeIndex(frame["date"]))
    model = Forecaster(sums={"both": ["north", "south"]}, random_state=0)
    expected = model.fit(values[["north", "south"]], inputs[:60]).predict(3, inputs[60:])
    for name in expected:
        of_one = found.loc[found["series"] == name, "forecast"]
        np.testing.assert_allclose(of_one, expected[name], rtol=1e-6)


def test_a_total_is_known_where_all_series_are():
    """Series end with the last known value of any, and have rows to forecast after it."""
    days = pd.date_range("2022-01-01", periods=12, freq="D")
    second = pd.Series([0.0, 1.0, np.nan, 3.0, 4.0, 5.0, 6.0, 7.0], days[2:10])
    series = [
        TableSeries("a", pd.Series(np.arange(8.0), days[:8]), None, days[8:]),
        TableSeries("b", second, None, days[10:]),
    ]
    found = with_total(series, "all", SeriesColumns("day", "y", "shop"), is_wide=False)
    assert [one.values.index[-1] for one in found] == [days[9]] * 3
    assert [list(one.later) for one in found] == [list(days[10:])] * 3
    assert [one.values.index[0] for one in found] == [days[0], days[2], days[2]]
    total = pd.Series([2.0, 4.0, np.nan, 8.0, 10.0, 12.0, np.nan, np.nan], days[2:10])
    pd.testing.assert_series_equal(found[2].values, total, check_freq=False)


def test_forecasts_add_up_to_the_total(tmp_path):
    files = {name: tmp_path / f"f.{name}" for name in ("png", "html", "bochner")}
    options = ("--picture", files["png"], "--report", files["html"], "--model", files["bochner"])
    frame = in_columns(n_unknown=2)
    result, found = run_wide(tmp_path, frame, "--total", "both", "--horizon", "3", *options)
    wide = found.pivot_table(index="date", columns="series", values="forecast")
    np.testing.assert_allclose(wide["both"], wide["north"] + wide["south"], rtol=1e-9)
    # Both end with the last known value of any of them.
    assert wide.index.tolist() == MONTHS[60:63].strftime("%Y-%m-%d").tolist()
    screen = " ".join(result.stdout.split())
    assert "Sums both = the sum of the 2 other series" in screen
    assert re.search(rf"both +{wide.index[-1]} +[\d.]+", result.stdout)
    # Errors from past origins are those of forecasts that add up.
    assert "mean of 3" in screen
    assert np.allclose(library.load(files["bochner"]).predict(3)["both"], wide["both"])
    page = files["html"].read_text(encoding="utf-8")
    assert "add up to the mean of the forecast of this series alone." in page
    assert files["png"].stat().st_size > 10_000


def test_a_total_may_be_one_of_the_series(tmp_path):
    frame = in_columns()
    _, expected = run_wide(tmp_path, frame, "--total", "both", "--horizon", "3", "--no-compare")
    long = frame.assign(both=frame["north"] + frame["south"])
    long = long.melt("date", ["north", "south", "both"], "shop", "sales")
    options = ("--series", "shop", "--total", "both", "--horizon", "3", "--no-compare")
    _, found = forecast(tmp_path, long, *options)
    np.testing.assert_allclose(found["forecast"], expected["forecast"], rtol=1e-6)


WIDE_REFUSED = {
    "wide and long": (("--series", "date"), "--series is for series below each other"),
    "a target twice": (("--target", "south"), "'south' has two roles"),
    "a target that is known": (("--known", "south"), "'south' has two roles"),
    "a target that is no column": (("--target", "west"), "No column 'west'"),
    "a total of one series": (("--total", "north"), "needs two or more series to add up, got 1"),
    "inputs that end": (("--known", "price", "--total", "t"), "reach 0 rows beyond"),
}


@pytest.mark.parametrize("case", WIDE_REFUSED)
def test_columns_that_are_no_series_are_refused(case, tmp_path):
    options, message = WIDE_REFUSED[case]
    path = write(in_columns(), tmp_path / "wide.csv")
    said = refusal(tmp_path, "forecast", path, *TARGETS, "--horizon", "3", *options)
    assert re.search(message, said), said
