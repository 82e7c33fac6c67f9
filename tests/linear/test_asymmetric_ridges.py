"""Asymmetric ridge regression on rows and on pairs, against dense algebra and its laws."""

from functools import partial

import numpy as np
import pytest
import sklearn
from flat_parameters import flat
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from bochner import AsymmetricKernelRidge, AsymmetricPairRidge, FourierFeatures, kernels
from bochner._base import limits

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(80, 2)), RNG.normal(size=(20, 2))
RIGHT, NEW_RIGHT = RNG.normal(size=(80, 2)), RNG.normal(size=(20, 2))
Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2 + 5.0], axis=1) + 0.1 * RNG.normal(size=(80, 2))
T = np.sign(X[:, 0] - RIGHT[:, 0]) + 0.1 * RNG.normal(size=80)
WEIGHT = RNG.integers(0, 3, size=80).astype(float)
KERNEL = kernels.ShiftGaussian(1.0, shift=(0.7, -0.4))
WIDE = kernels.Bilinear(kernels.Gaussian(1.0), [[1.0, 0.5], [0.0, 1.0]], np.eye(5)[:, :2])
FORMS = pytest.mark.parametrize("right", [{}, {"right": RIGHT}], ids=["rows", "pairs"])


def ridge(right=None, **parameters):
    defaults = {"kernel": KERNEL, "n_components": 40, "alpha": 0.1, "random_state": 0}
    kind = AsymmetricPairRidge if right else AsymmetricKernelRidge
    return flat(kind, **(defaults | parameters))


def changed(right, function):
    return {name: function(rows) for name, rows in right.items()}


def assert_same_model(first, second, tol=1e-6):
    assert_allclose(first.coef_, second.coef_, rtol=tol, atol=tol)
    assert_allclose(first.intercept_, second.intercept_, rtol=tol, atol=tol)
    assert_allclose(first.alpha_, second.alpha_, rtol=1e-4)


def test_rows_are_fitted_by_the_dual_formula():
    model = ridge().fit(X, Y)
    K, cross = model.frequencies_.gram(X), model.frequencies_.gram(NEW, X)
    assert np.abs(K - K.T).max() > 0.1
    dual = K.T @ np.linalg.solve(K @ K.T + 0.1 * 80 * np.eye(80), Y)
    assert_allclose(model.predict(NEW), cross @ dual, atol=1e-9)
    assert np.abs(model.predict(NEW) - model.frequencies_.gram(X, NEW).T @ dual).max() > 0.1
    assert_allclose(model.predict(NEW), model.frequencies_.features(NEW) @ model.coef_.T)


@FORMS
@pytest.mark.parametrize("alpha", [0.1, "evidence"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weights_are_repetitions(right, alpha, fit_intercept):
    repeat = WEIGHT.astype(int)
    many = changed(right, lambda rows: np.repeat(rows, repeat, axis=0))
    model = ridge(
        right, alpha=alpha, fit_intercept=fit_intercept, kernel="gaussian", n_components=6
    )
    weighted = clone(model).fit(X, T, sample_weight=WEIGHT, **right)
    repeated = clone(model).fit(np.repeat(X, repeat, axis=0), np.repeat(T, repeat), **many)
    assert_allclose(weighted.kernel_.length_scale, repeated.kernel_.length_scale)
    assert_same_model(weighted, repeated, tol=1e-5)


@FORMS
def test_rows_of_no_weight_are_not_looked_at(right):
    away = np.where(WEIGHT[:, None] == 0.0, 50.0, 0.0)
    model = ridge(right, weights="least_squares", alpha="evidence", n_components=16)
    first = clone(model).fit(X, T, sample_weight=WEIGHT, **right)
    moved = changed(right, lambda rows: rows - away)
    second = clone(model).fit(X + away, T + away[:, 0], sample_weight=WEIGHT, **moved)
    assert_array_equal(first.frequencies_.weight, second.frequencies_.weight)
    assert_same_model(first, second)


def test_pairs_of_two_widths():
    wide = RNG.normal(size=(80, 5))
    t = np.cos(X[:, 0] - wide[:, 0])
    model = ridge("pairs", kernel=WIDE, alpha="evidence", n_components=64).fit(X, t, wide)
    assert model.frequencies_.dim_right == 5
    assert model.predict(X, right=wide).shape == (80,)
    assert model.score(X, t, right=wide) > 0.8
    with pytest.raises(ValueError, match="right has 2 columns"):
        model.predict(X, right=RIGHT)


@FORMS
def test_sparse_is_dense_and_chunked_is_whole(monkeypatch, right):
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    other, new = changed(right, sparse.csr_array), partial(ridge, right)
    model = new().fit(thin, T, **right)
    assert_same_model(new().fit(sparse.csr_array(thin), T, **other), model)
    assert_same_model(
        new(kernel="gaussian").fit(sparse.csr_array(thin), T, **right),
        new(kernel="gaussian").fit(thin, T, **other),
    )
    whole = model.predict(thin, **right)
    assert_allclose(model.predict(sparse.csr_array(thin), **other), whole)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 16 * 20 * 7)
    assert_same_model(new().fit(thin, T, **right), model)
    assert_allclose(model.predict(thin, **right), whole)


def test_searches_route_right_rows():
    with sklearn.config_context(enable_metadata_routing=True):
        model = ridge("pairs").set_fit_request(right=True).set_score_request(right=True)
        search = GridSearchCV(model, {"alpha": [1.0, 1e6]}, cv=3).fit(X, T, right=RIGHT)
    assert search.best_params_["alpha"] == 1.0
    assert_same_model(search.best_estimator_, ridge("pairs", alpha=1.0).fit(X, T, RIGHT))


def test_rows_and_pairs_are_not_confused():
    rows, pairs = ridge().fit(X, T), ridge("pairs").fit(X, T, RIGHT)
    for method in (rows.fit, rows.score, lambda X, y, right: rows.predict(X, right=right)):
        with pytest.raises(TypeError, match="unexpected keyword argument 'right'"):
            method(X, T, right=RIGHT)
    for call in (lambda: pairs.predict(NEW, None), lambda: pairs.fit(X, T, None)):
        with pytest.raises(ValueError, match=r"right=Y.*AsymmetricKernelRidge learns from rows"):
            call()
    pairs.fit(X, T, RIGHT)
    for attribute in ("noise_variance_", "log_evidence_"):
        assert hasattr(rows, attribute)
        assert not hasattr(pairs, attribute)


def test_wrong_pairs_are_refused():
    with pytest.raises(ValueError, match="X has 20 rows and right has 80"):
        ridge("pairs").fit(X, T, RIGHT).predict(NEW, RIGHT)
    for y, right, message in (
        (T, NEW_RIGHT, "X has 80 rows and right has 20"),
        (Y, RIGHT, "one target each, y has 2 columns"),
        (T, np.full((80, 2), np.nan), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            ridge("pairs").fit(X, y, right)
    for right in ({"right": RIGHT}, {}):
        with pytest.raises(ValueError, match=r"right argument .* has 5 inputs .* data have 2"):
            ridge(right, kernel=WIDE).fit(X, T, **right)
    with pytest.raises(ValueError, match="masses must be one of"):
        ridge(masses="none").fit(X, T)
    with pytest.raises(NotFittedError):
        ridge().predict(X)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"scheme": "iid"},
        {"decomposition": "jordan"},
        {"decomposition": "jordan", "masses": "least_squares"},
        {"weights": "least_squares"},
        {"kernel": "matern52", "length_scale": 0.7},
    ],
    ids=str,
)
@FORMS
def test_frequencies_are_those_of_fourier_features(parameters, right):
    given = {"kernel": KERNEL, "n_components": 40, "random_state": 0} | parameters
    theirs = FourierFeatures(**given).fit(X, **right).frequencies_
    model = ridge(right, **given).fit(X, T, **right)
    for name in ("omega", "weight", "phase", "nu"):
        assert_array_equal(getattr(model.frequencies_, name), getattr(theirs, name))
