"""The parts of the benchmark of learned kernels, each against its definition."""

import numpy as np
import pytest
from pages import small_fold
from scipy.integrate import quad
from scipy.stats import norm, rankdata
from sklearn.datasets import load_diabetes, load_wine
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.bank import accuracy, design, methods, speed
from benchmarks.bank.kernel import LAGS, TRUE, TRUE_SPECTRUM, kernel_metrics, true_kernel
from benchmarks.folds import Fold, fold_of
from benchmarks.predictions import Prediction, figures, scaled
from benchmarks.results import name_at
from bochner import FourierFeatures, LearnedKernelRegressor

pytestmark = pytest.mark.filterwarnings("ignore:The chain has not converged")


# Folds.


def test_a_fold_of_a_regression_by_hand():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    train, test = list(KFold(5, shuffle=True, random_state=0).split(X))[3]
    centre, deviation = y[train].mean(), y[train].std()
    fold = fold_of("diabetes", 3, None)
    np.testing.assert_array_equal(fold.X, X[train])
    np.testing.assert_array_equal(fold.X_test, X[test])
    np.testing.assert_allclose(fold.y, (y[train] - centre) / deviation)
    np.testing.assert_allclose(fold.y_test, (y[test] - centre) / deviation)


def test_the_most_frequent_class_is_told_from_the_rest():
    X, y = load_wine(return_X_y=True)
    frequent = (y == 1).astype(int)  # 71 of 178
    train, test = next(StratifiedKFold(5, shuffle=True, random_state=0).split(X, frequent))
    fold = fold_of("wine", 0, None)
    np.testing.assert_array_equal(fold.y, frequent[train])
    np.testing.assert_array_equal(fold.y_test, frequent[test])


def test_inner_rows_are_training_rows_and_disjoint():
    fold = small_fold()
    for n, sizes in ((40, (40, 10)), (10_000, (120, 30))):
        inner = fold.inner(n, np.random.default_rng(0))
        assert (len(inner.y), len(inner.y_test)) == sizes
        chosen = [*map(tuple, inner.X), *map(tuple, inner.X_test)]
        assert len(set(chosen)) == sum(sizes)
        assert set(chosen) <= set(map(tuple, fold.X))


# Competitors.


def test_ridge_against_scikit_learn():
    fold, alphas = small_fold(), (1e-4, 1e-2)
    features = FourierFeatures("gaussian", 32, length_scale=5.0, random_state=0)
    Z, Z_test = (features.fit(fold.X).transform(X) for X in (fold.X, fold.X_test))
    centred = Z - Z.mean(axis=0)
    unit = np.sum(centred**2) / Z.shape[1]
    found = methods._ridge(features, fold, alphas)
    for alpha, prediction in zip(alphas, found, strict=True):
        expected = Ridge(alpha * unit).fit(Z, fold.y).predict(Z_test)
        np.testing.assert_allclose(prediction.mean, expected, rtol=1e-6, atol=1e-8)


def test_logistic_regression_goes_on_to_the_optimum_of_each_penalty():
    fold = small_fold(is_regression=False)
    features = FourierFeatures("gaussian", 32, length_scale=5.0, random_state=0)
    Z, Z_test = (features.fit(fold.X).transform(X) for X in (fold.X, fold.X_test))
    Cs = (1.0, 100.0)
    first, last = methods._logistic(features, fold, Cs)
    for C, found in zip(Cs, (first, last), strict=True):
        model = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(Z, fold.y)
        exact = model.predict_proba(Z_test)[:, 1]
        assert np.abs(found.mean - exact).max() < 0.1 * np.abs(first.mean - last.mean).max()


def test_outliers_do_not_move_the_scale():
    fold = small_fold()
    X = fold.X.copy()
    X[0] = 1e9
    found = scaled(Fold(X, fold.y, fold.X_test, fold.y_test, True))
    assert 0.5 < np.median(found.X.std(axis=0)) < 2.0
    assert np.abs(found.X).max() == 10.0


# Figures.


def test_figures_of_a_regression():
    rng = np.random.default_rng(0)
    fold = small_fold()
    mean, std = fold.y_test + rng.normal(size=40), rng.uniform(0.5, 1.5, size=40)
    found = figures(Prediction(mean, std), fold)
    low, high = norm.interval(0.9, loc=mean, scale=std)
    assert found == pytest.approx(
        {
            "mse": np.mean((mean - fold.y_test) ** 2),
            "coverage": np.mean((low <= fold.y_test) & (fold.y_test <= high)),
            "nlpd": -np.mean(norm.logpdf(fold.y_test, mean, std)),
        }
    )
    assert set(figures(Prediction(mean), fold)) == {"mse"}


# The race, and ranks.


def test_mh_has_the_seconds_of_ours(monkeypatch):
    made = []

    class Recorded(LearnedKernelRegressor):
        def fit(self, X, y):
            made.append((self.sampler, self.time_limit))
            return super().fit(X, y)

    monkeypatch.setattr(accuracy, "LearnedKernelRegressor", Recorded)
    accuracy._sampled.cache_clear()
    ours, mh = (
        accuracy.accuracy_metrics("diabetes", method, design.QUICK, 1, None)
        for method in (design.OURS, design.MH)
    )
    accuracy._sampled.cache_clear()
    assert made == [("auto", None), ("mh", ours["fit_seconds"])]  # and ours is fitted once
    assert mh["is_sparse"] == 0.0


@pytest.mark.parametrize("n", [150, 1_300])
def test_every_input_comes_with_its_rank(n):
    """The empirical distribution function, at the rows of training."""

    class Seen(DummyRegressor):
        def fit(self, X, y):
            self.X_ = X
            return super().fit(X, y)

    fold, model = small_fold(n), Seen()
    accuracy.with_ranks(model, n, 0).fit(fold.X, fold.y)
    inputs, ranks = np.hsplit(model.X_, 2)
    np.testing.assert_array_equal(inputs, fold.X)
    expected = (rankdata(fold.X, axis=0) - 1.0) / (n - 1.0)
    np.testing.assert_allclose(ranks, expected, atol=0.0 if n < 1_000 else 2.0 / 1_000)


# The synthetic kernel.


def test_the_kernel_is_the_transform_of_its_spectral_distribution():
    def density(w):
        return 0.5 * norm.pdf(w, 0.0, 0.5) + 0.5 * norm.pdf(w, 0.75 * np.pi, 0.5)

    for t in (0.0, 0.7, 2.5, 6.0):
        value, _ = quad(lambda w, t=t: np.cos(w * t) * density(w), -8.0, 12.0, limit=200)
        assert true_kernel(np.array(t)) == pytest.approx(value, abs=1e-8)


def test_many_frequencies_give_the_kernel():
    """By Hoeffding's bound a distance is six over root m off with probability below 4e-8."""
    m = 20_000
    found = kernel_metrics(TRUE_SPECTRUM, m, 0, seed=0)
    for lag in LAGS:
        assert abs(found[name_at("mean", lag)] - true_kernel(np.array(lag))) < 6.0 / np.sqrt(m)
    assert kernel_metrics(TRUE, 10, 0, seed=0)["rms_error"] == 0.0


def test_the_learned_kernel_and_its_draws_are_in_the_same_units():
    """The band is of raw draws, the mean of the kernel that the model gives away."""
    found = kernel_metrics(design.OURS, 30, 10, seed=0)
    middle, low, high = (
        np.array([found[name_at(what, lag)] for lag in LAGS]) for what in ("mean", "low", "high")
    )
    assert [middle[0], low[0], high[0]] == pytest.approx([1.0, 1.0, 1.0])
    near = (low - 0.2 <= middle) & (middle <= high + 0.2)
    assert np.mean(near) > 0.9
    assert low[10] < 0.95  # and not of units four times as large
    truth = true_kernel(np.array(LAGS))
    assert found["rms_error"] == pytest.approx(np.sqrt(np.mean((middle - truth) ** 2)))
    factors = np.linspace(0.0, 20.0, 20_001)[:, None]
    errors = np.sqrt(np.mean((factors * (1.0 - middle) - (1.0 - truth)) ** 2, axis=1))
    assert found["rms_up_to_constant"] == pytest.approx(errors.min(), rel=1e-3)


# Scaling and speed.


@pytest.mark.parametrize("block_size", [1, 5, 64])
def test_a_sweep_proposes_every_frequency_once(monkeypatch, block_size):
    place, seen = speed._warmed("diabetes", 300, 16, None), []

    def noted(evidence, rows, proposals):
        seen.append(proposals.index)

    monkeypatch.setattr(speed, "replace_frequencies", noted)
    speed._swept(place, block_size)()
    assert sorted(np.concatenate(seen)) == list(range(16))
    assert max(map(len, seen)) == min(block_size, 16)
