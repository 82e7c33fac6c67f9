"""The prior of dense frequencies: Gaussian moves within components, and their coordinates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from bochner.learning.inference.dense import DensePrior
from bochner.learning.mixture import Mixture, MixturePrior, sample_prior, step
from bochner.learning.wishart import NormalInverseWishart

# Shared evenly (Bonferroni) among the functions of each test.
FAMILY_ALPHA = 1e-3
BASE = NormalInverseWishart(np.zeros(2), 0.3, np.eye(2), 4.0)
HYPER = MixturePrior(BASE, 1.0)
MEANS = np.array([[1.0, -2.0], [0.0, 3.0]])
COVARIANCES = np.array([[[1.0, 0.6], [0.6, 0.5]], [[0.2, -0.1], [-0.1, 2.0]]])


def some_prior(m=6000, **settings):
    mixture = Mixture(np.arange(m) % 2, MEANS, COVARIANCES, 1.0)
    return DensePrior(HYPER, mixture, **{"jumps": 0.0, **settings})


def assert_laws(omega):
    """Frequencies (m, d), in turn of the two components, have their moments and laws."""
    moments, p_values = [], []
    for k in range(2):
        offsets = omega[k::2] - MEANS[k]
        scale = np.sqrt(np.diag(COVARIANCES[k]))
        n = len(offsets)
        moments.extend(offsets.mean(axis=0) / scale * np.sqrt(n))
        product = offsets[:, 0] * offsets[:, 1]
        moments.append((product.mean() - COVARIANCES[k][0, 1]) / product.std() * np.sqrt(n))
        p_values.extend(stats.kstest(offsets[:, i] / scale[i], "norm").pvalue for i in range(2))
    level = FAMILY_ALPHA / (len(moments) + len(p_values))
    assert np.max(np.abs(moments)) < stats.norm.isf(level / 2.0)
    assert min(p_values) > level


def test_frequencies_have_the_laws_of_their_components():
    prior = some_prior()
    assert_laws(prior.sample(np.random.default_rng(0), 6000))


@pytest.mark.parametrize("correlations", [(0.0,), (0.7,), (0.0, 0.7, 0.9, 0.99)])
def test_moves_keep_the_laws(correlations):
    prior, rng = some_prior(correlations=correlations), np.random.default_rng(1)
    omega = prior.sample(rng, 6000)
    for _ in range(5):
        suggestion = prior.suggest(rng, omega, np.arange(6000))
        assert_array_equal(suggestion.log_ratio, 0.0)
        omega = suggestion.omega
    assert_laws(omega)


@pytest.mark.parametrize("rho", [0.0, 0.7, 0.99])
def test_moves_are_correlated_as_they_say(rho):
    prior, rng = some_prior(correlations=(rho,)), np.random.default_rng(2)
    xi = rng.normal(size=(6000, 2))
    moved = prior.suggest(rng, prior.mixture.colour(xi), np.arange(6000)).omega
    fresh = (prior.mixture.whiten(moved) - rho * xi) / np.sqrt(1.0 - rho**2)
    p_value = stats.kstest(fresh.ravel(), "norm").pvalue
    z = np.sum(fresh * xi) / np.sqrt(xi.size)
    assert p_value > FAMILY_ALPHA / 2
    assert abs(z) < stats.norm.isf(FAMILY_ALPHA / 4)


def test_moves_are_of_the_components_of_the_frequencies_asked_for():
    """At correlation one but for rounding, a frequency stays where it is."""
    prior, rng = some_prior(m=40, correlations=(1.0,)), np.random.default_rng(3)
    omega, index = prior.sample(rng, 40), np.array([31, 2, 17, 8])
    assert_allclose(prior.suggest(rng, omega, index).omega, omega[index], rtol=1e-10)


def test_whitening_is_undone_by_colouring():
    prior, rng = some_prior(m=30), np.random.default_rng(4)
    omega = prior.sample(rng, 30)
    components = prior.whitening(rng, omega)
    assert np.all(components.moving)
    assert components.moving.shape == omega.shape
    xi = components.whiten(omega)
    assert_allclose(components.colour(xi), omega, rtol=1e-10)
    # The prior is standard normal in these coordinates: same distance from the mean.
    for j in range(30):
        offset = omega[j] - MEANS[j % 2]
        distance = offset @ np.linalg.solve(COVARIANCES[j % 2], offset)
        assert_allclose(xi[j] @ xi[j], distance, rtol=1e-10)


def test_a_pulled_gradient_is_that_of_the_composition():
    prior, rng = some_prior(m=6), np.random.default_rng(5)
    omega = prior.sample(rng, 6)
    components, slope = prior.whitening(rng, omega), rng.normal(size=omega.shape)
    xi, step_size = components.whiten(omega), 1e-6
    expected = np.empty_like(xi)
    for place in np.ndindex(*xi.shape):
        ends = []
        for sign in (1.0, -1.0):
            shifted = xi.copy()
            shifted[place] += sign * step_size
            ends.append(np.sum(slope * np.sin(components.colour(shifted))))
        expected[place] = (ends[0] - ends[1]) / (2.0 * step_size)
    assert_allclose(components.pull(slope * np.cos(omega)), expected, rtol=1e-6, atol=1e-8)


def test_a_refresh_is_a_sweep_of_the_mixture():
    mixture, omega = sample_prior(np.random.default_rng(6), HYPER, 12)
    found = DensePrior(HYPER, mixture).refresh(np.random.default_rng(7), omega)
    expected = step(np.random.default_rng(7), mixture, omega, HYPER)
    assert_array_equal(found.mixture.labels, expected.labels)
    assert_array_equal(found.mixture.covariances, expected.covariances)
    assert found.n_components == expected.n_components


def test_a_start_labels_the_frequencies():
    omega = np.vstack((MEANS, MEANS + 0.1))
    prior = DensePrior.start(np.random.default_rng(8), HYPER, omega)
    assert len(prior.mixture.labels) == 4
    assert set(prior.state()) == {"labels", "means", "covariances", "concentration"}


def test_as_many_frequencies_are_drawn_as_are_labelled():
    with pytest.raises(ValueError, match="labels 6 frequencies, not 5"):
        some_prior(m=6).sample(np.random.default_rng(9), 5)
