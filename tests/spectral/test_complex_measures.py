"""The algebra of complex measures, and what they become when they are split or mapped."""

import numpy as np
import pytest
from laws.asymmetric_laws import vector
from numpy.testing import assert_allclose

from bochner import kernels, spectral, spectral_measure
from bochner.spectral.composite_laws import Convolution
from bochner.spectral.measure import ByMass

X, Y = np.random.default_rng(0).normal(size=(2, 5, 3)) / 2.0
SHIFT = kernels.ShiftGaussian(0.9, vector(3, 0.8))
SINH = kernels.SinhGaussian((0.8, 1.0, 1.2), vector(3, 1.1))
COSH = kernels.CoshGaussian(1.1, vector(3, -0.7))
KERNELS = [SHIFT, SINH, COSH]


def mu(kernel):
    return spectral_measure(kernel, 3)


@pytest.mark.parametrize("other", [SINH, COSH.T, kernels.Gaussian(), kernels.Cauchy()], ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_measures_of_sums_products_and_multiples_are_those_of_the_measures(kernel, other):
    assert mu(kernel + other) == mu(kernel) + mu(other)
    assert mu(kernel * other) == mu(kernel) * mu(other)
    assert mu(-2.5 * kernel) == -2.5 * mu(kernel) == mu(kernel) * -2.5
    assert_allclose((mu(kernel) + mu(other)).mass, mu(kernel).mass + mu(other).mass)
    assert_allclose((mu(kernel) * mu(other)).mass, mu(kernel).mass * mu(other).mass)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_transpose_has_the_conjugate_measure(kernel):
    (part,), (turned,) = mu(kernel).parts, mu(kernel.T).parts
    assert turned.mass == part.mass
    assert turned.law.shift == part.law.shift
    assert turned.law.factor == part.law.factor.reversed()
    # The same draws with opposite phases: the transposed matrix, up to rounding.
    forth, back = (mu(k).sample(32, 0) for k in (kernel, kernel.T))
    assert_allclose(back.gram(X, Y), forth.gram(Y, X).T, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_kernel_and_its_transpose_add_up_to_a_real_measure(kernel):
    measure = mu(0.5 * (kernel + kernel.T))
    assert not measure.sample(64, 0).phase.any()
    assert measure.total_variation <= mu(kernel).total_variation * (1.0 + 1e-12)
    assert_allclose(measure.mass, mu(kernel).mass)
    assert_allclose(mu(kernel - kernel.T).mass, 0.0, atol=1e-13)


@pytest.mark.parametrize("kernel", [*KERNELS, SHIFT * SINH, SHIFT + kernels.Gaussian()], ids=str)
def test_jordan_parts_are_real_or_imaginary_and_of_one_sign(kernel):
    split = mu(kernel).jordan()
    assert split.jordan() is split
    assert split.allocation == ByMass()
    assert_allclose(split.mass, mu(kernel).mass, rtol=1e-11)
    m = 40 * len(split.parts)
    sampled = split.sample_parts(m, 0)
    assert sum(len(part.weight) for part in sampled) == m
    for part, frequencies in zip(split.parts, sampled, strict=True):
        angles = np.exp(1j * frequencies.phase)
        assert min(np.abs(angles.imag).max(), np.abs(angles.real).max()) < 1e-12
        assert_allclose(frequencies.weight, part.mass / len(frequencies.weight))
    assert_allclose(sum(part.gram(X, Y) for part in sampled), split.sample(m, 0).gram(X, Y))


def test_the_total_variation_is_counted_by_the_least_number_of_parts():
    shift = kernels.ShiftGaussian(1.0, vector(3, 1.5))
    (part,) = mu(shift - shift.T).parts
    # Twice the mean of |sin t|, well below the two that the parts would have.
    t = 1.5 * np.random.default_rng(0).standard_normal(1_000_000)
    assert_allclose(part.mass, 2.0 * np.abs(np.sin(t)).mean(), rtol=3e-3)
    assert isinstance(mu(SHIFT * SINH), spectral.SpectralMeasure)
    assert all(isinstance(part.law, Convolution) for part in mu(SHIFT * SINH).parts)
