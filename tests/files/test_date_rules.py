"""Dates in the notations of programs and countries, against the dates that were written."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from babel.dates import format_date
from files.written import column, read_text

from bochner import read_table
from bochner.files.local_dates import find_dates

FORMS = {
    "%Y/%m/%d %I:%M:%S %p GMT+2": "s", "%Y/%m/%d %H:%M:%S+00": "s", "%B %d,%Y": "D",
    "%Y%m%dT%H%M%SZ": "s", "%Y%m%d-%H%M": "m", "%d-%b-%y %I.%M.%S.%f %p": "us",
    "%d%b%Y:%H:%M:%S": "s", "%Y-%j": "D", "%d/%m/%Y - %H:%M": "m", "%H:%M %d/%m/%Y": "m",
    "%I:%M %p %d %b %Y": "m", "%d.%m.%Y, %H:%M Uhr": "m", "%d.%m.%Y %H.%M": "m",
    "%d.%m.%Y %Hh%M": "m", "%Y年%m月%d日": "D", "%Y年%m月%d日 %H時%M分%S秒": "s",
    "%Y年%m月%d日(火) %H:%M": "m", "%Y. %m. %d.": "D", "%Y년 %m월 %d일 %H:%M": "m",
    "%Y.%m.%d %H:%M": "m", "%a %d %b %Y": "D", "%A, %B %d, %Y": "D", "%a %b %d %H:%M:%S %Y": "s",
    "%a, %d %b %Y %H:%M:%S +0000": "s", "%Y-%m-%d_%H-%M-%S": "s", "[%d/%b/%Y:%H:%M:%S +0100]": "s",
    "%d%b%y": "D", "%d %b '%y": "D", "%m/%Y": "M", "%Y/%m": "M", "%YM%m": "M", "%Y M%m": "M",
    "%Y年%m月": "M", "%b-%y": "M", "%B %Y": "M",
}  # fmt: skip
OFFSETS = {"GMT+2": 2, "+0100]": 1}
"""Hours to take from the local time."""


def present(*texts):
    """The dates of texts by the order in which most of them are valid."""
    dates = find_dates(pa.array(list(texts)))
    return None if dates is None else dates.times(dates.orders()[0])


@pytest.mark.parametrize("form", FORMS)
def test_any_date_is_read_as_it_was_written(form):
    rng = np.random.default_rng(0)
    first = 0 if "%y" in form else -(10**9)  # Two digits stand for 1969 to 2068
    seconds = rng.integers(first, 2 * 10**9, 300)
    micro = 10 * rng.integers(0, 10**5, 300) if "%f" in form else np.zeros(300, int)
    days = [
        datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=int(s), microseconds=int(m))
        for s, m in zip(seconds, micro, strict=True)
    ]
    last = datetime.datetime(1999, 12, 31, 23, 59, 59)
    days = [*days, last, datetime.datetime(2020, 2, 29)]
    entries = [day.strftime(form) for day in days]
    expected = np.array(days, f"datetime64[{FORMS[form]}]").astype("datetime64[us]")
    for zone, hours in OFFSETS.items():
        expected -= np.timedelta64(hours * form.endswith(zone), "h")
    np.testing.assert_array_equal(present(*entries), expected)


@pytest.mark.parametrize(
    "code",
    [
        "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "uk", "cs", "hu", "ro", "hr", "el", "tr",
        "sv", "da", "fi", "lt", "vi", "ja", "ko", "zh", "hi", "bn", "am", "id", "ca", "en",
    ],
)  # fmt: skip
@pytest.mark.parametrize("width", ["long", "full"])
def test_dates_of_any_language(code, width):
    """The library that knows the languages writes the dates."""
    days = pd.date_range("2020-01-01", periods=120, freq="13D").date
    entries = [format_date(day, width, locale=code) for day in days]
    np.testing.assert_array_equal(present(*entries), np.array(days, "datetime64[us]"))


@pytest.mark.parametrize(
    ("form", "before", "first"),
    [
        ("令和{}年{}月{}日", 2018, "2019-05-01"),
        ("平成{}年{}月{}日", 1988, "1989-01-08"),
        ("S{}.{}.{}", 1925, "1950-01-01"),
        ("R{}/{:02}/{:02}", 2018, "2020-01-01"),
    ],
)
def test_years_of_japanese_eras(form, before, first):
    days = pd.date_range(first, periods=50, freq="11D")
    entries = [form.format(day.year - before, day.month, day.day) for day in days]
    entries[0] = entries[0].replace("和1年", "和元年")
    np.testing.assert_array_equal(present(*entries), days.to_numpy())


WEEKS = (
    "{0}-W{1:02d}",
    "{0}W{1:02d}",
    "W{1:02d} {0}",
    "KW {1}/{0}",
    "{0} Week {1}",
    "{0}年第{1}週",
)


@pytest.mark.parametrize("form", WEEKS)
def test_weeks_begin_on_their_monday(form):
    days = pd.date_range("2014-12-29", periods=400, freq="7D")
    entries = [form.format(*day.isocalendar()[:2]) for day in days]
    np.testing.assert_array_equal(present(*entries), days.to_numpy())


QUARTERS = (
    "{}-Q{}",
    "{}Q{}",
    "{} Q{}",
    "Q{1}/{0}",
    "Q{1} {2}",
    "{1}Q{2}",
    "{1}. Quartal {0}",
    "T{1} {0}",
)


@pytest.mark.parametrize("form", QUARTERS)
def test_quarters_begin_with_their_first_day(form):
    days = pd.date_range("2001-01-01", periods=40, freq="QS")
    entries = [form.format(day.year, day.quarter, f"{day.year % 100:02d}") for day in days]
    np.testing.assert_array_equal(present(*entries), days.to_numpy())


@pytest.mark.parametrize("form", ["{}-H{}", "H{1} {0}", "{}S{}", "{1}. Halbjahr {0}"])
def test_half_years(form):
    days = pd.date_range("2001-01-01", periods=20, freq="6MS")
    entries = [form.format(day.year, 1 + (day.month > 6)) for day in days]
    np.testing.assert_array_equal(present(*entries), days.to_numpy())


@pytest.mark.parametrize(
    "form", ["{0}-{2:02d}", "{0}/{2:02d}", "{0}–{1}", "FY{0}", "FY {0}/{2:02d}"]
)
def test_fiscal_years_begin_with_their_first_year(form):
    years = range(1994, 2013)
    entries = [form.format(year, year + 1, (year + 1) % 100) for year in years]
    expected = [np.datetime64(f"{year}-01-01", "us") for year in years]
    np.testing.assert_array_equal(present(*entries), expected)


def test_months_are_no_fiscal_years():
    days = pd.date_range("1995-01-01", periods=600, freq="MS")
    np.testing.assert_array_equal(present(*days.strftime("%Y-%m")), days.to_numpy())
    assert present("2000-01")[0] == np.datetime64("2000-01-01")
    assert present("2000-01", "2000-02", "2001-02")[1] == np.datetime64("2000-02-01")


def test_hours_to_24():
    hours = pd.date_range("2021-03-01 01:00", periods=72, freq="h")
    for form in ("%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M"):
        entries = [
            f"{(hour - pd.Timedelta('1h')).strftime(form)[:10]} 24:00"
            if hour.hour == 0
            else hour.strftime(form)
            for hour in hours
        ]
        np.testing.assert_array_equal(present(*entries), hours.to_numpy())
    assert np.isnat(present("2021-03-01 24:01", "2021-03-02 25:00")).all()


OTHER_TEXT = (
    "A-12", "12 Monkeys 1995", "Opus 27 1995", "1.2.10", "10:30", "Version 1.2.2021", "12-34",
    "5 apples", "Room 12 2021", "Flight 5/1/2021", "S1 E05", "192.168.2.1", "12/34/5678",
    "555-1234", "0151 2345678", "3-4", "10021-1234", "AB 1234", "Q5 2021", "31/12-2021",
)  # fmt: skip


@pytest.mark.parametrize("text", OTHER_TEXT)
def test_other_text_is_not_read(text):
    times = present(text, text, text)
    assert times is None or np.isnat(times).all()


def test_days_that_months_lack_are_not_moved():
    """The parser of Arrow reads 31 February as 3 March."""
    entries = ["31.02.2021", "30.02.2021", "31.04.2021", "29.02.2020", "01.05.2021", "31.12.2021"]
    times = present(*entries * 400)
    expected = pd.to_datetime(entries * 400, format="%d.%m.%Y", errors="coerce").to_numpy()
    np.testing.assert_array_equal(times, expected.astype("datetime64[us]"))


TIMES_OF_DAY = {
    "day first": ("%d.%m.%Y %H:%M", ["31.02.2021 10:00", "5.3.2021", "31.12.2021 24:00", None]),
    "month first": ("%m/%d/%Y %I:%M %p", ["01/14/2021 13:00 PM", "soon", "1/2/2021 1:05 am"]),
    "zones": ("%d %b %Y %H:%M:%S +0130", ["31 Feb 2021 10:00:00 +0130", "1 May 2020 9:00 -0200"]),
}


@pytest.mark.parametrize("case", TIMES_OF_DAY)
def test_long_columns_are_read_like_short_ones(case):
    """Long columns are read by distinct days and distinct times of day."""
    form, others = TIMES_OF_DAY[case]
    entries = pd.date_range("1996-01-05", periods=2000, freq="517min").strftime(form).tolist()
    entries = [*entries[:900], *others, *entries[900:]]
    found = find_dates(pa.chunked_array([entries[:700], entries[700:]]))
    parts = [find_dates(pa.array([*entries[k : k + 600], *entries[:300]])) for k in (0, 600, 1200)]
    for order, times in found.by_order.items():
        short = np.concatenate([part.by_order[order][:600] for part in parts])
        np.testing.assert_array_equal(times[:1800], short)
    offset = np.concatenate([part.offset[:600] for part in parts])
    present = ~np.isnat(found.times(found.orders()[0])[:1800])
    np.testing.assert_array_equal(found.offset[:1800][present], offset[present])
    assert present.sum() >= 1797 - len(others)


def test_numbers_after_months_are_years_only_where_months_are_evenly_spaced():
    months = pd.date_range("2017-01-01", periods=40, freq="MS")
    np.testing.assert_array_equal(present(*months.strftime("%b %y")), months.to_numpy())
    days = pd.date_range("2017-01-17", periods=40)
    assert present(*days.strftime("%b %d")) is None


def test_spans_are_noted(tmp_path):
    read = read_text(tmp_path, column("2000-01", "2001-02", "2002-03"))
    assert read.frame["a"].dt.year.tolist() == [2000, 2001, 2002]
    words = (
        "'a' holds fiscal years, which are read as their first day (2000-01 is read as 2000-01-01)."
    )
    assert read.notes == (words,)


MONTHS = pd.date_range("2016-01-01", periods=60, freq="MS")
TIMES = pd.date_range("2021-01-05", periods=60, freq="37h")
WEEKS_OF_YEARS = pd.date_range("2015-12-28", periods=120, freq="7D")
HOURS = pd.date_range("2021-01-01", periods=50, freq="h")
SINCE_1970 = pd.Timestamp("1970-01-01")
DAY_ZERO = pd.Timestamp("1899-12-30")

NUMBERS = {
    "yyyymmdd": ("x", TIMES.normalize(), TIMES.strftime("%Y%m%d")),
    "yyyymmddhhmmss": ("x", TIMES, TIMES.strftime("%Y%m%d%H%M%S")),
    "yyyymmddhhmm": ("x", TIMES, TIMES.strftime("%Y%m%d%H%M")),
    "yyyymm": ("x", MONTHS, MONTHS.strftime("%Y%m")),
    "some months": ("Monat", MONTHS[[3, 1, 8]], MONTHS[[3, 1, 8]].strftime("%Y%m")),
    "mm.yyyy": ("x", MONTHS, MONTHS.strftime("%m.%Y")),
    "yyyy.mm": ("x", MONTHS, MONTHS.strftime("%Y.%m")),
    "yyyyww": ("x", WEEKS_OF_YEARS, WEEKS_OF_YEARS.strftime("%G%V")),
    "seconds": ("x", HOURS, (HOURS - SINCE_1970) // pd.Timedelta("1s")),
    "milliseconds": ("timestamp", TIMES, (TIMES - SINCE_1970) // pd.Timedelta("1ms")),
    "spreadsheet": ("Datum", TIMES, (TIMES - DAY_ZERO) / pd.Timedelta("1D")),
}


@pytest.mark.parametrize("form", NUMBERS)
def test_numbers_that_are_dates(tmp_path, form):
    name, times, numbers = NUMBERS[form]
    text = column(*map(str, numbers), name=name)
    read = read_text(tmp_path, text)
    np.testing.assert_allclose(
        read.frame[name].to_numpy().astype("datetime64[us]").astype(np.int64),
        times.to_numpy().astype("datetime64[us]").astype(np.int64),
        atol=100,
    )
    assert any("as numbers, which are read as dates" in note for note in read.notes)
    again = read_text(
        tmp_path, column(str(numbers[7 % len(numbers)]), name=name), layout=read.layout
    )
    assert abs(again.frame[name][0] - times[7 % len(times)]) < pd.Timedelta("1ms")
    kept = read_text(tmp_path, text, types={name: "number"})
    assert kept.frame[name].dtype.kind in "if"
    asked = read_text(tmp_path, text.replace(f"{name};", "q;", 1), types={"q": "date"})
    assert asked.frame["q"].dtype.kind == "M"
    typed = read_table(pd.DataFrame({name: [float(number) for number in numbers]}))
    assert typed[name].dtype.kind == "M"


def quantities():
    """Ordinary numbers, by the name of their column."""
    rng = np.random.default_rng(0)
    return {
        "price": rng.lognormal(4, 1, 300).round(2),
        "zip": rng.integers(1000, 99999, 300),
        "pin": rng.choice([201301, 201303, 201304, 201305, 201306, 201307, 201310], 200),
        "population": rng.lognormal(14, 2, 300).round(),
        "kWh": rng.gamma(2, 200, 300).round(1),
        "meter": np.cumsum(rng.integers(1, 9, 300)) + 201000,
        "id": np.arange(200001, 200301),
        "serial": np.arange(20210001, 20210301),
        "salary": rng.integers(20, 150, 300) * 1000,
        "year": np.arange(1990, 2020),
        "ratio": rng.normal(2, 1, 300).round(4),
        "multiple": (np.arange(1, 300) * 0.2).round(4),
        "temperature": rng.normal(15, 8, 300).round(2),
        "budget": np.arange(30) * 60_000_000 + 1_200_000_000,
        "count": rng.integers(0, 60000, 300),
        "data": rng.integers(30000, 50000, 300),
        "phone": rng.integers(10**9, 2 * 10**9, 300),
        "score": rng.normal(2015, 5, 200).round(2),
        "of six digits": rng.integers(190000, 210099, 300),
        "of eight digits": rng.integers(19000000, 21009999, 300),
    }


@pytest.mark.parametrize("name", quantities())
def test_ordinary_numbers_stay_numbers(tmp_path, name):
    numbers = quantities()[name]
    read = read_text(tmp_path, column(*map(str, numbers.tolist()), name=name), keep=[name])
    np.testing.assert_array_equal(read.frame[name], numbers)
    are_noted = any("looks like dates" in note for note in read.notes)
    assert are_noted == (name in ("pin", "budget"))


def test_a_single_word_is_no_month_of_a_rare_language():
    """Tháng is Vietnamese for month, and begins like the August of Venda."""
    texts = [f"Tháng {i % 9 + 1} {2000 + i % 20}" for i in range(60)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = read_table(pd.DataFrame({"x": texts, "y": range(60)}), text=["y"])
    assert "x" not in frame or frame["x"].dtype.kind != "M"
