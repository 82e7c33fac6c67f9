"""Features of every kind of frequencies against the sum that they stand for, and their laws."""

import copy
import pickle

import numpy as np
import pytest
from files.same import round_trip
from numpy.testing import assert_allclose
from scipy import sparse

from bochner import Frequencies
from bochner.spectral import CosineFactors, Envelope
from bochner.spectral.feature_factors import Amplitudes, FactorProduct, separated
from bochner.spectral.hadamard import HadamardRows

RNG = np.random.default_rng(0)
M, D, D2 = 6, 3, 5
X, Y, WIDE = RNG.normal(size=(11, D)), RNG.normal(size=(7, D)), RNG.normal(size=(7, D2)) / 3.0
OMEGA, NU, WIDE_NU = (RNG.normal(size=(M, d)) for d in (D, D, D2))
HELD = HadamardRows(RNG.choice((-1, 1), size=(2, 2, 4)), RNG.normal(size=M), RNG.normal(size=D))
WEIGHT, PHASE = RNG.normal(size=M), RNG.uniform(-3.0, 3.0, size=M)
RATE, RADIUS = np.array([0.0, 0.3, 0.1, 0.3, 0.2, 0.05]), np.array([1.0, 4.0, 4.0, 0.0, 6.0, 4.0])
ENVELOPE = Envelope(RATE, RADIUS)
MAPPED = Envelope(RATE, RADIUS, RNG.normal(size=(D, 2)) / 2.0, RNG.normal(size=(D2, 2)) / 2.0)
WAVES = CosineFactors(RNG.normal(size=(M, D)), PHASE)
BOTH = FactorProduct(ENVELOPE, WAVES)

AMPLITUDES = Amplitudes(
    [0, 1, 1, 0, 1, 0],
    RNG.normal(size=(2, D, 2)),
    RNG.normal(size=(2, 2)),
    RNG.normal(size=(2, 4, D)),
    RNG.normal(size=(2, 4)),
    RNG.uniform(-3.0, 3.0, size=(2, 4)),
)

CASES = {
    "plain": Frequencies(OMEGA, WEIGHT),
    "two-sided": Frequencies(OMEGA, WEIGHT, PHASE, NU),
    "two widths": Frequencies(OMEGA, WEIGHT, PHASE, WIDE_NU),
    "envelope": Frequencies(OMEGA, WEIGHT, factor=ENVELOPE),
    "mapped envelope": Frequencies(OMEGA, WEIGHT, nu=WIDE_NU, factor=MAPPED),
    "cosines": Frequencies(OMEGA, WEIGHT, factor=WAVES),
    "amplitudes": Frequencies(OMEGA, WEIGHT, factor=AMPLITUDES),
    "both factors": Frequencies(OMEGA, WEIGHT, PHASE, NU, BOTH),
    "blocks": Frequencies(HELD, WEIGHT),
    "blocks with all": Frequencies(HELD, WEIGHT, PHASE, HELD / np.array(2.0), BOTH),
}
X, Y, WIDE = np.abs(X), np.abs(Y), np.abs(WIDE)


every = pytest.mark.parametrize("name", CASES)


def right_rows(f):
    return WIDE if f.dim_right == D2 else Y


def factors(f, x, right):
    """Return all factors of one row."""
    made = np.ones(M)
    envelope, other = separated(f.factor)
    if envelope is not None:
        matrix = envelope.right if right else envelope.left
        square = np.sum((x if matrix is None else x @ matrix) ** 2)
        depth = envelope.radius**2 - square
        outside = 8.0 * depth / np.where(envelope.radius > 0.0, envelope.radius**2, np.inf)
        made *= np.exp(np.where(depth >= 0.0, -envelope.rate * depth, outside))
    if isinstance(other, Amplitudes):
        for j, g in enumerate(AMPLITUDES.index.astype(int)):
            lag = AMPLITUDES.window[g].T @ x - AMPLITUDES.centre[g]
            cosines = np.cos(AMPLITUDES.mu[g] @ x + AMPLITUDES.phase[g])
            made[j] *= np.exp(-lag @ lag / 4.0) * (AMPLITUDES.coef[g] @ cosines)
    elif other is not None:
        made *= np.cos(0.5 * other.v @ x + other.phase)
    return made


@every
def test_the_gram_matrix_is_the_sum_of_cosines(name):
    f = CASES[name]
    rows = right_rows(f)
    expected = [
        [
            np.sum(
                f.weight
                * factors(f, x, right=False)
                * factors(f, y, right=True)
                * np.cos(f.omega @ x - f.nu @ y + f.phase)
            )
            for y in rows
        ]
        for x in X
    ]
    assert_allclose(f.gram(X, rows), expected, atol=1e-12)
    assert_allclose((f.features(X) * f.signature) @ f.features_right(rows).T, expected, atol=1e-12)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@every
def test_sparse_is_dense(name, container):
    f = CASES[name]
    thin, rows = np.where(np.abs(X) > 0.3, X, 0.0), right_rows(f)
    assert_allclose(f.features(container(thin)), f.features(thin), atol=1e-12)
    assert_allclose(f.features_right(container(rows)), f.features_right(rows), atol=1e-12)


@every
def test_the_dtype_is_kept(name):
    f = CASES[name]
    narrow, rows = X.astype(np.float32), right_rows(f)
    assert f.features(narrow).dtype == f.features_right(rows.astype(np.float32)).dtype == np.float32
    assert f.features(X).dtype == f.features(np.ones((2, D), dtype=int)).dtype == np.float64
    assert f.gram(narrow, rows.astype(np.float32)).dtype == np.float32
    assert_allclose(f.features(narrow), f.features(X), atol=1e-5)
    out = np.empty((len(X), 2 * M), dtype=np.float32)
    assert f.features(X, np.float32, out) is out
    assert_allclose(out, f.features(X), atol=1e-6)


@pytest.mark.parametrize("other", CASES)
@every
def test_sums_add_kernels(name, other):
    first, second = CASES[name], CASES[other]
    if first.dim_right != second.dim_right:
        with pytest.raises(ValueError, match=r"must match exactly|dimensions"):
            first + second
        return
    rows = right_rows(first)
    expected = first.gram(X, rows) + second.gram(X, rows)
    assert_allclose((first + second).gram(X, rows), expected, atol=1e-12)


@every
def test_copies_and_model_files_are_equal_and_read_only(name, tmp_path):
    f = CASES[name]
    loaded, rows = round_trip(f, tmp_path), right_rows(f)
    for twin in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f), loaded):
        assert twin.gram(X, rows).tobytes() == f.gram(X, rows).tobytes()
        assert not twin.phase.flags.writeable
        envelope, other = separated(twin.factor)
        assert envelope is None or not envelope.rate.flags.writeable
        if other is not None:
            assert not getattr(other, "v", other.waves).flags.writeable


@every
def test_other_widths_are_refused(name):
    f = CASES[name]
    with pytest.raises(ValueError, match="X has 2 columns, the frequencies have 3 inputs"):
        f.features(X[:, :2])
    with pytest.raises(ValueError, match=f"the frequencies have {f.dim_right} inputs"):
        f.features_right(X[:, :2])
