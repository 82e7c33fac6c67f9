"""What every kernel obeys."""

import copy
import pickle
from unittest import mock

import numpy as np
from laws.references import reference_gram
from laws.registry import FUNCTIONS
from numpy.testing import assert_allclose, assert_array_equal

from bochner import kernels
from bochner._base import limits

_CLASSES = {name: getattr(kernels, name) for name in kernels.__all__}
"""Classes that the repr of a kernel names."""


def check_closed_form(case):
    """The kernel is its formula."""
    X, Y = case.points(12), case.points(20, spread=1.7)[12:]
    assert_allclose(case.kernel(X, Y), reference_gram(case.kernel, X, Y), rtol=1e-8, atol=1e-11)


def check_eigenvalues(case):
    """The Gram matrix is symmetric; it has a negative eigenvalue if the kernel is indefinite."""
    K = case.kernel(case.points(40 if case.definite else 200))
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-14)
    eigenvalues = np.linalg.eigvalsh(K)
    if case.definite:
        assert eigenvalues[0] > -1e-12 * eigenvalues[-1], eigenvalues[0]
    else:
        assert eigenvalues[0] < -1e-3 * np.abs(eigenvalues).max(), eigenvalues[0]


def check_asymmetric(case):
    """The kernel's values change when the arguments are exchanged, and it says so."""
    X, Y = case.points(12), case.points(20, spread=1.7)[12:]
    forth, back = case.kernel(X, Y), case.kernel(Y, X).T
    assert not case.kernel.is_symmetric
    assert np.abs(forth - back).max() > 1e-2 * np.abs(forth).max()
    assert_allclose(case.kernel.T(X, Y), back, rtol=1e-10, atol=1e-12)


def check_diagonal(case):
    """``diag`` is the Gram matrix's diagonal."""
    X = case.points()
    expected = np.diagonal(reference_gram(case.kernel, X, X))
    assert_allclose(case.kernel.diag(X), expected, rtol=1e-12)
    assert_allclose(np.diagonal(case.kernel(X)), expected, rtol=1e-12)


def check_constant_diagonal(case):
    """A function of a distance is the same at every input with itself, to the last bit."""
    assert len(np.unique(np.diagonal(case.kernel(case.points())))) == 1


def check_stationary(case):
    """Shifting both arguments changes nothing."""
    X, Y = case.points(), case.points(5)[::-1]
    shift = np.linspace(0.5, 1.5, case.dim)
    assert_allclose(case.kernel(X + shift, Y + shift), case.kernel(X, Y), rtol=1e-10, atol=1e-12)


def check_chunked(case):
    """Blocks of rows give the whole Gram matrix."""
    X, Y = case.points(), case.points(7)
    whole = case.kernel(X, Y)
    with mock.patch.object(limits, "BLOCK_BYTES", 3 * whole.itemsize * len(Y)):
        assert_allclose(case.kernel(X, Y), whole, rtol=1e-12, atol=1e-14 * np.abs(whole).max())


def check_inputs_untouched(case):
    """Read-only inputs will do, and stay as they are."""
    X = case.points()
    before = X.copy()
    X.flags.writeable = False
    case.kernel(X)
    case.kernel(X, X)
    assert_array_equal(X, before)


def check_value_object(case):
    """Pickled, copied and evaluated from a short repr, a kernel is the same value."""
    kernel = case.kernel
    twins = [pickle.loads(pickle.dumps(kernel)), copy.deepcopy(kernel)]
    if "..." not in repr(kernel):  # A long repr is shortened
        twins.append(eval(repr(kernel), FUNCTIONS | _CLASSES))
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


def check_domain(case):
    """Inputs outside the domain are refused on either side, and by every combination."""
    good = case.points(3)
    bad = np.vstack([good, -2.0 * good[:1]])
    other = kernels.Gaussian()
    for kernel in (case.kernel, other + case.kernel, case.kernel * other, -2.0 * case.kernel):
        assert _refused(kernel.check_inputs, bad)
        assert _refused(kernel, bad)
        assert _refused(kernel, bad, good)
        assert _refused(kernel, good, bad)
        assert _refused(kernel.diag, bad)
        kernel.check_inputs(good)


def _refused(call, *inputs):
    try:
        call(*inputs)
    except ValueError as error:
        return "row 3 has" in str(error)
    return False


def check_profile(case):
    """A kernel is its profile of the pairs, for numbers of any shape, which stay as they are."""
    X, Y = case.points(4), case.points(9)[4:]
    t = case.kernel.metric.pairs(X, Y)
    before = t.copy()
    value = case.kernel.profile(t)
    assert not np.shares_memory(value, t)
    assert_array_equal(t, before)
    assert_allclose(value, case.kernel(X, Y), rtol=1e-12, atol=1e-14)
    for shape in ((20,), (2, 5, 2)):
        assert_array_equal(case.kernel.profile(t.reshape(shape)), value.reshape(shape))
    assert case.kernel.profile(np.empty(0)).shape == (0,)


EVERY = (
    check_closed_form,
    check_eigenvalues,
    check_diagonal,
    check_chunked,
    check_inputs_untouched,
    check_value_object,
    check_algebra,
)
"""Laws of all kernels."""

ASYMMETRIC = (check_asymmetric, *(check for check in EVERY if check is not check_eigenvalues))
"""Laws of kernels whose arguments cannot be exchanged."""

CHECKS = (*EVERY, check_stationary, check_constant_diagonal)
"""Laws of stationary kernels."""
