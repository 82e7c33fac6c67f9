"""KreinRidge on streams: weights that fall with age, and scores."""

import numpy as np
import pytest
from laws.error_laws import dense_errors
from linear.test_krein_ridge import NEW, WEIGHT, X, Y, assert_same_model, ridge
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import norm

FRACTIONS = np.random.default_rng(4).uniform(0.5, 2.0, 80)
STEPS = [slice(0, 10), slice(10, 11), slice(11, 40), slice(40, 80)]


def stream(model, steps=STEPS, weight=None, **options):
    for rows in steps:
        given = {} if weight is None else {"sample_weight": weight[rows]}
        model.partial_fit(X[rows], Y[rows], **given, **options)
    return model


def tempered_evidence(Z, weight, alpha):
    """Log evidence of log-likelihoods times weights up to a constant, and noise variances."""
    A = Z.T @ (weight[:, None] * Z) + alpha * np.eye(Z.shape[1])
    cross = Z.T @ (weight[:, None] * Y)
    squares = weight @ Y**2 - np.sum(cross * np.linalg.solve(A, cross), axis=0)
    noise, n_targets = squares / weight.sum(), Y.shape[1]
    determinant = np.linalg.slogdet(A)[1] - Z.shape[1] * np.log(alpha)
    return -0.5 * (weight.sum() * np.log(noise).sum() + n_targets * determinant), noise


def tempered_noise(model, weight, degrees=None):
    """Noise variances by dense matrices of features and checks."""
    rows, options = weight > 0.0, {"fit_intercept": model.fit_intercept, "degrees": degrees}
    gram, truth = (waves.gram(X[rows]) for waves in (model.frequencies_, model.checks_))
    return dense_errors(gram, truth, Y[rows], model.alpha_, weight=weight[rows], **options).noise


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("alpha", [0.5, "evidence"])
def test_forgotten_rows_are_fractions_of_observations(alpha, weight):
    model = stream(ridge(alpha=alpha), weight=weight, forgetting=0.95)
    aged = 0.95 ** np.arange(80)[::-1] * (1.0 if weight is None else weight)
    Z = model.frequencies_.features(X)
    if alpha == "evidence":
        best = minimize_scalar(
            lambda log_alpha: -tempered_evidence(Z, aged, np.exp(log_alpha))[0],
            bounds=(-10.0, 5.0),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert_allclose(model.alpha_, np.exp(best.x), rtol=1e-3)
    else:
        expected = tempered_noise(model, aged)
        assert_allclose(model.noise_variance_, expected, rtol=1e-6)
    refitted = ridge(alpha=model.alpha_).fit(X, Y, sample_weight=aged)
    assert_allclose(model.coef_, refitted.coef_, rtol=1e-6, atol=1e-8)


def assert_batches(weight=None, **parameters):
    """Forgetting counts rows, in one batch or many; assert_same_model compares the evidence."""
    rows = [slice(0, 80)], [slice(i, i + 1) for i in range(80)]
    whole, single = (stream(ridge(**parameters), one, weight, forgetting=0.9) for one in rows)
    assert_same_model(whole, single)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(
    "weight", [None, WEIGHT + 1.0, FRACTIONS], ids=["none", "counts", "fractions"]
)
def test_batches_make_no_difference_to_forgetting(weight, fit_intercept):
    assert_batches(weight, fit_intercept=fit_intercept)


@pytest.mark.parametrize("forgetting", [0.0, 1.1, -0.5])
def test_other_factors_are_refused(forgetting):
    with pytest.raises(ValueError, match=r"greater than zero and at most one, such as 0\.999"):
        ridge().partial_fit(X, Y, forgetting=forgetting)


def test_log_densities_are_those_of_normal_laws():
    model = ridge().fit(X, Y)
    mean, std = model.predict(NEW, return_std=True)
    y = mean + std * np.linspace(-2.0, 3.0, 20)[:, None]
    z = np.linspace(-2.0, 3.0, 20)
    expected = 2.0 * norm.logpdf(z) - np.log(std).sum(axis=1)
    assert_allclose(model.log_predictive_density(NEW, y), expected)
    single = ridge().fit(X, Y[:, 0])
    mean, std = single.predict(NEW, return_std=True)
    assert_allclose(single.log_predictive_density(NEW, mean), -np.log(std * np.sqrt(2 * np.pi)))
    with pytest.raises(ValueError, match=r"y must have shape \(20,\), got \(20, 2\)"):
        single.log_predictive_density(NEW, y)
