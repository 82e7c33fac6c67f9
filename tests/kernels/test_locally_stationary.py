"""Locally stationary kernels, and when Gaussian ones are positive definite."""

import numpy as np
import pytest

from bochner.kernels import Gaussian, LocallyStationary, Matern, Polynomial, ShiftGaussian

X = np.random.default_rng(0).normal(size=(20, 2))


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (ShiftGaussian(), "symmetric, positive definite function of the lag"),
        (Polynomial(2), "function of the lag"),
        (-1.0 * Gaussian(), "function of the lag"),
        (Gaussian() - Matern(), "function of the lag"),
        (LocallyStationary(Gaussian(), Gaussian()), "function of the lag"),
    ],
    ids=repr,
)
def test_other_factors_are_refused(factor, message):
    with pytest.raises(ValueError, match=f"envelope must be a {message}|{message}"):
        LocallyStationary(factor, Gaussian())
    with pytest.raises(ValueError, match="stationary must be"):
        LocallyStationary(Gaussian(), factor)


def test_what_is_no_kernel_is_refused():
    with pytest.raises(TypeError, match=r"envelope must be a kernel.*got 'gaussian'"):
        LocallyStationary("gaussian", Gaussian())
    with pytest.raises(ValueError, match="centre must be finite"):
        LocallyStationary(Gaussian(), Gaussian(), np.nan)
    with pytest.raises(ValueError, match="centre has 3 entries"):
        LocallyStationary(Gaussian(), Gaussian(), (1.0, 2.0, 3.0))(X)
    with pytest.raises(ValueError, match="length_scale has 3 entries"):
        LocallyStationary(Gaussian(), Gaussian((1.0, 2.0, 3.0))).diag(X)


def least_eigenvalue(k, rows):
    values = np.linalg.eigvalsh(k(rows))
    return values[0] / np.abs(values).max()


@pytest.mark.parametrize("dim", [1, 2, 4])
def test_gaussian_factors_are_decided_by_the_length_scales(dim):
    rng = np.random.default_rng(dim)
    scales = rng.uniform(0.5, 2.0, dim)
    for ratio, holds in ((1.99, True), (2.0, True), (5.0, False)):
        # The last input decides.
        stationary = scales * np.where(np.arange(dim) == dim - 1, ratio, 1.0)
        k = LocallyStationary(Gaussian(scales), Gaussian(stationary), 0.5)
        for spread in (0.3, 1.0, 3.0) if holds else ():
            rows = 0.5 + spread * rng.normal(size=(40, dim))
            assert least_eigenvalue(k, rows) > -1e-10
        if ratio == 5.0:
            assert least_eigenvalue(k, 0.5 + 3.0 * rng.normal(size=(40, dim))) < -1e-4
