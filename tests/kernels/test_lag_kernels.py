"""Any function of the lag."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

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
