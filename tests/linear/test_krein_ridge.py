"""KreinRidge against ridge regression, kernel ridge and Gaussian processes."""

import numpy as np
import pytest
from flat_parameters import flat
from laws.head_laws import dense_gram, plant_signs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import norm, t
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from bochner import FourierFeatures, KreinRidge, kernels
from bochner._base import limits

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(80, 2)), RNG.normal(size=(20, 2))
Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2 + 5.0], axis=1) + 0.1 * RNG.normal(size=(80, 2))
WEIGHT = RNG.integers(0, 3, size=80).astype(float)
KERNEL = kernels.Gaussian(1.0)


def ridge(**parameters):
    defaults = {"kernel": KERNEL, "n_components": 40, "alpha": 0.5, "random_state": 0}
    return flat(KreinRidge, **(defaults | parameters))


def assert_same_model(first, second, rtol=1e-8):
    assert_allclose(first.coef_, second.coef_, rtol=rtol, atol=1e-8)
    assert_allclose(first.intercept_, second.intercept_, rtol=rtol, atol=1e-8)
    assert_allclose(first.noise_variance_, second.noise_variance_, rtol=rtol)
    assert_allclose(first.log_evidence_, second.log_evidence_, rtol=rtol)
    assert_allclose(first.alpha_, second.alpha_, rtol=1e-5)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_it_is_ridge_regression_on_its_features(fit_intercept, weight):
    model = ridge(fit_intercept=fit_intercept).fit(X, Y, sample_weight=weight)
    Z = model.frequencies_.features(X)
    theirs = Ridge(0.5, fit_intercept=fit_intercept).fit(Z, Y, sample_weight=weight)
    assert_allclose(model.coef_, theirs.coef_, atol=1e-9)
    assert_allclose(model.intercept_, theirs.intercept_, atol=1e-9)
    assert_allclose(model.predict(NEW), theirs.predict(model.frequencies_.features(NEW)))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("length_scale", ["median", "evidence"])
def test_weights_are_repetitions(fit_intercept, length_scale):
    parameters = {
        "kernel": "gaussian",
        "alpha": "evidence",
        "fit_intercept": fit_intercept,
        "length_scale": length_scale,
    }
    repeat = WEIGHT.astype(int)
    weighted = ridge(**parameters).fit(X, Y, sample_weight=WEIGHT)
    repeated = ridge(**parameters).fit(np.repeat(X, repeat, axis=0), np.repeat(Y, repeat, axis=0))
    assert_allclose(weighted.kernel_.length_scale, repeated.kernel_.length_scale)
    assert_same_model(weighted, repeated, rtol=1e-5)


def test_sparse_is_dense_and_chunked_is_whole(monkeypatch):
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    model = ridge().fit(thin, Y)
    assert_same_model(ridge().fit(sparse.csr_array(thin), Y), model)
    whole = model.predict(thin, return_std=True)
    assert_allclose(model.predict(sparse.csr_array(thin)), whole[0])
    monkeypatch.setattr(limits, "BLOCK_BYTES", 16 * 20 * 7)
    assert_same_model(ridge().fit(thin, Y), model)
    for chunked, entire in zip(model.predict(thin, return_std=True), whole, strict=True):
        assert_allclose(chunked, entire)


@pytest.mark.thorough
def test_intervals_cover_draws_of_a_process():
    # Draws with frequencies of their own, kernel and noise unknown to the model. Coverage on one
    # draw is itself random: the t-interval over draws must meet 90 % +- 2 %.
    model = ridge(kernel="gaussian", n_components=256, alpha="evidence", length_scale="evidence")
    rates = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.random((800, 2))
        covariance = kernels.Gaussian(0.3)(rows) + 0.3**2 * np.eye(800)
        y = np.linalg.cholesky(covariance) @ rng.standard_normal(800)
        model.set_params(random_state=seed).fit(rows[:300], y[:300])
        mean, std = model.predict(rows[300:], return_std=True)
        rates.append(np.mean(np.abs(y[300:] - mean) < norm.ppf(0.95) * std))
    error = np.std(rates, ddof=1) / np.sqrt(len(rates))
    assert error < 0.01
    assert abs(np.mean(rates) - 0.9) < 0.02 + t.isf(5e-4, len(rates) - 1) * error


def test_wrong_data_are_refused():
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        ridge().fit(X, Y, sample_weight=-np.ones(80))
    with pytest.raises(ValueError, match="zero"):
        ridge().fit(X, Y, sample_weight=np.zeros(80))
    with pytest.raises(ValueError, match="y has 1 targets; earlier batches had 2"):
        ridge().partial_fit(X, Y).partial_fit(X, Y[:, 0])
    with pytest.raises(NotFittedError):
        ridge().predict(X)
    with pytest.raises(ValueError, match="3 features"):
        ridge().fit(X, Y).predict(np.ones((2, 3)))


@pytest.fixture
def signed(monkeypatch):
    plant_signs(monkeypatch)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.usefixtures("signed")
def test_an_indefinite_kernel_is_learnt_in_its_krein_space(fit_intercept):
    model = ridge(fit_intercept=fit_intercept).fit(X, Y)
    assert set(model.signature_) == {-1.0, 1.0}
    assert model.alpha_ == 0.5
    K, cross = (dense_gram(model.frequencies_, points, X) for points in (X, NEW))
    assert np.linalg.eigvalsh(K).min() < -1.0
    centre = np.eye(80) - (1.0 / 80.0 if fit_intercept else 0.0)
    average = K.mean(axis=0) if fit_intercept else np.zeros(80)
    dual = np.linalg.solve(centre @ K @ centre + 0.5 * np.eye(80), centre @ Y)
    expected = (cross - average) @ centre @ dual + (Y - centre @ Y)[0]
    assert_allclose(model.predict(NEW), expected, rtol=1e-8, atol=1e-8)
    Z = model.frequencies_.features(NEW)
    assert_allclose(model.predict(NEW), Z @ model.coef_.T + model.intercept_, rtol=1e-10)


@pytest.mark.parametrize("alpha", [0.5, "evidence"])
@pytest.mark.parametrize("associated", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("indefinite", [False, True])
def test_batches_in_any_order_give_the_whole(
    indefinite, fit_intercept, associated, alpha, monkeypatch
):
    if indefinite:
        plant_signs(monkeypatch)
    parameters = {"alpha": alpha, "fit_intercept": fit_intercept, "associated": associated}
    whole = ridge(**parameters).fit(X, Y, sample_weight=WEIGHT)
    model, batches = ridge(**parameters), np.array_split(np.arange(80), 5)
    for index in (3, 0, 4, 2, 1):
        rows = batches[index]
        model.partial_fit(X[rows], Y[rows], sample_weight=WEIGHT[rows])
    if indefinite and not associated:
        assert_allclose(model.alpha_, whole.alpha_, rtol=1e-5)
        assert_allclose(model.predict(NEW), whole.predict(NEW), rtol=1e-4, atol=1e-6)
    else:
        assert_same_model(model, whole)
        assert_allclose(model.predict(NEW), whole.predict(NEW), atol=1e-7)


@pytest.mark.usefixtures("signed")
def test_a_krein_space_has_no_likelihood():
    model = ridge().fit(X, Y)
    with pytest.raises(ValueError, match=r"no predictive standard deviation.*associated=True"):
        model.predict(NEW, return_std=True)
    with pytest.raises(AttributeError, match=r"no evidence.*associated=True"):
        _ = model.log_evidence_
    with pytest.raises(AttributeError, match=r"no noise variance.*associated=True"):
        _ = model.noise_variance_
    with pytest.raises(AttributeError, match=r"no condition number.*associated=True"):
        _ = model.condition_number_


@pytest.mark.parametrize("alpha", [1e-6, 1.0])
def test_the_condition_number_is_that_of_the_system(alpha):
    model = KreinRidge(n_components=32, alpha=alpha, random_state=0).fit(X, Y)
    Z = model.frequencies_.features(X)
    expected = np.linalg.cond(Z.T @ Z + alpha * np.eye(32))
    assert_allclose(model.condition_number_, expected, rtol=1e-5)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.usefixtures("signed")
def test_associated_is_ridge_regression_on_the_features(fit_intercept):
    model = ridge(associated=True, fit_intercept=fit_intercept).fit(X, Y)
    assert (model.signature_ < 0).any()
    features = model.frequencies_.features
    theirs = Ridge(0.5, fit_intercept=fit_intercept).fit(features(X), Y)
    mean, std = model.predict(NEW, return_std=True)
    assert_allclose(mean, theirs.predict(features(NEW)), atol=1e-9)
    assert (std > np.sqrt(model.noise_variance_)).all()
    best = ridge(associated=True, fit_intercept=fit_intercept, alpha="evidence").fit(X, Y)
    assert best.log_evidence_ > model.log_evidence_
    # The sums are those of either space.
    krein = ridge(fit_intercept=fit_intercept).fit(X[:40], Y[:40]).set_params(associated=True)
    both = ridge(associated=True, fit_intercept=fit_intercept).fit(X[:40], Y[:40])
    for other in (krein, both):
        other.partial_fit(X[40:], Y[40:])
    assert_array_equal(krein.coef_, both.coef_)


@pytest.mark.parametrize("alpha", [0.5, "evidence"])
def test_without_negative_signs_the_spaces_are_one(alpha):
    first, second = (ridge(alpha=alpha, associated=a).fit(X, Y) for a in (False, True))
    assert_array_equal(first.predict(NEW, return_std=True), second.predict(NEW, return_std=True))
    assert first.log_evidence_ == second.log_evidence_


def test_rows_that_cannot_be_added_leave_the_model_as_it_was():
    model = ridge(alpha=1.0).fit(X, Y)
    sums, before = model.sums_, model.predict(NEW)
    with pytest.raises(ValueError, match="sample_weight must be zero or between"):
        model.partial_fit(X, Y, sample_weight=np.full(len(X), 1e308))
    assert model.sums_ is sums
    assert_array_equal(model.predict(NEW), before)


@pytest.mark.parametrize("tol", [1.0, 1e300])
def test_a_tolerance_that_zero_weights_have_is_refused(tol):
    with pytest.raises(ValueError, match="tol must be below 1"):
        flat(KreinRidge, solver="cg", tol=tol).fit(X, Y)


def test_poor_features_of_polynomials_name_better_ones():
    with pytest.warns(UserWarning, match="PolynomialCountSketch has features of polynomials"):
        KreinRidge(kernels.Polynomial(3), 32, random_state=0).fit(X, Y)


def test_advice_for_kernels_without_a_measure_can_be_followed():
    def kernel(A, B):
        return np.exp(-cdist(A, B))

    advice = r"FourierFeatures\(kernel, weights='least_squares'\), .* features= of a model"
    with pytest.raises(TypeError, match=f"(?s)is not known: use {advice}"):
        KreinRidge(kernel, 512, random_state=0).fit(X, Y)
    fitted = FourierFeatures(kernel, 512, weights="least_squares")
    assert KreinRidge(features=fitted, random_state=0).fit(X, Y).score(X, Y) > 0.5


@pytest.mark.parametrize("seed", range(1, 4))
def test_equal_rows_have_no_negative_variances(seed):
    rows = np.full((3, 1), np.random.default_rng(seed).normal())
    given = {"n_components": 64, "alpha": "evidence", "fit_intercept": True}
    model = KreinRidge("laplacian", **given, random_state=0).fit(rows, np.ones(3))
    law = model.posterior_.law
    assert min(law.noise_variance.min(), law.prior_variance.min()) >= 0.0
