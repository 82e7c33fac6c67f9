"""Sampled features of finite sums of waves with amplitudes, against the sums."""

import numpy as np
import pytest
from laws.references import reference_gram
from laws.registry import check_mean

from bochner import FourierFeatures, kernels, spectral_measure
from bochner.spectral.schemes import SCHEMES

RNG = np.random.default_rng(0)
KERNEL = kernels.Harmonizable(
    [[0.4, 0.0], [0.5, 0.5], [0.7, 0.7], [0.3, 0.3]],
    [
        [[1.0, 0.0], [1.0, 0.0]],
        [[-1.5, 0.15], [-2.5, 0.85]],
        [[1.65, 3.15], [-0.85, 2.85]],
        [[0.3, 0.0], [-0.3, 0.0]],
    ],
    phases=[[0.9, 0.0], [0.4, -0.4], [-1.2, 1.2], [2.0, -2.0]],
)
X, Y = RNG.normal(size=(2, 4, 2))
FAMILY_ALPHA = 1e-3


def assert_unbiased(kernel, expected, scheme, n_draws=400, m=8):
    measure = spectral_measure(kernel, 2)
    rng = np.random.default_rng(1)
    grams = np.array([measure.sample(m, rng, scheme).gram(X, Y) for _ in range(n_draws)])
    check_mean(grams, expected, FAMILY_ALPHA / (expected.size * 2 * len(SCHEMES)))


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", [*SCHEMES])
def test_waves_are_drawn_without_bias(scheme):
    assert_unbiased(KERNEL, reference_gram(KERNEL, X, Y), scheme)


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", [*SCHEMES])
def test_so_are_products_with_stationary_kernels(scheme):
    kernel = KERNEL * kernels.Gaussian(1.3)
    expected = reference_gram(KERNEL, X, Y) * kernels.Gaussian(1.3)(X, Y)
    assert_unbiased(kernel, expected, scheme)


@pytest.mark.parametrize(
    "kernel",
    [KERNEL * KERNEL, kernels.Bilinear(KERNEL, np.eye(2), 2.0 * np.eye(2))],
    ids=["product", "two maps"],
)
def test_what_has_no_such_features_says_so(kernel):
    with pytest.raises(NotImplementedError, match="no sampled features"):
        FourierFeatures(kernel, 40, random_state=0).fit(X)
