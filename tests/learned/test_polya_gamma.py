"""Polya-Gamma variables, which stand for the labels of two classes."""

import numpy as np

from bochner.learned.polya_gamma import bound
from bochner.learned.training_data import TrainingData

FAMILY_ALPHA = 1e-4


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
