"""Contributions of a table's columns to predictions, against predictions of mixed tables."""

import sys
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import bochner
from bochner import TableClassifier, TableRegressor

SUM = {"effort": "quick", "random_state": 0}
CASES = {
    "sum": (TableRegressor(**SUM), "number"),
    "two targets": (TableRegressor(**SUM), "two"),
    "classes": (TableClassifier(**SUM), "class"),
}


def visits(n_rows=60):
    """Numbers with gaps, dates with weekdays, levels, and a constant."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"height": rng.normal(size=n_rows)})
    frame["day"] = pd.date_range("2024-01-01", periods=n_rows, freq="17h")
    frame["kind"] = rng.choice(["a", "b", "c"], n_rows)
    frame["same"] = 1.0
    frame.loc[rng.random(n_rows) < 0.2, "height"] = np.nan
    late = frame["day"].dt.day_of_week.to_numpy() >= 5
    y = frame["height"].fillna(2.0) * (frame["kind"] == "a") + late + rng.normal(size=n_rows) / 9
    y = y.to_numpy()
    return frame, {
        "number": y,
        "two": np.c_[y, 1e3 * (y**2 - 1.0)],
        "class": np.digitize(y, [0.0, 1.0]),
    }


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    model, target = CASES[request.param]
    X, targets = visits()
    with pytest.MonkeyPatch.context() as patch:
        # Twelve gaps are entries like others, as fifty are: mixed tables have no donors.
        patch.setattr("bochner.tables.new_rows._FEWEST_GAPS", 10)
        return model.fit(X, targets[target]), X


def outputs(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.thorough
def test_columns_of_the_table_move_with_all_that_encodes_them(fitted):
    """All rows are background rows: the definition, with tables whose columns are replaced."""
    model, X = fitted
    found = model.contributions(X[:2])
    assert found.columns == ("height", "day", "kind", "same")
    assert not found.std_error.any()
    for i in range(2):
        expected = np.zeros(found.values.shape[1:])
        for order in permutations(range(4)):
            table = X.copy()
            before = outputs(model, table).mean(axis=0)
            for j in order:
                table[X.columns[j]] = X.iloc[i, j]
                after = outputs(model, table).mean(axis=0)
                expected[j] += (after - before) / 24.0
                before = after
        scale = np.abs(expected).max(axis=0)
        np.testing.assert_allclose(found.values[i] / scale, expected / scale, 1e-5, 1e-6)
    assert not found.values[:, 3].any()


@pytest.mark.thorough_cases(but="classes")
def test_shapes_and_sums(fitted):
    model, X = fitted
    found, given = model.contributions(X[:5]), outputs(model, X[:5])
    assert found.prediction.shape == given.shape
    assert found.values.shape == found.std_error.shape == (5, 4, *given.shape[1:])
    np.testing.assert_allclose(found.prediction, given, rtol=1e-9)
    of_background = model._outputs(model.background_).mean(axis=0)
    np.testing.assert_allclose(found.base, of_background, rtol=1e-9)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction)
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(found.classes, model.classes_)
        np.testing.assert_allclose(found.values.sum(axis=2), 0.0, atol=1e-12)
    elif given.ndim == 1:
        assert found.classes is None
        assert isinstance(found.base, float)
    else:
        assert found.classes.tolist() == ["target 0", "target 1"]


@pytest.mark.thorough
def test_samples_depend_on_their_seed_alone(tmp_path):
    X, targets = visits()
    for column in "pqrs":
        X[column] = np.random.default_rng(ord(column)).normal(size=len(X))
    model = TableRegressor(**SUM).fit(X, targets["number"])
    bochner.save(model, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    found, again = (m.contributions(X, random_state=1) for m in (model, loaded))
    np.testing.assert_array_equal(again.values, found.values)
    assert (found.std_error[:, [0, 1, 2]] > 0.0).all()
    assert not found.values[:, 3].any()
    other = model.contributions(X, random_state=2)
    assert np.abs(other.values - found.values).mean() < 4.0 * found.std_error.mean()
    assert (other.values != found.values).any()
    turned = model.contributions(X[X.columns[::-1]], random_state=1)
    np.testing.assert_array_equal(turned.values, found.values)
    exact = model.contributions(X[:1], n_evaluations=10**5)
    assert not exact.std_error.any()


def test_what_is_refused(fitted):
    model, X = fitted
    with pytest.raises(ValueError, match="Missing column 'day'"):
        model.contributions(X.drop(columns="day"))
    with pytest.raises(ValueError, match="n_evaluations must be"):
        model.contributions(X, n_evaluations=0)


def test_shap_receives_the_contributions_and_names(fitted, monkeypatch):
    model, X = fitted
    found = model.contributions(X[:2])
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="pip install shap"):
        found.to_shap()
    explanation = SimpleNamespace(Explanation=lambda *parts, **names: (*parts, names))
    monkeypatch.setitem(sys.modules, "shap", explanation)
    values, base, data, names = found.to_shap(X[:2])
    np.testing.assert_allclose(base + values.sum(axis=1), outputs(model, X[:2]), rtol=1e-9)
    assert data.shape == (2, 4)
    assert names["feature_names"] == ["height", "day", "kind", "same"]


def test_averages_of_rows_with_gaps_are_those_of_predictions():
    """Rows with the same known entries take different donors."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=300) + 3.0, "c": rng.choice(["a", "b"], 300)})
    y = 2.0 * X["x"] + 3.0 * (X["c"] == "b")
    X.loc[rng.random(300) < 0.1, "x"] = np.nan
    model = TableRegressor(effort="quick", random_state=0).fit(X, y)
    effect = model.effect("c")
    means = [model.predict(X.assign(c=level)).mean() for level in effect.values[0]]
    assert_allclose(effect.mean, means, atol=0.05)
    assert_allclose(model.contributions(X[:1]).base, model.predict(X).mean(), atol=0.05)


def test_errors_of_many_rows_are_stated():
    """Each row has few rows of the background, which may all have one level."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"c": rng.choice(["a", "b"], 300, p=[0.8, 0.2]), "z": rng.normal(size=300)})
    y = 3.0 * (X["c"] == "b") + X["z"]
    model = TableRegressor(effort="quick", random_state=0).fit(X, y)
    exact = model.contributions(X[:20], n_evaluations=10**6).values
    found = model.contributions(X, n_evaluations=200, random_state=0)
    assert np.all(np.abs(found.values[:20] - exact) < 4.0 * found.std_error[:20] + 0.05)
