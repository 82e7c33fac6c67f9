"""Data as they come: constants, repetitions, few rows, outliers, units, rare classes."""

import warnings

import numpy as np
import pytest
from learned.learned_fits import THREE, X, Y, classifier, regressor
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from bochner.learned.learned_kernel_fit import positive_rows

N = len(X)
RNG = np.random.default_rng(11)
OUTLYING = X.copy()
OUTLYING[7, 1] = 1e6
WIDE = RNG.normal(size=(20, 50))
LITTLE = {"n_burn_in": 8, "n_samples": 6}

TABLES = {
    "constant input": (np.c_[X, np.full(N, 3.1)], Y), "constant inputs": (np.ones((N, 2)), Y),
    "constant target": (X, np.full(N, 0.1)), "no target": (X, np.zeros(N)),
    "repeated rows": (np.repeat(X[:10], 6, axis=0), np.repeat(Y[:10], 6)),
    "repeated inputs": (np.repeat(X[:10], 6, axis=0), Y), "one row": (X[:1], Y[:1]),
    "two rows": (X[:2], Y[:2]), "three rows": (X[:3], Y[:3]),
    "more inputs than rows": (WIDE, Y[:20]), "outlier": (OUTLYING, Y),
    "units": (X * [1e-8, 1.0, 1e8], Y), "tiny and huge": (X * [1e-147, 1.0, 1e147], Y),
    "far inputs": (X + 1e9, Y), "far target": (X, Y + 1e9), "huge target": (X, 1e99 * Y),
    "tiny target": (X, 1e-99 * Y), "no noise": (X, np.sin(X[:, 0])),
    "whole numbers": (np.round(X), np.round(Y)),
}  # fmt: skip
VARIANTS = {
    "sparse": {"structure": "sparse"},
    "dense": {"structure": "dense"},
    "hmc": {"structure": "dense", "sampler": "hmc"},
    "float32": {"structure": "sparse", "dtype": "float32"},
    "trend": {"structure": "dense", "trend": 2},
}


@pytest.fixture(autouse=True)
def no_warnings():
    """Numerical warnings are errors; so few draws may not have converged."""
    with warnings.catch_warnings(action="error"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def far(inputs):
    """Three ranges of every input, or one where it is constant."""
    ranges = np.ptp(inputs, axis=0)
    return np.where(ranges > 0, 3.0 * ranges, 1.0)


def assert_regressor(inputs, y, **parameters):
    model = regressor(**LITTLE, **parameters).fit(inputs, y)
    around = np.concatenate([inputs, inputs + far(inputs)])
    mean, std = model.predict(around, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std > 0).all()
    for values in (
        model.sample_y(around, 2),
        model.kernel_(around),
        model.features().gram(around),
        model.interactions_,
        model.relevance_.importance,
        model.noise_variance_,
    ):
        assert np.isfinite(values).all()
    return model


@pytest.mark.thorough_cases(but="dense|sparse")
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", TABLES)
def test_regression(name, variant):
    inputs, y = TABLES[name]
    if variant == "trend" and name in {
        "one row",
        "two rows",
        "three rows",
        "more inputs than rows",
    }:
        with pytest.raises(ValueError, match="use a smaller trend"):
            assert_regressor(inputs, y, **VARIANTS[variant])
        return
    assert_regressor(inputs, y, **VARIANTS[variant])


@pytest.mark.thorough_cases(but="regressor")
@pytest.mark.parametrize("make", [regressor, classifier])
def test_float32_features_are_near_float64(make):
    """From the same seed; few rounds, as decisions may differ in the end."""
    y = Y if make is regressor else THREE
    few = {"n_burn_in": 2, "n_samples": 3, "structure": "sparse"}
    models = [make(dtype=dtype, **few).fit(X, y) for dtype in ("float32", np.float64, None)]
    method = "predict" if make is regressor else "predict_proba"
    values = [getattr(model, method)(X) for model in models]
    assert_allclose(values[0], values[1], atol=5e-3)
    assert_array_equal(values[1], values[2])
    assert (values[0] != values[1]).any()


CLASSES = {
    "text": (X, np.array(["no", "yes"])[(Y > 0).astype(int)]),
    "objects": (X, np.array(["low", "mid", "high"], dtype=object)[THREE]),
    "booleans": (X, Y > 0),
    "three, one rare": (X, np.where(np.arange(N) == 7, "rare", np.where(Y > 0, "a", "b"))),
    "one of 500": (RNG.normal(size=(500, 2)), np.arange(500) == 3),
    "separated": (X, X[:, 0] > 0),
    "two rows": (X[:2], [0, 1]),
    "repeated inputs": (np.repeat(X[:10], 6, axis=0), Y > 0),
    "constant inputs": (np.ones((N, 2)), Y > 0),
    "more inputs than rows": (WIDE, Y[:20] > 0),
    "outlier": (OUTLYING, Y > 0),
    "units": (X * [1e-8, 1.0, 1e8], THREE),
}


@pytest.mark.thorough_cases(r"dense|float32|\bof\b")
@pytest.mark.parametrize("variant", ["sparse", "dense", "float32"])
@pytest.mark.parametrize("name", CLASSES)
def test_classification(name, variant):
    inputs, labels = CLASSES[name]
    model = classifier(**LITTLE, **VARIANTS[variant]).fit(inputs, labels)
    around = np.concatenate([inputs, inputs + far(inputs)])
    probability = model.predict_proba(around)
    assert probability.shape == (len(around), len(np.unique(labels)))
    assert_allclose(probability.sum(axis=1), 1.0)
    assert (probability >= 0).all()
    assert_array_equal(model.classes_, np.unique(labels))
    assert_array_equal(model.predict(around), model.classes_[probability.argmax(axis=1)])
    assert model.classes_.dtype == np.asarray(labels).dtype
    assert np.isfinite(model.kernel_(around)).all()


def test_weights_of_labels_are_numbers_of_rows_that_can_be_added():
    model = classifier(**LITTLE)
    with pytest.raises(ValueError, match=r"sample_weight must have a sum of at most 1e\+12.*3e"):
        model.fit(X[:30], THREE[:30], sample_weight=np.full(30, 1e12))


def test_rows_of_no_weight_leave_the_weights_of_the_others():
    _, targets, units = positive_rows(X[:3], Y[:3], [2.0, 0.0, 3.0])
    assert_array_equal(targets, Y[[0, 2]])
    assert_array_equal(units.counts, [2.0, 3.0])
