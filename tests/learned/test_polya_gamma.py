"""Polya-Gamma variables, which stand for the labels of two classes."""

import numpy as np
import pytest
from scipy import stats

from bochner.learned.polya_gamma import bound, part_weights
from bochner.learned.training_data import TrainingData

FAMILY_ALPHA = 1e-4


@pytest.mark.parametrize("count", [1.0, 2.0, 7.0])
@pytest.mark.parametrize("psi", [0.3, -2.5])
def test_drawn_weights_have_the_mean_of_their_law(count, psi):
    r"""A Polya-Gamma variable PG(c, psi) has the mean :math:`c \tanh(\psi / 2) / (2 \psi)`."""
    n = 4000
    rows = TrainingData.of(np.zeros((n, 1)), np.full(n, 0.5), weight=np.full(n, count))
    drawn = part_weights(rows, np.full(n, psi), np.random.default_rng(int(10 * count)))
    z = (drawn.mean() - count * np.tanh(psi / 2) / (2 * psi)) / (drawn.std() / np.sqrt(n))
    assert abs(z) < stats.norm.isf(FAMILY_ALPHA / 12)


def test_the_bound_has_the_mean_weights_at_every_activation():
    """Also at zero, where the quotient has a limit, and so near to it that it is rounding."""
    psi = np.array([-30.0, -1.0, -1e-5, 0.0, 1e-9, 0.2, 4.0])
    rows = TrainingData.of(np.zeros((7, 1)), np.full(7, 0.5), weight=np.full(7, 3.0))
    weights, targets = bound(rows, psi)
    near = np.abs(psi) < 1e-4
    apart = np.where(near, 1.0, psi)
    expected = 3.0 * np.where(near, 0.25, np.tanh(apart / 2.0) / (2.0 * apart))
    np.testing.assert_allclose(weights, expected, rtol=1e-9)
    np.testing.assert_array_equal(targets, np.full(7, 1.5))
