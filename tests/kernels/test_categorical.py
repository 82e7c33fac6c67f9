"""Kernels of codes, periodic and linear kernels: limits, other libraries, refusals."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.gaussian_process import kernels as theirs

from bochner import KreinRidge, spectral_measure
from bochner.kernels import Categorical, Constant, Linear, Ordinal, Periodic

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(15, 1)), RNG.normal(size=(8, 1))
CODES = RNG.integers(0, 5, size=(30, 2)).astype(float)


@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [
        (Periodic(0.7, 1.3), theirs.ExpSineSquared(length_scale=1.3, periodicity=0.7)),
        (
            2.5 * Linear() + Constant(0.49),
            2.5 * theirs.DotProduct(0.0) + theirs.ConstantKernel(0.49),
        ),
        (Linear() + Constant(4.0), theirs.DotProduct(sigma_0=2.0)),
    ],
)
def test_scikit_learn_has_the_same(kernel, theirs):
    assert_allclose(kernel(X, Y), theirs(X, Y), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_levels", [1, 2, 3, 4, 5, 12])
@pytest.mark.parametrize(
    "make", [lambda n: Categorical(0.3, n_levels=n), lambda n: Ordinal(n_levels=n)]
)
def test_levels_have_as_many_features_as_they_need(make, n_levels):
    codes = np.arange(float(n_levels))[:, None]
    mu = spectral_measure(make(n_levels), 1)
    (part,) = mu.parts
    assert part.law.n_atoms <= max(n_levels, 1)
    gram = mu.sample(part.law.n_atoms, np.random.default_rng(0)).gram(codes)
    assert_allclose(gram, make(n_levels)(codes), atol=1e-12)


def test_the_least_correlation_of_levels_has_a_constant_sum():
    # Effects of correlation -1 / (L - 1) sum to zero: no mass at frequency zero.
    (part,) = spectral_measure(Categorical(-1.0 / 4.0, n_levels=5), 1).parts
    assert abs(part.law.probability[0]) < 1e-12
    with pytest.raises(ValueError, match=r"not positive definite with 6 levels.*-0.2"):
        spectral_measure(Categorical(-0.25, n_levels=6), 1)


@pytest.mark.parametrize("kind", [Categorical, Ordinal])
def test_codes_are_checked(kind):
    k = kind(n_levels=5)
    k(CODES)
    for bad, message in (
        ([[0.5, 1.0]], "takes codes 0, 1, 2.*got 0.5.*OrdinalEncoder"),
        ([[-1.0, 1.0]], "got -1"),
        ([[1.0 + 1e-9, 1.0]], "got 1.000000001"),
        ([[0.0, 5.0]], "has no level 5.*n_levels=6 or more"),
    ):
        with pytest.raises(ValueError, match=message):
            k(CODES, bad)
        with pytest.raises(ValueError, match=message):
            k(bad)
        with pytest.raises(ValueError, match=message):
            k.check_inputs(sparse.csr_matrix(bad))
    k.check_inputs(sparse.csr_matrix(CODES))
    with pytest.raises(ValueError, match="n_levels has 3 entries, but the data have 2"):
        kind(n_levels=[5, 5, 5])(CODES)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Categorical(1.5), ValueError, "between -1 and 1"),
        (lambda: Categorical("a"), ValueError, "correlation"),
        (lambda: Categorical(n_levels=0), ValueError, "at least 1"),
        (lambda: Ordinal(n_levels=2.5), TypeError, "n_levels must be a positive integer"),
        (lambda: Ordinal(-1.0), ValueError, "length_scale must be positive"),
        (lambda: Periodic(0.0), ValueError, "period must be positive"),
        (lambda: Periodic((1.0, 2.0))(X), ValueError, "period has 2 entries"),
        (lambda: Linear(-1.0), ValueError, "variance must be positive"),
        (lambda: Linear(reach=0.0), ValueError, "reach must be positive"),
        (lambda: Constant(np.inf), ValueError, "value must be finite"),
        (lambda: spectral_measure(Linear(), 2), ValueError, "give reach"),
        (lambda: spectral_measure(Ordinal(), 2), ValueError, "give n_levels"),
        (
            lambda: spectral_measure(Ordinal(n_levels=10**9), 1),
            ValueError,
            "at most 1048576 levels",
        ),
        (
            lambda: KreinRidge(Categorical()).fit([[0.0], [1.0], [1e9]], [0.0, 1.0, 2.0]),
            ValueError,
            r"X has the code 1e\+09. Number the levels that occur",
        ),
        (lambda: spectral_measure(Linear(reach=1e150), 1), ValueError, "overflow.*Scale X"),
        (lambda: spectral_measure(Periodic(1.0, 1e-4), 1), ValueError, "at least 0.001"),
    ],
)
def test_parameters_are_checked(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_short_periodic_length_scales_are_exact_too():
    k = Periodic(2.0, 1e-3)
    (part,) = spectral_measure(k, 1).parts
    lag = np.linspace(0.0, 1e-3, 7)[:, None]
    found = np.cos(lag * part.law.omega[:, 0]) @ part.law.probability
    assert_allclose(found, k(np.zeros((1, 1)), lag)[0], atol=1e-10)


def test_rows_far_outside_of_the_reach_are_warned_of():
    model = KreinRidge(Linear(), 8, random_state=0).fit(X, X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(1e3 * X)
    with pytest.warns(UserWarning, match="more than 10000 times as far from the centre as reach"):
        model.predict([[1e6]])


def test_more_products_of_lines_than_one_law_has_are_drawn():
    k = Periodic(1.0, 0.05) * Periodic(0.3, 0.05)
    (part,) = spectral_measure(k, 1).parts
    assert part.law.n_atoms is None
    streams = np.random.default_rng(0).spawn(200)
    mu = spectral_measure(k, 1)
    lag = np.array([[0.004], [0.01], [0.3]])
    values = np.array([mu.sample(16, stream, "iid").gram([[0.0]], lag)[0] for stream in streams])
    error = values.std(axis=0, ddof=1) / np.sqrt(200)
    assert np.abs((values.mean(axis=0) - k([[0.0]], lag)[0]) / error).max() < 4.5
