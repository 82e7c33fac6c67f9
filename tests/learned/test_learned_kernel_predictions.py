"""Predictions are the posterior's: against brute force, exact regressions and Monte Carlo."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bochner import LearnedKernelClassifier, LearnedKernelRegressor
from bochner.learned import Chains

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FAMILY_ALPHA = 1e-6
RNG = np.random.default_rng(0)
X = np.array([1.0, 30.0]) * RNG.normal(size=(50, 2)) + [0.0, 500.0]
Y = 40.0 + 7.0 * np.sin(X[:, 0] + X[:, 1] / 30.0) + RNG.normal(size=50)
WEIGHT = RNG.uniform(0.5, 3.0, size=50)
NEW = np.array([1.0, 30.0]) * RNG.normal(size=(7, 2)) + [0.0, 500.0]
SHAPE, RATE = 0.5, 1e-6


def design(model, index, inputs):
    """Cosines and sines of one draw in turn and the trend's columns, written anew."""
    omega = model.learned_[0].draws.omega[index]
    scaling, trend = model._scaling, model._trend
    scaled = (inputs - scaling.centre) / scaling.scale
    columns = np.empty((len(inputs), 2 * len(omega)))
    columns[:, 0::2] = np.cos(scaled @ omega.T) / np.sqrt(len(omega))
    columns[:, 1::2] = np.sin(scaled @ omega.T) / np.sqrt(len(omega))
    powers = [np.ones(len(inputs))]
    powers += [scaled[:, i] ** k for k in range(1, trend.degree + 1) for i in range(2)]
    kept = trend.kept.astype(int)
    return np.hstack([columns, np.column_stack(powers)[:, kept] @ trend.transform])


def posterior(model, index, weight):
    """Mean of the weights, their covariance over the noise, shape and rate of its variance."""
    draws = model.learned_[0].draws
    Z = design(model, index, X)
    q = Z.shape[1] - 2 * draws.omega.shape[1]
    penalty = np.full(Z.shape[1], draws.precision[index])
    penalty[-q:] = 0.0
    y = (Y - model.target_mean_) / model.target_scale_
    A = (Z.T * weight) @ Z + np.diag(penalty)
    covariance = np.linalg.inv(A)
    mean = covariance @ (Z.T @ (weight * y))
    residual = np.sum(weight * (y - Z @ mean) ** 2) + mean @ (penalty * mean)
    return mean, covariance, SHAPE + 0.5 * (weight.sum() - q), RATE + 0.5 * residual


def some_fit(structure, trend, weight):
    model = LearnedKernelRegressor(
        6,
        structure,
        trend=trend,
        random_state=0,
        chains=Chains(n_burn_in=8, n_samples=16, n_chains=1, thin=1),
    )
    # Weights of mean one count 50 observations; new ones have the weight one of the user.
    unit = 1.0 if weight is None else weight.mean()
    return model.fit(X, Y, weight), np.ones(50) if weight is None else weight / unit, unit


FITS = {"sparse": ("sparse", 0, None), "weights": ("dense", 1, WEIGHT)}


@pytest.fixture(scope="module", params=FITS)
def fit(request):
    return some_fit(*FITS[request.param])


def test_mean_and_deviation_are_those_of_the_mixture_of_students(fit):
    model, weight, unit = fit
    n_draws = model.learned_[0].draws.n_draws
    means, variances = [], []
    for index in range(n_draws):
        mean, covariance, shape, rate = posterior(model, index, weight)
        Z = design(model, index, NEW)
        spread = unit + np.einsum("ij,jk,ik->i", Z, covariance, Z)
        student = stats.t(2.0 * shape, Z @ mean, np.sqrt(rate / shape * spread))
        means.append(student.mean())
        variances.append(student.var())
    mean = np.mean(means, axis=0)
    variance = np.mean(variances, axis=0) + np.var(means, axis=0)
    predicted, std = model.predict(NEW, return_std=True)
    assert_allclose(predicted, model.target_mean_ + model.target_scale_ * mean, rtol=1e-9)
    assert_allclose(std, model.target_scale_ * np.sqrt(variance), rtol=2e-5)
    assert_allclose(predicted, model.predict(NEW), rtol=1e-14)


def test_the_noise_is_the_posterior_mean(fit):
    model, weight, unit = fit
    expected = []
    for index in range(model.learned_[0].draws.n_draws):
        _, _, shape, rate = posterior(model, index, weight)
        expected.append(stats.invgamma(shape, scale=rate).mean())
    variance = unit * np.mean(expected) * model.target_scale_**2
    assert_allclose(model.noise_variance_, variance, rtol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("trend", [1, 2])
def test_exact_polynomials_are_continued_far_beyond_the_data(trend):
    rng = np.random.default_rng(3)
    inputs = rng.uniform([4.0, -4.0], [6.0, -2.0], size=(80, 2))
    far = rng.uniform(-30.0, 30.0, size=(40, 2))

    def polynomial(Z):
        return 3.0 + Z @ [2.0, -1.0] + (trend - 1) * (Z**2 @ [0.5, -0.25])

    model = LearnedKernelRegressor(
        8, trend=trend, random_state=0, chains=Chains(n_burn_in=8, n_samples=8, n_chains=1, thin=1)
    )
    model.fit(inputs, polynomial(inputs))
    mean, std = model.predict(far, return_std=True)
    assert np.max(np.abs(mean - polynomial(far)) / std) < 6.0
    assert_allclose(mean, polynomial(far), rtol=0.05, atol=0.05 * np.ptp(polynomial(far)))


def test_probabilities_are_those_of_the_draws():
    """Against the normal integrals of the logistic function, written out by quadrature."""
    labels = (Y > 40.0).astype(int)
    model = LearnedKernelClassifier(
        6, "sparse", random_state=0, chains=Chains(n_burn_in=8, n_samples=8, n_chains=1, thin=1)
    )
    probability = model.fit(X, labels).predict_proba(NEW)[:, 1]
    draws = model.learned_[0].draws
    assert len(draws.whitened) == draws.n_draws == 8
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    expected = np.zeros(len(NEW))
    spread = np.zeros(len(NEW))
    activation = []
    for place in range(8):
        Z = design(model, place, NEW)
        activation.append(Z @ draws.coef[place])
        spread += np.sum((Z @ draws.whitener[place]) ** 2, axis=1) / 8.0
    for mean in activation:
        values = 1.0 / (1.0 + np.exp(-(mean[:, None] + np.sqrt(spread)[:, None] * nodes)))
        expected += values @ weights / np.sqrt(2.0 * np.pi) / 8.0
    # The approximation of the integral is good to two per cent at any mean and deviation.
    assert_allclose(probability, expected, atol=0.02)
    assert np.ptp(probability) > 0.3


def test_quantiles_and_densities_are_those_of_the_mixture_over_draws():
    model = LearnedKernelRegressor(
        8, "dense", random_state=0, chains=Chains(n_burn_in=5, n_samples=16, n_chains=2)
    )
    new = NEW[:3]
    model.fit(X, Y)
    ends = model.predict_quantiles(new, (0.05, 0.5, 0.95))
    np.testing.assert_array_equal(np.column_stack(model.predict_interval(new)), ends[:, [0, 2]])
    mean, std = model.predict(new, return_std=True)
    steps = np.linspace(-9.0, 9.0, 301)[:, None] * std
    density = np.exp([model.log_predictive_density(new, mean + step) for step in steps])
    width = steps[1] - steps[0]
    total = np.cumsum(density, axis=0) * width
    assert_allclose(total[-1], 1.0, atol=1e-3)
    for column, level in enumerate((0.05, 0.5, 0.95)):
        below = [
            np.interp(end, mean[row] + steps[:, row] + 0.5 * width[row], total[:, row])
            for row, end in enumerate(ends[:, column])
        ]
        assert_allclose(below, level, atol=2e-3)
    latent = model.predict_latent(new)
    assert_allclose(latent[0], mean)
    assert (latent[1] < std).all()
    with pytest.raises(ValueError, match=r"y must have shape \(\d+,\), got"):
        model.log_predictive_density(new, Y[:2])
