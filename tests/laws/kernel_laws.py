"""What every kernel obeys."""

import copy
import pickle
from unittest import mock

import numpy as np
from laws.references import reference
from numpy.testing import assert_allclose, assert_array_equal

from bochner import kernels
from bochner._numerics import arrays


def check_closed_form(case):
    """The kernel is its formula."""
    X, Y = case.points(12), 1.7 * case.points(20)[12:]
    expected = reference(case.kernel, X[:, None, :] - Y[None, :, :])
    assert_allclose(case.kernel(X, Y), expected, rtol=1e-8, atol=1e-11)


def check_positive_definite(case):
    """The Gram matrix is symmetric without a negative eigenvalue."""
    K = case.kernel(case.points(40))
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1], eigenvalues[0]


def check_diagonal(case):
    """``diag`` is the Gram matrix's diagonal, the constant k(0)."""
    X = case.points()
    expected = reference(case.kernel, np.zeros((len(X), case.dim)))
    assert_allclose(case.kernel.diag(X), expected, rtol=1e-12)
    assert_allclose(np.diagonal(case.kernel(X)), expected, rtol=1e-12)


def check_stationary(case):
    """Shifting both arguments changes nothing."""
    X, Y = case.points(), case.points(5)[::-1]
    shift = np.linspace(0.5, 1.5, case.dim)
    assert_allclose(case.kernel(X + shift, Y + shift), case.kernel(X, Y), rtol=1e-10, atol=1e-12)


def check_chunked(case):
    """Blocks of rows give the whole Gram matrix."""
    X, Y = case.points(), case.points(7)
    whole = case.kernel(X, Y)
    with mock.patch.object(arrays, "_BLOCK_BYTES", 3 * whole.itemsize * len(Y)):
        assert_allclose(case.kernel(X, Y), whole, rtol=1e-12, atol=1e-14)


def check_inputs_untouched(case):
    """Read-only inputs will do, and stay as they are."""
    X = case.points()
    before = X.copy()
    X.flags.writeable = False
    case.kernel(X)
    case.kernel(X, X)
    assert_array_equal(X, before)


def check_value_object(case):
    """Pickled, copied and evaluated from its repr, a kernel is the same value."""
    kernel = case.kernel
    twins = [
        pickle.loads(pickle.dumps(kernel)),
        copy.deepcopy(kernel),
        eval(repr(kernel), {name: getattr(kernels, name) for name in kernels.__all__}),
    ]
    for twin in twins:
        assert twin == kernel, repr(twin)
        assert hash(twin) == hash(kernel)


def check_algebra(case):
    """Operators on kernels are operations on Gram matrices."""
    X, Y = case.points(), case.points(4)
    k, other = case.kernel, kernels.Matern(1.3)
    K, L = k(X, Y), other(X, Y)
    assert_allclose((k + other)(X, Y), K + L, rtol=1e-12, atol=1e-14)
    assert_allclose((k - other)(X, Y), K - L, rtol=1e-12, atol=1e-14)
    assert_allclose((k * other)(X, Y), K * L, rtol=1e-12, atol=1e-14)
    assert_allclose((2.5 * k)(X, Y), 2.5 * K, rtol=1e-12)
    assert_allclose((k * 2)(X, Y), 2.0 * K, rtol=1e-12)
    assert_allclose((-k)(X, Y), -K, rtol=1e-12)
    assert_allclose((k - 0.5 * other).diag(X), k.diag(X) - 0.5, rtol=1e-12)
    assert (k + other) + k == k + (other + k)
    assert (k * other) * k == k * (other * k)
    assert 2.0 * (3.0 * other) == 6.0 * other


CHECKS = (
    check_closed_form,
    check_positive_definite,
    check_diagonal,
    check_stationary,
    check_chunked,
    check_inputs_untouched,
    check_value_object,
    check_algebra,
)
