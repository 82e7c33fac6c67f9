"""Geweke's joint-distribution test of the mixture's Gibbs sampler.

A chain that alternates one sweep of the sampler at fixed frequencies with a redraw of the
frequencies given the mixture has the generative model's joint law, if both are right. So its
means are those of independent draws from the model (J. Geweke, "Getting it right", 2004).
"""

import numpy as np
from scipy import stats

from bochner.learning.mixture import GammaPrior, MixturePrior, sample_prior, step
from bochner.learning.wishart import NormalInverseWishart

# Shared evenly (Bonferroni) among the functions.
FAMILY_ALPHA = 1e-3
BASE = NormalInverseWishart(np.array([0.5, -0.5]), 0.6, np.array([[1.0, 0.3], [0.3, 0.5]]), 5.0)
# Concentrations on one side of one, where the loss of the factor alpha shows.
PRIOR = MixturePrior(BASE, GammaPrior(2.0, 5.0))
M = 5


def functions(mixture, omega):
    """What is compared; bounded, but for the log determinant, whose tails are light."""
    covariance = mixture.covariances[mixture.labels[0]]
    mean_square = np.mean(np.sum(omega**2, axis=1))
    return (
        mixture.concentration / (1.0 + mixture.concentration),
        np.log1p(mixture.concentration) ** 2,
        mixture.n_components,
        mean_square / (2.0 + mean_square),
        np.exp(-mean_square),
        np.bincount(mixture.labels).max(),
        np.log(np.linalg.det(covariance)),
        np.tanh(mixture.means[mixture.labels[0], 0] - BASE.mean[0]),
        np.tanh(mixture.means[mixture.labels[0], 0] - BASE.mean[0]) ** 2,
        np.tanh(omega[0, 0] * omega[1, 0]),
    )


def standard_errors(chain):
    """Errors of the means of a chain (n, q), by Geyer's initial positive sequence."""
    n = len(chain)
    centred = chain - chain.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=0)) ** 2
    covariances = np.fft.irfft(spectrum, axis=0)[: n // 2] / n
    pairs = covariances[0::2][: n // 4] + covariances[1::2][: n // 4]
    positive = np.cumprod(pairs > 0.0, axis=0)
    variance = 2.0 * np.sum(pairs * positive, axis=0) - covariances[0]
    return np.sqrt(np.maximum(variance, covariances[0] / n) / n)


def test_sweeps_and_redraws_have_the_models_joint_law(n=8000):
    rng = np.random.default_rng(20)
    forward = np.array([functions(*sample_prior(rng, PRIOR, M)) for _ in range(n)])
    state, omega = sample_prior(rng, PRIOR, M)
    successive = []
    for _ in range(n):
        state = step(rng, state, omega, PRIOR)
        omega = state.colour(rng.standard_normal(omega.shape))
        successive.append(functions(state, omega))
    chain = np.array(successive)
    error = np.hypot(forward.std(axis=0) / np.sqrt(n), standard_errors(chain))
    z = (chain.mean(axis=0) - forward.mean(axis=0)) / error
    assert np.max(np.abs(z)) < stats.norm.isf(FAMILY_ALPHA / (2.0 * len(z)))


def test_the_errors_of_a_chain_are_those_of_its_memory():
    """An autoregression of coefficient r: the variance of the mean is (1 + r) / (1 - r) / n."""
    rng, n, r = np.random.default_rng(21), 20_000, np.array([0.0, 0.6, 0.9])
    chain = np.empty((n, 3))
    chain[0] = rng.standard_normal(3)
    for i in range(1, n):
        chain[i] = r * chain[i - 1] + np.sqrt(1.0 - r**2) * rng.standard_normal(3)
    exact = np.sqrt((1.0 + r) / (1.0 - r) / n)
    assert np.all(np.abs(standard_errors(chain) / exact - 1.0) < 0.25)
