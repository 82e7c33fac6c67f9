"""Noise that varies with the inputs: the field's moves, and the chain's joint law."""

import numpy as np
import pytest
from laws import noise_field_laws
from numpy.testing import assert_allclose
from scipy import stats

from bochner.learned.chain_models import sparse_envelope
from bochner.learned.noise_field import NoiseField, log_factor
from bochner.learned.training_data import TrainingData

FAMILY_ALPHA = 1e-3
X = np.random.default_rng(3).normal(size=(20, 2))


@pytest.mark.thorough
def test_moves_and_redraws_have_the_models_joint_law():
    noise_field_laws.check_field(noise_field_laws.WEIGHT, 20, 30, 2000, alpha=FAMILY_ALPHA / 2)


@pytest.mark.thorough
def test_the_chain_and_redraws_have_the_models_joint_law():
    noise_field_laws.check_chain(20, 25, 2000, alpha=FAMILY_ALPHA / 2)


def some_field(rng, n_waves=4):
    prior = sparse_envelope(np.array([1.0, 2.0]), 1.0)
    return NoiseField(prior.sample(rng, n_waves), rng.normal(size=2 * n_waves), 0.7, prior)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_heights_are_sums_of_waves(dtype):
    rng = np.random.default_rng(4)
    rows = TrainingData.of(X.astype(dtype), np.zeros(20))
    for _ in range(5):
        field = some_field(rng)
        inputs = X.astype(dtype).astype(np.float64)
        expected = noise_field_laws.heights(inputs, field.omega, field.weights)
        assert_allclose(field.values(rows), expected, rtol=1e-10, atol=1e-10)
        assert_allclose(log_factor(inputs.T, field.omega, field.weights), expected, atol=1e-10)


class StillField(NoiseField):
    """A field whose moves leave weights and frequencies as they are."""

    def _weights_moved(self, rng, rows, squares):
        return self.weights

    def _frequencies_moved(self, rng, rows, squares, weights):
        return self.omega, self.prior


@pytest.mark.thorough
def test_the_spread_has_its_law_given_the_weights():
    """Given 2K weights, the square of the spread has an inverse gamma law of the shape 1 + K."""
    rng = np.random.default_rng(6)
    field = some_field(rng)
    still = StillField(field.omega, field.weights, field.spread, field.prior)
    squares = [still.moved(rng, None, None).spread ** 2 for _ in range(2000)]
    law = stats.invgamma(1.0 + 0.5 * len(field.weights), scale=0.5 + 0.5 * np.sum(field.weights**2))
    assert stats.kstest(squares, law.cdf).pvalue > FAMILY_ALPHA
