"""The paper's chain of a classification, against a literal transcription of its equation (11)."""

import numpy as np
import pytest
from laws.amplitude_laws import features
from numpy.testing import assert_allclose

from bochner.learned.basis import Grid, TwoSpectraPrior
from bochner.learned.training_data import TrainingData
from bochner.papers.bank import independent_start
from bochner.papers.gabasr import LeastSquaresChain

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
LABELS = (np.sin(2.0 * X[:, 0]) + 0.3 * RNG.normal(size=30) > 0).astype(float)
BASIS = Grid(4, 3, is_summed=True)
PRECISION = 0.05


def literal(Z, n_fixed, precision):
    """Ridge regression of the labels 0 and 1, and the logarithm of its logistic likelihood."""
    ridge = precision * np.eye(Z.shape[1])
    ridge[Z.shape[1] - n_fixed :] = 0.0
    w = np.linalg.inv(Z.T @ Z + ridge) @ Z.T @ LABELS
    value = 0.0
    for row, label in zip(Z, LABELS, strict=True):
        p = 1.0 / (1.0 + np.exp(-sum(w * row)))
        value += np.log(p if label else 1.0 - p)
    return w, value


def start(seed):
    rng = np.random.default_rng(seed)
    s, stationary = independent_start(rng, np.ones(2), 4)
    v, envelope = independent_start(rng, np.ones(2), 3)
    prior = TwoSpectraPrior(BASIS, stationary, envelope)
    return rng, BASIS.joined(s, v, prior.phases(rng, 3)), prior


def literal_step(rng, omega, prior, trend):
    """Swap every frequency and every amplitude for a draw of its own component, by turns."""

    def fit(omega):
        return literal(np.hstack([features(BASIS, X, omega), trend]), trend.shape[1], PRECISION)

    w, value = fit(omega)
    n_accepted = 0
    for group in (np.arange(4), np.arange(4, 7)):
        for j in rng.permutation(group):
            suggestion = prior.suggest(rng, omega, np.array([j]))
            u = rng.random()
            trial = omega.copy()
            trial[j] = suggestion.omega[0]
            trial_w, trial_value = fit(trial)
            if u < min(1.0, np.exp(trial_value - value)):
                omega, w, value, n_accepted = trial, trial_w, trial_value, n_accepted + 1
    return omega, w, value, n_accepted, prior.refresh(rng, omega)


@pytest.mark.parametrize("n_fixed", [0, 2])
def test_a_round_is_the_papers(n_fixed):
    trend = np.vander(X[:, 0], n_fixed) if n_fixed else np.empty((30, 0))
    rng, omega, prior = start(1)
    other, _, _ = start(1)
    chain = LeastSquaresChain(TrainingData.of(X, LABELS - 0.5, trend, basis=BASIS))
    state = chain.init(rng, omega, prior, PRECISION)
    n_accepted = 0
    for _ in range(4):
        omega, w, value, n, prior = literal_step(other, omega, prior, trend)
        n_accepted += n
        info = chain.step(rng, state)
        assert_allclose(state.omega, omega, rtol=1e-12)
        assert_allclose(state.coef, w, atol=1e-9)
        assert_allclose(info["log_likelihood"], value, rtol=1e-9)
    assert 0 < n_accepted < 28


def test_equal_columns_have_a_ridge_that_rounding_leaves():
    """A precision of nothing and the same frequency twice: no failure, and no step to infinity."""
    omega = np.zeros((7, 3))
    _, _, prior = start(5)
    chain = LeastSquaresChain(TrainingData.of(X, LABELS - 0.5, basis=BASIS))
    state = chain.init(np.random.default_rng(0), omega, prior, 1e-300)
    assert np.isfinite(state.coef).all()
    assert np.isfinite(state.value)
