"""Kernels at their edges: limits, algebra, names, and what they refuse."""

import numpy as np
import pytest
from laws.references import reference
from numpy.testing import assert_allclose

from bochner import kernels
from bochner.kernels import (
    Anova,
    Cauchy,
    Exponential,
    Gaussian,
    Laplacian,
    Matern,
    RationalQuadratic,
    SpectralMixture,
)
from bochner.kernels.kernel_names import named_kernel

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(9, 3)), RNG.normal(size=(5, 3))
SCALES = (0.5, 1.0, 2.5)


@pytest.mark.thorough_cases(r"100\.0")
@pytest.mark.parametrize("nu", [1e2, 1e4, 1e6])
def test_matern_tends_to_gaussian(nu):
    # The first correction is of order 1 / nu.
    gap = np.abs(Matern(SCALES, nu=nu)(X) - Gaussian(SCALES)(X)).max()
    assert 1e-3 / nu < gap < 1.0 / nu


@pytest.mark.parametrize("nu", [29.0, 30.0, 31.0, 50.0])
@pytest.mark.parametrize("distance", [1e-12, 1e-3, 0.1, 1.0, 3.0])
def test_matern_is_smooth_across_its_expansions(nu, distance):
    kernel = Matern(1.0, nu=nu)
    lag = np.array([[distance]])
    assert_allclose(kernel([[0.0]], lag), reference(kernel, lag)[None], rtol=1e-7)


@pytest.mark.parametrize("nu", [0.01, 0.3, 1.5, 7.0, 200.0])
def test_matern_is_one_at_the_smallest_lags_and_zero_at_the_largest(nu):
    values = Matern(1.0, nu=nu)([[0.0]], [[0.0], [1e-300], [1e-30], [1e5]])[0]
    assert np.isfinite(values).all()
    assert values[0] == 1.0
    assert (np.diff(values) <= 1e-11).all()
    assert values[3] < 1e-12


def test_anova_with_every_input_is_the_product_and_with_none_the_constant():
    assert_allclose(Anova(Gaussian(SCALES), 1.0)(X), Gaussian(SCALES)(X), rtol=1e-12)
    assert_allclose(Anova(Exponential(SCALES), 1.0)(X), Laplacian(SCALES)(X), rtol=1e-12)
    assert_allclose(Anova(Matern(SCALES), 0.0)(X), 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "length_scale must be positive"),
        (lambda: Laplacian((1.0, -1.0)), "length_scale must be positive"),
        (lambda: Cauchy(np.nan), "length_scale must be finite"),
        (lambda: Gaussian(np.ones((2, 2))), "one number per input"),
        (lambda: Matern(nu=0.0), "nu must be positive"),
        (lambda: Matern(nu=np.inf), "nu must be positive and finite"),
        (lambda: RationalQuadratic(alpha=-1.0), "alpha must be positive"),
        (lambda: Anova(Gaussian(), 1.5), "inclusion must lie between 0 and 1"),
        (lambda: np.inf * Gaussian(), "finite number"),
        (lambda: SpectralMixture([1.0], [[0.0]], [-1.0]), "positive semi-definite"),
        (lambda: SpectralMixture([0.0], [[0.0]], [1.0]), "weights must be positive"),
        (lambda: SpectralMixture([1.0], [0.0], [1.0]), "weights must have shape"),
        (lambda: SpectralMixture([1.0], [[0.0, 0.0]], [[1.0]]), "covariances must have shape"),
        (lambda: SpectralMixture([1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.0, 1.0]]]), "symmetric"),
        (lambda: Gaussian((1.0, 2.0))(X), "2 entries, but the data have 3 inputs"),
        (lambda: Anova(Gaussian(), (0.5, 0.5))(X), "inclusion has 2 entries"),
        (lambda: SpectralMixture([1.0], [[0.0]], [1.0])(X), "defined on 1 inputs"),
        (lambda: (Gaussian((1.0, 2.0)) + Cauchy())(X), "2 entries"),
        (lambda: (Cauchy() * Gaussian((1.0, 2.0)))(X), "2 entries"),
        (lambda: (2.0 * Gaussian((1.0, 2.0)))(X), "2 entries"),
        (lambda: Gaussian()(X, Y[:, :2]), "3 columns and Y has 2"),
        (lambda: Gaussian()([[np.nan]]), "NaN"),
        (lambda: named_kernel("gausian"), "Did you mean 'gaussian'"),
        (lambda: named_kernel("?"), "Names: gaussian"),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Matern(nu="2"),
        lambda: RationalQuadratic(alpha=True),
        lambda: Anova(Gaussian() + Cauchy(), 0.5),
        lambda: Gaussian() + 1.0,
        lambda: Gaussian() - "k",
        lambda: Gaussian() * "k",
        lambda: kernels.Kernel(),
        lambda: kernels.Correlation(1.0),
    ],
)
def test_bad_types_are_refused(make):
    with pytest.raises(TypeError):
        make()
