"""Frequencies and their factors: sizes, sides and what they refuse; see also test_every_map."""

import pickle
from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from spectral.parts import PARTS

from bochner import Frequencies
from bochner.spectral import CosineFactors, Envelope
from bochner.spectral.hadamard import HadamardRows

RNG = np.random.default_rng(0)
OMEGA, WEIGHT = RNG.normal(size=(6, 3)), RNG.normal(size=6)
F = Frequencies(OMEGA, WEIGHT)
RATE, RADIUS = np.array([0.0, 0.3, 2.0, 0.3]), np.array([1.0, 1.0, 1.5, 1.0])
LEFT, RIGHT = RNG.normal(size=(3, 2)), RNG.normal(size=(5, 2))
WAVES = CosineFactors(RNG.normal(size=(4, 3)), RNG.uniform(-3.0, 3.0, 4))


def test_sizes_and_signature():
    assert (F.n_frequencies, F.dim) == (6, 3)
    assert_array_equal(F.signature, np.tile(np.sign(WEIGHT), 2))


@pytest.mark.parametrize("name", PARTS)
def test_right_frequencies_have_the_right_features(name):
    f = PARTS[name]
    Y = RNG.normal(size=(5, f.dim_right))
    assert_array_equal(f.right.features(Y), f.features_right(Y))
    assert_array_equal(f.right.signature, f.signature)


def test_parts_are_all_there_are():
    # Graphs and torch modules write the features anew: a new field needs an entry in PARTS, on
    # which they are compared.
    plain = Frequencies(PARTS["blocks"].omega, np.ones(6))
    for field in fields(Frequencies):
        default = getattr(plain, field.name)
        assert any(not np.array_equal(getattr(f, field.name), default) for f in PARTS.values()), (
            field.name
        )


def test_inputs_are_copied():
    omega, rate = OMEGA.copy(), RATE.copy()
    f, envelope = Frequencies(omega, WEIGHT), Envelope(rate, RADIUS)
    omega[:] = rate[:] = 0.0
    assert_array_equal(f.omega, OMEGA)
    assert_array_equal(envelope.rate, RATE)


def test_frequencies_are_two_sided_one_by_one():
    phase = np.array([0.0, 0.3, 0.0, 0.0, -1.0, 0.0])
    nu = OMEGA.copy()
    nu[3, 1] += 1e-9
    assert_array_equal(Frequencies(OMEGA, WEIGHT, phase, nu).is_two_sided, [0, 1, 0, 1, 1, 0])
    assert Frequencies(OMEGA, WEIGHT, nu=OMEGA.copy()).is_symmetric


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
    for others in (
        (further,),
        (plain, none, mapped),
        (none, plain),
    ):
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


REFUSED = [
    (lambda: Frequencies(OMEGA[0], WEIGHT), "omega must have shape"),
    (lambda: Frequencies(np.empty((0, 3)), []), "omega must have shape"),
    (lambda: Frequencies(OMEGA, WEIGHT[:-1]), r"weight must have shape \(6,\)"),
    (lambda: Frequencies(OMEGA, WEIGHT, np.zeros(5)), r"phase must have shape \(6,\)"),
    (lambda: Frequencies(OMEGA, WEIGHT, nu=OMEGA[:5]), r"\(m, d2\) with m = 6.*got \(5, 3\)"),
    (lambda: Frequencies(OMEGA, WEIGHT, nu=OMEGA[:, 0]), r"nu must have shape \(m, d2\).*\(6,\)"),
    (lambda: Frequencies(OMEGA, WEIGHT, nu=np.empty((6, 0))), r"nu must have shape \(m, d2\)"),
    (lambda: Frequencies(np.full((1, 1), np.inf), [1.0]), "omega must be finite"),
    (lambda: Frequencies(OMEGA, np.full(6, np.nan)), "weight must be finite"),
    (lambda: Envelope([[1.0]], [[1.0]]), r"rate must have shape \(m,\)"),
    (lambda: Envelope([1.0, 2.0], [1.0]), r"radius must have shape \(2,\)"),
    (lambda: Envelope([-1.0], [1.0]), "must not be negative"),
    (lambda: Envelope([1.0], [-1.0]), "must not be negative"),
    (lambda: Envelope([np.nan], [1.0]), "rate must be finite"),
    (lambda: Envelope([1.0], [np.inf]), "radius must be finite"),
    (
        lambda: Frequencies(OMEGA, WEIGHT, factor=Envelope(RATE, RADIUS)),
        "factor has 4 functions.*6 frequencies",
    ),
    (lambda: CosineFactors([1.0], [1.0]), r"v must have shape \(m, d\)"),
    (lambda: CosineFactors(np.ones((0, 2)), []), r"v must have shape \(m, d\)"),
    (lambda: CosineFactors([[1.0], [2.0]], [1.0]), r"phase must have shape \(2,\)"),
    (lambda: CosineFactors([[np.nan]], [1.0]), "v must be finite"),
    (lambda: CosineFactors([[1.0]], [np.inf]), "phase must be finite"),
    (lambda: Frequencies(OMEGA, WEIGHT, factor=WAVES), "factor has 4 functions"),
    (
        lambda: Frequencies(OMEGA[:4], WEIGHT[:4], nu=np.ones((4, 2)), factor=WAVES),
        "factor has 4 functions",
    ),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_bad_arrays_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_only_frequencies_can_be_added():
    with pytest.raises(TypeError):
        F + 1.0


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
