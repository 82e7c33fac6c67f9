"""Measures: allocation, limits and what they refuse."""

from functools import partial

import numpy as np
import pytest
from laws.registry import check_mean
from laws.sampling_laws import allocation
from numpy.testing import assert_allclose, assert_array_equal

from bochner import kernels, spectral_measure
from bochner.spectral import NoMeasureError

MASSES = (0.2, 5.0, 1.0)
MIXED = spectral_measure(
    sum((mass * kernels.Gaussian() for mass in MASSES[1:]), MASSES[0] * kernels.Gaussian()), 2
)
LAPLACE = spectral_measure(kernels.Laplacian(), 3)


@pytest.mark.parametrize("m", [6, 7, 10, 64, 1001])
def test_every_part_has_its_share(m):
    weight = MIXED.sample(m, 0).weight
    counts = allocation(MASSES, m)
    assert counts.sum() == m
    assert_allclose(weight, np.repeat(np.asarray(MASSES) / counts, counts))


@pytest.mark.thorough
def test_few_frequencies_choose_parts_in_proportion_to_mass():
    measure = spectral_measure(kernels.Gaussian(1e-6) + 3.0 * kernels.Gaussian(1e6), 1)
    streams = np.random.default_rng(0).spawn(2000)
    draws = np.array([measure.sample(3, stream).omega[:, 0] for stream in streams])
    weights = measure.sample(3, 0).weight
    assert_allclose(weights, 4.0 / 3.0)
    # Binomial with 6000 trials of chance 3/4: five standard deviations are 0.028.
    assert abs(np.mean(np.abs(draws) < 1.0) - 0.75) < 0.028


@pytest.mark.parametrize("scheme", ["iid", "orthogonal", "structured"])
def test_seeds_repeat_and_differ(scheme):
    mu = spectral_measure(kernels.Gaussian() * kernels.Matern(), 3)
    first, second, third = (mu.sample(10, seed, scheme).omega for seed in (1, 1, 2))
    assert_array_equal(first, second)
    assert not np.array_equal(first, third)


SIGNED = [
    (kernels.Gaussian() - kernels.Matern(), 0.0),
    (0.0 * kernels.Gaussian(), 0.0),
    (0.0 * (kernels.Gaussian() - kernels.Matern()), 0.0),
    (kernels.Gaussian() * (-2.0 * kernels.Matern()), -2.0),
    (kernels.Gaussian(0.5) - 3.0 * kernels.Laplacian() * kernels.Cauchy(), -2.0),
    (kernels.DeltaGaussian(0.5, 3.0), 0.0),
]


@pytest.mark.thorough_cases(r"Cauchy\(")
@pytest.mark.parametrize("m", [1, 3, 6, 64])
@pytest.mark.parametrize(("kernel", "at_zero"), SIGNED, ids=str)
def test_signed_measures_sum_to_the_kernel_at_zero(kernel, at_zero, m):
    measure = spectral_measure(kernel, 2)
    assert_allclose(measure.mass, at_zero, atol=1e-12)
    assert_allclose(measure.mass, kernel(np.zeros((1, 2)))[0, 0], atol=1e-12)
    weight = measure.sample(m, 0).weight
    assert len(weight) == m
    assert np.isfinite(weight).all()
    if m >= 2 * len(measure.parts):  # with fewer, parts are drawn at random
        assert_allclose(weight.sum(), at_zero, atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize(("m", "scheme"), [(3, "iid"), (64, "iid"), (64, "orthogonal")])
@pytest.mark.parametrize(("kernel", "at_zero"), SIGNED, ids=str)
def test_signed_measures_are_sampled_without_bias(kernel, at_zero, m, scheme):
    measure = spectral_measure(kernel, 2)
    lags = np.array([[0.1, 0.2], [0.7, -0.3], [1.0, 1.5]])
    values = np.array(
        [
            measure.sample(m, stream, scheme).gram(np.zeros((1, 2)), lags)[0]
            for stream in np.random.default_rng(m).spawn(500)
        ]
    )
    # 54 comparisons at a family-wise alpha of 1e-3.
    check_mean(values, kernel(np.zeros((1, 2)), lags)[0], 1e-3 / 54)


@pytest.mark.parametrize(
    ("kernel", "dim", "message"),
    [
        (kernels.Gaussian(), 0, "dim must be at least 1"),
        (kernels.Gaussian((1.0, 2.0)), 3, "2 entries, but the data have 3 inputs"),
        (kernels.SpectralMixture([1.0], [[0.0]], [1.0]), 2, "defined on 1 inputs"),
        (kernels.Anova(kernels.Gaussian(), (0.1, 0.2)), 3, "inclusion has 2 entries"),
    ],
)
def test_dimensions_that_do_not_fit_are_refused(kernel, dim, message):
    with pytest.raises(ValueError, match=message):
        spectral_measure(kernel, dim)


def test_what_is_no_kernel_has_no_measure():
    with pytest.raises(NoMeasureError, match="No spectral measure"):
        spectral_measure("gaussian", 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        *((partial(MIXED.sample, bad), ValueError, "at least 1") for bad in (0, -3)),
        *((partial(MIXED.sample, bad), TypeError, "positive integer") for bad in (2.5, True, "8")),
        (partial(LAPLACE.sample, 8, 0, "structured"), ValueError, "scheme='orthogonal'"),
        (lambda: MIXED * "mu", TypeError, "multiply|operand"),
        (lambda: MIXED + 1.0, TypeError, "operand"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
