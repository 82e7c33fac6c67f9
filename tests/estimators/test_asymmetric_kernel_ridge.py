"""AsymmetricKernelRidge against dense algebra, other libraries and the laws of its two forms."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from persist.same import round_trip
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

from bochner import AsymmetricKernelRidge, FourierFeatures, kernels
from bochner._numerics import limits

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(80, 2)), RNG.normal(size=(20, 2))
RIGHT, NEW_RIGHT = RNG.normal(size=(80, 2)), RNG.normal(size=(20, 2))
Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2 + 5.0], axis=1) + 0.1 * RNG.normal(size=(80, 2))
T = np.sign(X[:, 0] - RIGHT[:, 0]) + 0.1 * RNG.normal(size=80)
WEIGHT = RNG.integers(0, 3, size=80).astype(float)
KERNEL = kernels.ShiftGaussian(1.0, shift=(0.7, -0.4))
WIDE = kernels.Bilinear(kernels.Gaussian(1.0), [[1.0, 0.5], [0.0, 1.0]], np.eye(5)[:, :2])


def ridge(**parameters):
    defaults = {"kernel": KERNEL, "n_components": 40, "alpha": 0.1, "random_state": 0}
    return AsymmetricKernelRidge(**(defaults | parameters))


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


@pytest.mark.parametrize("right", [None, RIGHT], ids=["rows", "pairs"])
@pytest.mark.parametrize("alpha", [0.1, "evidence"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_weights_are_repetitions(right, alpha, fit_intercept):
    repeat = WEIGHT.astype(int)
    many = None if right is None else np.repeat(right, repeat, axis=0)
    model = ridge(alpha=alpha, fit_intercept=fit_intercept, kernel="gaussian", n_components=6)
    weighted = clone(model).fit(X, T, sample_weight=WEIGHT, right=right)
    repeated = clone(model).fit(np.repeat(X, repeat, axis=0), np.repeat(T, repeat), right=many)
    assert_allclose(weighted.kernel_.length_scale, repeated.kernel_.length_scale)
    assert_same_model(weighted, repeated, tol=1e-5)


@pytest.mark.parametrize("right", [None, RIGHT], ids=["rows", "pairs"])
def test_rows_of_no_weight_are_not_looked_at(right):
    away = np.where(WEIGHT[:, None] == 0.0, 50.0, 0.0)
    model = ridge(weights="least_squares", alpha="evidence", n_components=16)
    first = clone(model).fit(X, T, sample_weight=WEIGHT, right=right)
    moved = None if right is None else right - away
    second = clone(model).fit(X + away, T + away[:, 0], sample_weight=WEIGHT, right=moved)
    assert_array_equal(first.frequencies_.weight, second.frequencies_.weight)
    assert_same_model(first, second)


def test_pairs_of_two_widths():
    wide = RNG.normal(size=(80, 5))
    t = np.cos(X[:, 0] - wide[:, 0])
    model = ridge(kernel=WIDE, alpha="evidence", n_components=64).fit(X, t, right=wide)
    assert model.frequencies_.dim_right == 5
    assert model.predict(X, right=wide).shape == (80,)
    assert model.score(X, t, right=wide) > 0.8
    with pytest.raises(ValueError, match="right has 2 columns"):
        model.predict(X, right=RIGHT)


@pytest.mark.parametrize("right", [None, RIGHT], ids=["rows", "pairs"])
def test_sparse_is_dense_and_chunked_is_whole(monkeypatch, right):
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    other = None if right is None else sparse.csr_array(right)
    model = ridge().fit(thin, T, right=right)
    assert_same_model(ridge().fit(sparse.csr_array(thin), T, right=other), model)
    assert_same_model(
        ridge(kernel="gaussian").fit(sparse.csr_array(thin), T, right=right),
        ridge(kernel="gaussian").fit(thin, T, right=other),
    )
    whole = model.predict(thin, right=right)
    assert_allclose(model.predict(sparse.csr_array(thin), right=other), whole)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 16 * 20 * 7)
    assert_same_model(ridge().fit(thin, T, right=right), model)
    assert_allclose(model.predict(thin, right=right), whole)


def test_the_score_is_the_share_of_variance_explained():
    rows, pairs = ridge().fit(X, T), ridge().fit(X, T, right=RIGHT)
    assert_allclose(rows.score(X, T, WEIGHT), r2_score(T, rows.predict(X), sample_weight=WEIGHT))
    mean = pairs.predict(X, right=RIGHT)
    assert_allclose(pairs.score(X, T, right=RIGHT), r2_score(T, mean))
    assert pairs.score(X, T, right=RIGHT) > 0.8 > rows.score(X, T)


def test_searches_route_right_rows():
    with sklearn.config_context(enable_metadata_routing=True):
        model = ridge().set_fit_request(right=True).set_score_request(right=True)
        search = GridSearchCV(model, {"alpha": [1.0, 1e6]}, cv=3).fit(X, T, right=RIGHT)
    assert search.best_params_["alpha"] == 1.0
    direct = ridge(alpha=1.0).fit(X, T, right=RIGHT)
    assert_same_model(search.best_estimator_, direct)


@pytest.mark.parametrize("right", [None, RIGHT], ids=["rows", "pairs"])
def test_model_files_keep_both_forms(tmp_path, right):
    model = ridge(alpha="evidence", fit_intercept=True).fit(X, T, right=right)
    loaded = round_trip(model, tmp_path)
    new_right = None if right is None else NEW_RIGHT
    assert_array_equal(loaded.predict(NEW, right=new_right), model.predict(NEW, right=new_right))
    assert_array_equal(loaded.coef_, model.coef_)
    assert loaded.alpha_ == model.alpha_


def test_rows_and_pairs_are_not_confused():
    rows, pairs = ridge().fit(X, T), ridge().fit(X, T, right=RIGHT)
    with pytest.raises(ValueError, match="fitted to rows: predict takes no right"):
        rows.predict(NEW, right=NEW_RIGHT)
    with pytest.raises(ValueError, match=r"fitted to pairs: .*predict\(X, right=Y\)"):
        pairs.predict(NEW)
    with pytest.raises(ValueError, match="pairs have no standard deviation"):
        pairs.predict(NEW, return_std=True, right=NEW_RIGHT)
    for attribute in ("noise_variance_", "log_evidence_"):
        assert hasattr(rows, attribute)
        assert not hasattr(pairs, attribute)


def test_wrong_pairs_are_refused():
    with pytest.raises(ValueError, match="X has 80 rows and right has 20"):
        ridge().fit(X, T, right=NEW_RIGHT)
    with pytest.raises(ValueError, match="X has 20 rows and right has 80"):
        ridge().fit(X, T, right=RIGHT).predict(NEW, right=RIGHT)
    with pytest.raises(ValueError, match="one target each, y has 2 columns"):
        ridge().fit(X, Y, right=RIGHT)
    with pytest.raises(ValueError, match="NaN"):
        ridge().fit(X, T, right=np.full((80, 2), np.nan))
    for right in (RIGHT, None):
        with pytest.raises(ValueError, match=r"right argument .* has 5 inputs .* data have 2"):
            ridge(kernel=WIDE).fit(X, T, right=right)
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
@pytest.mark.parametrize("right", [None, RIGHT], ids=["rows", "pairs"])
def test_frequencies_are_those_of_fourier_features(parameters, right):
    given = {"kernel": KERNEL, "n_components": 40, "random_state": 0} | parameters
    theirs = FourierFeatures(**given).fit(X, right=right).frequencies_
    model = AsymmetricKernelRidge(**given).fit(X, T, right=right)
    for name in ("omega", "weight", "phase", "nu"):
        assert_array_equal(getattr(model.frequencies_, name), getattr(theirs, name))


def test_the_median_distance_is_that_of_all_rows():
    far = RIGHT + 100.0
    near = ridge(kernel="gaussian").fit(X, T, right=RIGHT).kernel_.length_scale
    assert ridge(kernel="gaussian").fit(X, T, right=far).kernel_.length_scale > 10.0 * near
    both = ridge(kernel="gaussian").fit(np.concatenate([X, RIGHT]), np.tile(T, 2))
    assert_allclose(both.kernel_.length_scale, near)
