"""Any function of the lag."""

import pickle
import tracemalloc
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner._base import limits
from bochner.kernels import Gaussian, ShiftGaussian, Stationary

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 3)), RNG.normal(size=(5, 3))


def shifted(delta):
    return np.exp(-0.5 * ((delta + 0.4) ** 2).sum(axis=-1))


def even(delta):
    return np.exp(-0.5 * (delta**2).sum(axis=-1))


def almost_even(delta):
    return even(delta) * (1.0 + 1e-4 * np.tanh(delta[..., 0]))


def test_it_is_the_function_of_the_difference_left_minus_right():
    kernel = Stationary(shifted)
    expected = [[shifted(x - y) for y in Y] for x in X]
    assert_allclose(kernel(X, Y), expected, rtol=1e-13)
    assert_allclose(kernel(X, Y), ShiftGaussian(1.0, 0.4)(X, Y), rtol=1e-12)
    assert_allclose(kernel.diag(X), np.exp(-0.5 * 3 * 0.16), rtol=1e-13)
    assert not kernel.is_symmetric


@pytest.mark.parametrize("shape", [(3,), (1, 3), (7, 3), (2, 4, 3), (0, 3)])
def test_values_at_lags_of_any_shape(shape):
    delta = RNG.normal(size=shape)
    before = delta.copy()
    values = Stationary(shifted).at_lags(delta)
    assert values.shape == shape[:-1]
    assert_allclose(values, shifted(delta))
    assert_array_equal(delta, before)


def test_functions_may_overwrite_their_argument_and_return_any_real_dtype():
    def in_place(delta):
        delta += 0.4
        delta *= delta
        return np.exp(-0.5 * delta.sum(axis=-1))

    assert_allclose(Stationary(in_place)(X, Y), Stationary(shifted)(X, Y), rtol=1e-13)
    assert_array_equal(Stationary(lambda delta: delta[..., 0] > 0)(X).dtype, np.float64)
    assert_allclose(Stationary(lambda d: even(d).astype("f4"), True)(X), Gaussian()(X), rtol=1e-6)


def test_few_lags_are_in_memory_at_once():
    # 1,000 by 1,000 lags of 64 inputs would take 512 MB.
    rows = RNG.normal(size=(1000, 64))
    sizes = []

    def counted(delta):
        sizes.append(delta.nbytes)
        return delta[..., 0]

    tracemalloc.start()
    K = Stationary(counted)(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(sizes) <= 2**25
    assert peak < K.nbytes + 2**26
    assert_array_equal(K, np.subtract.outer(rows[:, 0], rows[:, 0]))


def test_one_row_may_have_more_lags_than_fit():
    rows = RNG.normal(size=(4, 3))
    many = RNG.normal(size=(50, 3))
    whole = Stationary(shifted)(rows, many)
    sizes = []

    def counted(delta):
        sizes.append(delta.nbytes)
        return shifted(delta)

    with mock.patch.object(limits, "BLOCK_BYTES", 10 * rows.nbytes // 4):
        assert_array_equal(Stationary(counted)(rows, many), whole)
    assert max(sizes) <= 10 * rows.nbytes // 4


def test_a_promise_kept_makes_it_symmetric():
    kernel = Stationary(even, symmetric=True)
    assert kernel.is_symmetric
    assert kernel.T is kernel
    assert_allclose(kernel(X, Y), Gaussian()(X, Y), rtol=1e-12)
    assert repr(kernel) == "Stationary(even, symmetric=True)"
    assert Stationary(even) != kernel
    assert Stationary(lambda delta: 0.0 * delta[..., 0], True)(X).max() == 0.0


@pytest.mark.parametrize("function", [shifted, almost_even])
@pytest.mark.parametrize("n", [2, 9, 300])
def test_a_promise_broken_is_noticed(function, n):
    kernel = Stationary(function, symmetric=True)
    rows = RNG.normal(size=(n, 3))
    message = r"returned 0\.\d+ at the lag \[.*\] and 0\.\d+ at its opposite, .* symmetric=False"
    with pytest.raises(ValueError, match=message):
        kernel(rows)
    with pytest.raises(ValueError, match=message):
        kernel(rows[:1], rows[1:])


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_a_promise_is_checked_relative_to_the_values(unit):
    def rounded(delta):
        return unit * even(delta) * (1.0 + 1e-12 * np.tanh(delta[..., 0]))

    assert_allclose(Stationary(rounded, True)(X, Y), unit * Gaussian()(X, Y), rtol=1e-11)
    with pytest.raises(ValueError, match="the kernel is not symmetric"):
        Stationary(lambda delta: unit * almost_even(delta), True)(X, Y)


def test_functions_compare_by_identity_and_pickle_by_name():
    assert Stationary(shifted) == Stationary(shifted) != Stationary(even)
    assert hash(Stationary(shifted)) == hash(Stationary(shifted))
    assert pickle.loads(pickle.dumps(Stationary(np.linalg.norm))) == Stationary(np.linalg.norm)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda d: d, r"turned shape \(81, 3\) into \(81, 3\)\. .* numpy\.vectorize\(fun"),
        (lambda d: 1.0, r"turned shape \(81, 3\) into \(\)"),
        (lambda d: d.sum(axis=0), r"into \(3,\)"),
        (lambda d: d[..., 7], r"Stationary\(<lambda>\) failed: .*with an array of lags"),
        (lambda d: abs(d[0]) if d[0] > 0 else 0.0, "failed: .*signature"),
        (lambda d: np.exp(1j * d[..., 0]), "real numbers, got complex128"),
        (lambda d: d[..., 0].astype(str), "real numbers, got <U"),
        (lambda d: np.sqrt(d[..., 0]), r"returned nan at the lag \[-\d\.\d+, -?\d\.\d+, -?\d\."),
        (lambda d: 1.0 / d[..., 0], r"inf at the lag \[0\.0, 0\.0, 0\.0\]; it must be fin"),
    ],
)
def test_bad_functions_are_refused(function, message):
    with pytest.raises(ValueError, match=message):
        Stationary(function)(X)


def test_the_diagonal_and_the_arguments_are_checked_too():
    with pytest.raises(ValueError, match=r"returned inf at the lag \[0\.0, 0\.0, 0\.0\]"):
        Stationary(lambda d: 1.0 / np.abs(d).sum(axis=-1)).diag(X)
    with pytest.raises(TypeError, match=r"needs a function from arrays to arrays, got 1\.0"):
        Stationary(1.0)
    with pytest.raises(TypeError, match="symmetric must be True or False, got 1"):
        Stationary(even, symmetric=1)
