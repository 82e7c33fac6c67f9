"""Targets, tasks, and the columns a table may not have."""

import datetime

import numpy as np
import pandas as pd
import pytest

from bochner.files.errors import InputError
from bochner.tables.table_checks import (
    check_table,
    check_target,
    drop_columns,
    infer_task,
    split_target,
)


def refusal(call, *arguments, error=InputError):
    with pytest.raises(error) as caught:
        call(*arguments)
    return str(caught.value)


class TestSplit:
    frame = pd.DataFrame({"area": [1, 2, 3], "price": [4.0, 5.0, 6.0]})

    @pytest.mark.parametrize("name", ["Price", "prise"])
    def test_the_nearest_name_is_suggested(self, name):
        message = refusal(split_target, self.frame, name)
        assert f"No column {name!r}" in message
        assert "Did you mean 'price'?" in message
        assert "area, price" in message

    def test_columns_that_reading_left_out_are_named(self):
        message = refusal(split_target, self.frame[["price"]], "price", ["x", "id"])
        assert "Reading has left out 'x', 'id'" in message
        assert "--types 'x,number;id,number'" in message
        assert "left out" not in refusal(split_target, self.frame[["price"]], "price")

    def test_a_header_of_numbers_is_doubted(self):
        frame = pd.DataFrame([[1, 2]], columns=["5.1", "-3"])
        assert "line of column names missing" in refusal(split_target, frame, "y")

    def test_no_other_column(self):
        assert "no column but the target" in refusal(split_target, self.frame[["area"]], "area")

    @pytest.mark.parametrize("word", ["missing", "infinite", "beyond 1e+150"])
    def test_incomplete_target(self, word):
        y = np.arange(20.0)
        y[[1, 3, 4, 5, 6, 8]] = {"missing": np.nan, "infinite": -np.inf}.get(word, -1e200)
        message = refusal(split_target, pd.DataFrame({"a": 1, "y": y}), "y")
        assert f"'y' is {word} in 6 of 20 rows (rows 2, 4, 5, 6, 7, ...," in message
        assert "Drop those rows" in message

    def test_drop(self):
        assert list(drop_columns(self.frame, ["area"]).columns) == ["price"]
        assert "Did you mean 'area'?" in refusal(drop_columns, self.frame, ["areas"])
        message = refusal(drop_columns, self.frame, ["area, price"])
        assert message.endswith("repeat the option, as in --drop area --drop price.")


def repeated(n_values, n_rows):
    return np.arange(n_rows) % n_values


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b", "a"], "classification"),
        ([True, False], "classification"),
        (pd.Categorical([1, 2, 3]), "classification"),
        (pd.array([True, False, True, False], dtype="boolean"), "classification"),
        (repeated(26, 20000), "classification"),
        (repeated(64, 1280), "classification"),
        (repeated(64, 1279), "regression"),
        (repeated(65, 5000), "regression"),
        (repeated(869, 17379), "regression"),
        (repeated(3, 30), "regression"),
        (repeated(2, 4), "classification"),
        ([0, 1, 1], "regression"),
        (repeated(5, 200).astype(float), "classification"),
        (repeated(5, 200) + 0.5, "regression"),
        (1 + repeated(10, 2000), "classification"),  # marks
        (1990 + repeated(31, 1000), "regression"),  # years
        (np.repeat(np.arange(3, 9), [10, 53, 681, 638, 199, 18]), "regression"),  # quality of wine
        (np.repeat(np.arange(7), [900, 500, 400, 90, 30, 9, 1]), "regression"),  # children
        (np.repeat([*range(12), 14], [*[99] * 10, 7, 3, 2]), "regression"),  # visits
        (np.repeat(np.arange(1, 8), [200, 280, 35, 27, 95, 17, 20]), "classification"),  # kinds
        (np.repeat([4, 6, 8, 10, 12], [9, 300, 200, 200, 9]), "classification"),  # cylinders
    ],
)
def test_task(values, task):
    inferred, reason = infer_task(pd.Series(values, name="y"))
    other = {"regression": "classification", "classification": "regression"}[task]
    assert inferred == task
    assert not reason or reason.startswith(f"Task: {task}, because the ")
    assert not reason or reason.endswith(f"use --task {other}.")


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], ["dates", "another target"]),
        ([1, "x"], ["mixture", "row 1: 1, row 2: 'x'"]),
        (["1.5", "2.5", "?"], ["mixture", "row 1: '1.5', row 3: '?'"]),
        (["1", "2", "2b"], ["mixture", "If these are classes, use --task classification"]),
    ],
)
def test_targets_without_a_task(values, parts):
    message = refusal(infer_task, pd.Series(values, name="y", dtype=object))
    for part in ["'y'", *parts]:
        assert part in message


@pytest.mark.parametrize("values", [["1", "2", "2b"], ["A", "1"], ["inf", "x"], ["1.5", "n/a"]])
def test_any_texts_are_classes_if_the_task_is_stated(values):
    check_target(pd.Series(values * 2, name="y", dtype=object), "classification")


@pytest.mark.parametrize(
    ("values", "task", "parts"),
    [
        ([1.0, 1.0], "regression", ["'y' has one value", "1.0", "another target"]),
        (["a", "a"], "classification", ["'y' has a single class", "'a'"]),
        (["a", "b", "a"], "classification", ["1 of 2 classes", "('b')", "join rare"]),
        (["a", "b", "a"], "regression", ["'y' is text", "--task classification"]),
        ([0.1, 0.2, 0.3], "classification", ["3 of 3 classes", "--task regression"]),
    ],
)
def test_targets_that_do_not_suit(values, task, parts):
    message = refusal(check_target, pd.Series(values, name="y"), task)
    for part in parts:
        assert part in message


TABLES = {
    "nothing varies": ({"a": [1, 1], "b": 7}, ["No column of the table varies", "'b' (constant)"]),
    "spoilt decimals": ({"a": ["1.5", "2", "n/k", "3"]}, ["'a' (row 1: '1.5', row 3: 'n/k')"]),
    "spoilt integers": ({"a": ["?", "7", "8", "9"]}, ["'a' (row 2: '7', row 1: '?')", "--drop a"]),
    "infinite": ({"a": [1.0, np.inf, 3.0]}, ["'a'", "row 2: inf"]),
    "one row": ({"a": [1.0]}, ["one row"]),
}


@pytest.mark.parametrize(("columns", "parts"), TABLES.values(), ids=TABLES)
def test_tables(columns, parts):
    message = refusal(check_table, pd.DataFrame(columns), error=ValueError)
    for part in parts:
        assert part in message
