"""Errors of features, predicted and measured, against their known laws."""

import warnings

import numpy as np
import pytest
from scipy.stats import norm, t

from bochner import FourierFeatures, diagnose, kernels
from bochner.linear.feature_errors import HeldOutSplit, features_of

X = np.random.default_rng(0).normal(size=(7, 3))
SIMPLEX = 0.8 * np.eye(16)
ALPHA = 1e-3


def variance(kernel, rows):
    """Variance of one independent frequency, for every pair of rows, for k(0) of any value."""
    at_zero = kernel(rows[:1])[0, 0]
    return 0.5 * (at_zero**2 + at_zero * kernel(2.0 * rows)) - kernel(rows) ** 2


def distinct(gram):
    return gram[~np.eye(len(gram), dtype=bool)]


CLOSED = [
    kernels.Gaussian(1.5),
    kernels.Laplacian((1.0, 2.0, 3.0)),
    3.0 * kernels.Matern(2.0) * kernels.Cauchy(2.0),
    -2.0 * kernels.Cauchy(2.0),
    kernels.Anova(kernels.Gaussian(1.0), 0.5, constant=False),
]


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", CLOSED, ids=repr)
def test_the_predicted_error_of_a_closed_form_is_that_of_independent_draws(kernel):
    m, n_seeds = 5, 1000
    found = diagnose(kernel, X, n_components=2 * m, random_state=0).features
    (error,) = found.errors
    exact = distinct(kernel(X))
    square = np.empty(n_seeds)
    for seed in range(n_seeds):
        map = FourierFeatures(kernel, 2 * m, scheme="iid", random_state=seed).fit(X)
        square[seed] = np.mean((distinct(map.gram(X)) - exact) ** 2) / np.mean(exact**2)
    z = (square.mean() - error.predicted_error**2) / (square.std() / np.sqrt(n_seeds))
    assert abs(z) < norm.isf(ALPHA / len(CLOSED) / 2)
    assert (error.max_error, found.measure) == (0.0, "closed form")
    assert error.total_variation == pytest.approx(abs(kernel(X[:1])[0, 0]))


@pytest.mark.parametrize("kernel", CLOSED[:1], ids=repr)
def test_the_predicted_error_has_its_closed_form(kernel):
    (error,) = diagnose(kernel, X, n_components=10, random_state=0).features.errors
    expected = distinct(variance(kernel, X)).mean() / 5 / np.mean(distinct(kernel(X)) ** 2)
    assert error.predicted_error == pytest.approx(np.sqrt(expected))


@pytest.mark.thorough
def test_errors_measured_with_one_frequency_have_the_known_mean_square():
    # All pairs of a simplex are equally far apart, whichever of its rows are held out.
    kernel, n_seeds = kernels.Gaussian(1.0), 300
    split = HeldOutSplit(SIMPLEX[4:], SIMPLEX[:4], kernel(SIMPLEX[:4]))
    square = [
        features_of(kernel, split, (1,), np.random.default_rng(seed)).errors[0].sampled_error ** 2
        for seed in range(n_seeds)
    ]
    expected = variance(kernel, SIMPLEX)[0, 1] / kernel(SIMPLEX)[0, 1] ** 2
    z = (np.mean(square) - expected) / (np.std(square) / np.sqrt(n_seeds))
    assert abs(z) < norm.isf(ALPHA / 2)


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", [kernels.DeltaGaussian(1.0, 3.0), kernels.TL1(4.0)], ids=repr)
def test_a_designed_measure_is_the_one_that_the_features_use(kernel):
    found = diagnose(kernel, X, n_components=(32, 128), random_state=0).features
    assert (found.measure, found.positive) == ("designed", False)
    for error in found.errors:
        map = FourierFeatures(kernel, error.n_components, random_state=1).fit(X)
        assert error.predicted_error == pytest.approx(map.predicted_error_, rel=1e-6)
        assert error.max_error == pytest.approx(map.max_error_, rel=1e-6)
        assert error.total_variation == pytest.approx(np.abs(map.frequencies_.weight).sum())
        assert error.sampled_error is error.least_squares_error is None


ROWS = np.random.default_rng(2).normal(size=(20, 3))  # All 190 pairs are in the design
UNIT = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
DESIGNED = {
    "tl1": (kernels.TL1(2.0), ROWS),
    "difference": (kernels.DeltaGaussian(0.3, 1.0), ROWS),
    "tanh": (kernels.Tanh(0.5, 0.0), ROWS),
    "polynomial": (kernels.Polynomial(2, 1.0), ROWS),
    "steep": (kernels.Radial(lambda t: np.exp(-3.0 * t)), ROWS),
    "sphere": (kernels.SphericalPolynomial(4, 2.0), UNIT),
    "ntk": (kernels.NTK(), UNIT),
}


def assert_predicted(name, n_seeds=60):
    """Errors of fresh draws, over pairs of distinct rows, have the mean square that is said."""
    kernel, rows = DESIGNED[name]
    exact = distinct(kernel(rows))
    square = np.empty(n_seeds)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        for seed in range(n_seeds):
            map = FourierFeatures(kernel, 64, scheme="iid", random_state=seed).fit(rows)
            square[seed] = np.mean((distinct(map.gram(rows)) - exact) ** 2) / np.mean(exact**2)
    statistic = (square.mean() - map.predicted_error_**2) / (square.std() / np.sqrt(n_seeds))
    assert abs(statistic) < t.isf(ALPHA / len(DESIGNED) / 2, n_seeds - 1)


@pytest.mark.thorough
@pytest.mark.parametrize("name", DESIGNED)
def test_the_predicted_error_of_a_design_is_that_of_independent_draws(name):
    assert_predicted(name)


@pytest.mark.parametrize(
    "kernel", [kernels.ShiftGaussian(2.0, 0.5), kernels.SinhGaussian(2.0, 0.3)], ids=repr
)
def test_no_error_is_predicted_for_asymmetric_kernels(kernel):
    assert FourierFeatures(kernel, 64, random_state=0).fit(ROWS).predicted_error_ is None
    (error,) = diagnose(kernel, ROWS, n_components=64, random_state=0).features.errors
    assert error.predicted_error is None


@pytest.mark.thorough
def test_designed_errors_are_met_on_held_out_rows():
    rows = np.random.default_rng(1).uniform(size=(400, 6))
    found = diagnose("tl1", rows, n_components=(48, 192), random_state=0).features
    for error in found.errors:
        # Three draws on 100 held-out rows, whose errors are dependent: a factor, not a z-test.
        assert 0.5 < error.sampled_error / error.predicted_error < 2.0
    assert found.errors[1].sampled_error < found.errors[0].sampled_error
    assert found.fitted is found.errors[1]
    assert found.fitted.least_squares_error < found.fitted.sampled_error
