"""LearnedKernelRegressor with laws of targets other than a normal one."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.integrate import trapezoid
from sklearn.base import clone

import bochner
from bochner import LearnedKernelRegressor
from bochner.gaussian_process import (
    BernoulliLikelihood,
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    NegativeBinomialLikelihood,
    StudentTLikelihood,
)

FAMILY_ALPHA = 1e-3
RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, size=(250, 2))
NEW = np.random.default_rng(1).uniform(-2.0, 2.0, size=(40, 2))
F, F_NEW = np.sin(2.0 * X[:, 0]), np.sin(2.0 * NEW[:, 0])
TIMES = RNG.choice([1.0, 4.0], size=len(X))
TARGETS = {
    "student-t": 20.0 + 5.0 * (F + 0.15 * RNG.standard_t(2.5, size=len(X))),
    "censored": np.maximum(F + 0.3 * RNG.normal(size=len(X)), -0.3),
    "counts": RNG.poisson(TIMES * np.exp(1.0 + F) * RNG.gamma(2.0, 0.5, size=len(X))),
    "gaussian": F + 0.2 * RNG.normal(size=len(X)),
}
LAWS = {
    "student-t": StudentTLikelihood(df=None),
    "censored": CensoredGaussianLikelihood(left=-0.3),
    "counts": NegativeBinomialLikelihood(),
    "gaussian": "gaussian",
}
EVERY = pytest.mark.parametrize("name", LAWS)
SMALL = {"n_chains": 2, "n_burn_in": 15, "n_samples": 10, "random_state": 0}


def model(name, **parameters):
    return LearnedKernelRegressor(20, **{"likelihood": LAWS[name], **SMALL, **parameters})


@cache
def fitted(name):
    exposure = {"exposure": TIMES} if name == "counts" else {}
    return model(name).fit(X, TARGETS[name], **exposure)


def parameters(name):
    """Return parameters of the law of every draw, (S, k)."""
    found = fitted(name)
    laws = [found._law_of(i) for i in range(found.learned_[0].draws.n_draws)]
    names = [each for each in ("df", "dispersion", "scale") if hasattr(laws[0], each)]
    return np.array([[getattr(law, each) for each in names] for law in laws])


@pytest.mark.parametrize(
    ("name", "truth"), [("student-t", (2.5, 0.75)), ("counts", (0.5,)), ("censored", (0.3,))]
)
def test_parameters_are_found(name, truth):
    drawn = np.log(parameters(name))
    z = (drawn.mean(axis=0) - np.log(truth)) / np.maximum(drawn.std(axis=0), 0.06)
    assert (np.abs(z) < 4.0).all(), z


@EVERY
def test_the_function_is_found(name):
    mean, std = fitted(name).predict_latent(NEW)
    truth = {"student-t": 20.0 + 5.0 * F_NEW, "counts": 1.0 + F_NEW}.get(name, F_NEW)
    assert np.mean(((mean - truth) / std) ** 2) < 3.0
    assert np.corrcoef(mean, truth)[0, 1] > 0.95


@EVERY
def test_quantiles_and_moments_are_those_of_samples(name):
    n = 4000
    drawn = fitted(name).sample_y(NEW[:6], n, random_state=3)
    levels = np.array([0.1, 0.5, 0.9])
    below = np.mean(drawn[:, None] <= fitted(name).predict_quantiles(NEW[:6], levels)[..., None], 2)
    error = np.sqrt(levels * (1.0 - levels) / n)
    z = (below - levels) / error
    # Those of counts contain at least as much. Functions of draws without a covariance of their own
    # deviate as others do, which moves probabilities by a hundredth.
    bound = stats.norm.isf(FAMILY_ALPHA / 36.0) + 0.01 / error
    assert ((z > -bound) if name == "counts" else (np.abs(z) < bound)).all()
    middle = np.median(drawn, axis=1) if name == "student-t" else drawn.mean(axis=1)
    mean, std = fitted(name).predict(NEW[:6], return_std=True)
    assert (np.abs(middle - mean) < 5.0 * drawn.std(axis=1) / np.sqrt(n) + 0.01 * std).all()
    if name != "student-t":  # whose variance a sample does not tell
        assert_allclose(std, drawn.std(axis=1), rtol=0.1)


@EVERY
def test_densities_integrate_to_one(name):
    at = NEW[:1]
    mean, std = fitted(name).predict(at, return_std=True)
    if name == "counts":
        y = np.arange(400.0)
        mass = np.exp(fitted(name).log_predictive_density(np.repeat(at, 400, axis=0), y)).sum()
    else:
        y = mean + np.linspace(-20.0, 20.0, 8001) * min(std[0], 2.0)
        rows = np.repeat(at, len(y), axis=0)
        if name == "censored":  # Those at the limit have a probability in place of a density
            y = y[y > -0.3]
            rows = rows[: len(y)]
        density = np.exp(fitted(name).log_predictive_density(rows, y))
        mass = trapezoid(density, y)
        if name == "censored":
            mass += np.exp(fitted(name).log_predictive_density(at, np.array([-0.3])))[0]
    assert abs(mass - 1.0) < 5e-3


def test_a_mean_of_counts_is_in_proportion_to_the_exposure():
    found = fitted("counts")
    rate, std = found.predict(NEW, return_std=True)
    assert_allclose(found.predict(NEW, exposure=np.full(len(NEW), 3.0)), 3.0 * rate, rtol=1e-10)
    larger = found.predict(NEW, return_std=True, exposure=np.full(len(NEW), 3.0))[1]
    assert (larger > std).all()
    logs, _ = found.predict_latent(NEW, exposure=np.full(len(NEW), 3.0))
    assert_allclose(logs - found.predict_latent(NEW)[0], np.log(3.0), rtol=1e-10)
    lower, upper = found.predict_interval(NEW, 0.8, exposure=np.full(len(NEW), 3.0))
    assert_array_equal(lower, np.round(lower))
    assert (upper > lower).all()


def test_outliers_hardly_move_the_function():
    y = F + 0.1 * np.random.default_rng(4).normal(size=len(X))
    y[::20] += 50.0
    robust, plain = (model(name).fit(X, y).predict(NEW) for name in ("student-t", "gaussian"))
    errors = [np.sqrt(np.mean((found - F_NEW) ** 2)) for found in (robust, plain)]
    assert errors[0] < 0.1
    assert errors[1] > 1.0


def test_units_of_targets_do_not_matter():
    y = TARGETS["student-t"]
    first = model("student-t").fit(X, y)
    second = model("student-t").fit(X, 8.0 * y)
    assert_array_equal(second.predict(NEW), 8.0 * first.predict(NEW))
    assert_allclose(second.predict_quantiles(NEW), 8.0 * first.predict_quantiles(NEW), rtol=1e-12)


def test_known_parameters_are_kept():
    y = TARGETS["gaussian"]
    found = model("gaussian", likelihood=GaussianLikelihood(0.25)).fit(X, y)
    assert_allclose(found.noise_variance_, 0.0625)
    assert_allclose(found.likelihood_.scale, 0.25)
    found = model("student-t", likelihood=StudentTLikelihood(3.0, 0.2)).fit(X, y)
    assert found.likelihood_ == StudentTLikelihood(3.0, 0.2)
    assert_allclose(found.noise_variance_, 0.12)
    found = model("counts", likelihood=NegativeBinomialLikelihood(0.7)).fit(X, TARGETS["counts"])
    assert found.likelihood_ == NegativeBinomialLikelihood(0.7)


def test_a_law_by_name_is_the_object():
    y = TARGETS["student-t"]
    first, second = (
        model("student-t", likelihood=law).fit(X, y) for law in ("student_t", StudentTLikelihood())
    )
    assert_array_equal(first.predict(NEW), second.predict(NEW))
    assert_array_equal(
        model("gaussian", likelihood=GaussianLikelihood()).fit(X, y).predict(NEW),
        model("gaussian").fit(X, y).predict(NEW),
    )


@EVERY
def test_it_is_saved_cloned_and_explained(name, tmp_path):
    found = fitted(name)
    bochner.save(found, tmp_path / "model")
    again = bochner.load(tmp_path / "model")
    assert again.likelihood_ == found.likelihood_
    assert_array_equal(again.predict_quantiles(NEW), found.predict_quantiles(NEW))
    assert_array_equal(again.sample_y(NEW, 3), found.sample_y(NEW, 3))
    assert clone(found).likelihood == found.likelihood
    assert found.relevance_.importance[0] > found.relevance_.importance[1]


def test_rows_that_repeat_are_rows_of_weight():
    """Censored targets take whole weights, the others all."""
    weight = np.random.default_rng(5).integers(1, 4, size=60)
    rows = np.repeat(np.arange(60), weight)
    for name in ("student-t", "censored", "counts"):
        y = TARGETS[name][:60]
        first = model(name).fit(X[:60], y, weight)
        assert_array_equal(first.predict(NEW), model(name).fit(X[rows], y[rows]).predict(NEW))
    model("counts").fit(X[:60], TARGETS["counts"][:60], weight / 3.0)
    with pytest.raises(ValueError, match="sample_weight must hold whole numbers for censored"):
        model("censored").fit(X[:60], TARGETS["censored"][:60], weight + 0.5)


def test_censored_targets_say_the_same_wherever_beyond_the_limit_they_are():
    beyond = np.where(TARGETS["censored"] > -0.3, TARGETS["censored"], -1e6)
    at = np.maximum(beyond, -0.3)
    first, other = (model("censored").fit(X, y).predict(NEW, return_std=True) for y in (at, beyond))
    assert_array_equal(first, other)


def test_scores_take_the_exposure():
    found = fitted("counts")
    score = found.score(X, TARGETS["counts"], exposure=TIMES)
    assert score > found.score(X, TARGETS["counts"])


def test_samples_take_the_exposure():
    """Its logarithm is added to the function, from which counts are drawn."""
    found, exposure = fitted("counts"), np.linspace(0.5, 3.0, len(NEW))
    functions = found.sample_y(NEW, 5, 3, noise=False)
    exposed = found.sample_y(NEW, 5, 3, noise=False, exposure=exposure)
    assert_allclose(exposed, functions + np.log(exposure)[:, None])
    counts = found.sample_y(NEW, 4000, 3, exposure=exposure)
    mean = found.predict(NEW, exposure=exposure)
    error = counts.std(axis=1) / np.sqrt(4000)
    assert (np.abs(counts.mean(axis=1) - mean) < 5.0 * error + 0.02 * mean).all()


@pytest.mark.parametrize(
    ("settings", "fit", "error", "message"),
    [
        (
            {"likelihood": "cauchy"},
            {},
            ValueError,
            "likelihood must be one of .*cauchy",
        ),
        ({"likelihood": 3}, {}, TypeError, "likelihood must be one of"),
        (
            {"likelihood": BernoulliLikelihood()},
            {},
            TypeError,
            "learned by LearnedKernelClassifier",
        ),
        (
            {"likelihood": "poisson"},
            {},
            ValueError,
            "and KernelGLMClassifier take every",
        ),
        ({"likelihood": "student_t", "sampler": "mh"}, {}, ValueError, "use sampler='auto', 'pcn'"),
        ({"likelihood": "student_t"}, {"exposure": TIMES}, ValueError, "exposure is for counts"),
        ({}, {"exposure": TIMES}, ValueError, "exposure is for counts"),
        ({"likelihood": "negative_binomial"}, {"exposure": -TIMES}, ValueError, "positive, finite"),
    ],
    ids=str,
)
def test_bad_likelihoods_are_refused(settings, fit, error, message):
    y = np.abs(np.round(TARGETS["student-t"]))
    with pytest.raises(error, match=message):
        LearnedKernelRegressor(8, **SMALL, **settings).fit(X, y, **fit)


def test_impossible_targets_are_refused():
    with pytest.raises(ValueError, match="y must hold counts"):
        model("counts").fit(X, -TARGETS["counts"] - 1.0)
    with pytest.raises(ValueError, match="return_cov: draw them jointly by sample_y"):
        fitted("counts").predict(NEW, return_cov=True)
    with pytest.raises(ValueError, match="ask for one of them"):
        fitted("counts").predict(NEW, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        fitted("student-t").predict_interval(NEW, 1.0)
    with pytest.raises(ValueError, match="y must have shape"):
        fitted("student-t").log_predictive_density(NEW, np.zeros(3))
    with pytest.raises(AttributeError, match="likelihood_ has a dispersion"):
        _ = fitted("counts").noise_variance_


def test_covariances_have_the_variances_on_their_diagonal():
    found = model("student-t", likelihood=StudentTLikelihood(5.0)).fit(X, TARGETS["student-t"])
    _, std = found.predict(NEW, return_std=True)
    _, covariance = found.predict(NEW, return_cov=True)
    assert_allclose(np.sqrt(np.diag(covariance)), std, rtol=1e-6)
    unit = found.likelihood_.scale**2 * 5.0 / 3.0
    assert_allclose(found.noise_variance_, unit, rtol=0.1)
    assert (std**2 > 0.8 * unit).all()
