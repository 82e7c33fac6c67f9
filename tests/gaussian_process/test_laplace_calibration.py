"""Simulation-based calibration of Laplace's approximation: truths have uniform ranks.

Weights are drawn from their prior and targets from the likelihood. The probability that the
posterior gives to less than the true value of a random linear function of the weights is then
uniform, if the posterior is exact (Cook, Gelman and Rubin, "Validation of software for Bayesian
models using posterior quantiles", 2006). Laplace's posterior is not; with 200 rows for six weights
of a latent function of unit variance its error is smaller than these tests resolve.
"""

import numpy as np
import pytest
from scipy import stats

from bochner import kernels
from bochner.features.chunks import Chunk
from bochner.gaussian_process import (
    BernoulliLikelihood,
    CensoredGaussianLikelihood,
    GaussianLikelihood,
    NegativeBinomialLikelihood,
    OrdinalLikelihood,
    PoissonLikelihood,
    SoftmaxLikelihood,
    StudentTLikelihood,
)
from bochner.gaussian_process.laplace import find_mode
from bochner.gaussian_process.latent_rows import LatentRows
from bochner.spectral.decompositions import spectral_measure

N, M, ALPHA = 200, 3, 1e-4
"""Rows, frequencies, and the probability that a test fails by chance."""

LIKELIHOODS = (
    GaussianLikelihood(0.7),
    StudentTLikelihood(4.0, 0.5),
    CensoredGaussianLikelihood(-0.5, 0.8, 0.7),
    PoissonLikelihood(),
    NegativeBinomialLikelihood(0.5),
    BernoulliLikelihood(),
    OrdinalLikelihood((-1.0, 0.5)),
    SoftmaxLikelihood(3),
)


def probabilities(likelihood, repetitions, spread=1.0, seed=0):
    """Return posterior probabilities of less than the truth; ``spread`` multiplies deviations."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    frequencies = spectral_measure(kernels.Gaussian(1.5), 2).sample(M, 1)
    Z = frequencies.features(X)
    offset = np.log(rng.uniform(0.5, 2.0, N)) if likelihood.takes_exposure else np.zeros(N)
    precision, L = np.ones(2 * M), likelihood.n_latent
    found = np.empty(repetitions)
    for i in range(repetitions):
        w = rng.normal(size=(2 * M, L))
        f = Z @ w + offset[:, None]
        y = likelihood.sample(rng, f if L > 1 else f[:, 0])
        rows = LatentRows.of(Chunk(X, y), offset, 0.0, frequencies, has_constant=False)
        mode = find_mode(rows, likelihood, precision)
        # Only differences of latent functions matter for classes.
        direction = rng.normal(size=2 * M * L)
        deviation = spread * np.linalg.norm(mode.whitener.T @ direction)
        found[i] = stats.norm.cdf(direction @ (w - mode.weights).T.ravel() / deviation)
    return found


@pytest.mark.parametrize("likelihood", LIKELIHOODS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("repetitions", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_truths_have_uniform_ranks(likelihood, repetitions):
    found = probabilities(likelihood, repetitions)
    assert stats.kstest(found, "uniform").pvalue > ALPHA


@pytest.mark.parametrize("spread", [0.4, 2.5])
def test_wrong_deviations_are_seen(spread):
    found = probabilities(PoissonLikelihood(), 200, spread)
    assert stats.kstest(found, "uniform").pvalue < ALPHA
