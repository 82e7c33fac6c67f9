"""Which rows are held out."""

import numpy as np
import pandas as pd
import pytest

from bochner.comparison.split import Roles, split_rows, split_table
from bochner.files.errors import InputError
from bochner.tables import table_checks

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
    for part, right in (("y", TARGET), ("weight", weight), ("groups", groups)):
        np.testing.assert_array_equal(getattr(split.everything, part), right)


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


def test_no_row_to_test_is_a_copy_of_a_row_to_fit():
    values = np.random.default_rng(0).integers(0, 60, N)
    _, first, place = np.unique(values, return_index=True, return_inverse=True)
    for seed in range(5):
        split = split_rows(FEATURES, TARGET, "regression", 0.3, seed, originals=first[place])
        fit, test = rows(split)
        assert not set(values[fit]) & set(values[test])


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
        (dated(), "auto", {"drop": ("y",)}, "'y' is the target and is also dropped"),
        (dated(), "auto", {"drop": ("a", "who"), "id": "who"}, "'who' is the id and is also"),
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


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    parts = {"a": rng.normal(size=n), "word": rng.choice(list("pqr"), n)}
    return pd.DataFrame(parts | {"y": rng.normal(size=n)})


def split_of(frame, task="regression", left_out=None, **roles):
    return split_table(frame, Roles(("y",), **roles), task=task, left_out=left_out or {})


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_rows_without_target_are_left_out_and_counted(task):
    frame = table()
    if task == "classification":
        frame["y"] = np.where(frame["y"] > 0.0, "yes", "no")
    missing = [2, 7, 11]
    frame.loc[missing, "y"] = None
    # The weights of rows without a target are not needed.
    split = split_of(frame.assign(w=np.where(frame["y"].isna(), np.nan, 1.0)), task, weight="w")
    rows = [*split.X.index, *split.X_test.index]
    assert sorted(rows) == [row for row in range(60) if row not in missing]
    (note,) = split.notes
    assert note.startswith("3 of the 60 rows have no target 'y' and are left out (rows 3, 8, 12)")
    np.testing.assert_array_equal(split.y, frame["y"][split.X.index])


def test_rows_need_all_of_several_targets():
    frame = table().assign(z=1.5)
    frame.loc[4, "z"] = np.nan
    rows, note = table_checks.with_targets(frame, ("y", "z"))
    assert len(rows) == 59
    assert 4 not in rows.index
    assert "no target 'y' and 'z' and is left out (row 5)" in note


def test_a_target_that_is_always_missing_is_refused():
    with pytest.raises(InputError, match="'y' is missing in every row"):
        split_of(table().assign(y=np.nan))


def entries_of(frame):
    return {tuple(row) for row in frame.itertuples(index=False)}


def written(frame, times, seed):
    """Write each row several times, in another order."""
    frame = pd.concat([frame] * times, ignore_index=True)
    return frame.sample(frac=1.0, random_state=seed, ignore_index=True)


COARSE = pd.DataFrame(
    {
        "level": np.repeat(list("pqrs"), 40),
        "number": np.tile(np.arange(8.0), 20),
        "y": np.random.default_rng(3).choice([0.0, 1.0, 2.0], 160),
    }
)
"""Rows of which some are equal by chance."""


@pytest.mark.parametrize("kind", ["random", "time", "group"])
def test_copies_are_not_divided_and_the_fit_has_one_of_each(kind):
    frame = table(61).assign(day=np.arange(61.0) % 37, group=np.arange(61) % 9)
    roles = {} if kind == "random" else {kind: "day" if kind == "time" else kind}
    for seed in range(5):
        copied = written(frame, 3, seed)
        split = split_of(copied, **roles)
        fit, test = (copied.loc[part.index] for part in (split.X, split.X_test))
        n_different = len(entries_of(fit))
        assert not entries_of(fit) & entries_of(test)
        assert n_different == len(frame) - len(entries_of(test)) == len(fit)
        assert 0.15 < len(test) / len(copied) < 0.3
        assert f"{2 * len(frame)} duplicates among" in split.notes[0]
        if kind == "random":
            assert len(np.unique(split.groups_test)) == len(entries_of(test))


def test_rows_that_are_equal_by_chance_have_copies_each():
    """The part of the training rows has as many rows as that of the plain table."""
    for seed in range(5):
        split = split_of(written(COARSE, 3, seed))
        assert (len(split.X), len(np.unique(split.groups_test))) == (128, 32)
        assert "320 duplicates among" in split.notes[0]


def test_some_copies_are_found_among_other_rows():
    frame = table(200)
    copied = pd.concat([frame, frame.sample(15, random_state=1)], ignore_index=True)
    split = split_of(copied)
    assert not entries_of(split.X) & entries_of(split.X_test)
    assert len(split.X) == len(entries_of(split.X))
    assert "15 duplicates among the 215 rows" in split.notes[0]


def test_rows_that_are_equal_by_chance_are_independent():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({name: rng.integers(0, 4, 300) for name in "abc"})
        frame["y"] = np.where(rng.uniform(size=300) < 0.2 + 0.2 * frame["a"], "yes", "no")
        assert frame.duplicated().sum() > 100
        split = split_of(frame, "classification")
        assert split.notes == ()
        assert len(split.X) + len(split.X_test) == 300


def test_rows_with_an_equal_identifier_are_held_out_together():
    frame, names = table(), pd.Series([f"n{place % 52}" for place in range(60)])
    names[30:33] = None  # A missing identifier is no identifier
    for split in (
        split_of(frame, left_out={"name": names}),
        split_of(
            frame.assign(name=names.where(names.notna(), [f"m{i}" for i in range(60)])), id="name"
        ),
    ):
        fit, test = set(names[split.X.index].dropna()), set(names[split.X_test.index].dropna())
        assert not fit & test
        assert len(split.X) + len(split.X_test) == 60
        assert "16 of the 60 rows share their identifier with another row" in split.notes[0]
    remarks = pd.Series(["none"] * 12 + [f"remark {place}" for place in range(48)])
    assert split_of(frame, left_out={"remark": remarks}).notes == ()


def test_a_class_whose_rows_are_copies_is_fitted():
    frame = table().assign(y=["a", "b", "c"] * 20)
    rare = pd.concat([frame, *[frame[:1].assign(a=5.0, y="rare")] * 2], ignore_index=True)
    split = split_of(rare, "classification")
    assert np.sum(split.y == "rare") == 1
    assert "rare" not in split.y_test
