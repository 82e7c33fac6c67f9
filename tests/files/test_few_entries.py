"""Readings of a few entries: eras, zones, centuries, hours, signs, codes and numbers of rows."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bochner import read_table
from bochner.files.columns import read_column
from bochner.files.joined_dates import join_dates
from bochner.files.local_dates import find_dates

ZONES = (
    *("Los_Angeles", "Denver", "Chicago", "New_York", "Paris", "Helsinki", "Lisbon", "London"),
    *("Moscow", "Tokyo", "Seoul", "Sydney", "Auckland"),
)
AREAS = dict.fromkeys(ZONES[:4], "America") | dict.fromkeys(ZONES[4:9], "Europe")
AREAS |= {"Tokyo": "Asia", "Seoul": "Asia", "Sydney": "Australia", "Auckland": "Pacific"}


def days(*texts):
    times = find_dates(pa.array(texts * 3)).times()
    return times[: len(texts)].astype("datetime64[D]").astype(str).tolist()


@pytest.mark.parametrize("month", [1, 7])
@pytest.mark.parametrize("city", ZONES)
def test_short_names_of_zones_have_the_offset_of_their_season(city, month):
    time = datetime(2024, month, 15, 10, tzinfo=ZoneInfo(f"{AREAS[city]}/{city}"))
    utc = np.datetime64(time.astimezone(ZoneInfo("UTC")).replace(tzinfo=None))
    assert find_dates(pa.array([f"{time:%Y-%m-%d %H:%M %Z}"] * 3)).times()[0] == utc


def test_eras_and_centuries_begin_and_end():
    assert days("令和1年5月1日", "平成1年1月8日") == ["2019-05-01", "1989-01-08"]
    assert days("昭和64年1月7日", "昭和1年12月25日") == ["1989-01-07", "1926-12-25"]
    assert [day[:4] for day in days("13/02/68", "13/02/69")] == ["2068", "1969"]


@pytest.mark.parametrize("first", [0, 1])
def test_hours_are_numbered_from_zero_or_one(first):
    hours = [*range(first, first + 24)] * 2
    frame = pd.DataFrame({"date": ["2024-01-01"] * 24 + ["2024-01-02"] * 24, "hour": hours})
    times = join_dates(frame, ())[0]["date hour"]
    assert times.tolist() == pd.date_range("2024-01-01", periods=48, freq="h").tolist()


NUMBERS = {
    "brackets": (["(5)", "3", "4"], [-5, 3, 4]),
    "a currency and brackets": (["$5", "($3)", "-$2"], [5, -3, -2]),
    "letters after a gap": (["1 p", "2", "3"], [1, 2, 3]),
    "letters without a gap": (["1p", "2", "3"], ["1p", "2", "3"]),
    "codes of two digits": (["01", "02", "13"], [1, 2, 13]),
    "codes of three": (["001", "002", "113"], ["001", "002", "113"]),
    "the largest exact number": ([str(2**53), "1", "2"], [2**53, 1, 2]),
    "a larger one": ([str(2**53 + 1), "1", "2"], [str(2**53 + 1), "1", "2"]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_keep_signs_and_codes(name, tmp_path):
    texts, right = NUMBERS[name]
    lines = [f'"{text}",{row}.5' for row, text in enumerate(texts)]
    (tmp_path / "a.csv").write_text("\n".join(["a,b", *lines]))
    assert read_table(tmp_path / "a.csv")["a"].tolist() == right


@pytest.mark.parametrize(("first", "last", "step"), [(30, 0, -1), (5, 35, 1)])
def test_columns_that_count_rows_up_or_down_are_left_out(first, last, step, tmp_path):
    lines = [f"{i % 7},{i % 5}.5,{n}" for i, n in enumerate(range(first, last, step))]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,n", *lines]))
    assert list(read_table(tmp_path / "a.csv")) == ["a", "b"]


def test_infinite_numbers_have_either_sign():
    assert read_column("x", np.array([-np.inf, 1.0, np.inf])).infinite_rows().tolist() == [0, 2]
