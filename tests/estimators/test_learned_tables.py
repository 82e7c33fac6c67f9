"""Shells of tables around models that learn their kernel."""

import warnings
from time import perf_counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import bochner
from bochner import BaNKClassifier, BaNKRegressor, GaBaSRClassifier, GaBaSRRegressor
from bochner.estimators.learned_tables import LearnedTableClassifier, LearnedTableRegressor

QUICK = {"n_frequencies": 16, "n_burn_in": 8, "n_samples": 6, "random_state": 0}
MODELS = (LearnedTableRegressor, LearnedTableClassifier)


def shop(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "area": rng.uniform(20.0, 200.0, n_rows),
            "kind": rng.choice(["flat", "house"], n_rows),
        }
    )
    price = 1e5 + 3e3 * frame["area"] + 5e4 * (frame["kind"] == "house")
    return frame, price + 1e4 * rng.normal(size=n_rows)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.filterwarnings("ignore:The chains have not converged")
def test_parameters_are_stored_and_cloned_and_the_model_is_saved(model, tmp_path):
    estimator = model(**QUICK, trend=1, time_limit=100.0)
    parameters = estimator.get_params()
    assert clone(estimator).get_params() == parameters
    X, y = shop()
    said = []
    fitted = estimator.fit(X, y > y.median(), progress=said.append)
    assert estimator.get_params() == parameters
    assert any("learning the kernel" in message for message in said)
    bochner.save(fitted, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    assert type(loaded) is model
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded.record_ == fitted.record_


@pytest.mark.filterwarnings("ignore:The chains have not converged")
def test_the_head_sees_the_columns_that_vary():
    X, y = shop()
    model = LearnedTableRegressor(**QUICK).fit(X, y)
    encoded = model.encode(X)
    assert encoded.shape == (120, 3)
    assert (np.ptp(encoded, axis=0) > 0.0).all()
    head = bochner.BaNKRegressor(
        16, n_burn_in=8, n_samples=6, trend=0, random_state=0
    ).fit(encoded, y)  # fmt: skip
    np.testing.assert_array_equal(model.predict(X), head.predict(encoded))


@pytest.mark.filterwarnings("ignore:The chains have not converged")
def test_three_classes_use_the_whole_time_limit():
    X, y = shop()
    labels = pd.qcut(y, 3, labels=["low", "mid", "high"]).astype(str)
    model = LearnedTableClassifier(4, 10**6, 10**6, time_limit=1.5, random_state=0)
    start = perf_counter()
    model.fit(X, labels)
    assert perf_counter() - start > 1.2
    assert model.head_.time_limit == 1.5
    assert set(model.classes_) == {"low", "mid", "high"}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (LearnedTableRegressor, ["a", "b"] * 60, "must be numbers"),
        (LearnedTableRegressor, [1.0, np.nan] * 60, "y contains NaN"),
        (LearnedTableRegressor, [1.0, 2.0] * 50, "inconsistent numbers of samples"),
        (LearnedTableRegressor, None, "requires y to be passed"),
        (LearnedTableClassifier, ["a"] * 120, "at least two classes"),
        (LearnedTableClassifier, np.linspace(0.0, 1.0, 120), "Unknown label type"),
    ],
)
def test_targets_that_do_not_suit(model, y, message):
    with pytest.raises(ValueError, match=message):
        model(**QUICK).fit(shop()[0], y)


@pytest.mark.parametrize(
    ("kind", "heads"),
    [
        (LearnedTableRegressor, {"constant": BaNKRegressor, "learned": GaBaSRRegressor}),
        (LearnedTableClassifier, {"constant": BaNKClassifier, "learned": GaBaSRClassifier}),
    ],
)
def test_an_envelope_chooses_the_head(kind, heads):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0.0).astype(float)
    for envelope, head in heads.items():
        model = kind(8, 2, 3, envelope=envelope, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert type(model.fit(X, y).head_) is head
    with pytest.raises(ValueError, match="envelope must be one of 'constant', 'learned', got"):
        kind(envelope="learnt").fit(X, y)
