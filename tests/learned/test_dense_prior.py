"""The prior of dense frequencies: moves within components and to others, and coordinates."""

import numpy as np
import pytest
from learned.test_sparse_prior import assert_pull
from numpy.testing import assert_array_equal
from scipy import stats

from bochner.learned.dirichlet_mixture import (
    GammaPrior,
    Mixture,
    MixturePrior,
    NormalInverseWishart,
    sample_prior,
)
from bochner.learned.frequency_priors import DensePrior

# Shared evenly (Bonferroni) among the functions of each test.
FAMILY_ALPHA = 1e-3
BASE = NormalInverseWishart(np.zeros(2), 0.3, np.eye(2), 4.0)
HYPER = MixturePrior(BASE, GammaPrior(1.0, 1.0))
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


@pytest.mark.parametrize("correlations", [(0.0,), (0.7,), (0.0, 0.7, 0.9, 0.99)])
def test_moves_keep_the_laws(correlations):
    prior, rng = some_prior(correlations=correlations), np.random.default_rng(1)
    omega = prior.sample(rng, 6000)
    for _ in range(5):
        suggestion = prior.suggest(rng, omega, np.arange(6000))
        assert_array_equal(suggestion.log_ratio, 0.0)
        omega = suggestion.omega
    assert_laws(omega)


def test_a_pulled_gradient_is_that_of_the_composition():
    assert_pull(some_prior(m=6), np.random.default_rng(5), 6)


LINE = MixturePrior(NormalInverseWishart(np.zeros(1), 0.5, np.eye(1), 6.0), GammaPrior(4.0, 2.0))
N_FREQUENCIES, N_REPLICATES, BOUND = 6, 4000, 4.4  # 5 functions at 1e-5 each, two-sided


def jump_functions(omega, prior):
    labels, means = prior.mixture.labels, prior.mixture.means[:, 0]
    return np.array(
        [
            np.bincount(labels).max(),
            labels[0] == labels[1],
            np.tanh(omega[:, 0] ** 2).mean(),
            np.tanh(omega[0, 0] - means[labels[0]]),
            np.tanh(means[np.bincount(labels).argmax()] ** 2),
        ],
        dtype=np.float64,
    )


def moved(rng, omega, prior):
    """Three blocks of proposals, all accepted: the law of the prior has to stay."""
    for _ in range(3):
        index = rng.permutation(N_FREQUENCIES)[:4]
        suggestion = prior.suggest(rng, omega, index)
        omega = omega.copy()
        omega[index] = suggestion.omega
        prior = prior.decided(index, suggestion, np.ones(4, dtype=bool))
    return omega, prior


def z_scores(jumps, seed=0):
    rng = np.random.default_rng(seed)
    change = []
    for _ in range(N_REPLICATES):
        mixture, omega = sample_prior(rng, LINE, N_FREQUENCIES)
        prior = DensePrior(LINE, mixture, jumps=jumps)
        change.append(jump_functions(*moved(rng, omega, prior)) - jump_functions(omega, prior))
    change = np.array(change)
    return change.mean(axis=0) / (change.std(axis=0) / np.sqrt(N_REPLICATES))


@pytest.mark.thorough
@pytest.mark.parametrize("jumps", [0.5, 1.0])
def test_jumps_keep_the_prior(jumps):
    assert np.abs(z_scores(jumps)).max() < BOUND


def test_labels_follow_what_was_accepted():
    rng = np.random.default_rng(1)
    mixture, omega = sample_prior(rng, LINE, 200)
    prior = DensePrior(LINE, mixture, jumps=1.0)
    index = rng.permutation(200)[:64]
    suggestion = prior.suggest(rng, omega, index)
    accepted = rng.random(64) < 0.5
    after = prior.decided(index, suggestion, accepted)
    expected = mixture.labels.copy()
    expected[index[accepted]] = suggestion.labels[accepted]
    np.testing.assert_array_equal(after.mixture.labels, expected)
    assert (suggestion.labels != mixture.labels[index]).any()
