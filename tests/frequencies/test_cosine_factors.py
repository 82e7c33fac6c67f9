"""Waves that features carry as factors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner import Frequencies
from bochner.frequencies import CosineFactors, Envelope

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(11, 3)), RNG.normal(size=(7, 3))
V, PSI = RNG.normal(size=(4, 3)), RNG.uniform(-3.0, 3.0, 4)
WAVES = CosineFactors(V, PSI)
OMEGA, WEIGHT, PHASE = RNG.normal(size=(4, 3)), np.array([1.0, -0.5, 2.0, 0.25]), RNG.random(4)
ENVELOPE = Envelope([0.1, 0.0, 0.2, 0.3], [6.0, 0.0, 6.0, 6.0])
PLAIN = Frequencies(OMEGA, WEIGHT, PHASE, OMEGA + 0.3, ENVELOPE)
F = Frequencies(OMEGA, WEIGHT, PHASE, OMEGA + 0.3, ENVELOPE, WAVES)
ONE_SIDED = Frequencies(OMEGA, WEIGHT, modulation=WAVES)


def factor(x, j):
    return np.cos(sum(a * b for a, b in zip(V[j], x, strict=True)) / 2.0 + PSI[j])


def test_factors_are_the_formula():
    expected = [[factor(x, j) for j in range(4)] for x in X]
    assert_allclose(WAVES.factors(X), expected, atol=1e-14)
    assert_allclose(CosineFactors.none(2, 3).factors(X), np.ones((11, 2)), rtol=1e-15)


def test_two_pairs_of_factors_are_a_wave_of_the_midpoint():
    quarter = CosineFactors(V, PSI - 0.5 * np.pi)
    x, y = X[:7], Y
    found = WAVES.factors(x) * WAVES.factors(y) - quarter.factors(x) * quarter.factors(y)
    assert_allclose(found, np.cos(0.5 * (x + y) @ V.T + 2.0 * PSI), atol=1e-14)


@pytest.mark.parametrize(
    ("v", "phase", "message"),
    [
        ([1.0], [1.0], r"v must have shape \(m, d\)"),
        (np.ones((0, 2)), [], r"v must have shape \(m, d\)"),
        ([[1.0], [2.0]], [1.0], r"phase must have shape \(2,\)"),
        ([[np.nan]], [1.0], "v must be finite"),
        ([[1.0]], [np.inf], "phase must be finite"),
    ],
)
def test_bad_arrays_are_refused(v, phase, message):
    with pytest.raises(ValueError, match=message):
        CosineFactors(v, phase)


@pytest.mark.parametrize(
    ("m", "nu"), [(3, None), (4, np.ones((4, 2)))], ids=["another number", "two widths"]
)
def test_waves_must_fit_the_frequencies(m, nu):
    with pytest.raises(ValueError, match="modulation has waves of shape"):
        Frequencies(OMEGA, WEIGHT, nu=nu, modulation=CosineFactors(V[:m], PSI[:m]))
