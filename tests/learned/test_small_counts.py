"""Polya-Gamma variables of rows that count as a small part of one."""

import numpy as np
import pytest

from bochner.learned.polya_gamma import _series


@pytest.mark.parametrize("z", [0.0, 0.7, 5.0])
@pytest.mark.parametrize("count", [1e-3, 1e-1, 2.0])
def test_mean_and_variance(count, z):
    """Against their closed forms, Polson, Scott and Windle (2013), Section 2.1."""
    n = 400_000
    drawn = _series(np.full(n, count), np.full(n, z), np.random.default_rng(0))
    mean = count * (np.tanh(z / 2.0) / (2.0 * z) if z else 0.25)
    variance = count * (
        (np.sinh(z) - z) / (4.0 * z**3 * np.cosh(z / 2.0) ** 2) if z else 1.0 / 24.0
    )
    assert (drawn > 0.0).all()
    assert abs(drawn.mean() - mean) < 5.0 * np.sqrt(variance / n) + 1e-12
    assert abs(drawn.var() / variance - 1.0) < (0.05 if count > 1e-2 else 0.2)


def test_a_count_of_nothing_is_nothing():
    drawn = _series(np.full(9, 1e-40), np.linspace(-9.0, 9.0, 9), np.random.default_rng(0))
    assert ((drawn >= 0.0) & (drawn < 1e-39)).all()
