"""Dates as people write them, against the dates that were written."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from files.written import column, read_text, refusal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FILES = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def days(*texts):
    return [pd.Timestamp(text) for text in texts]


@pytest.mark.parametrize(
    ("entries", "dates"),
    [
        (["31/12/2021", "1/2/2021"], days("2021-12-31", "2021-02-01")),
        (["1. 2. 2021", "31. 12. 2021"], days("2021-02-01", "2021-12-31")),
        (["31.12.21", "01.02.69", "01.02.68"], days("2021-12-31", "1969-02-01", "2068-02-01")),
        (["2021/12/31", "2021/2/1"], days("2021-12-31", "2021-02-01")),
        (["3 Jan 2021", "14 september 2020"], days("2021-01-03", "2020-09-14")),
        (["1st May 2020", "2nd JUNE 2021"], days("2020-05-01", "2021-06-02")),
        (["03-Jan-21", "31-Dec-99"], days("2021-01-03", "1999-12-31")),
        (["12/31/2021 2:30 PM", "1/13/2021 12:00 am"], days("2021-12-31 14:30", "2021-01-13")),
    ],
)
def test_forms(tmp_path, entries, dates):
    frame = read_text(tmp_path, column(*entries)).frame
    assert frame["a"].dtype.kind == "M"
    assert frame["a"].tolist() == dates


IN_UTC = "2021-12-31T01:00:00Z", "2021-12-31 01:00+00:00", "2021-12-31T01:00Z"
NAMED = "13.01.2021 01:00 UTC", "14.01.2021 02:00 UTC"
ONE = "2021-12-31T01:00:00+02:00", "2021-06-30 21:15+02:00"
SEVERAL = (
    "2021-12-31T01:00:00.5+02:00",
    "2021-06-30 21:15Z",
    "2021-06-30T21:15-0230",
    "2021-01-01T00:00+05",
)
LOCAL = "13/01/2021 01:00 +0230", "14/01/2021 1:00"
WEST = "13/01/2021 01:00 -0230", "14/01/2021 23:10-03:30", "15/01/2021 9:05 -0800"


@pytest.mark.parametrize(
    "entries", [IN_UTC, NAMED, ONE, SEVERAL, LOCAL, WEST, (*SEVERAL, ""), (*ONE, "", "NA")]
)
def test_offsets_from_utc_are_kept(tmp_path, entries):
    """pandas reads each entry by itself: the instant and the clock are those of the text."""
    dates = [
        pd.to_datetime(text, dayfirst=text[2:3] in ("/", "."), errors="coerce") for text in entries
    ]
    found = read_text(tmp_path, column(*entries)).frame["a"].tolist()
    for one, date in zip(found, dates, strict=True):
        if date is pd.NaT:
            assert one is pd.NaT
            continue
        offset = (one.utcoffset(), date.utcoffset() or pd.Timedelta(0))
        assert offset[0] == offset[1]
        assert one.tz_convert("UTC") == (date if date.tzinfo else date.tz_localize("UTC"))


@pytest.mark.parametrize(
    "entries",
    [
        ["29.2.2021", "28.2.2021"],
        ["1.2.10", "1.10.2"],
        ["10:30", "half past ten"],
        ["2. Foo 2020", "3. Foo 2020"],
    ],
)
def test_other_text_stays_text(tmp_path, entries):
    assert read_text(tmp_path, column(*entries)).frame["a"].tolist() == entries


def test_the_order_is_noted_with_an_entry_that_shows_it(tmp_path):
    found = read_text(tmp_path, column("1/2/2021", "13/2/2021"))
    assert found.notes == ("'a' holds days before months (13/2/2021).",)
    assert found.layout.dates == "dayfirst"
    found = read_text(tmp_path, column("1/2/2021", "2/13/2021"))
    assert found.notes == ("'a' holds months before days (2/13/2021).",)
    assert found.layout.dates == "monthfirst"
    assert read_text(tmp_path, column("2021-01-01", "2021-01-02")).layout.dates == "iso"


RISING = ["5/1/2021", "2/2/2021", "1/3/2021", "4/4/2021", "3/5/2021"]


MONTHS = [f"1/{i % 12 + 1}/{2018 + i // 12}" for i in range(1, 30)]


def swapped(entry):
    return re.sub(r"(\d+)/(\d+)/", r"\2/\1/", entry)


AMBIGUOUS = "'a' has days and months in an order that no entry shows: "


@pytest.mark.parametrize(
    ("text", "first", "reason"),
    [
        # another column shows the order
        ("a,b\n1/2/2021,13/1/2021\n", "day", "as in 'b'"),
        ("a,b\n1.2.2021,1/13/2021\n", "month", "as in 'b'"),
        # the rows are in the order of time
        (column(*RISING, delimiter=","), "day", "rise from row to row"),
        (column(*[swapped(entry) for entry in RISING]), "month", "rise from row to row"),
        # the dates have equal distances
        (column(*MONTHS, delimiter=","), "day", "equal distances"),
        (column(*map(swapped, MONTHS)), "month", "equal distances"),
        (column(*MONTHS[::-1], *MONTHS, delimiter=","), "day", "equal distances"),
        # custom
        (column("1.2.2021", "3.1.2021", delimiter=","), "day", "the usual order with '.'"),
        (column("1-2-2021", "3-1-2021", delimiter=","), "day", "the usual order with '-'"),
        (column("1/2/2021", "3/1/2021", delimiter=","), "month", "the American order"),
        (column("1/2/2021", "3/1/2021", delimiter=";"), "day", "the European order"),
        ('a,b\n1/2/2021,"1,5"\n3/1/2021,"2,5"\n', "day", "the European order"),
    ],
)
def test_an_order_that_no_entry_shows(tmp_path, text, first, reason):
    found = read_text(tmp_path, text)
    (note,) = (note for note in found.notes if note.startswith(AMBIGUOUS))
    assert reason in note
    other = {"day": "monthfirst", "month": "dayfirst"}[first]
    assert f"dates='{other}' (--dates {other}) overrules that" in note
    entry = re.findall(r"\d+", text.splitlines()[1])[:2]
    date = found.frame["a"][0]
    day_and_month = (date.day, date.month) if first == "day" else (date.month, date.day)
    assert tuple(map(int, entry)) == day_and_month
    overruled = read_text(tmp_path, text, dates=other).frame["a"][0]
    assert (overruled.day, overruled.month) == (date.month, date.day)


def test_what_is_said_holds(tmp_path):
    local = column("1/2/2021", "3/2/2021", delimiter=",")
    assert read_text(tmp_path, local, dates="dayfirst").frame["a"][0] == pd.Timestamp("2021-02-01")
    assert read_text(tmp_path, local, dates="dayfirst").notes == ()
    iso = column("2021-02-01", "2021-02-03", delimiter=",")
    for dates in ("iso", "dayfirst", "monthfirst", "auto"):
        assert read_text(tmp_path, iso, dates=dates).frame["a"].dtype.kind == "M"
    for text, dates in ((iso, "none"), (local, "none"), (local, "iso")):
        found = read_text(tmp_path, text, dates=dates)
        assert found.frame["a"].dtype == "category"  # which the encoder takes for text
        assert f"because dates={dates!r} does not allow for its entries" in found.notes[0]
        assert found.layout.dates == dates
    asked = read_text(tmp_path, local, dates="iso", types={"a": "dayfirst"}).frame
    assert asked["a"][0] == pd.Timestamp("2021-02-01")
    message = refusal(tmp_path, column("1/13/2021"), dates="dayfirst", types={"a": "date"})
    assert "'a' should hold dates with days before months, but 1 of 1" in message
    numbers = read_text(tmp_path, column("20211231", "20210101"), types={"a": "date"}).frame
    assert numbers["a"].tolist() == days("2021-12-31", "2021-01-01")


def test_entries_that_are_no_dates_are_counted(tmp_path):
    entries = [f"{i}.10.2021" for i in range(1, 29)]
    found = read_text(tmp_path, column(*entries, "soon"))
    assert found.notes[-1] == (
        "'a' has entries 'soon', which count as missing because the other entries are "
        "dates (1 of 29; a type text, types=, --types, keeps them)."
    )
    assert found.frame["a"].isna().tolist() == [False] * 28 + [True]
    again = read_text(tmp_path, column("1.10.2021", "Soon"), layout=found.layout)
    assert again.frame["a"].tolist() == [pd.Timestamp("2021-10-01"), pd.NaT]
    assert "2 of 2" in refusal(tmp_path, column("later", "never"), layout=found.layout)
    wrong = read_text(tmp_path, column(*entries, "31.02.2021"))
    assert "has entries '31.02.2021', which count as missing" in wrong.notes[-1]
    assert "but 1 of 29 entries are something else (row 29: 'soon')" in refusal(
        tmp_path, column(*entries, "soon"), types={"a": "date"}
    )
    unknown = read_text(tmp_path, column(*entries, "?")).frame["a"]
    assert unknown.isna().tolist() == [False] * 28 + [True]
    both = read_text(tmp_path, column("13/1/2021", "1/14/2021"))
    assert both.notes == (
        "'a' holds dates with days before months and months before days: read as text "
        "(13/1/2021, 1/14/2021).",
    )


FORMS = {
    "%d.%m.%Y": "D", "%d/%m/%Y": "D", "%m/%d/%Y": "D", "%Y/%m/%d": "D", "%d-%m-%Y %H:%M": "m",
    "%m/%d/%Y %I:%M %p": "m", "%d %B %Y %H:%M:%S": "s", "%b %d, %Y": "D",
    "%Y-%m-%dT%H:%M:%S.%f": "us", "%d.%m.%Y %H:%M:%S.%f": "us",
}  # fmt: skip


@pytest.mark.thorough
@FILES
@given(
    times=st.lists(
        st.datetimes(datetime.datetime(1000, 1, 1), datetime.datetime(9999, 12, 31)), min_size=1
    ),
    form=st.sampled_from(sorted(FORMS)),
)
def test_any_form_gives_the_dates_back(tmp_path, times, form):
    # One more date, of which only one order makes sense.
    times = [*times, datetime.datetime(2020, 10, 31, 23, 59, 58, 7)]
    entries = [time.strftime(form) for time in times]
    found = read_text(tmp_path, column(*entries, delimiter=";"), keep=["a", "b"]).frame["a"]
    expected = np.array(times, dtype=f"datetime64[{FORMS[form]}]").astype("datetime64[us]")
    np.testing.assert_array_equal(found.to_numpy(), expected)
