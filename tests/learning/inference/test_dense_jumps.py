"""Proposals that draw a component, too: they keep the prior, and carry labels along."""

import numpy as np
import pytest

from bochner.learning.inference.dense import DensePrior
from bochner.learning.mixture import GammaPrior, MixturePrior, sample_prior
from bochner.learning.wishart import NormalInverseWishart

HYPER = MixturePrior(NormalInverseWishart(np.zeros(1), 0.5, np.eye(1), 6.0), GammaPrior(4.0, 2.0))
N_FREQUENCIES, N_REPLICATES, BOUND = 6, 4000, 4.4  # 5 functions at 1e-5 each, two-sided


def functions(omega, prior):
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
        mixture, omega = sample_prior(rng, HYPER, N_FREQUENCIES)
        prior = DensePrior(HYPER, mixture, jumps=jumps)
        change.append(functions(*moved(rng, omega, prior)) - functions(omega, prior))
    change = np.array(change)
    return change.mean(axis=0) / (change.std(axis=0) / np.sqrt(N_REPLICATES))


@pytest.mark.parametrize("jumps", [0.5, 1.0])
def test_jumps_keep_the_prior(jumps):
    assert np.abs(z_scores(jumps)).max() < BOUND


def test_jumps_that_may_empty_a_component_do_not(monkeypatch):
    def unguarded(self, rng, index):
        labels = self.mixture.labels
        weights = rng.dirichlet(np.bincount(labels))
        wanted = rng.choice(len(weights), size=len(index), p=weights)
        # Only the last resort of a label for every component is kept.
        kept = np.isin(np.arange(len(index)), np.unique(labels[index], return_index=True)[1])
        jumping = ~kept
        return np.where(jumping, wanted, labels[index]), jumping

    monkeypatch.setattr(DensePrior, "_jumps", unguarded)
    assert np.abs(z_scores(1.0)).max() > BOUND


def test_labels_follow_what_was_accepted():
    rng = np.random.default_rng(1)
    mixture, omega = sample_prior(rng, HYPER, 200)
    prior = DensePrior(HYPER, mixture, jumps=1.0)
    index = rng.permutation(200)[:64]
    suggestion = prior.suggest(rng, omega, index)
    accepted = rng.random(64) < 0.5
    after = prior.decided(index, suggestion, accepted)
    expected = mixture.labels.copy()
    expected[index[accepted]] = suggestion.labels[accepted]
    np.testing.assert_array_equal(after.mixture.labels, expected)
    assert (suggestion.labels != mixture.labels[index]).any()


def test_without_jumps_labels_stay():
    rng = np.random.default_rng(2)
    mixture, omega = sample_prior(rng, HYPER, 20)
    prior = DensePrior(HYPER, mixture, jumps=0.0)
    suggestion = prior.suggest(rng, omega, np.arange(20))
    np.testing.assert_array_equal(suggestion.labels, mixture.labels)
    assert prior.decided(np.arange(20), suggestion, np.ones(20, dtype=bool)) is prior
