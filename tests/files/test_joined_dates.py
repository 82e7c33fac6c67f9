"""Dates in several columns, which are joined where they are parts of one time."""

import numpy as np
import pandas as pd
import pytest

from bochner.files.joined_dates import join_dates

HOURS = pd.date_range("2020-11-01", periods=400, freq="h")
MONTHS = pd.date_range("2015-01-01", periods=48, freq="MS")
QUARTERS = pd.date_range("2015-01-01", periods=48, freq="QS")
WEEKS = pd.date_range("2014-12-29", periods=120, freq="7D")
SPANISH = "ene feb mar abr may jun jul ago sept oct nov dic".split()  # noqa: SIM905

PARTS = {
    "hours from 1 to 24": ({"Date": HOURS.normalize(), "Hour": HOURS.hour + 1}, HOURS),
    "hours from 0": ({"Date": HOURS.normalize(), "hour": HOURS.hour}, HOURS),
    "half days": ({"d": HOURS.normalize(), "at": HOURS.strftime("%I:%M %p")}, HOURS),
    "names": (
        {
            "Jahr": HOURS.year,
            "Monat": HOURS.strftime("%B"),
            "Tag": HOURS.day,
            "Uhrzeit": HOURS.strftime("%H:%M"),
        },
        HOURS,
    ),
    "days of months": (
        {"DATE_OF_MONTH": HOURS[::24].day, "MONTH": HOURS[::24].month, "YEAR": HOURS[::24].year},
        HOURS[::24],
    ),
    "months": ({"mes": [SPANISH[m - 1] for m in MONTHS.month], "año": MONTHS.year}, MONTHS),
    "quarters": ({"year": QUARTERS.year, "q": [f"Q{q}" for q in QUARTERS.quarter]}, QUARTERS),
    "weeks": ({"year": WEEKS.isocalendar().year, "week": WEEKS.isocalendar().week}, WEEKS),
}


@pytest.mark.parametrize("case", PARTS)
def test_parts_of_times_are_joined(case):
    columns, times = PARTS[case]
    frame = pd.DataFrame({name: list(part) for name, part in columns.items()})
    frame.insert(0, "day of the week", 1)
    joined, note = join_dates(frame.assign(v=1.5), ["v"])
    assert "day of the week" in joined
    joined = joined.drop(columns="day of the week")
    assert list(joined)[1:] == ["v"]
    assert all(repr(name) in note for name in columns)
    np.testing.assert_array_equal(joined.iloc[:, 0].to_numpy(), times.to_numpy())


OTHERS = {
    "a duration of each day": {"date": MONTHS, "time": ["00:30"] * 48},
    "an age": {"year": MONTHS.year, "age": MONTHS.month},
    "two dates": {"start": MONTHS, "end": MONTHS, "hour": MONTHS.month},
    "months to 13": {"year": MONTHS.year, "month": MONTHS.month + 1},
    "times already": {"date": HOURS[:48].repeat(2)[:48], "hour": HOURS.hour[:48]},
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_columns_stay(case):
    frame = pd.DataFrame({name: list(part) for name, part in OTHERS[case].items()})
    joined, note = join_dates(frame, [])
    assert note == ""
    pd.testing.assert_frame_equal(joined, frame)
