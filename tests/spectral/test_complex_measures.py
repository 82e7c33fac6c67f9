"""The algebra of complex measures, and what they become when they are split or mapped."""

import numpy as np
import pytest
from laws.asymmetric_laws import vector
from numpy.testing import assert_allclose, assert_array_equal

from bochner import kernels, spectral, spectral_measure
from bochner.spectral.composite_laws import Convolution, Mapped
from bochner.spectral.measure import ByMass, HalfByMass
from bochner.spectral.schemes import resolve_scheme

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


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Gaussian(),
        kernels.Gaussian() - 0.5 * kernels.Matern(),
        kernels.Cauchy() * kernels.Gaussian(2.0),
        kernels.SpectralMixture([0.5, 1.5], [[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]], [0.4, 1.2]),
    ],
    ids=str,
)
def test_measures_without_phases_are_their_own_jordan_parts(kernel):
    measure = mu(kernel)
    assert measure.jordan() is measure
    assert isinstance(measure.allocation, HalfByMass)


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


def test_frequencies_of_jordan_parts_are_shared_by_mass():
    split = mu(COSH).jordan()
    counts = [len(part.weight) for part in split.sample_parts(100, 0)]
    masses = np.abs([part.mass for part in split.parts])
    assert np.abs(np.array(counts) - 1 - 97 * masses / masses.sum()).max() < 1.0


def test_maps_of_measures_are_maps_of_their_parts():
    left, right = np.random.default_rng(1).normal(size=(2, 4, 3))
    measure = mu(SHIFT + 2.0 * kernels.Matern())
    mapped = measure.mapped(left, right)
    assert [part.mass for part in mapped.parts] == [part.mass for part in measure.parts]
    assert all(isinstance(part.law, Mapped) for part in mapped.parts)
    assert (mapped.dim, mapped.mass) == (4, measure.mass)
    A, B = np.random.default_rng(2).normal(size=(2, 5, 4))
    inner, outer = measure.sample(30, 0), mapped.sample(30, 0)
    assert_allclose(outer.gram(A, B), inner.gram(A @ left, B @ right), atol=1e-12)
    assert (outer.dim, outer.dim_right) == (4, 4)


def test_the_total_variation_is_counted_by_the_least_number_of_parts():
    shift = kernels.ShiftGaussian(1.0, vector(3, 1.5))
    (part,) = mu(shift - shift.T).parts
    # Twice the mean of |sin t|, well below the two that the parts would have.
    t = 1.5 * np.random.default_rng(0).standard_normal(1_000_000)
    assert_allclose(part.mass, 2.0 * np.abs(np.sin(t)).mean(), rtol=3e-3)
    assert isinstance(mu(SHIFT * SINH), spectral.SpectralMeasure)
    assert all(isinstance(part.law, Convolution) for part in mu(SHIFT * SINH).parts)


@pytest.mark.parametrize("scheme", ["iid", "orthogonal", "qmc", "structured"])
def test_gaussian_frequencies_are_the_draw_of_their_law_bit_for_bit(scheme):

    found = mu(kernels.Gaussian((0.5, 1.0, 2.0))).sample(16, 7, scheme)
    (stream,) = np.random.default_rng(7).spawn(1)
    law = spectral.Isotropic(spectral.Chi(), 3, (0.5, 1.0, 2.0))
    assert_array_equal(found.omega, law.draw(16, stream, resolve_scheme(scheme)).omega)
    assert_array_equal(found.weight, 1.0 / 16)
    assert found.nu is found.omega
