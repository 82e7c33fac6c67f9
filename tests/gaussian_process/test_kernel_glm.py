"""Generalised linear models on features, as users call them."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_score

from bochner import KernelGLMClassifier, KernelGLMRegressor
from bochner.gaussian_process import (
    CensoredGaussianLikelihood,
    OrdinalLikelihood,
    SoftmaxLikelihood,
)

SMALL = {"n_components": 64, "random_state": 0, "length_scale": 1.0}
ALPHA = 1e-4
"""Probability that a test of coverage fails by chance."""


def latent(X):
    return np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return rng, X, latent(X)


def drawn(name, rng, f, exposure):
    """Return targets of a likelihood, with dispersion, tails or scale that a model must find."""
    mean = exposure * np.exp(1.0 + f)
    return {
        "gaussian": lambda: rng.normal(f, 0.4),
        "student_t": lambda: f + 0.3 * rng.standard_t(4.0, size=len(f)),
        "poisson": lambda: rng.poisson(mean),
        "negative_binomial": lambda: rng.poisson(mean * rng.gamma(2.0, 0.5, size=len(f))),
        "censored": lambda: rng.normal(f, 0.4),
    }[name]()


def model_of(name):
    law = CensoredGaussianLikelihood(left=-0.5) if name == "censored" else name
    return KernelGLMRegressor(law, **SMALL)


NAMES = ("gaussian", "student_t", "poisson", "negative_binomial", "censored")


@pytest.mark.thorough_cases(but="poisson|4000-negative_binomial")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [600, pytest.param(4000, marks=pytest.mark.slow)])
def test_intervals_cover_and_scores_are_near_the_best(name, n):
    rng, X, f = rows(2 * n, seed=1)
    exposure = rng.uniform(0.5, 2.0, size=2 * n)
    y = drawn(name, rng, f, exposure)
    is_count = name in ("poisson", "negative_binomial")
    given = {"exposure": exposure[:n]} if is_count else {}
    new = {"exposure": exposure[n:]} if is_count else {}
    seen = np.maximum(y, -0.5) if name == "censored" else y
    model = model_of(name).fit(X[:n], seen[:n], **given)
    lower, upper = model.predict_interval(X[n:], 0.8, **new)
    law = model.likelihood_
    mean, std = model.predict_latent(X[n:], **new)
    variance = std**2
    # Intervals of counts contain more than asked: as much as the model itself says.
    nominal = law.distribution(upper, mean, variance) - law.distribution(
        lower - is_count, mean, variance
    )
    covered = (lower <= y[n:]) & (y[n:] <= upper)
    error = np.sqrt(np.sum(nominal * (1 - nominal)))
    # Two per cent of the rows are granted to the error of the features and of Laplace's method.
    excess = abs(covered.sum() - nominal.sum()) - 0.02 * n
    assert excess < stats.norm.isf(ALPHA / 2) * error
    true = {
        "gaussian": lambda: stats.norm(f[n:], 0.4).logpdf(y[n:]),
        "student_t": lambda: stats.t(4.0, f[n:], 0.3).logpdf(y[n:]),
        "poisson": lambda: stats.poisson(exposure[n:] * np.exp(1.0 + f[n:])).logpmf(y[n:]),
        "negative_binomial": lambda: stats.nbinom(
            2.0, 2.0 / (2.0 + exposure[n:] * np.exp(1.0 + f[n:]))
        ).logpmf(y[n:]),
        "censored": lambda: law.log_density(seen[n:], f[n:]),
    }[name]()
    found = model.log_predictive_density(X[n:], seen[n:], **new)
    # Some thirty effective weights cost half a nat each over as many new rows; twice as much is
    # granted.
    assert -0.02 < np.mean(true - found) < 30.0 / n


def test_censored_targets_say_the_same_wherever_beyond_the_limit_they_are():
    _, X, f = rows(200, seed=4)
    law = CensoredGaussianLikelihood(-0.4, 0.6)
    at, beyond = np.clip(f, -0.4, 0.6), np.where(f > 0.6, 1e9, np.where(f < -0.4, -1e6, f))
    first, other = (KernelGLMRegressor(law, **SMALL).fit(X, y) for y in (at, beyond))
    assert first.likelihood_ == other.likelihood_
    np.testing.assert_array_equal(first.predict(X), other.predict(X))


def test_counts_that_are_all_zero_have_a_warning_and_low_quantiles():
    _, X, _ = rows(200, seed=4)
    with pytest.warns(UserWarning, match="All counts are zero.*use predict_quantiles"):
        model = KernelGLMRegressor("poisson", **SMALL).fit(X, np.zeros(200))
    assert model.predict_quantiles(X, [0.5]).max() == 0.0


@pytest.mark.thorough_cases("softmax")
@pytest.mark.parametrize("name", ["bernoulli", "softmax", "ordinal"])
def test_probabilities_are_near_the_true_ones(name):
    rng, X, f = rows(2000, seed=6)
    cuts = [0.0] if name == "bernoulli" else [-1.0, 1.0]
    y = np.digitize(2.0 * f + rng.logistic(size=2000), cuts)
    below = expit(np.subtract.outer(cuts, 2.0 * f))
    true = np.diff(np.vstack((np.zeros(2000), below, np.ones(2000))), axis=0).T
    model = KernelGLMClassifier(name, **SMALL).fit(X[:1000], y[:1000])
    found = model.predict_proba(X[1000:])
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert np.abs(found - true[1000:]).mean() < 0.06
    np.testing.assert_array_equal(
        model.log_predictive_density(X[1000:], y[1000:]), np.log(found[np.arange(1000), y[1000:]])
    )


def test_samples_have_the_predictive_moments():
    rng, X, f = rows(300, seed=7)
    exposure = rng.uniform(0.5, 2.0, size=300)
    y = drawn("negative_binomial", rng, f, exposure)
    model = KernelGLMRegressor("negative_binomial", **SMALL).fit(X, y, exposure=exposure)
    new, given = X[:4], exposure[:4]
    samples = model.sample_y(new, 20_000, random_state=1, exposure=given)
    mean, std = model.predict(new, return_std=True, exposure=given)
    z = (samples.mean(axis=1) - mean) / (std / np.sqrt(20_000))
    assert np.abs(z).max() < stats.norm.isf(ALPHA / 8)
    np.testing.assert_allclose(samples.std(axis=1), std, rtol=0.06)
    # Rows of one sample share their weights: equal rows are correlated.
    twins = model.sample_y(np.repeat(new[:1], 2, axis=0), 4000, random_state=2)
    assert np.corrcoef(twins)[0, 1] > 0.005
    np.testing.assert_array_equal(samples, model.sample_y(new, 20_000, 1, given))


def test_exposure_is_routed_by_cross_validation():
    rng, X, f = rows(120, seed=11)
    exposure = rng.uniform(0.5, 2.0, 120)
    y = rng.poisson(exposure * np.exp(1.0 + f))
    model = KernelGLMRegressor("poisson", alpha=1.0, **{**SMALL, "n_components": 16})
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(exposure=True).set_score_request(exposure=True)
        folds = KFold(3)
        scores = cross_val_score(model, X, y, cv=folds, params={"exposure": exposure})
    for score, (train, test) in zip(scores, folds.split(X), strict=True):
        fitted = clone(model).fit(X[train], y[train], exposure=exposure[train])
        assert score == pytest.approx(fitted.score(X[test], y[test], exposure=exposure[test]))
        assert score != pytest.approx(fitted.score(X[test], y[test]), abs=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, f: KernelGLMRegressor("poisson").fit(X, f), "y must hold counts"),
        (lambda X, f: KernelGLMRegressor("poison").fit(X, f), "likelihood must be one of"),
        (lambda X, f: KernelGLMRegressor("bernoulli").fit(X, f), "KernelGLMClassifier"),
        (lambda X, f: KernelGLMRegressor(SoftmaxLikelihood()).fit(X, f), "KernelGLMClassifier"),
        (lambda X, f: KernelGLMClassifier("poisson").fit(X, f > 0), "KernelGLMRegressor"),
        (lambda X, f: KernelGLMRegressor().fit(X, f, exposure=np.ones(40)), "exposure is for"),
        (
            lambda X, f: KernelGLMRegressor("poisson").fit(X, f > 0, exposure=np.zeros(40)),
            "exposure must hold a number from 1e-50 to 1e[+]50.*minimum 0",
        ),
        (
            lambda X, f: KernelGLMRegressor("poisson").fit(X, f > 0, exposure=[1.0]),
            r"each of the 40 rows.*shape \(1,\)",
        ),
        (
            lambda X, f: KernelGLMRegressor().fit(X, f, sample_weight=np.full(40, 1e10)),
            r"sample_weight must be at most 1e\+06, .*got 1e\+10",
        ),
        (lambda X, f: KernelGLMRegressor(alpha=-1.0).fit(X, f), "alpha must be a positive"),
        (lambda X, f: KernelGLMClassifier("ordinal").fit(X, np.where(f > 0, "a", "b")), "numbers"),
        (
            lambda X, f: KernelGLMClassifier(OrdinalLikelihood((0.0, 1.0))).fit(X, f > 0),
            "is for 3 classes, y has 2",
        ),
        (lambda X, f: KernelGLMClassifier().fit(X, f > 99), "one class"),
        (
            lambda X, f: (
                KernelGLMClassifier(n_components=2)
                .fit(X, f > 0)
                .log_predictive_density(X, np.full(40, 7))
            ),
            "not in the training rows",
        ),
        (
            lambda X, f: KernelGLMRegressor(n_components=2).fit(X, f).predict_interval(X, 1.5),
            "level must lie between",
        ),
        (
            lambda X, f: KernelGLMRegressor(n_components=2).fit(X, f).log_predictive_density(X, 1),
            "y must have shape",
        ),
    ],
)
def test_what_is_impossible_is_refused(call, message):
    _, X, f = rows(40, seed=0)
    with pytest.raises((TypeError, ValueError), match=message):
        call(X, f)


@pytest.mark.thorough
def test_labels_that_nothing_predicts_have_no_strong_signal():
    """The log loss exceeds the entropy by 0.021 on average; without a prior, by 0.031.

    A constant has 0.013, half of one over 40 rows.
    """
    losses = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        model = KernelGLMClassifier(length_scale="evidence", n_components=32, random_state=0)
        model.fit(rng.normal(size=(40, 2)), rng.integers(0, 2, 40))
        p = model.predict_proba(rng.normal(size=(1000, 2)))
        losses.append(-np.mean(np.log(p)))  # Expected, where both labels are as probable
    assert np.mean(losses) < np.log(2.0) + 0.026


@pytest.mark.thorough
@pytest.mark.parametrize("d", [2, 3])
def test_labels_without_errors_are_predicted_with_confidence(d):
    """The signal is bounded: without a bound, the posterior reaches from one class to the other."""
    X = np.random.default_rng(0).integers(0, 2, (100, d))
    y = X.sum(axis=1) % 2
    model = KernelGLMClassifier(n_components=64, length_scale="evidence", random_state=0)
    loss = -np.mean(np.log(model.fit(X, y).predict_proba(X)[np.arange(100), y]))
    assert loss < 0.15
