"""Which rows are held out."""

import numpy as np
import pandas as pd
import pytest

from bochner.comparison.split import Roles, split_rows, split_table
from bochner.files.errors import InputError

N = 100
FEATURES = pd.DataFrame({"a": np.arange(float(N))})
TARGET = pd.Series(np.arange(N) % 2)


def rows(split):
    return split.X["a"].to_numpy().astype(int), split.X_test["a"].to_numpy().astype(int)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_groups_are_held_out_whole(task):
    groups = np.arange(N) // 2 % 10
    weight = np.linspace(1.0, 2.0, N)
    split = split_rows(FEATURES, TARGET, task, 0.2, 0, groups=groups, weight=weight)
    fit, test = rows(split)
    assert sorted([*fit, *test]) == list(range(N))
    assert len(set(groups[test])) == 2
    assert not set(groups[test]) & set(groups[fit])
    np.testing.assert_array_equal(split.groups, groups[fit])
    np.testing.assert_array_equal(split.weight, weight[fit])
    np.testing.assert_array_equal(split.y, TARGET[fit])


def test_the_latest_rows_are_held_out():
    time = np.random.default_rng(0).permutation(N)
    split = split_rows(FEATURES, TARGET, "regression", 0.25, 0, time=time)
    fit, test = rows(split)
    assert (len(fit), len(test)) == (75, 25)
    assert time[fit].max() < time[test].min()
    np.testing.assert_array_equal(split.time, time[fit])


def test_classes_have_equal_shares_in_random_rows():
    split = split_rows(FEATURES, TARGET, "classification", 0.3, 5)
    assert split.y_test.sum() == 15
    assert split.weight is split.groups is split.time is None


def dated(n=40, **columns):
    days = pd.date_range("2021-01-01", periods=n)
    parts = {"day": days, "a": np.arange(n), "who": list("pqrs") * (n // 4)}
    parts["y"] = np.arange(n) % 7.0
    return pd.DataFrame(parts | columns)


def chosen(frame, kind="auto", **roles):
    return split_table(frame, Roles(("y",), **roles), task="regression", kind=kind)


@pytest.mark.parametrize("step", [1, -1], ids=["from the earliest", "from the latest"])
def test_a_column_of_dates_that_sorts_the_rows_chooses_the_latest(step):
    found = chosen(dated().iloc[::step].reset_index(drop=True))
    assert (found.kind, found.column) == ("time", "day")
    assert (step * np.diff(found.time) > 0.0).all()
    assert found.X["day"].max() < found.X_test["day"].min()


@pytest.mark.parametrize(
    "frame",
    [
        dated().drop(columns="day"),
        dated().sample(frac=1.0, random_state=1),
        dated(day=pd.date_range("2021-01-01", periods=40).where(np.arange(40) != 7)),
        dated(day=np.repeat(pd.date_range("2021-01-01", periods=2), 20)),
    ],
    ids=["no dates", "not sorted", "gaps", "two dates"],
)
def test_else_rows_are_chosen_at_random(frame):
    assert chosen(frame).kind == "random"


def test_groups_and_times_that_are_named():
    by_group = chosen(dated(), group="who")
    assert (by_group.kind, by_group.column) == ("group", "who")
    assert set(by_group.groups).isdisjoint(by_group.groups_test)
    assert list(by_group.X.columns) == ["day", "a"]
    by_time = chosen(dated(), time="a")
    assert (by_time.kind, by_time.column) == ("time", "a")
    assert chosen(dated(), "time").column == "day"


@pytest.mark.parametrize(
    ("frame", "kind", "roles", "message"),
    [
        (dated(), "group", {}, "add --group COLUMN"),
        (dated(), "random", {"time": "day"}, "--split random and --time contradict"),
        (dated(), "time", {"group": "who"}, "--split time and --group contradict"),
        (dated(), "auto", {"time": "day", "group": "who"}, "give one of them"),
        (dated().drop(columns="day"), "time", {}, "(none): add --time COLUMN"),
        (dated(other=dated()["day"]), "time", {}, "(2: day, other): add --time COLUMN"),
    ],
)
def test_contradictions(frame, kind, roles, message):
    with pytest.raises(InputError) as error:
        chosen(frame, kind, **roles)
    assert message in str(error.value)
