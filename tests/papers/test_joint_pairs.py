"""The joint move of a frequency and its weights, and Laplace approximations."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats
from scipy.special import expit, log_expit

from bochner.learned.chain_state import StepSizes
from bochner.learned.frequency_priors import FrequencyPrior, SparseHyper, SparsePrior, Suggestion
from bochner.learned.moves import LogNormalPrecision
from bochner.learned.training_data import TrainingData
from bochner.papers.bank import JointPairChain, laplace

FAMILY_ALPHA = 1e-3


def problem(n=40, k=2, seed=0):
    rng = np.random.default_rng(seed)
    Z, offset = rng.normal(size=(k, n)), rng.normal(size=n)
    return Z, (rng.random(n) < 0.6) - 0.5, offset


def negative_log_posterior(beta, Z, target, offset, precision):
    sign = 2.0 * target
    return -np.sum(log_expit(sign * (offset + beta @ Z))) + 0.5 * precision * beta @ beta


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("precision", [0.0, 0.05, 30.0])
def test_the_approximation_has_the_mode_and_the_curvature(k, precision):
    Z, target, offset = problem(k=k)
    law = laplace(Z, target, offset, precision, n_newton=50, tolerance=1e-20)
    found = optimize.minimize(
        negative_log_posterior, np.zeros(k), (Z, target, offset, precision), tol=1e-10
    )
    probability = expit(offset + found.x @ Z)
    hessian = (Z * probability * (1 - probability)) @ Z.T + precision * np.eye(k)
    assert_allclose(law.mode, found.x, atol=1e-5)
    assert_allclose(law.lower @ law.lower.T, hessian, rtol=1e-5, atol=1e-5)


@dataclass(frozen=True)
class Atoms(FrequencyPrior):
    """Frequencies on a few points of a line, so that their posterior can be summed up."""

    points: tuple[float, ...]
    kinds = ("redraw",)

    def sample(self, rng, n_frequencies):
        return rng.choice(self.points, size=(n_frequencies, 1))

    def suggest(self, rng, omega, index):
        zero = np.zeros(len(index))
        return Suggestion(self.sample(rng, len(index)), zero, zero.astype(np.intp))

    def refresh(self, rng, omega):
        return self

    def whitening(self, rng, omega):
        raise NotImplementedError

    def extended(self, rng, omega, n_frequencies):
        raise NotImplementedError

    @property
    def n_components(self):
        return 1

    def state(self):
        return {}

    def restored(self, state):
        return self


def enumerated(rows, points, precision, trend_width):
    """Weights of the points and mean log odds at the first row, by sums over a grid."""
    axis = np.linspace(-9.0, 9.0, 61)
    shift = np.linspace(-trend_width, trend_width, 61) if trend_width else np.zeros(1)
    grid = np.stack(np.meshgrid(axis, axis, shift, indexing="ij"), axis=-1).reshape(-1, 3)
    masses, odds = [], []
    for point in points:
        angle = point * rows.inputs[0]
        eta = grid @ np.stack((np.cos(angle), np.sin(angle), np.ones(len(angle))))
        log_joint = np.sum(log_expit(2.0 * rows.target * eta), axis=1)
        joint = np.exp(log_joint - 0.5 * precision * np.sum(grid[:, :2] ** 2, axis=1))
        masses.append(joint.sum())
        odds.append(joint @ np.tanh(eta[:, 0]))
    return np.array(masses) / sum(masses), sum(odds) / sum(masses)


@pytest.mark.thorough
@pytest.mark.parametrize(("n_newton", "trend"), [(1, True), (8, False)])
def test_the_chain_has_the_exact_posterior(n_newton, trend):
    """One frequency on three points, the precision known: however rough the approximation."""
    rng, points, precision = np.random.default_rng(2), (0.2, 1.0, 2.5), 0.4
    x = np.linspace(-2.0, 2.0, 14)
    y = (np.sin(2.2 * x) + (0.4 if trend else 0.0) > 0.3 * rng.normal(size=14)) - 0.5
    rows = TrainingData.of(x[:, None], y, np.ones((14, 1)) if trend else None)
    masses, odds = enumerated(rows, points, precision, 9.0 if trend else 0.0)
    fixed = LogNormalPrecision(np.log(precision), 1e-9)
    chain = JointPairChain(rows, fixed, n_newton)
    values = []
    for _ in range(20):
        state = chain.init(rng, np.array([[0.2]]), Atoms(points), precision)
        state.steps = StepSizes({"precision": 1e-9})
        run = []
        for _ in range(220):
            chain.step(rng, state)
            run.append([*(state.omega[0, 0] == points), np.tanh(state.activation[0])])
        values.append(np.mean(run[20:], axis=0))
    values = np.array(values)
    z = (values.mean(axis=0) - [*masses, odds]) / (values.std(axis=0, ddof=1) / np.sqrt(20))
    assert np.all(np.abs(z) < stats.t(19).isf(FAMILY_ALPHA / (2 * 2 * len(z)))), z


def small_chain(q=0, dtype=np.float64):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(25, 2))
    y = (X[:, 0] * X[:, 1] > 0) - 0.5
    fixed = np.vander(X[:, 0], q) if q else None
    chain = JointPairChain(TrainingData.of(X.astype(dtype), y, fixed))
    prior = SparsePrior.start(SparseHyper(np.ones(2)))
    return rng, X, chain, chain.init(rng, prior.sample(rng, 6), prior, 0.3)


@pytest.mark.parametrize("q", [0, 2])
def test_activations_are_those_of_the_weights(q):
    rng, X, chain, state = small_chain(q)
    for _ in range(5):
        info = chain.step(rng, state, adapting=True)
    angle = X @ state.omega.T
    Z = np.stack((np.cos(angle), np.sin(angle)), axis=2).reshape(len(X), -1) / np.sqrt(6)
    if q:
        Z = np.hstack((Z, np.vander(X[:, 0], q)))
    assert_allclose(state.activation, Z @ state.beta, atol=1e-12)
    fit = np.sum(log_expit(2.0 * chain.rows.target * state.activation))
    assert_allclose(info["log_likelihood"], fit)
    assert ("acceptance_fixed" in info) == bool(q)
    assert state.steps.n_adapted == 5


@pytest.mark.thorough
def test_fixed_columns_have_a_flat_prior():
    """A constant alone, 11 of 12 labels being one, against its posterior by quadrature."""
    rng, y = np.random.default_rng(8), np.repeat([0.5, -0.5], [11, 1])
    chain = JointPairChain(TrainingData.of(np.zeros((12, 1)), y, np.ones((12, 1))))
    state = chain.init(rng, np.array([[1.0]]), Atoms((1.0,)), 3.0)
    values = np.empty(6000)
    for index in range(len(values)):
        chain._move_fixed(rng, state)
        values[index] = state.beta[2]
    axis = np.linspace(-10.0, 30.0, 4001)
    density = np.exp(11.0 * log_expit(axis) + log_expit(-axis))
    expected = axis @ density / density.sum()
    means = values[200:].reshape(20, -1).mean(axis=1)
    z = (means.mean() - expected) / (means.std(ddof=1) / np.sqrt(20))
    assert abs(z) < stats.t(19).isf(FAMILY_ALPHA / 2)
