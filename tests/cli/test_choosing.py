"""Which rows are held out."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from bochner.cli.choosing import chosen_rows

from bochner.cli.output import plain
from bochner.files.errors import InputError


@dataclass
class Options:
    split: str = "auto"
    time: str | None = None
    group: str | None = None
    target: tuple = ("y",)


def dated(n=40, **columns):
    days = pd.date_range("2021-01-01", periods=n)
    return pd.DataFrame({"day": days, "a": np.arange(n), "who": list("pq") * (n // 2)} | columns)


@pytest.mark.parametrize("step", [1, -1], ids=["from the earliest", "from the latest"])
def test_a_column_of_dates_that_sorts_the_rows_chooses_the_latest(step):
    found = chosen_rows(dated().iloc[::step], Options())
    assert (found.kind, found.time) == ("time", "day")
    assert (step * np.diff(found.per_row["time"]) > 0.0).all()


@pytest.mark.parametrize(
    "frame",
    [
        dated().drop(columns="day"),
        dated().sample(frac=1.0, random_state=1),
        dated(day=pd.date_range("2021-01-01", periods=40).where(np.arange(40) != 7)),
        dated(day=np.repeat(pd.date_range("2021-01-01", periods=2), 20)),
        dated().rename(columns={"day": "y"}),
    ],
    ids=["no dates", "not sorted", "gaps", "two dates", "the target"],
)
def test_else_rows_are_chosen_at_random(frame):
    assert chosen_rows(frame, Options()).kind == "random"


def test_groups_and_times_that_are_named():
    by_group = chosen_rows(dated(), Options(group="who"))
    assert (by_group.kind, by_group.group) == ("group", "who")
    assert by_group.per_row["groups"].tolist() == [0, 1] * 20
    by_time = chosen_rows(dated(), Options(time="a"))
    assert (by_time.kind, by_time.time) == ("time", "a")
    assert chosen_rows(dated(), Options("time")).time == "day"


@pytest.mark.parametrize(
    ("frame", "asked", "message"),
    [
        (dated(), Options("group"), "add --group COLUMN"),
        (dated(), Options("random", time="day"), "--split random and --time contradict"),
        (dated(), Options("time", group="who"), "--split time and --group contradict"),
        (dated(), Options(time="day", group="who"), "give one of them"),
        (dated().drop(columns="day"), Options("time"), "(none): add --time COLUMN"),
        (dated(other=dated()["day"]), Options("time"), "(2: day, other): add --time COLUMN"),
    ],
)
def test_contradictions(frame, asked, message):
    with pytest.raises(InputError) as error:
        chosen_rows(frame, asked)
    assert message in str(error.value)


def test_control_characters_are_shown():
    assert plain("a\x1b[31m b\tc\u202e") == "a\\x1b[31m b\\tc\\u202e"
    assert plain("größe, 色\n[/x]") == "größe, 色\n[/x]"


def check_fewest_dates():
    """Ten different dates are a course in time, and nine are not."""
    for n_dates, kind in ((9, "random"), (10, "time"), (11, "time")):
        days = pd.date_range("2021-01-01", periods=n_dates).repeat(4)
        frame = pd.DataFrame({"day": days, "a": np.arange(len(days))})
        assert chosen_rows(frame, Options()).kind == kind


def test_ten_dates_are_a_course_in_time():
    check_fewest_dates()
