"""The Dirichlet-process mixture: exact partitions, the restaurant's law, and its algebra.

Geweke's joint-distribution test: a chain that alternates one sweep of the sampler at fixed
frequencies with a redraw of the frequencies given the mixture has the generative model's joint law,
if both are right. So its means are those of independent draws from the model (J. Geweke, "Getting
it right", 2004).
"""

from collections import Counter

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


def test_frequencies_of_the_prior_have_their_marginal_law():
    rng, prior = np.random.default_rng(9), MixturePrior(BASE, GammaPrior(2.0, 1.0))
    draws = [sample_prior(rng, prior, 3)[1][2, 0] for _ in range(2000)]
    scale = np.sqrt(BASE.scale[0, 0] * (BASE.strength + 1.0) / (BASE.strength * BASE.dof))
    law = stats.t(BASE.dof, BASE.mean[0], scale)
    assert stats.kstest(draws, law.cdf).pvalue > FAMILY_ALPHA


def test_the_labels_of_components_do_not_matter():
    mixture, omega = some_mixture()
    order = np.random.default_rng(10).permutation(mixture.n_components)
    renamed = Mixture(
        np.argsort(order)[mixture.labels],
        mixture.means[order],
        mixture.covariances[order],
        mixture.concentration,
    )
    for name in ("whiten", "colour", "colour_gradient"):
        assert_allclose(getattr(renamed, name)(omega), getattr(mixture, name)(omega), rtol=1e-12)
    assert_allclose(renamed.log_table(omega), mixture.log_table(omega)[:, order], rtol=1e-12)
    assert_allclose(renamed.weights, mixture.weights[order])


def test_what_dominates_may_be_empty():
    """A component whose only frequency leaves has no mass, however well it fits."""
    counts, logs = [0.5, 0, 3], [-2000.0, 0.0, -2000.0 + np.log(2.0)]
    picks = Counter(dirichlet_mixture._pick(counts, logs, (i + 0.5) / 1300.0) for i in range(1300))
    assert picks == {0: 100, 2: 1200}


def test_a_component_of_one_frequency_far_from_all_survives_a_sweep():
    omega = np.array([[0.0], [0.1], [1e6]])
    prior, rng = MixturePrior(BASE, known(1e-3)), np.random.default_rng(12)
    state = Mixture(np.array([0, 0, 1]), np.array([[0.0], [1e6]]), 0.1 * np.ones((2, 1, 1)), 1e-3)
    state = step(rng, state, omega, prior)
    assert state.labels[2] not in state.labels[:2]


def assert_alone():
    """A frequency does not count itself: alone in its component, it joins the only other one."""
    omega = np.array([[-1.0], [0.1], [-0.2], [0.3]])
    means, covariances = np.array([[-1.0], [0.0]]), np.array([[[1e-4]], [[1.0]]])
    # Its own component has by far the greatest density, and a new one hardly any probability.
    state = Mixture(np.array([0, 1, 1, 1]), means, covariances, 1e-30)
    for seed in range(10):
        labels = dirichlet_mixture.sample_labels(np.random.default_rng(seed), state, omega, BASE)
        assert_array_equal(labels, 0)


def test_a_frequency_does_not_count_itself():
    assert_alone()


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


def test_gradients_by_whitened_coordinates_follow_the_chain_rule():
    mixture, omega = some_mixture()
    xi, a = mixture.whiten(omega), np.random.default_rng(13).normal(size=omega.shape)
    # The score by whitened coordinates is that of the standard normal.
    offsets = (mixture.means[mixture.labels] - omega)[..., None]
    score = np.linalg.solve(mixture.covariances[mixture.labels], offsets)[..., 0]
    assert_allclose(mixture.colour_gradient(score), -xi, rtol=1e-8)
    moved = mixture.colour(xi + a) - omega
    gradient = np.ones_like(omega)
    assert_allclose(np.sum(mixture.colour_gradient(gradient) * a, axis=1), moved.sum(axis=1))


@pytest.mark.parametrize("name", ["whiten", "colour", "colour_gradient"])
def test_a_block_is_treated_as_in_the_whole(name):
    mixture, omega = some_mixture()
    rows = np.array([7, 2, 11])
    method = getattr(mixture, name)
    assert_allclose(method(omega[rows], rows), method(omega)[rows], rtol=1e-12, atol=1e-12)


def test_a_start_separates_what_is_far_apart():
    rng = np.random.default_rng(14)
    centres = np.repeat([[-30.0, 0.0], [0.0, 0.0], [30.0, 5.0]], 20, axis=0)
    omega = centres + rng.normal(size=(60, 2))
    base = NormalInverseWishart(np.zeros(2), 0.01, np.eye(2), 4.0)
    prior = MixturePrior(base, GammaPrior(1.0, 2.0))
    start = init(rng, omega, prior)
    groups = [set(start.labels[20 * k : 20 * (k + 1)].tolist()) for k in range(3)]
    assert sum(map(len, groups)) == len(set.union(*groups))
    assert start.concentration == 0.5


def test_steps_are_reproducible():
    mixture, omega = some_mixture()
    prior = MixturePrior(NormalInverseWishart(np.zeros(3), 0.2, np.eye(3), 5.0), known(0.6))
    one, two = (step(np.random.default_rng(15), mixture, omega, prior) for _ in range(2))
    assert_array_equal(one.labels, two.labels)
    assert_array_equal(one.covariances, two.covariances)
    assert one.concentration == pytest.approx(0.6, rel=1e-3)
    assert_array_equal(np.unique(one.labels), np.arange(one.n_components))


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


def test_the_errors_of_a_chain_are_those_of_its_memory():
    """An autoregression of coefficient r: the variance of the mean is (1 + r) / (1 - r) / n."""
    rng, n, r = np.random.default_rng(21), 20_000, np.array([0.0, 0.6, 0.9])
    chain = np.empty((n, 3))
    chain[0] = rng.standard_normal(3)
    for i in range(1, n):
        chain[i] = r * chain[i - 1] + np.sqrt(1.0 - r**2) * rng.standard_normal(3)
    exact = np.sqrt((1.0 + r) / (1.0 - r) / n)
    assert np.all(np.abs(standard_errors(chain) / exact - 1.0) < 0.25)
