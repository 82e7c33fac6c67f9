"""Parameters at the ends of their ranges, and members that are no kernels."""

import numpy as np
import pytest

from bochner import FourierFeatures, kernels

X = np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize("nu", [1e6, 1.1e7, 1e12, 1e300])
def test_a_smooth_matern_is_gaussian(nu):
    exact = kernels.Gaussian(1.0)(X)
    bound = 0.5 / nu + 1e-6  # The first term of the difference is (u² - u⁴ / 4) e^(-u²/2) / 2 nu
    np.testing.assert_allclose(kernels.Matern(1.0, nu=nu)(X), exact, atol=bound)


@pytest.mark.parametrize("far", [1e5, 1e150])
def test_a_smooth_matern_ends(far):
    assert kernels.Matern(1.0, nu=1e300)([[0.0]], [[far]]) == 0.0


@pytest.mark.parametrize("tau", [1e-310, 1e-160, 1e160, 1e300])
def test_a_delta_gaussian_of_any_width(tau):
    with np.errstate(all="raise", under="ignore", over="ignore"):
        values = kernels.DeltaGaussian(1.0, tau)(X)
    other = np.ones((30, 30)) if tau > 1.0 else np.eye(30)
    np.testing.assert_allclose(values, kernels.Gaussian(1.0)(X) - other, atol=1e-12)


@pytest.mark.parametrize("kind", [kernels.Sum, kernels.Product])
def test_a_compound_has_kernels(kind):
    for members in ((), [], None):
        with pytest.raises(ValueError, match="at least one kernel"):
            kind(members)
    with pytest.raises(TypeError, match="made of kernels"):
        kind((kernels.Gaussian(1.0), np.dot))
    both = [kernels.Gaussian(1.0), kernels.Cauchy(1.0)]
    assert kind(both) == kind(tuple(both))


def test_what_is_scaled_or_transposed_is_a_kernel():
    with pytest.raises(TypeError, match="made of kernels"):
        kernels.Scaled(None, 2.0)
    with pytest.raises(TypeError, match="made of kernels"):
        kernels.Transposed(np.dot)
    for factor in ("2", 1j, None, [1.0]):
        with pytest.raises(TypeError, match="real number"):
            kernels.Scaled(kernels.Gaussian(1.0), factor)


@pytest.mark.parametrize("kernel", [kernels.Gaussian(1.0), 2.0 * kernels.Gaussian(1.0)])
def test_a_factor_fits_into_a_float(kernel):
    with pytest.raises(ValueError, match="scaled by a finite number only"):
        2**2000 * kernel


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-40, 1e-20, 1e-14])
def test_features_of_a_shift_that_is_nearly_nothing(size):
    """Their measure was lost between the nodes of a quadrature."""
    for kernel in (kernels.ShiftGaussian(1.0, size), kernels.CoshGaussian(1.0, size)):
        features = FourierFeatures(kernel, 4096, scheme="iid", random_state=0).fit(X)
        left, right = features.transform(X), features.transform_right(X)
        np.testing.assert_allclose(left @ right.T, kernels.Gaussian(1.0)(X), atol=0.1)


def test_a_shift_is_squared():
    with pytest.raises(ValueError, match=r"shift must be at most 1e\+150 in size"):
        kernels.ShiftGaussian(1.0, (0.0, 1e300))
