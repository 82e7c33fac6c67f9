"""Shares of the variance and averaged predictions of functions with known answers."""

from types import SimpleNamespace

import numpy as np
import pytest

from bochner import TableRegressor
from bochner.tables import sensitivity
from bochner.tables.contributions import Contributions
from bochner.tables.sensitivity import Dependence, Effect, VarianceShares

# Parts of the variance of Ishigami's function: first, second, first and third together.
PARTS = np.array([0.5 * (1.0 + np.pi**4 / 50.0) ** 2, 49.0 / 8.0, np.pi**8 * 0.08 / 225.0])
ALONE, SECOND, JOINT = PARTS / PARTS.sum()
SINGLE = {"a": [0], "b": [1], "c": [2], "none": []}


def ishigami(X):
    x = np.pi * (2.0 * X - 1.0)
    return np.sin(x[:, 0]) * (1.0 + 0.1 * x[:, 2] ** 4) + 7.0 * np.sin(x[:, 1]) ** 2


def of_function(function, X, groups):
    groups = {name: np.array(group, dtype=int) for name, group in groups.items()}
    return Dependence(function, X, groups)


def dependence(function, groups=SINGLE, seed=0):
    X = np.random.default_rng(seed).uniform(size=(800, 3))
    return of_function(function, X, groups)


def product(X):
    return np.column_stack([X[:, 0] * X[:, 1], 1.0 - X[:, 0] * X[:, 1]])


TOTALS = {"a": ALONE + JOINT, "b": SECOND, "c": JOINT}
CASES = {
    "Ishigami": (ishigami, SINGLE, TOTALS, {("a", "c"): JOINT}),
    "groups": (ishigami, {"ac": [0, 2], "b": [1]}, {"ac": ALONE + JOINT, "b": SECOND}, {}),
    "product": (product, SINGLE, {"a": 4.0 / 7.0, "b": 4.0 / 7.0}, {("a", "b"): 1.0 / 7.0}),
    "sum": (lambda X: X @ [1.0, 1.0, 2.0], SINGLE, {"a": 1 / 6, "b": 1 / 6, "c": 2 / 3}, {}),
}


@pytest.mark.thorough_cases(but="sum|groups")
@pytest.mark.parametrize("name", CASES)
def test_shares_are_those_of_closed_forms(name):
    """Estimates are as far from the truth as standard errors say; other shares are zero."""
    function, groups, *expected = CASES[name]
    scores = []
    for seed in range(40):
        one = dependence(function, groups, seed)
        for found, truth in zip((one.importance(), one.interactions()), expected, strict=True):
            assert (np.diff(found.share) <= 0.0).all()
            places = [found.columns.index(key) for key in truth]
            scores += ((found.share[places] - [*truth.values()]) / found.std_error[places]).tolist()
            assert np.delete(found.share, places).sum() < 1e-20
    scores = np.reshape(scores, (40, -1))
    # Student's t of 19 degrees has the standard deviation 1.06.
    size = np.sqrt(np.mean(scores**2, axis=0))
    assert (np.abs(scores.mean(axis=0)) < 4.0 * 1.06 / np.sqrt(40.0)).all()
    assert ((size > 0.7) & (size < 1.5)).all()


def test_blocks_of_sources_change_nothing():
    one, grid = dependence(ishigami), {"b": (np.arange(3.0), np.arange(3))}
    importance = one.importance()
    whole = importance, one.interactions(importance), one.effect(grid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitivity, "_BLOCK_SOURCES", 500)
        parts = one.importance(), one.interactions(), one.effect(grid)
    for found, expected in zip(parts[:2], whole[:2], strict=True):
        np.testing.assert_array_equal(found.share, expected.share)
    np.testing.assert_array_equal(parts[2].lower, whole[2].lower)
    assert np.isnan(of_function(ishigami, one.X[:10], SINGLE).importance().std_error).all()


def test_effects_are_averages_with_quartiles_of_shifted_rows():
    one = dependence(lambda X: X[:, 0] ** 2 + X[:, 1] * X[:, 2])
    X, rows = one.X[: sensitivity._EFFECT_ROWS], np.arange(4)
    first = one.effect({"a": (X[rows, 0], rows)})
    np.testing.assert_allclose(first.mean, X[rows, 0] ** 2 + np.mean(X[:, 1] * X[:, 2]))
    np.testing.assert_allclose([first.lower, first.upper], [first.mean] * 2)
    second = one.effect({"b": (X[rows, 1], rows)})
    along = X[rows, 1] - X[rows, 1].mean()
    quartiles = np.quantile(np.multiply.outer(along, X[:, 2]), (0.25, 0.75), axis=1)
    np.testing.assert_allclose([second.lower, second.upper], second.mean.mean() + quartiles)
    both = one.effect({"b": (X[rows, 1], rows), "c": (X[:2, 2], rows[:2])})
    products = np.multiply.outer(X[rows, 1], X[:2, 2])
    np.testing.assert_allclose(both.mean, products + np.mean(X[:, 0] ** 2))
    assert len(repr(both).splitlines()) == 9


def test_results_become_data_frames():
    shares = VarianceShares(("a", ("b", "c")), np.array([0.5, 0.25]), np.array([0.1, np.nan]))
    frame = shares.to_frame()
    assert list(frame["column"]) == ["a", "b × c"]
    np.testing.assert_array_equal(frame["share"], shares.share)
    np.testing.assert_array_equal(frame["std_error"], shares.std_error)
    grid = (np.array([1.0, 2.0]), np.array(["x", "y", "z"]))
    mean = np.arange(6.0).reshape(2, 3)
    frame = Effect(("a", "b"), grid, mean, mean - 1.0, mean + 1.0).to_frame()
    assert list(frame) == ["a", "b", "mean", "lower", "upper"]
    assert frame[(frame["a"] == 2.0) & (frame["b"] == "y")].to_numpy().tolist() == [
        [2.0, "y", 4.0, 3.0, 5.0]
    ]
    of_classes = Effect(("a",), (np.array([1.0, 2.0]),), *[np.eye(2)] * 3, np.array(["no", "yes"]))
    assert of_classes.to_frame()["yes"].tolist() == [0.0, 1.0]
    values = np.arange(12.0).reshape(2, 3, 2)
    one = Contributions(("a", "b", "c"), 0.0, values[..., 0], values[..., 0], np.zeros(2))
    np.testing.assert_array_equal(one.to_frame()[["a", "b", "c"]], values[..., 0])
    two = Contributions(
        ("a", "b", "c"), np.zeros(2), values, values, np.zeros((2, 2)), np.array(["no", "yes"])
    )
    frame = two.to_frame()
    assert frame[(frame["row"] == 1) & (frame["class"] == "yes")]["c"].tolist() == [values[1, 2, 1]]


def test_results_are_tables_of_texts_in_terminals_and_notebooks():
    """Dates are dates, years have no commas, and averages have four digits of the largest."""
    days = np.array([2019.0, 2020.5, np.nan])
    ends = np.array([1234.5678, -2.0, 0.5])
    effect = Effect(
        ("day", "year"), (days, np.array([2015.0])), *[ends[:, None]] * 3, dates=("day",)
    )
    assert repr(effect).splitlines()[1:] == [
        "2019-01-01  2015  1,235  1,235  1,235",
        "2020-07-02  2015     -2     -2     -2",
        "   missing  2015      0      0      0",
    ]
    few = Effect(("a",), (np.ones(1),), *[np.array([12.3456])] * 3)
    assert repr(few).split()[-3:] == ["12.35"] * 3
    assert effect.to_frame()["day"].tolist()[1].isoformat() == "2020-07-02T00:00:00"
    shares = VarianceShares(("a<b",), np.array([0.5]), np.array([0.1]))
    assert "<td>a&lt;b</td><td>50.0%</td><td>10.0%</td>" in shares._repr_html_()


def test_results_are_drawn():
    pytest.importorskip("matplotlib")
    pairs = VarianceShares((("a", "b"), ("a", "c")), np.array([0.5, 0.25]), np.array([0.1, 0.1]))
    assert pairs.plot().names == ["a × b", "a × c"]
    effect = Effect(
        ("day",), (np.array([2019.0, 2020.5]),), *[np.array([0.3, 0.7])] * 3, None, ("day",)
    )
    (line,) = effect.plot().ax_.lines
    assert line.get_xdata()[1] == np.datetime64("2020-07-02")


def test_importances_of_features_are_in_the_order_of_the_columns():
    shares = VarianceShares(("b", "a"), np.array([0.7, 0.3]), np.zeros(2))
    columns = SimpleNamespace(columns_=[{"name": "a"}, {"name": "b"}])
    model = SimpleNamespace(importance=lambda: shares, encoder_=columns)
    assert TableRegressor.feature_importances_.fget(model).tolist() == [0.3, 0.7]
