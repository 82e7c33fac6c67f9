"""Frequencies and their factors: sizes, sides and what they refuse; see also test_every_map."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from bochner import Frequencies
from bochner.spectral import CosineFactors, Envelope
from bochner.spectral.hadamard import HadamardRows

RNG = np.random.default_rng(0)
OMEGA, WEIGHT = RNG.normal(size=(6, 3)), RNG.normal(size=6)
F = Frequencies(OMEGA, WEIGHT)
RATE, RADIUS = np.array([0.0, 0.3, 2.0, 0.3]), np.array([1.0, 1.0, 1.5, 1.0])
LEFT, RIGHT = RNG.normal(size=(3, 2)), RNG.normal(size=(5, 2))


def test_envelopes_are_one_at_the_most_and_continuous_and_vanish_far_away():
    norms = np.concatenate([np.linspace(0.0, 3.0, 3001), [100.0, 1e8]])
    factors = Envelope(RATE, RADIUS).values(norms[:, None] * np.eye(1, 3))
    assert (factors >= 0.0).all()
    assert factors.max() <= 1.0
    assert np.abs(np.diff(factors[:3001], axis=0)).max() < 0.02
    assert factors[norms >= 2.5].max() < 1e-5
    assert_array_equal(factors[:1001, 0], 1.0)


def test_envelopes_of_mapped_inputs_join_those_of_any_maps():
    mapped = Envelope(RATE, RADIUS, LEFT, RIGHT)
    assert Envelope(RATE, RADIUS, LEFT, LEFT.copy()).is_symmetric
    assert not mapped.is_symmetric
    assert not Envelope(RATE, RADIUS, LEFT).is_symmetric
    mapped = Envelope(RATE, RADIUS, LEFT, LEFT[::-1])
    further = Envelope(RATE, RADIUS, 2.0 * LEFT, LEFT[::-1])
    plain, none = Envelope(RATE, RADIUS), Envelope.none(3)
    X = RNG.normal(size=(5, len(LEFT)))
    for others in ((further,), (plain, none, mapped), (none, plain)):
        joined, turned = mapped, mapped.transposed()
        for other in others:
            joined, turned = joined.joined(other), turned.joined(other.transposed())
        expected = np.hstack([one.values(X) for one in (mapped, *others)])
        assert_array_equal(joined.values(X), expected)
        assert joined.n_frequencies == expected.shape[1]
        assert not joined.is_symmetric
        assert_array_equal(joined.transposed().values(X), turned.values(X))
        assert_array_equal(pickle.loads(pickle.dumps(joined)).values(X), expected)
    assert Envelope(RATE, RADIUS, LEFT, LEFT).joined(plain).is_symmetric
    assert not mapped.joined(none).others


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: F.features(X, out=np.empty((7, 4))), r"out must have shape \(7, 12\)"),
        (lambda X: F.features(X, out=np.empty((7, 12), np.float32)), "type float64, got .*float32"),
        (lambda X: F.features(X[:, :2]), "X has 2 columns"),
        (lambda X: F.gradient(X, np.ones(12)), r"coef must have shape \(12, functions\)"),
        (lambda X: F.gradient(X, np.ones((6, 1))), r"coef must have shape \(12, functions\)"),
    ],
)
def test_other_shapes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.ones((7, 3)))


FAST = 1e200 * np.ones((1, 2))
HELD = HadamardRows(np.ones((1, 1, 2), dtype=int), [1e60, 1e60], [1e140, 1e140])


@pytest.mark.parametrize(
    "f",
    [
        Frequencies(FAST, [1.0]),
        Frequencies(FAST / 1e200, [1.0], factor=CosineFactors(FAST, [0.0])),
        Frequencies(HELD, [1.0, 1.0]),
    ],
    ids=["frequencies", "factor", "blocks"],
)
def test_angles_that_overflow_are_refused(f):
    """Rows are finite by themselves, dense or sparse."""
    for rows in (np.full((3, 2), 1e140), sparse.csr_array(np.eye(2) * -1e140)):
        with pytest.raises(ValueError, match=r"Entries of X must be at most .* got 1e\+140"):
            f.features(rows)
    assert np.isfinite(f.features(np.full((3, 2), 1e100))).all()
