"""ALaCarteRegressor: the evidence of a dense Gaussian process, its slopes and its predictions."""

import numpy as np
import pytest
from baselines.references import factor_of, slopes
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, multivariate_normal

from bochner._base import limits
from bochner.baselines import ALaCarteRegressor
from bochner.baselines.mixture_evidence import MixtureEvidence
from bochner.baselines.mixture_frequencies import MixtureFrequencies, wave_blocks, wave_passes

ALPHA = 1e-3
"""Chance that the goodness-of-fit test rejects a right implementation."""

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 5.0]
Y = 30.0 + 4.0 * np.sin(2.0 * X[:, 0]) + 0.2 * X[:, 1] + 0.5 * RNG.normal(size=50)
NEW = X[:20] + RNG.normal(size=(20, 3)) * [0.3, 3.0, 0.03]


def problem(full, n_mixture=2, m=7, dim=3, n=25):
    """A problem whose components are of unequal size, and an argument away from its start."""
    rng = np.random.default_rng(4)
    mixture = MixtureFrequencies.draw(rng, m, dim, n_mixture, full)
    evidence = MixtureEvidence(mixture, rng.normal(size=(n, dim)), rng.normal(size=n))
    theta = evidence.start(rng, 1)
    return evidence, theta + 0.2 * rng.normal(size=len(theta))


def dense_evidence(evidence, theta):
    """The log density of the targets, all from the formula and an n by n matrix."""
    base, component = evidence.mixture.base, evidence.mixture.component
    q, d = component.max() + 1, base.shape[1]
    nu, noise, rest = theta[:q], np.exp(theta[q]), theta[q + 1 :]
    entries, means = rest[: len(rest) - q * d].reshape(q, -1), rest[-q * d :].reshape(q, d)
    X = evidence.X
    lag = X[:, None] - X[None]
    K = noise * np.eye(len(X))
    for j, k in enumerate(component):
        omega = factor_of(entries[k], d, evidence.mixture.full) @ base[j] + means[k]
        K += nu[k] ** 2 / np.count_nonzero(component == k) * np.cos(lag @ omega)
    return multivariate_normal(np.zeros(len(X)), K).logpdf(evidence.y)


SHAPES = [(2, 7, 3, 25), (1, 4, 1, 25), (3, 20, 2, 15)]


@pytest.mark.parametrize("first_weight", [None, 0.0])
@pytest.mark.parametrize("full", [True, False], ids=["full", "diagonal"])
@pytest.mark.parametrize(("n_mixture", "m", "dim", "n"), SHAPES)
def test_the_evidence_and_its_gradient_are_those_of_a_dense_normal_density(
    full, n_mixture, m, dim, n, first_weight
):
    evidence, theta = problem(full, n_mixture, m, dim, n)
    theta[0] = theta[0] if first_weight is None else first_weight
    value, gradient = evidence(theta)
    assert_allclose(value, dense_evidence(evidence, theta), rtol=1e-10)
    expected = slopes(lambda at: dense_evidence(evidence, at), theta)
    assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("held", [2**28, 0], ids=["held", "recomputed"])
@pytest.mark.parametrize("block_bytes", [1, 1000])
def test_blocks_of_rows_give_the_sums_of_all(monkeypatch, held, block_bytes):
    evidence, theta = problem(full=True)
    value, gradient = evidence(theta)
    monkeypatch.setattr(limits, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(limits, "CACHED_FEATURES_BYTES", held)
    assert len(list(wave_blocks(evidence.X, evidence.mixture.base))) > 1
    again = evidence(theta)
    assert_allclose(again[0], value, rtol=1e-12)
    assert_allclose(again[1], gradient, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("missing", "held"), [(0, True), (1, False)])
def test_features_of_all_rows_are_held_if_they_fit(monkeypatch, missing, held):
    rows, omega = X[:20], X[20:26]
    nbytes = sum(waves.nbytes for _, waves in wave_blocks(rows, omega))
    monkeypatch.setattr(limits, "CACHED_FEATURES_BYTES", nbytes - missing)
    passes = wave_passes(rows, omega)
    (_, first), (_, again) = *passes(), *passes()
    assert_array_equal(first, again)
    assert (first is again) == held


@pytest.fixture(scope="module")
def model():
    return ALaCarteRegressor(60, n_mixture=3, max_iter=30, random_state=0).fit(X, Y)


def test_what_is_learned_is_a_gaussian_process_in_the_users_units(model):
    K = model.frequencies_.gram(X) + model.noise_variance_ * np.eye(len(X))
    density = multivariate_normal(np.full(len(X), Y.mean()), K).logpdf(Y)
    assert_allclose(model.log_evidence_, density, rtol=1e-9)
    across = model.frequencies_.gram(NEW, X)
    mean, std = model.predict(NEW, return_std=True)
    assert_allclose(mean, Y.mean() + across @ np.linalg.solve(K, Y - Y.mean()), rtol=1e-8)
    prior = np.diagonal(model.frequencies_.gram(NEW)) + model.noise_variance_
    variance = prior - np.sum(across * np.linalg.solve(K, across.T).T, axis=1)
    assert_allclose(std, np.sqrt(variance), rtol=1e-7)
    assert_allclose(model.predict(NEW), mean, rtol=1e-12)


def test_predictions_come_in_blocks(model, monkeypatch):
    whole = model.predict(NEW, return_std=True)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 1)
    assert_allclose(model.predict(NEW, return_std=True), whole, rtol=1e-10)


def test_frequencies_are_samples_of_the_learned_kernel(model):
    """Whitened by their component they are the base: the sum of squares is a chi-square's."""
    omega, kernel = model.frequencies_.omega, model.kernel_
    # Thirty frequencies, ten of each component.
    square = 0.0
    for part, mean, covariance in zip(
        omega.reshape(3, 10, 3), kernel.means, kernel.covariances, strict=True
    ):
        square += np.sum((part - mean) * np.linalg.solve(covariance, (part - mean).T).T)
    low, high = chi2.ppf([0.5 * ALPHA, 1.0 - 0.5 * ALPHA], df=90)
    assert low < square < high
    assert_allclose(np.repeat(kernel.weights, 10) / 10.0, model.frequencies_.weight, rtol=1e-10)


def test_units_do_not_matter(model):
    other = ALaCarteRegressor(60, n_mixture=3, max_iter=30, random_state=0)
    other.fit(X * [2.0, 4.0, 0.5], 8.0 * Y - 16.0)
    found = other.predict(NEW * [2.0, 4.0, 0.5], return_std=True)
    expected = model.predict(NEW, return_std=True)
    # Powers of two keep all roundings but the means'.
    assert_allclose(found[0], 8.0 * expected[0] - 16.0, rtol=1e-4)
    assert_allclose(found[1], 8.0 * expected[1], rtol=1e-3)
    evidence = model.log_evidence_ - len(X) * np.log(8.0)
    assert_allclose(other.log_evidence_, evidence, rtol=1e-4)


def test_more_iterations_have_more_evidence():
    found = [
        ALaCarteRegressor(60, max_iter=steps, random_state=0).fit(X, Y) for steps in (1, 5, 25)
    ]
    values = [model.log_evidence_ for model in found]
    assert values == sorted(values)
    assert values[-1] > values[0] + 5.0
    assert [model.n_iter_ for model in found] == [1, 5, 25]


def test_a_period_is_learned_and_carried_on():
    rng = np.random.default_rng(6)
    time = np.sort(rng.uniform(0.0, 6.0, size=150))
    wave = 5.0 * np.cos(2.0 * np.pi * time) + rng.normal(size=150)
    model = ALaCarteRegressor(80, n_mixture=3, n_starts=8, random_state=0)
    model.fit(time[:, None], wave)
    later = np.linspace(6.0, 7.0, 50)
    mean, std = model.predict(later[:, None], return_std=True)
    error = mean - 5.0 * np.cos(2.0 * np.pi * later)
    # Nothing but the mean would have an error of 3.5.
    assert np.sqrt(np.mean(error**2)) < 2.0
    # Under a noise variance of one its estimate deviates by 0.12.
    assert 0.5 < model.noise_variance_ < 1.5
    assert std.min() > np.sqrt(model.noise_variance_)


def test_of_several_starts_the_best_on_some_rows_is_taken():
    evidence, _ = problem(full=True, m=10, n=60)

    def after_some_steps(seed, n_starts):
        return evidence(evidence.start(np.random.default_rng(seed), n_starts))[0]

    # One start is taken as it is, and more of them are tried and begin with the same one.
    assert after_some_steps(0, 6) >= after_some_steps(0, 1) + 1.0
    first = evidence.start(np.random.default_rng(0), 1)
    assert_allclose(np.sum(first[:2] ** 2), 1.0)


@pytest.mark.parametrize(
    ("covariance", "dim", "full"),
    [("auto", 20, True), ("auto", 21, False), ("full", 30, True), ("diagonal", 2, False)],
)
def test_factors_are_full_for_few_inputs(covariance, dim, full):
    rows = np.random.default_rng(7).normal(size=(30, dim))
    model = ALaCarteRegressor(12, n_mixture=1, max_iter=3, covariance=covariance, random_state=0)
    found = np.array(model.fit(rows, rows[:, 0] * rows[:, 1]).kernel_.covariances[0])
    assert bool(np.abs(found - np.diag(np.diagonal(found))).max() > 0.0) == full


def test_constant_inputs_and_targets_are_no_obstacle():
    rows = np.column_stack([X[:, 0], np.full(50, 1e8 / 3.0)])
    model = ALaCarteRegressor(20, max_iter=5, random_state=0).fit(rows, np.full(50, 2.5))
    assert_allclose(model.predict(rows), 2.5)


def test_no_more_components_than_frequencies():
    model = ALaCarteRegressor(6, n_mixture=50, max_iter=2, random_state=0).fit(X, Y)
    assert len(model.kernel_.weights) == 3
