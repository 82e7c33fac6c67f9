"""Rows of totals, at the ends of what counts as one."""

import numpy as np
import pandas as pd
import pytest

from bochner.files.totals import find_totals, labelled_note


def with_last(columns, last):
    return {name: pd.Series([*values, last[name]]) for name, values in columns.items()}


def assert_rounded_totals():
    """Sums of exact amounts, whose entries are rounded: errors of 400 entries add up as a root."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(20):
        exact = {name: rng.uniform(1.0, 100.0, 400) for name in "ab"}
        rounded = {name: np.round(values, 2) for name, values in exact.items()}
        sums = {name: round(float(values.sum()), 2) for name, values in exact.items()}
        found.append("sums of the rows above" in find_totals(with_last(rounded, sums)))
        # Errors of a whole unit of money are no rounding.
        off = {name: value + 0.01 * 400 for name, value in sums.items()}
        assert not find_totals(with_last(rounded, off))
    assert all(found)


def test_totals_of_rounded_entries_are_found():
    assert_rounded_totals()


@pytest.mark.parametrize(("n_rows", "is_found"), [(7, False), (8, True), (9, True)])
def test_eight_rows_have_a_total_without_a_label(n_rows, is_found):
    columns = {name: np.arange(1.0, n_rows + 1.0) ** power for name, power in (("a", 1), ("b", 2))}
    sums = {name: values.sum() for name, values in columns.items()}
    assert bool(find_totals(with_last(columns, sums))) == is_found


@pytest.mark.parametrize(("n_rows", "is_found"), [(2, False), (3, True)])
def test_three_rows_have_a_labelled_total(n_rows, is_found):
    columns = {"a": pd.Series(np.arange(1.0, n_rows + 1.0))}
    below = {"a": np.array([columns["a"].sum()])}
    assert bool(labelled_note(["Total"], columns, below)) == is_found


def test_a_single_column_may_be_its_running_total():
    """One column without a label is no evidence, and neither is one of two that agree."""
    values = np.arange(1.0, 11.0)
    assert not find_totals(with_last({"a": values}, {"a": values.sum()}))
    both = {"a": values, "b": values**2}
    assert not find_totals(with_last(both, {"a": values.sum(), "b": 0.0}))
    assert find_totals(with_last(both, {"a": values.sum(), "b": np.sum(values**2)}))
