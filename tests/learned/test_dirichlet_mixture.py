"""The Dirichlet-process mixture: exact partitions, the restaurant's law, and its algebra.

Geweke's joint-distribution test: a chain that alternates one sweep of the sampler at fixed
frequencies with a redraw of the frequencies given the mixture has the generative model's joint law,
if both are right. So its means are those of independent draws from the model (J. Geweke, "Getting
it right", 2004).
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import gammaln, multigammaln

from bochner.learned import dirichlet_mixture
from bochner.learned.dirichlet_mixture import (
    GammaPrior,
    Mixture,
    MixturePrior,
    NormalInverseWishart,
    init,
    sample_prior,
    step,
)

# Shared evenly (Bonferroni) among the comparisons of each test.
FAMILY_ALPHA = 1e-3
BASE = NormalInverseWishart(np.array([0.5]), 0.3, np.array([[0.4]]), 2.5)
OMEGA = np.array([[-1.2], [-0.9], [0.4], [2.0]])


def known(concentration):
    """A law of the concentration that hardly varies."""
    return GammaPrior(1e10, 1e10 / concentration)


def partitions(m):
    """All partitions of ``m`` things, as labels in order of first appearance."""
    rows = [(0,)]
    for _ in range(m - 1):
        rows = [(*row, k) for row in rows for k in range(max(row) + 2)]
    return rows


def canonical(labels):
    """The labels in order of first appearance."""
    order = list(dict.fromkeys(labels.tolist()))
    return tuple(order.index(label) for label in labels.tolist())


def log_evidence(base, omega):
    """The marginal likelihood of one component's frequencies, in closed form."""
    n, dim = omega.shape
    strength, dof = base.strength + n, base.dof + n
    mean = (base.strength * base.mean + omega.sum(axis=0)) / strength
    outer = base.strength * np.outer(base.mean, base.mean) - strength * np.outer(mean, mean)
    scale = base.scale + omega.T @ omega + outer
    determinants = base.dof * np.linalg.slogdet(base.scale)[1] - dof * np.linalg.slogdet(scale)[1]
    return (
        multigammaln(dof / 2.0, dim)
        - multigammaln(base.dof / 2.0, dim)
        + 0.5 * (determinants + dim * np.log(base.strength / strength) - n * dim * np.log(np.pi))
    )


def partition_posterior(base, omega, concentration):
    """The probability of every partition, parameters and weights integrated out."""
    logs = {}
    for row in partitions(len(omega)):
        labels = np.array(row)
        sizes = np.bincount(labels)
        logs[row] = sum(
            np.log(concentration) + gammaln(sizes[k]) + log_evidence(base, omega[labels == k])
            for k in range(len(sizes))
        )
    top = max(logs.values())
    total = sum(np.exp(value - top) for value in logs.values())
    return {row: np.exp(value - top) / total for row, value in logs.items()}


def some_mixture(dim=3, m=12):
    rng = np.random.default_rng(dim)
    base = NormalInverseWishart(np.zeros(dim), 0.2, np.eye(dim), dim + 2.0)
    prior = MixturePrior(base, known(2.0))
    mixture, omega = sample_prior(rng, prior, m)
    assert mixture.n_components > 2
    return mixture, omega


# The factor alpha at a value on either side of one, where its loss would not show.
@pytest.mark.thorough
@pytest.mark.parametrize("concentration", [0.25, 3.0])
def test_partitions_are_visited_as_their_posterior_says(concentration, sweeps=5000):
    """A chain at fixed frequencies visits the 15 partitions as often as their posterior says."""
    prior, rng = MixturePrior(BASE, known(concentration)), np.random.default_rng(7)
    exact = partition_posterior(BASE, OMEGA, concentration)
    state, visited = init(rng, OMEGA, prior), []
    for _ in range(sweeps):
        state = step(rng, state, OMEGA, prior)
        visited.append(canonical(state.labels))
    index = {row: k for k, row in enumerate(exact)}
    hits = np.eye(len(exact))[[index[row] for row in visited]]
    # A batch of 125 sweeps is far longer than the chain's memory, checked below.
    batches = hits.reshape(-1, 125, len(exact)).mean(axis=1)
    error = np.maximum(batches.std(axis=0, ddof=1) / np.sqrt(len(batches)), 1e-9)
    t = (batches.mean(axis=0) - np.array(list(exact.values()))) / error
    level = FAMILY_ALPHA / (2.0 * len(exact))
    assert np.max(np.abs(t)) < stats.t(len(batches) - 1).isf(level)
    assert np.max(standard_errors(hits) / error) < 2.0


@pytest.mark.thorough
def test_the_prior_partition_is_the_restaurants(m=30, n=2000):
    """The number of components and the chance of a shared one, by their exact moments."""
    concentration = 1.7
    prior, rng = MixturePrior(BASE, known(concentration)), np.random.default_rng(8)
    draws = [sample_prior(rng, prior, m)[0].labels for _ in range(n)]
    counts = np.array([labels.max() + 1 for labels in draws])
    fresh = concentration / (concentration + np.arange(m))
    z = [(counts.mean() - fresh.sum()) / np.sqrt(np.sum(fresh * (1.0 - fresh)) / n)]
    together = 1.0 / (1.0 + concentration)
    for pair in ((0, 1), (0, m - 1), (m - 2, m - 1)):
        share = np.mean([labels[pair[0]] == labels[pair[1]] for labels in draws])
        z.append((share - together) / np.sqrt(together * (1.0 - together) / n))
    assert np.max(np.abs(z)) < stats.norm.isf(FAMILY_ALPHA / (2.0 * len(z)))


def test_a_frequency_does_not_count_itself():
    """A frequency does not count itself: alone in its component, it joins the only other one."""
    omega = np.array([[-1.0], [0.1], [-0.2], [0.3]])
    means, covariances = np.array([[-1.0], [0.0]]), np.array([[[1e-4]], [[1.0]]])
    # Its own component has by far the greatest density, and a new one hardly any probability.
    state = Mixture(np.array([0, 1, 1, 1]), means, covariances, 1e-30)
    for seed in range(10):
        labels = dirichlet_mixture.sample_labels(np.random.default_rng(seed), state, omega, BASE)
        assert_array_equal(labels, 0)


@pytest.mark.parametrize("dim", [1, 3])
def test_the_table_has_the_density_of_every_component(dim):
    mixture, omega = some_mixture(dim)
    laws = map(stats.multivariate_normal, mixture.means, mixture.covariances)
    expected = np.stack([law.logpdf(omega) for law in laws], axis=1)
    assert_allclose(mixture.log_table(omega), expected, rtol=1e-9)


def test_whitening_is_undone_by_colouring():
    """Colouring undoes whitening, and white coordinates are those of the lower Cholesky factor."""
    mixture, omega = some_mixture()
    xi = mixture.whiten(omega)
    assert_allclose(mixture.colour(xi), omega, rtol=1e-10, atol=1e-10)
    lower = np.linalg.cholesky(mixture.covariances)[mixture.labels]
    offsets = omega - mixture.means[mixture.labels]
    assert_allclose(np.einsum("jab,jb->ja", lower, xi), offsets, rtol=1e-10, atol=1e-10)


def test_what_is_no_covariance_is_refused():
    with pytest.raises(ValueError, match=r"covariances.1. must be positive definite"):
        Mixture(np.array([0, 1, 1]), np.zeros((2, 1)), np.array([[[1.0]], [[-1.0]]]), 1.0)


PLANE = NormalInverseWishart(np.array([0.5, -0.5]), 0.6, np.array([[1.0, 0.3], [0.3, 0.5]]), 5.0)
# Concentrations on one side of one, where the loss of the factor alpha shows.
PLANE_PRIOR = MixturePrior(PLANE, GammaPrior(2.0, 5.0))
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
        np.tanh(mixture.means[mixture.labels[0], 0] - PLANE.mean[0]),
        np.tanh(mixture.means[mixture.labels[0], 0] - PLANE.mean[0]) ** 2,
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


@pytest.mark.thorough
def test_sweeps_and_redraws_have_the_models_joint_law(n=8000):
    rng = np.random.default_rng(20)
    forward = np.array([functions(*sample_prior(rng, PLANE_PRIOR, M)) for _ in range(n)])
    state, omega = sample_prior(rng, PLANE_PRIOR, M)
    successive = []
    for _ in range(n):
        state = step(rng, state, omega, PLANE_PRIOR)
        omega = state.colour(rng.standard_normal(omega.shape))
        successive.append(functions(state, omega))
    chain = np.array(successive)
    error = np.hypot(forward.std(axis=0) / np.sqrt(n), standard_errors(chain))
    z = (chain.mean(axis=0) - forward.mean(axis=0)) / error
    assert np.max(np.abs(z)) < stats.norm.isf(FAMILY_ALPHA / (2.0 * len(z)))
