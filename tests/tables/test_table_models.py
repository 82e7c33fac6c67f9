"""Models of tables: the scikit-learn API, and what they choose on simulated data."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

import bochner
from bochner import TableClassifier, TableRegressor
from bochner.kernels import Kernel, Matern

NOISE = 0.3
REGRESSORS = (TableRegressor(effort="quick"),)
CLASSIFIERS = (TableClassifier(effort="quick"),)


def no_counts(model):
    """Return the check that a row of weight three is three rows, which is true of counts only."""
    reason = "a row is one observation whatever its weight, unless weights='counts'"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@pytest.mark.thorough_cases(
    r"^TableRegressor\(effort|^TableC.*(train|s_classes|dtype|positive|weight_eq.*dense|pipeline_c|er_data_not)"
)
@parametrize_with_checks(
    [*REGRESSORS, *CLASSIFIERS], expected_failed_checks=no_counts, xfail_strict=True
)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", [*REGRESSORS, *CLASSIFIERS])
def test_counts_are_repeated_rows_in_the_check_of_scikit_learn(model):
    counting = clone(model).set_params(weights="counts")
    check_sample_weight_equivalence_on_dense_data(type(model).__name__, counting)


def draw(kernel: Kernel, n_rows, dim, seed):
    """Normal inputs, and a draw of the process with this kernel, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, dim))
    root = np.linalg.cholesky(kernel(X) + 1e-8 * np.eye(n_rows))
    return X, root @ rng.normal(size=n_rows) + NOISE * rng.normal(size=n_rows)


def shop(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "area": rng.uniform(20.0, 200.0, n_rows),
            "kind": rng.choice(["flat", "house"], n_rows),
            "noise": rng.normal(size=n_rows),
        }
    )
    price = 1e5 + 3e3 * frame["area"] + 5e4 * (frame["kind"] == "house")
    return frame, price + 1e4 * rng.normal(size=n_rows)


@pytest.mark.parametrize(
    ("models", "y", "message"),
    [
        (REGRESSORS, ["a", "b"] * 60, "must hold numbers"),
        (REGRESSORS, [1.0, np.nan] * 60, "y contains NaN"),
        (REGRESSORS, [1.0, np.inf] * 60, "y contains infinity"),
        (REGRESSORS, [1.0, 2.0] * 50, "inconsistent numbers of samples"),
        (REGRESSORS, np.ones((120, 2, 2)), "dim 3"),
        (CLASSIFIERS, np.ones((120, 2)), "1d array"),
        (REGRESSORS, None, "requires y to be passed"),
        (CLASSIFIERS, ["a"] * 120, "at least two classes"),
        (CLASSIFIERS, np.linspace(0.0, 1.0, 120), "Unknown label type"),
    ],
)
def test_targets_that_do_not_suit(models, y, message):
    for model in models:
        with pytest.raises(ValueError, match=message):
            clone(model).fit(shop()[0], y)


@pytest.mark.thorough
def test_many_rows_are_predicted_in_parts_alike(monkeypatch):
    """Gaps, new levels and numbers out of range included, and weights of new targets."""
    frame, y = shop()
    new = shop(90, seed=1)[0].assign(area=np.linspace(-50.0, 400.0, 90))
    new.loc[::7, "kind"], new.loc[::5, "noise"] = "castle", np.nan
    number = TableRegressor(effort="quick", random_state=0).fit(frame, y)
    classes = TableClassifier(effort="quick", random_state=0).fit(frame, y > np.median(y))
    kinds = {"sample_weight": np.linspace(0.5, 2.0, 90)}, {"return_std": True}, {}

    def answers():
        ends = number.predict_interval(new, **kinds[0])
        means = [number.predict(new, **kind) for kind in kinds]
        return [*ends, *means, classes.predict_proba(new)]

    expected = answers()
    monkeypatch.setattr(type(number)._parts, "__defaults__", (160,))
    monkeypatch.setattr(TableRegressor._weighted, "__defaults__", (160,))
    assert len(number._parts(new)[0]) > 3
    for one, other in zip(answers(), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_sum_of_laws_has_intervals_that_hold_and_says_its_error(tmp_path):
    """Pooled over tables, on rows that were not there: coverage, and the error it expects."""
    inside, expected, found = [], [], []
    for seed in range(4):
        X, y = draw(Matern(1.5, 1.5), 400, 3, seed)
        model = TableRegressor(effort="quick", random_state=seed).fit(X[:200], y[:200])
        lower, upper = model.predict_interval(X[200:], level=0.9)
        inside.append((lower <= y[200:]) & (y[200:] <= upper))
        expected.append(model.score_)
        found.append(np.sqrt(np.mean((model.predict(X[200:]) - y[200:]) ** 2)))
        mean = model.predict(X[200:])
        assert ((lower < mean) & (mean < upper)).all()
        wider = model.predict_interval(X[200:], level=0.99)
        assert ((wider[0] < lower) & (wider[1] > upper)).all()
    # The standard error of the share of 800 rows, the left-out ones included, is some 1.5 per cent.
    assert 0.85 < np.mean(inside) < 0.95
    assert 0.85 < np.mean(expected) / np.mean(found) < 1.15
    bochner.save(model, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    np.testing.assert_array_equal(loaded.predict(X, return_std=True), model.predict(X, True))


@pytest.mark.thorough
def test_a_sum_of_laws_is_that_of_its_seed_whatever_the_threads_and_units():
    X, y = shop(60)
    fits = [
        TableRegressor(effort="quick", n_jobs=n_jobs, random_state=1).fit(X, scale * y)
        for n_jobs, scale in ((1, 1.0), (2, 1.0), (1, 2.0**-10))
    ]
    one, two, small = (np.array(model.predict(X, return_std=True)) for model in fits)
    np.testing.assert_allclose(two, one, rtol=1e-9)  # Factors of threads differ by rounding
    np.testing.assert_allclose(small, 2.0**-10 * one, rtol=1e-9)
    names = [law.name for law in fits[0].head_.laws.members]
    assert sorted(set(names)) == ["rough", "smooth"]


@pytest.mark.parametrize(
    ("parameters", "level", "message"),
    [
        ({"effort": "much"}, 0.9, "effort must be one of"),
        ({"time_limit": 0.0}, 0.9, "time_limit must be"),
        ({"n_jobs": 0}, 0.9, "n_jobs must be a nonzero integer"),
        ({"n_jobs": "two"}, 0.9, "n_jobs must be a nonzero integer"),
        ({"effort": "quick"}, "90", "level must be a number between 0 and 1"),
        ({"effort": "quick"}, 1.0, "level must lie between 0 and 1"),
    ],
)
def test_what_a_sum_of_laws_refuses(parameters, level, message):
    X, y = shop(40)
    with pytest.raises((TypeError, ValueError), match=message):
        TableRegressor(**parameters).fit(X, y).predict_interval(X, level)


def farm(n_rows=400):
    """A wave, a product, five levels, gaps that matter, a rare flag and a constant."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=["wave", "left", "right", "gap"])
    frame["kind"] = rng.choice(list("abcde"), n_rows, p=[0.3, 0.1, 0.1, 0.1, 0.4])
    frame["flag"] = (rng.random(n_rows) < 0.04).astype(float)
    frame["same"] = 1.0
    frame.loc[rng.random(n_rows) < 0.2, "gap"] = np.nan
    y = np.sin(3.0 * frame["wave"]) + 3.0 * frame["left"] * frame["right"] + frame["gap"].isna()
    return frame, y + frame["kind"].map(dict(zip("abcde", range(5), strict=True)))


@pytest.mark.thorough
@pytest.mark.parametrize("n", range(2))
def test_what_a_model_depends_on_is_in_terms_of_the_table(n, tmp_path):
    X, y = farm()
    model = clone((*REGRESSORS, *CLASSIFIERS)[n])
    model.set_params(random_state=0).fit(X, y if n < 1 else X["left"] * X["right"] > 0.0)
    importance, grid = model.importance(), model.effect("gap", "kind", n_values=5)
    assert sorted(importance.columns) == sorted(X)
    assert importance.share[importance.columns.index("same")] < 1e-12
    chosen = SelectFromModel(model, prefit=True, max_features=2).get_support()
    assert set(X.columns[chosen]) == set(importance.columns[:2])
    assert model.interactions().columns[0] == ("left", "right")
    if n == 0:
        assert set(importance.columns[:2]) == {"left", "right"}
        assert importance.columns[2:5] == ("kind", "wave", "gap")
        np.testing.assert_allclose(model.effect("kind").mean - y.mean(), range(-2, 3), atol=1.0)
        assert np.diff(grid.mean, axis=0)[-1].mean() > 0.5
        mean, _ = model.head_.predict(model.encode(X), return_std=True)
        # Kernels of long scales have condition numbers up to 1e9.
        np.testing.assert_allclose(model.head_.predict(model.encode(X)), mean, atol=1e-6)
    assert model.effect("flag").values[0].tolist() == [0.0, 1.0]
    assert model.effect("kind", n_values=2).values[0].tolist() == ["a", "e"]
    assert np.isin(grid.values[0], X["gap"].fillna(9.0)).tolist() == [True] * 4 + [False]
    assert grid.mean.shape == ((5, 5) if n < 1 else (5, 5, 2))
    bochner.save(model, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    assert repr(loaded.effect("gap", "kind", n_values=5)) == repr(grid)
    assert repr(loaded.importance()) == repr(importance)
    with pytest.raises(ValueError, match="one column or two"):
        model.effect([])
    for columns, message in {
        (): "one column or two",
        ("left", "left"): "one column or two",
        ("left", "same"): "'same' had no features at fit",
        ("lft",): "'lft' is not in the table",
    }.items():
        with pytest.raises(ValueError, match=message):
            model.effect(*columns)
