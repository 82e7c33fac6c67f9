"""Parameters at the ends of their ranges, and members that are no kernels."""

import numpy as np
import pytest

from bochner import FourierFeatures, kernels

X = np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize("tau", [1e-310, 1e-160, 1e160, 1e300])
def test_a_delta_gaussian_of_any_width(tau):
    with np.errstate(all="raise", under="ignore", over="ignore"):
        values = kernels.DeltaGaussian(1.0, tau)(X)
    other = np.ones((30, 30)) if tau > 1.0 else np.eye(30)
    np.testing.assert_allclose(values, kernels.Gaussian(1.0)(X) - other, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-40, 1e-20, 1e-14])
def test_features_of_a_shift_that_is_nearly_nothing(size):
    """Their measure was lost between the nodes of a quadrature."""
    for kernel in (kernels.ShiftGaussian(1.0, size), kernels.CoshGaussian(1.0, size)):
        features = FourierFeatures(kernel, 4096, scheme="iid", random_state=0).fit(X)
        left, right = features.transform(X), features.transform_right(X)
        np.testing.assert_allclose(left @ right.T, kernels.Gaussian(1.0)(X), atol=0.1)
