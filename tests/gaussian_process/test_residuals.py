"""Residuals of features at landmarks: the evidence, its slopes and equal rows, by definition."""

import numpy as np
import pytest
from gaussian_process.test_laplace import assert_slopes, every, hessian, prior
from numpy.testing import assert_allclose

from bochner import KernelGLMRegressor, kernels
from bochner.features.chunks import Chunk
from bochner.features.landmarks import LandmarkFeatures
from bochner.gaussian_process.laplace import find_mode
from bochner.gaussian_process.latent_rows import LatentRows

KERNEL, ALPHA, PRECISION = kernels.Matern(1.0, nu=0.5), 0.7, 0.01
N, REPEATED = 14, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
X[-REPEATED:] = X[:REPEATED]
WEIGHT, OFFSET = RNG.uniform(0.5, 2.0, N), 0.2 * RNG.normal(size=N)
FEATURES = LandmarkFeatures.of(KERNEL, X, 5, np.random.default_rng(1))


def rows_of(y):
    """Rows of which some are equal, at five landmarks, with targets from all of ``y``."""
    some = np.linspace(0, len(y) - 1, N).astype(int)
    return LatentRows.of(Chunk(X, y[some], WEIGHT), OFFSET, 0.3, FEATURES, has_constant=True)


@every
def test_the_mode_and_the_evidence_are_those_of_the_process(likelihood, y):
    """In the space of latent values of distinct rows, whose covariance is that of the kernel, but
    at landmarks only between two different rows."""
    rows = rows_of(y)
    mode = find_mode(rows, likelihood, prior(rows, ALPHA))
    distinct, row = np.unique(X, axis=0, return_inverse=True)
    cross = KERNEL(distinct, FEATURES.landmarks)
    covariance = cross @ np.linalg.solve(KERNEL(FEATURES.landmarks), cross.T)
    np.fill_diagonal(covariance, 1.0)
    L = likelihood.n_latent
    covariance = np.kron(np.eye(L), covariance / ALPHA + 1.0 / PRECISION)
    inverse = np.linalg.inv(covariance)

    def log_joint(values):
        f = values.reshape(L, -1).T[row.ravel()] + 0.3 + OFFSET[:, None]
        density = likelihood.log_density(rows.y, f[:, 0] if L == 1 else f)
        return WEIGHT @ density - 0.5 * values @ inverse @ values

    at = mode.latent.T.ravel()
    steps = 1e-5 * np.eye(len(at))
    slope = [(log_joint(at + step) - log_joint(at - step)) / 2e-5 for step in steps]
    assert_allclose(slope, 0.0, atol=1e-5)
    curved = -hessian(log_joint, at)
    log_determinant = np.linalg.slogdet(covariance @ curved)[1]
    assert mode.log_evidence == pytest.approx(log_joint(at) - 0.5 * log_determinant, abs=2e-4)


@every
def test_slopes_of_the_evidence_are_differences(likelihood, y):
    assert_slopes(rows_of(y), likelihood, 1e-5)


def test_draws_of_counts_have_the_residuals_of_the_predictions():
    """Means of counts at few landmarks, where residuals have a third of the variance; equal rows
    of one draw have the same residual."""
    rng = np.random.default_rng(2)
    rows = rng.uniform(-3.0, 3.0, size=(80, 2))
    y = rng.poisson(40.0 * np.exp(0.5 * np.sin(rows[:, 0])))
    model = KernelGLMRegressor("poisson", KERNEL, 10, alpha=4.0, random_state=0).fit(rows, y)
    new = np.repeat(rng.uniform(-3.0, 3.0, size=(3, 2)), 2, axis=0)
    assert model._features(new)[1].min() > 0.2
    logs = np.log(model.sample_y(new, 4000, random_state=1, exposure=np.full(6, 1e6)))
    mean, std = model.predict_latent(new, exposure=np.full(6, 1e6))
    assert_allclose(logs.mean(axis=1), mean, atol=0.04)
    assert_allclose(logs.std(axis=1), std, rtol=0.06)
    # The noise of counts of forty millions is far below that of the function.
    assert_allclose(logs[::2], logs[1::2], atol=0.01)
