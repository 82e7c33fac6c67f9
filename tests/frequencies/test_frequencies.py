"""Frequencies: dtypes, sparse input, chunks and what they refuse."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bochner import Frequencies
from bochner._numerics import limits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(11, 3))
OMEGA, WEIGHT = RNG.normal(size=(6, 3)), RNG.normal(size=6)
F = Frequencies(OMEGA, WEIGHT)
GENERAL = Frequencies(OMEGA, WEIGHT, RNG.uniform(size=6), RNG.normal(size=(6, 3)))


def test_sizes_and_signature():
    assert (F.n_frequencies, F.dim) == (6, 3)
    assert_array_equal(F.signature, np.tile(np.sign(WEIGHT), 2))
    assert F.is_symmetric
    assert not GENERAL.is_symmetric


def test_the_gram_matrix_of_phases_is_asymmetric():
    K = GENERAL.gram(X)
    assert np.abs(K - K.T).max() > 0.1
    assert_allclose(F.gram(X), F.gram(X).T, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_is_kept(dtype):
    typed = X.astype(dtype)
    assert F.features(typed).dtype == dtype
    assert F.features_right(typed).dtype == dtype
    assert F.gram(typed).dtype == dtype
    assert_allclose(F.features(typed), F.features(X), atol=1e-5 if dtype == np.float32 else 1e-15)


def test_other_numbers_become_float64():
    assert F.features(np.ones((2, 3), dtype=int)).dtype == np.float64


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_is_dense(container):
    thin = np.where(np.abs(X) > 0.7, X, 0.0)
    assert_allclose(F.features(container(thin)), F.features(thin), atol=1e-12)
    assert_allclose(GENERAL.gram(container(thin)), GENERAL.gram(thin), atol=1e-12)


def test_chunked_is_whole(monkeypatch):
    whole = GENERAL.features(X)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 2 * 8 * 6)
    assert_allclose(GENERAL.features(X), whole, atol=1e-14)


def test_sums_add_kernels():
    assert_allclose((F + GENERAL).gram(X), F.gram(X) + GENERAL.gram(X), atol=1e-12)
    assert (F + F).is_symmetric


def test_copies_are_equal_and_arrays_read_only():
    for twin in (pickle.loads(pickle.dumps(GENERAL)), copy.deepcopy(GENERAL)):
        assert_array_equal(twin.gram(X), GENERAL.gram(X))
    with pytest.raises(ValueError, match="read-only"):
        F.omega[0, 0] = 1.0


def test_inputs_are_copied():
    omega = OMEGA.copy()
    f = Frequencies(omega, WEIGHT)
    omega[:] = 0.0
    assert_array_equal(f.omega, OMEGA)
    assert omega.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((OMEGA[0], WEIGHT), "omega must have shape"),
        ((np.empty((0, 3)), []), "omega must have shape"),
        ((OMEGA, WEIGHT[:-1]), r"weight must have shape \(6,\)"),
        ((OMEGA, WEIGHT, np.zeros(5)), r"phase must have shape \(6,\)"),
        (
            (OMEGA, WEIGHT, None, OMEGA[:5]),
            r"nu must have shape \(m, d2\) with m = 6.*got \(5, 3\)",
        ),
        ((OMEGA, WEIGHT, None, OMEGA[:, 0]), r"nu must have shape \(m, d2\).*got \(6,\)"),
        ((OMEGA, WEIGHT, None, np.empty((6, 0))), r"nu must have shape \(m, d2\)"),
        ((np.full((1, 1), np.inf), [1.0]), "omega must be finite"),
        ((OMEGA, np.full(6, np.nan)), "weight must be finite"),
    ],
)
def test_bad_arrays_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Frequencies(*arguments)


WIDE = Frequencies(OMEGA, WEIGHT, RNG.uniform(size=6), RNG.normal(size=(6, 5)))
RIGHT = RNG.normal(size=(7, 5))


def test_the_arguments_may_have_different_widths():
    assert (WIDE.dim, WIDE.dim_right, WIDE.n_frequencies) == (3, 5, 6)
    expected = [
        [
            sum(
                a * np.cos(w @ x - v @ y + p)
                for a, w, v, p in zip(WIDE.weight, WIDE.omega, WIDE.nu, WIDE.phase, strict=True)
            )
            for y in RIGHT
        ]
        for x in X
    ]
    assert_allclose(WIDE.gram(X, RIGHT), expected, atol=1e-12)
    left, right = WIDE.features(X), WIDE.features_right(RIGHT)
    assert_allclose((left * WIDE.signature) @ right.T, expected, atol=1e-12)
    assert not WIDE.is_symmetric
    assert WIDE.is_two_sided.all()
    twin = pickle.loads(pickle.dumps(WIDE))
    assert_array_equal(twin.gram(X, RIGHT), WIDE.gram(X, RIGHT))
    both = WIDE + WIDE.with_weights(2.0 * WEIGHT, np.zeros(6))
    assert (both.dim, both.dim_right) == (3, 5)
    assert_allclose(
        both.gram(X, RIGHT),
        WIDE.gram(X, RIGHT) + WIDE.with_weights(2.0 * WEIGHT, np.zeros(6)).gram(X, RIGHT),
    )
    for call in (WIDE.features, WIDE.gram):
        with pytest.raises(ValueError, match="X has 5 columns, the frequencies have 3 inputs"):
            call(RIGHT)
    with pytest.raises(ValueError, match="X has 3 columns, the frequencies have 5 inputs"):
        WIDE.features_right(X)


def test_frequencies_are_two_sided_one_by_one():
    phase = np.array([0.0, 0.3, 0.0, 0.0, -1.0, 0.0])
    nu = OMEGA.copy()
    nu[3, 1] += 1e-9
    assert_array_equal(Frequencies(OMEGA, WEIGHT, phase, nu).is_two_sided, [0, 1, 0, 1, 1, 0])
    same = Frequencies(OMEGA, WEIGHT, nu=OMEGA.copy())
    assert same.is_symmetric
    assert not F.is_two_sided.any()


def test_other_phases_keep_the_frequencies():
    phase = np.linspace(-1.0, 1.0, 6)
    again = GENERAL.with_weights(WEIGHT, phase)
    assert_array_equal(again.phase, phase)
    assert_array_equal(again.nu, GENERAL.nu)
    assert_array_equal(GENERAL.with_weights(2.0 * WEIGHT).phase, GENERAL.phase)
    assert F.with_weights(WEIGHT).is_symmetric


def test_other_widths_are_refused():
    with pytest.raises(ValueError, match="X has 2 columns, the frequencies have 3 inputs"):
        F.features(X[:, :2])


def test_only_frequencies_can_be_added():
    with pytest.raises(TypeError):
        F + 1.0
