"""Gradients of functions of features, by finite differences of the sum that features stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from spectral.test_every_map import CASES, RNG, M, X

ROWS = np.concatenate([X, 3.0 * X])  # Inside and outside of the envelopes' balls
STEP = 1e-6
COEF = RNG.normal(size=(2 * M, 3))


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_differences(name):
    f = CASES[name]
    gradient = f.gradient(ROWS, COEF)
    assert gradient.shape == (len(ROWS), f.dim, 3)
    for a in range(f.dim):
        step = STEP * np.eye(f.dim)[a]
        expected = (f.features(ROWS + step) - f.features(ROWS - step)) @ COEF / (2.0 * STEP)
        assert_allclose(gradient[:, a], expected, atol=1e-7)


def test_rows_lie_inside_and_outside_of_envelopes():
    """Both pieces of the envelope are differentiated above."""
    inside = np.sum(ROWS**2, axis=1)[:, None] <= CASES["envelope"].factor.radius ** 2
    assert (inside.any(axis=0) & ~inside.all(axis=0)).sum() >= 3
