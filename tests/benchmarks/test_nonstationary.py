"""Processes of other non-stationary kernels, against scikit-learn's where these are stationary."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from benchmarks.datasets import make_gp_draw
from benchmarks.gabasr.nonstationary import DeepProcess, GibbsProcess, WarpedProcess

RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(size=(30, 2)), RNG.uniform(size=(9, 2))
X[0], X[1] = 0.0, 1.0  # Inputs over their ranges are the inputs themselves
Y = np.sin(4.0 * X[:, 0]) + X[:, 1]


def at(process, theta):
    """Return a process of given parameters."""
    process.low, process.range = np.zeros(2), np.ones(2)
    process.centre, process.unit = 0.0, 1.0
    process.X, process.y, process.theta = X, Y, np.array(theta)
    return process


@pytest.mark.parametrize(
    "process",
    [
        at(GibbsProcess(), [np.log(0.3), *6 * [0.0], np.log(1.5), *6 * [0.0], np.log(0.2)]),
        at(WarpedProcess(), [*4 * [0.0], *2 * [np.log(0.3)], np.log(1.5), np.log(0.2)]),
    ],
)
def test_without_change_they_are_stationary(process):
    noise = 0.2**2 + 1e-3**2
    kernel = ConstantKernel(1.5**2) * RBF(0.3)
    theirs = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, Y)
    mean, std = theirs.predict(NEW, return_std=True)
    found = process.predict(NEW)
    assert_allclose(found[0], mean, atol=1e-7)
    assert_allclose(found[1], np.sqrt(std**2 + noise), rtol=1e-6)
    evidence = theirs.log_marginal_likelihood_value_ + 0.5 * len(Y) * np.log(2.0 * np.pi)
    assert process._loss(process.theta) == pytest.approx(-evidence)


def test_warped_inputs_are_those_of_a_distribution():
    """With b = 1 it is the beta distribution of parameters a and 1."""
    process = at(WarpedProcess(), [np.log(2.5), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    placed = process._placed(process.theta, NEW)
    assert_allclose(placed[:, 0], beta.cdf(NEW[:, 0], 2.5, 1.0))
    assert_allclose(placed[:, 1], NEW[:, 1])


def test_a_scale_that_changes_is_found():
    """A line that is flat at one end and rough at the other."""
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 1.0, 80)[:, None]
    y = np.sin(30.0 * x[:, 0] ** 3) + 0.05 * rng.normal(size=80)
    process = GibbsProcess().fit(x, y)
    scale = process._fields(process.theta, np.array([[0.1], [0.9]]))[0]
    assert scale[0] > scale[1] + np.log(2.0)


def test_a_network_learns_a_process():
    pytest.importorskip("torch")
    data = make_gp_draw(120, 1, length_scale=0.3, noise=0.1, random_state=0).dataset
    mean, std = DeepProcess(0).fit(data.X[:80], data.y[:80]).predict(data.X[80:])
    assert np.sqrt(np.mean((mean - data.y[80:]) ** 2)) < 0.3
    assert np.mean(np.abs(mean - data.y[80:]) < 2.0 * std) > 0.8
