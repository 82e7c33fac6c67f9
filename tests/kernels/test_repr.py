"""Kernels are shown in a few lines, however many numbers they hold."""

import numpy as np
import pytest

from bochner import kernels

RNG = np.random.default_rng(0)
LARGE = [
    kernels.Gaussian(tuple(RNG.uniform(size=500).tolist())),
    kernels.SpectralMixture(
        RNG.uniform(size=200).tolist(),
        RNG.normal(size=(200, 10)).tolist(),
        RNG.uniform(1.0, 2.0, size=(200, 10)).tolist(),
    ),
    kernels.Sum(tuple(kernels.Gaussian(float(i)) for i in range(1, 400))),
    kernels.Product(tuple(kernels.Gaussian(float(i)) for i in range(1, 400))),
    kernels.Gaussian().on(list(range(300))),
]


@pytest.mark.parametrize("kernel", LARGE, ids=lambda kernel: type(kernel).__name__)
def test_large_kernels_are_shown_in_a_few_lines(kernel):
    assert len(repr(kernel)) < 1000
    assert "..." in repr(kernel)


def test_small_kernels_are_shown_as_they_are_written():
    for text in (
        "Gaussian(length_scale=(0.5, 1.0))",
        "NTK()",
        "2.0 * Matern(length_scale=1.0, nu=2.5) + White(noise=0.1)",
        "Gaussian(length_scale=1.0) * Periodic(period=2.0, length_scale=1.0)",
        "SpectralMixture(weights=(0.5, 0.5), means=((0.0,), (4.0,)), covariances=(0.5, 0.1))",
    ):
        kernel = eval(text, vars(kernels))
        assert repr(kernel) == text
        assert eval(repr(kernel), vars(kernels)) == kernel
