"""Daily, weekly and yearly cycles of tables follow the clock on the wall; trends follow UTC."""

import datetime
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.files.columns import clock_times, is_fixed, read_column, zone_name, zone_of
from bochner.tables.encoder import TableEncoder

BERLIN = "Europe/Berlin"

HOURS = pd.date_range("2022-12-28", "2024-02-01", freq="7h", tz="UTC").as_unit("us")
"""Times over a year, in all hours, on both sides of the changes of clocks."""

LOCAL = HOURS.tz_convert(BERLIN)

FORMS = {
    "pandas": lambda times: pd.Series(times),
    "arrow": lambda times: pd.Series(times).astype(f"timestamp[us, tz={times.tz}][pyarrow]"),
    "polars": lambda times: (
        pl.Series(times.tz_convert("UTC").tz_localize(None))
        .dt.replace_time_zone("UTC")
        .dt.convert_time_zone(str(times.tz))
    ),
    "text": lambda times: pd.Series([time.isoformat() for time in times]),
    "text of pandas": lambda times: pd.Series(times).astype("string"),
    "timestamps": lambda times: pd.Series(list(times), dtype=object),
    "datetimes": lambda times: pd.Series([time.to_pydatetime() for time in times], dtype=object),
    "own offsets": lambda times: pd.Series(
        [time.to_pydatetime().astimezone(datetime.timezone(time.utcoffset())) for time in times],
        dtype=object,
    ),
}
"""Ways to give dates of a zone, each entry with its zone or its offset from UTC."""

WITHOUT_ZONE = {"text", "text of pandas", "own offsets"}
"""Ways that tell offsets and not the zone."""


def table(series):
    if isinstance(series, pl.Series):
        return pl.DataFrame({"t": series})
    return pd.DataFrame({"t": series})


def encoded(series):
    encoder = TableEncoder(clip=9.0).fit(table(series))
    return encoder, encoder.transform(table(series))


@pytest.fixture(scope="module")
def by_clock():
    return encoded(pd.Series(LOCAL.tz_localize(None)))


@pytest.mark.parametrize("form", FORMS)
def test_cycles_follow_the_clock_and_the_trend_utc(form, by_clock):
    encoder, features = encoded(FORMS[form](LOCAL))
    assert encoder.get_feature_names_out().tolist() == by_clock[0].get_feature_names_out().tolist()
    assert_allclose(features[:, 1:], by_clock[1][:, 1:], atol=1e-9)
    _, in_utc = encoded(pd.Series(HOURS.tz_localize(None)))
    assert_allclose(features[:, 0], in_utc[:, 0], atol=1e-9)
    assert np.abs(features[:, 1:] - in_utc[:, 1:]).max() > 0.3
    zone = None if form in WITHOUT_ZONE else BERLIN
    assert encoder.columns_[0]["zone"] == zone


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_dates_of_other_zones_are_taken_to_the_clock_of_the_fit(form, zone, by_clock):
    encoder = TableEncoder(clip=9.0).fit(table(FORMS["pandas"](LOCAL)))
    features = encoder.transform(table(FORMS[form](HOURS.tz_convert(zone))))
    assert_allclose(features[:, 1:], by_clock[1][:, 1:], atol=1e-9)


def test_missing_dates_and_mixed_offsets():
    entries = ["2021-01-03T08:00:00+01:00", None, "2021-07-04 08:00+02:00", "2021-07-05T08:00Z"]
    found = read_column("t", pd.Series(entries))
    shown = ["2021-01-03T08", "2021-07-04T08", "2021-07-05T08"]
    assert_array_equal(found.wall_times(), np.array(shown, "M8[us]"))
    in_utc = ["2021-01-03T07", "2021-07-04T06", "2021-07-05T08"]
    assert_array_equal(found.times(), np.array(in_utc, "M8[us]"))
    assert_array_equal(np.isnat(found.clock), [False, True, False, False])
    some = [datetime.datetime.fromisoformat(entry) if entry else pd.NaT for entry in entries]
    again = read_column("t", np.array(some, dtype=object))
    assert_array_equal(again.wall_times(), found.wall_times())
    assert read_column("t", pd.Series(["2021-01-03T08:00:00"] * 2)).clock is None


def test_columns_of_parquet_keep_their_clock(tmp_path, by_clock):
    from bochner.files.table_reading import read

    pd.DataFrame({"t": LOCAL}).to_parquet(tmp_path / "t.parquet")
    frame = read(tmp_path / "t.parquet").frame
    features = TableEncoder(clip=9.0).fit_transform(frame)
    assert_allclose(features[:, 1:], by_clock[1][:, 1:], atol=1e-9)


ZONES = [BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC", "UTC-03:30"]


@pytest.mark.thorough_cases(but=r"UTC|\bAsia\b")
@pytest.mark.parametrize("name", ZONES)
def test_clocks_are_those_of_pandas(name):
    """Including the half hour by which clocks of Lord Howe change, and changes of rules."""
    times = pd.date_range("1973-01-01", "2037-01-01", freq="1111min", tz="UTC")
    shown = times.tz_convert(name).tz_localize(None).to_numpy().astype("M8[us]")
    utc = times.tz_localize(None).to_numpy().astype("M8[us]")
    assert_array_equal(clock_times(utc, name), shown)
    around = pd.date_range("2023-03-25", "2023-04-03", freq="min", tz="UTC")
    shown = around.tz_convert(name).tz_localize(None).to_numpy().astype("M8[us]")
    assert_array_equal(clock_times(around.tz_localize(None).to_numpy(), name), shown)


def test_names_of_zones():
    zone = zoneinfo.ZoneInfo(BERLIN)
    fixed = datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
    assert [zone_name(one) for one in (zone, fixed, datetime.UTC, None)] == [
        BERLIN,
        "UTC-03:30",
        "UTC",
        None,
    ]
    assert [is_fixed(name) for name in (BERLIN, "UTC-03:30", "UTC")] == [False, True, False]
    assert zone_of("UTC-03:30").utcoffset(None) == fixed.utcoffset(None)
    assert zone_of("Middle/Earth") is None
    dateutil = pytest.importorskip("dateutil.tz")
    assert zone_name(dateutil.gettz(BERLIN)) == BERLIN
    assert zone_name(dateutil.tzoffset(None, 3600)) == "UTC+01:00"
    times = np.array(["2021-07-01T12", "NaT"], "M8[us]")
    assert_array_equal(clock_times(times, "Middle/Earth"), times)
