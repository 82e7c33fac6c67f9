"""The parts of the benchmark of locally stationary kernels, each against its definition."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from pages import small_fold
from scipy.integrate import quad
from scipy.stats import kstest, norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import log_loss, mean_squared_error, r2_score, roc_auc_score

from benchmarks.folds import Fold, fifth_at_random, held_out_at_random
from benchmarks.gabasr import data, design, methods, mixture, series, update
from benchmarks.gabasr.accuracy import GRID, fold_figures, probability_name, xor_metrics
from benchmarks.gabasr.data import posterior
from benchmarks.predictions import Prediction
from bochner.datasets import Dataset
from bochner.kernels import Gaussian
from bochner.learned.amplitude_waves import WaveFeatures
from bochner.learned.basis import Grid
from bochner.learned.chain_evidence import InverseGammaNoise, evidence_of
from bochner.learned.training_data import TrainingData
from bochner.learned.wave_amplitudes import CosineAmplitudes

pytestmark = pytest.mark.filterwarnings("ignore:The chain has not converged")


# Data.


def test_a_split_is_standardised_by_its_training_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1)), 100.0 + 7.0 * rng.normal(size=50)
    fold = held_out_at_random(Dataset("any", X, y, "regression"), 3)
    train, test = fifth_at_random(50, 3)
    assert fold.unit == pytest.approx(np.std(y[train]))
    np.testing.assert_allclose(fold.unit * fold.y_test + y[train].mean(), y[test])
    assert fold.inner(10, rng).unit == fold.unit == fold.part(np.arange(5)).unit


def test_houses_are_per_household_as_scikit_learn_has_them():
    """The first rows of sklearn.datasets.fetch_california_housing, from StatLib's."""
    names = ("longitude", "latitude", "housingMedianAge", "totalRooms", "totalBedrooms",
             "population", "households", "medianIncome")  # fmt: skip
    X = np.array(
        [
            [-122.23, 37.88, 41.0, 880.0, 129.0, 322.0, 126.0, 8.3252],
            [-122.22, 37.86, 21.0, 7099.0, 1106.0, 2401.0, 1138.0, 8.3014],
        ]
    )
    houses = Dataset(
        "california_housing", X, np.array([452600.0, 358500.0]), "regression", feature_names=names
    )
    found = data.per_household(houses)
    expected = [
        [8.3252, 41.0, 6.98412698, 1.02380952, 322.0, 2.55555556, 37.88, -122.23],
        [8.3014, 21.0, 6.23813708, 0.97188049, 2401.0, 2.10984183, 37.86, -122.22],
    ]
    np.testing.assert_allclose(found.X, expected)
    np.testing.assert_allclose(found.y, [4.526, 3.585])
    assert data.per_household(found) is found


def test_columns_of_more_than_two_codes_become_indicators():
    X = np.array([[0.0, 5.0, 1.0], [1.0, 6.0, 0.0], [2.0, 7.0, 1.0]])
    codes = Dataset(
        "any", X, np.array([0, 1, 1]), "classification", categorical=(True, False, True)
    )
    found = data.with_indicators(codes).X
    np.testing.assert_array_equal(
        found, [[5.0, 1.0, 0.0, 0.0, 1.0], [6.0, 0.0, 1.0, 0.0, 0.0], [7.0, 0.0, 0.0, 1.0, 1.0]]
    )
    plain = replace(codes, categorical=())
    assert data.with_indicators(plain) is plain


def test_doppler_has_the_noise_that_it_says():
    """Standardised residuals of twenty series are standard normal, at both ends as well."""
    drawn = [data.doppler(seed) for seed in range(20)]
    residual, place = (
        np.concatenate(parts)
        for parts in (
            [(one.dataset.y - one.f) / one.noise for one in drawn],
            [one.dataset.X[:, 0] for one in drawn],
        )
    )
    for part in (place < 0.2, place > 0.8, place <= 1.0):
        assert kstest(residual[part], "norm").pvalue > 1e-3
    one = drawn[0]
    t = one.dataset.X[:, 0]
    np.testing.assert_allclose(one.noise, np.interp(t, [0.0, 1.0], [0.02, 0.06]))
    angle = 2.0 * np.pi * 1.05 / (t + 0.05)
    np.testing.assert_allclose(one.f**2, t * (1.0 - t) * np.sin(angle) ** 2)


def test_the_probability_of_exclusive_or_is_bayes_rule():
    places = np.random.default_rng(0).normal(size=(20, 2))

    def density(corners):
        return sum(
            norm.pdf(places[:, 0], a, data.XOR_SPREAD) * norm.pdf(places[:, 1], b, data.XOR_SPREAD)
            for a, b in corners
        )

    unlike, like = density([(1, -1), (-1, 1)]), density([(1, 1), (-1, -1)])
    np.testing.assert_allclose(data.xor_probability(places), unlike / (unlike + like))


# Methods.


def test_a_trend_is_chosen_where_held_out_rows_lie_on_a_plane():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    plane = Fold(X, X @ np.linspace(1.0, 2.0, 8) + 0.01 * rng.normal(size=60), X, X[:, 0], True)
    budget = design.Budget(12, 24, 10.0)
    assert methods.chosen_trend(design.BANK, budget, plane, 0) == 1


# Figures.


def test_figures_of_a_regression_are_in_units_of_the_target():
    rng = np.random.default_rng(0)
    fold = small_fold(unit=7.0)
    mean, std = fold.y_test + rng.normal(size=40), rng.uniform(0.5, 1.5, size=40)
    found = fold_figures(Prediction(mean, std), fold)
    y, predicted = 7.0 * fold.y_test, 7.0 * mean
    assert found["mse"] == pytest.approx(mean_squared_error(y, predicted))
    assert found["r2"] == pytest.approx(r2_score(y, predicted))
    assert found["nlpd"] == pytest.approx(-np.mean(norm.logpdf(y, predicted, 7.0 * std)))


def test_figures_of_a_classification():
    fold = small_fold(is_regression=False)
    probability = np.random.default_rng(0).uniform(0.01, 0.99, size=40)
    found = fold_figures(Prediction(probability), fold)
    assert found == pytest.approx(
        {
            "auc": roc_auc_score(fold.y_test, probability),
            "error": np.mean((probability > 0.5) != fold.y_test),
            "nlpd": log_loss(fold.y_test, probability),
        }
    )


# What is generated.


def test_the_posterior_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, X_test = rng.uniform(size=(40, 2)), rng.uniform(size=(10, 2))
    y = np.sin(5.0 * X[:, 0]) + X[:, 1]
    model = GaussianProcessRegressor(RBF(0.4), alpha=0.3**2, optimizer=None).fit(X, y)
    mean, std = model.predict(X_test, return_std=True)
    found = posterior(Gaussian(0.4), 0.3, X, y, X_test)
    np.testing.assert_allclose(found[0], mean)
    np.testing.assert_allclose(found[1], np.sqrt(std**2 + 0.3**2))


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_the_density_of_waves_is_that_of_their_products(scale):
    """On average over places, products a lag apart are cos(v lag / 2) cos(s lag)."""
    rng = np.random.default_rng(0)
    s, v = rng.normal(1.5, 0.3, size=(2, 300, 1)), rng.normal(0.8, 0.1, size=(2, 300, 1))
    every = [WaveFeatures(s[0], CosineAmplitudes(v[0], np.zeros(300))), WaveFeatures(s[1])]
    draws = SimpleNamespace(n_draws=2, waves=every.__getitem__)
    density = mixture.learned_density(draws, scale)
    v[1] = 0.0
    for lag in (0.0, 0.5, 1.5):
        expected = np.mean(np.cos(0.5 * v * lag / scale) * np.cos(s * lag / scale))
        value = 0.1 * np.sum(density * np.cos(np.array(mixture.FREQUENCIES) * lag))
        assert value == pytest.approx(expected, abs=0.01)


def test_the_mixture_is_that_of_equation_12():
    def law(w):
        parts = ((0.0, 1 / 2), (3 * np.pi / 4, 1 / 2), (11 * np.pi / 8, 1 / 4))
        return sum(norm.pdf(w, mean, deviation) for mean, deviation in parts) / 3.0

    for lag in (0.0, 0.8, 2.0):
        value, _ = quad(lambda w, lag=lag: np.cos(w * lag) * law(w), -10.0, 10.0, limit=200)
        assert mixture.SPECTRUM([[lag]], [[0.0]])[0, 0] == pytest.approx(value, abs=1e-8)


def test_nothing_learned_is_better_than_the_true_kernel():
    # Without a limit of seconds that a busy machine could reach.
    size = replace(design.QUICK, mixture=design.Budget(30, 10, 600.0))
    found = {
        method: np.mean([mixture.mixture_metrics(method, size, s)["rms_error"] for s in (1, 2)])
        for method in (design.TRUE, design.BANK)
    }
    assert 0.0 < found[design.TRUE] < 1.05 * found[design.BANK] < 0.2


def test_the_truth_of_a_series_is_calibrated():
    """Its density is, on average, the entropy: of the noise, for Doppler."""
    found = np.mean(
        [
            series.series_metrics("doppler", design.TRUE, design.FULL, s, None)["lpd"]
            for s in range(9)
        ]
    )
    t = np.linspace(0.0, 1.0, 10_001)
    expected = -np.mean(np.log(0.02 * (1.0 + 2.0 * t))) - 0.5 * np.log(2.0 * np.pi * np.e)
    assert abs(found - expected) < 4.0 * np.sqrt(0.5 + 0.1) / np.sqrt(9 * 80)


def test_the_truth_of_exclusive_or():
    found = xor_metrics(design.TRUE, replace(design.QUICK, xor_rows=20_000), 0)
    wrong = norm.sf(1.0 / data.XOR_SPREAD)
    error = 2.0 * wrong * (1.0 - wrong)
    assert found["error"] == pytest.approx(error, abs=4.0 * np.sqrt(error / 20_000))
    place = GRID[3], GRID[12]
    expected = data.xor_probability(np.array([place]))[0]
    assert found[probability_name(*place)] == pytest.approx(expected)


# The update.


@pytest.mark.parametrize("accept", [True, False], ids=["accepted", "refused"])
def test_the_update_that_is_timed_is_the_one_afresh(accept):
    """It ends where everything afresh does; refused, where it began."""
    rng, basis = np.random.default_rng(0), Grid(3, 3)
    rows = TrainingData.of(
        rng.normal(size=(60, 2)), rng.normal(size=60), np.ones((60, 1)), basis=basis
    )
    s, v = rng.normal(size=(2, 3, 2))
    omega = basis.joined(s, v, rng.normal(size=3))
    noise = InverseGammaNoise(shape=0.5, rate=1e-6)
    evidence = evidence_of(rows, omega, 0.05, noise)
    update.decide(rng, evidence, rows, accept=accept)
    moved = np.flatnonzero(np.any(evidence.omega != omega, axis=1))
    assert len(moved) == (1 if accept else 0)
    assert np.all(moved >= 3)
    afresh = evidence_of(rows, evidence.omega, 0.05, noise)
    assert evidence.log_evidence() == pytest.approx(afresh.log_evidence())
