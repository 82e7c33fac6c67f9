"""Envelopes of features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from bochner import Frequencies
from bochner.frequencies import Envelope

RNG = np.random.default_rng(0)
X = RNG.normal(size=(11, 3))
X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)  # rows of the unit ball
RATE, RADIUS = np.array([0.0, 0.3, 2.0, 0.3]), np.array([1.0, 1.0, 1.5, 1.0])
ENVELOPE = Envelope(RATE, RADIUS)
OMEGA, WEIGHT = RNG.normal(size=(4, 3)), np.array([1.0, -0.5, 2.0, 0.25])
PLAIN = Frequencies(OMEGA, WEIGHT)
F = Frequencies(OMEGA, WEIGHT, envelope=ENVELOPE)


def test_factors_are_the_formula():
    for x, factors in zip(X, ENVELOPE.factors(X), strict=True):
        assert_allclose(factors, np.exp(-RATE * (RADIUS**2 - np.sum(x**2))), rtol=1e-12)


@pytest.mark.parametrize("rate", [0.01, 0.7, 20.0])
def test_a_gaussian_between_envelopes_is_an_exponential_of_the_inner_product(rate):
    factors = Envelope([rate], [1.3]).factors(X)
    gaussian = np.exp(-rate * cdist(X, X, "sqeuclidean"))
    expected = np.exp(-2.0 * rate * (1.3**2 - X @ X.T))
    assert_allclose(gaussian * factors * factors.T, expected, rtol=1e-11)


def test_factors_are_one_at_the_most_and_continuous_and_vanish_far_away():
    norms = np.concatenate([np.linspace(0.0, 3.0, 3001), [100.0, 1e8]])
    factors = ENVELOPE.factors(norms[:, None] * np.eye(1, 3))
    assert (factors >= 0.0).all()
    assert factors.max() <= 1.0
    assert np.abs(np.diff(factors[:3001], axis=0)).max() < 0.02
    assert factors[norms >= 2.5].max() < 1e-5
    assert_array_equal(factors[:1001, 0], 1.0)


def test_a_radius_of_zero_means_no_factor_anywhere():
    far = np.array([[0.0, 0.0, 0.0], [1e3, 0.0, 0.0]])
    assert_array_equal(Envelope([0.0, 3.0], [0.0, 0.0]).factors(far), 1.0)


def test_arrays_are_copied():
    rate = RATE.copy()
    envelope = Envelope(rate, RADIUS)
    rate[:] = 7.0
    assert_array_equal(envelope.rate, RATE)


@pytest.mark.parametrize(
    ("rate", "radius", "message"),
    [
        ([[1.0]], [[1.0]], r"rate must have shape \(m,\)"),
        ([1.0, 2.0], [1.0], r"radius must have shape \(2,\)"),
        ([-1.0], [1.0], "must not be negative"),
        ([1.0], [-1.0], "must not be negative"),
        ([np.nan], [1.0], "rate must be finite"),
        ([1.0], [np.inf], "radius must be finite"),
    ],
)
def test_bad_arrays_are_refused(rate, radius, message):
    with pytest.raises(ValueError, match=message):
        Envelope(rate, radius)


def test_an_envelope_must_fit_the_frequencies():
    with pytest.raises(ValueError, match="envelope has 4 factors; omega has 3 frequencies"):
        Frequencies(OMEGA[:3], WEIGHT[:3], envelope=ENVELOPE)


LEFT, RIGHT = RNG.normal(size=(3, 2)) / 2.0, RNG.normal(size=(5, 2)) / 2.0
MAPPED = Envelope(RATE, RADIUS, LEFT, RIGHT)
TWO_SIDED = Frequencies(OMEGA, WEIGHT, nu=RNG.normal(size=(4, 5)), envelope=MAPPED)
OTHERS = RNG.normal(size=(6, 5)) / 3.0


def test_envelopes_are_of_the_mapped_inputs():
    assert_allclose(MAPPED.factors(X), ENVELOPE.factors(X @ LEFT), rtol=1e-12)
    assert_allclose(MAPPED.transposed().factors(OTHERS), ENVELOPE.factors(OTHERS @ RIGHT))
    assert not MAPPED.is_symmetric
    assert not TWO_SIDED.is_symmetric
    assert Envelope(RATE, RADIUS, LEFT, LEFT.copy()).is_symmetric
    assert not Envelope(RATE, RADIUS, LEFT).is_symmetric


def test_mapped_envelopes_join_their_like_and_what_has_none():
    plain = Frequencies(OMEGA, WEIGHT, nu=TWO_SIDED.nu)
    for first, second in ((TWO_SIDED, TWO_SIDED), (plain, TWO_SIDED), (TWO_SIDED, plain)):
        expected = first.gram(X, OTHERS) + second.gram(X, OTHERS)
        assert_allclose((first + second).gram(X, OTHERS), expected, atol=1e-12)
    with pytest.raises(NotImplementedError, match="differently mapped inputs"):
        MAPPED.joined(Envelope(RATE, RADIUS, LEFT, 2.0 * RIGHT))
    with pytest.raises(NotImplementedError, match="differently mapped inputs"):
        MAPPED.joined(ENVELOPE)
