"""Waves that features carry as factors."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bochner
from bochner import Frequencies
from bochner._numerics import limits
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


@pytest.mark.parametrize(("side", "rows"), [("features", X), ("features_right", Y)])
def test_both_features_of_a_frequency_carry_its_factor(side, rows):
    factors = np.tile(WAVES.factors(rows), 2)
    assert_allclose(getattr(F, side)(rows), factors * getattr(PLAIN, side)(rows), atol=1e-14)


def test_the_gram_matrix_has_the_factors_of_both_rows():
    expected = np.zeros((len(X), len(Y)))
    for j, weight in enumerate(WEIGHT):
        angle = np.subtract.outer(X @ OMEGA[j], Y @ OMEGA[j])
        expected += weight * np.outer(factor(X.T, j), factor(Y.T, j)) * np.cos(angle)
    assert_allclose(ONE_SIDED.gram(X, Y), expected, atol=1e-13)


def test_the_same_waves_on_either_side_are_symmetric():
    assert ONE_SIDED.is_symmetric
    assert not F.is_symmetric
    assert_array_equal(ONE_SIDED.features(X), ONE_SIDED.features_right(X))


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_is_dense(container):
    thin = np.where(np.abs(X) > 0.3, X, 0.0)
    assert_allclose(F.features(container(thin)), F.features(thin), atol=1e-13)


def test_chunked_is_whole(monkeypatch):
    whole = F.features(X)
    monkeypatch.setattr(limits, "CACHE_BLOCK_BYTES", 2 * 16 * 4)
    assert_allclose(F.features(X), whole, atol=1e-14)


def test_the_dtype_is_kept():
    narrow = F.features(X.astype(np.float32))
    assert narrow.dtype == np.float32
    assert_allclose(narrow, F.features(X), atol=1e-6)
    out = np.empty((11, 8), dtype=np.float32)
    assert F.features(X, np.float32, out) is out
    assert_allclose(out, narrow, atol=1e-6)


def test_sums_join_waves():
    plain = Frequencies(OMEGA, WEIGHT)
    assert (plain + plain).modulation is None
    for first, second in ((ONE_SIDED, plain), (plain, ONE_SIDED), (ONE_SIDED, ONE_SIDED)):
        expected = first.gram(X, Y) + second.gram(X, Y)
        assert_allclose((first + second).gram(X, Y), expected, atol=1e-13)
    assert_allclose((F + plain).gram(X, Y), F.gram(X, Y) + plain.gram(X, Y), atol=1e-13)


def test_other_weights_keep_the_waves():
    assert_allclose(F.with_weights(2.0 * WEIGHT).gram(X, Y), 2.0 * F.gram(X, Y), atol=1e-13)


def test_copies_and_model_files_hold_the_waves(tmp_path):
    bochner.save(F, tmp_path / "waves.bochner")
    loaded = bochner.load(tmp_path / "waves.bochner")
    for twin in (pickle.loads(pickle.dumps(F)), copy.deepcopy(F), loaded):
        assert twin.gram(X, Y).tobytes() == F.gram(X, Y).tobytes()
        assert not twin.modulation.v.flags.writeable


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
