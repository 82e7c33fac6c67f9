"""Series read from the columns of a table: order, unknown values, and known inputs."""

import numpy as np
import pandas as pd
import pytest

from bochner.files.errors import InputError
from bochner.files.series_table import SeriesColumns
from bochner.files.series_table import table_series as series_and_refused

DAYS = pd.date_range("2022-01-01", periods=10, freq="D")
VALUES = np.array([np.nan, 1.0, 2.0, np.nan, 4.0, 5.0, 6.0, np.nan, np.nan, np.nan])
FRAME = pd.DataFrame(
    {"day": DAYS, "y": VALUES, "price": np.arange(10.0), "sky": list("abbbcbbabb")}
)
COLUMNS = SeriesColumns("day", "y", None, ("price", "sky"))


def table_series(*arguments):
    """Return the series of a table, none of which is refused."""
    all_series, refused = series_and_refused(*arguments)
    assert not refused
    return all_series


def test_series_do_not_depend_on_the_order_of_rows():
    (known,) = table_series(FRAME, COLUMNS)
    (found,) = table_series(FRAME.sample(frac=1.0, random_state=1), COLUMNS)
    pd.testing.assert_series_equal(found.values, known.values)
    pd.testing.assert_frame_equal(found.inputs, known.inputs)
    assert list(found.later) == list(known.later)


def test_values_begin_and_end_with_known_ones():
    (found,) = table_series(FRAME, COLUMNS)
    assert list(found.values.index) == list(DAYS[1:7])
    np.testing.assert_array_equal(found.values, VALUES[1:7])
    assert list(found.later) == list(DAYS[7:])


def test_inputs_are_those_of_the_values_and_of_the_rows_to_forecast():
    (found,) = table_series(FRAME, COLUMNS)
    assert list(found.inputs.index) == list(DAYS[1:])
    np.testing.assert_array_equal(found.inputs["price"], np.arange(1.0, 10.0))


def test_levels_of_text_have_an_indicator_each_but_the_commonest():
    (found,) = table_series(FRAME, COLUMNS)
    assert sorted(found.inputs) == ["price", "sky=a", "sky=c"]
    np.testing.assert_array_equal(found.inputs["sky=a"], FRAME["sky"][1:] == "a")


def test_several_series_are_those_of_their_rows():
    both = pd.concat([FRAME.assign(shop="x"), FRAME.assign(shop="z", y=2.0 * VALUES)])
    columns = SeriesColumns("day", "y", "shop", ("price",))
    for one, factor in zip(table_series(both, columns), (1.0, 2.0), strict=True):
        np.testing.assert_array_equal(one.values, factor * VALUES[1:7])
        assert len(one.inputs) == 9


def test_rows_of_a_table_of_their_own_follow():
    later = FRAME[7:].drop(columns="y")
    (found,) = table_series(FRAME[:7], COLUMNS, later)
    (known,) = table_series(FRAME, COLUMNS)
    pd.testing.assert_series_equal(found.values, known.values)
    assert list(found.later) == list(known.later)
    pd.testing.assert_frame_equal(found.inputs, known.inputs)


@pytest.mark.parametrize("zone", ["Europe/Paris", "America/Chicago", "Australia/Melbourne"])
@pytest.mark.parametrize("step", ["h", "15min"])
def test_hours_that_clocks_repeat_are_averaged(zone, step):
    """Local times with a known input, of which those from October on are to be forecast."""
    times = pd.date_range("2023-01-05", "2024-12-05", freq=step, tz=zone)
    clock, n = times.tz_localize(None), np.sum(times < pd.Timestamp("2024-10-01", tz=zone))
    values = np.where(np.arange(len(times)) < n, 3.0 * np.arange(len(times)), np.nan)
    frame = pd.DataFrame({"t": clock, "y": values, "x": 2.0 * values.size - np.arange(values.size)})
    columns = SeriesColumns("t", "y", None, ("x",))
    with pytest.warns(UserWarning, match="Times such as .* twice, as clocks were set back"):
        ((found,), _) = series_and_refused(frame, columns)
    assert found.values.index.is_unique
    assert found.values.index.is_monotonic_increasing
    means = frame.groupby("t").mean()
    np.testing.assert_array_equal(found.inputs["x"], means["x"])
    np.testing.assert_array_equal(found.values, np.round(means["y"].dropna()))
    assert list(found.later) == sorted(set(clock[n:]))


@pytest.mark.parametrize("again", ["2024-10-20 02:00:00", "2024-10-26 23:00:00"])
def test_other_hours_that_repeat_are_refused(again):
    clock = pd.date_range("2024-10-01", periods=960, freq="h")
    both = [*clock, pd.Timestamp(again), pd.Timestamp("2024-10-27 02:00")]
    frame = pd.DataFrame({"t": sorted(both), "y": 1.0})
    with pytest.raises(InputError, match=f"The time {again} occurs in rows .* If clocks were set"):
        series_and_refused(frame, SeriesColumns("t", "y"))
