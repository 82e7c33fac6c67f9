"""Factors of Gaussian measures and their exact masses, against quadrature and limits."""

import numpy as np
import pytest
from laws import phase_factor_laws as laws
from laws.phase_factor_laws import MODULATIONS, SPREADS, corners, density, normal_integral
from numpy.testing import assert_allclose

from bochner.spectral.shifted_gaussian import Component, PhaseFactor

T = np.linspace(-9.0, 9.0, 1001)
NAMES = sorted(MODULATIONS)
mean_abs_cosine = PhaseFactor(0.0, 1.0, 0.0).real_variation
mean_abs_sine = PhaseFactor(0.0, 0.0, 1.0).imaginary_variation


def values(factor, t):
    return factor.real(t) + 1j * factor.imaginary(t)


@pytest.mark.thorough_cases(but="polar|positive")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("component", list(Component), ids=lambda c: c.value)
def test_masses_are_those_of_quadrature(component, name):
    laws.check_masses(component, MODULATIONS[name])


# Beyond the first zero of the cosine the mass begins to count at spreads below one half.
@pytest.mark.parametrize("s", [*SPREADS, 0.15, 0.2, 0.2 - 1e-12, 0.25, 0.35, 0.45, 0.6, 3.0, 7.7])
def test_mean_sizes_of_cosines_and_sines_are_those_of_quadrature(s):
    points = corners(MODULATIONS["shift"], 11.0 * s)
    for mean, function in ((mean_abs_cosine, np.cos), (mean_abs_sine, np.sin)):
        expected = normal_integral(lambda t, f=function: abs(f(t)), s, points)
        assert_allclose(mean(s), expected, rtol=1e-11 if 0.1 < s < 1.0 else 1e-10, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_without_spread_all_mass_is_at_zero(name):
    factor = MODULATIONS[name]
    at_zero = factor.constant + factor.cosine
    for s in (0.0, 1e-9):
        assert_allclose(factor.mean(s), at_zero, atol=1e-14)
        assert_allclose(factor.variation(s), abs(at_zero), atol=1e-8)
        assert_allclose(Component.POSITIVE.mass(factor, s), max(at_zero, 0.0), atol=1e-8)
        assert_allclose(Component.NEGATIVE.mass(factor, s), max(-at_zero, 0.0), atol=1e-8)
        assert_allclose(Component.IMAGINARY.mass(factor, s), 0.0, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("s", [0.0, 0.3, 1.0, 3.0])
def test_the_mean_is_the_difference_of_the_real_masses(name, s):
    factor = MODULATIONS[name]
    positive, negative = (part.mass(factor, s) for part in (Component.POSITIVE, Component.NEGATIVE))
    expected = factor.constant + factor.cosine * np.exp(-0.5 * s**2)
    assert_allclose(positive - negative, expected, atol=1e-12)
    parts = positive + negative + Component.IMAGINARY.mass(factor, s)
    assert factor.variation(s) <= parts * (1.0 + 1e-12)
    assert factor.variation(s) >= np.hypot(
        positive + negative, Component.IMAGINARY.mass(factor, s)
    ) * (1.0 - 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("component", list(Component), ids=lambda c: c.value)
def test_densities_are_those_of_the_definition_and_reach_their_bound(component, name):
    factor = MODULATIONS[name]
    value = component.density(factor, T)
    assert_allclose(value, [density(component, factor, t) for t in T], atol=1e-14)
    assert value.max() <= component.bound(factor) * (1.0 + 1e-12)
    assert_allclose(value.max(), component.bound(factor), rtol=1e-3, atol=1e-12)


@pytest.mark.parametrize("seed", range(50))
def test_bounds_of_any_factor_are_reached(seed):
    factor = PhaseFactor(*np.random.default_rng(seed).normal(size=3))
    t = np.linspace(0.0, np.pi, 20_001)
    for component in Component:
        best = component.density(factor, t).max()
        assert_allclose(best, component.bound(factor), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_parts_make_the_whole(name):
    factor = MODULATIONS[name]
    whole = factor.constant + factor.cosine * np.cos(T) + 1j * factor.sine * np.sin(T)
    assert_allclose(values(factor, T), whole, atol=1e-14)

    def part(component):
        turn = np.exp(1j * component.phase(factor, T))
        return component.density(factor, T) * turn

    assert_allclose(part(Component.POLAR), whole, atol=1e-13)
    real = part(Component.POSITIVE) - part(Component.NEGATIVE)
    assert_allclose(real + part(Component.IMAGINARY), whole, atol=1e-13)
    # Odd phases, even densities: the kernel is real.
    for component in Component:
        assert_allclose(
            np.exp(1j * (part(component) * part(component)[::-1]).imag), 1.0, atol=1e-12
        )
