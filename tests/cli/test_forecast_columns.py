"""Series in columns, from the command line."""

import re

import numpy as np
import pandas as pd
import pytest
from cli.command import bochner, refusal, write
from cli.test_forecast import SALES, forecast, sales

from bochner import Forecaster


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
        np.testing.assert_allclose(of_one, expected[name], rtol=1e-6)


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
