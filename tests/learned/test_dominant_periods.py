"""Periods found in spectra of known make."""

import numpy as np
import pytest

from bochner.learned.dominant_periods import dominant_periods, wave_energy


def spectrum(lines, broad, seed=0, n_draws=20, m=50):
    """Draws of a spectrum: (period, share, relative width) of lines, the rest near zero."""
    rng = np.random.default_rng(seed)
    omega, energy = [], []
    for period, share, width in lines:
        centre = 2.0 * np.pi / period
        omega.append(centre * (1.0 + width * rng.normal(size=(n_draws, m))))
        energy.append(np.full((n_draws, m), share / m))
    omega.append(broad * rng.normal(size=(n_draws, m)))
    energy.append(np.full((n_draws, m), (1.0 - sum(line[1] for line in lines)) / m))
    signs = rng.choice([-1.0, 1.0], size=(n_draws, m * (len(lines) + 1)))
    return signs * np.concatenate(omega, axis=1), np.concatenate(energy, axis=1)


def test_lines_are_found_with_their_shares():
    found = dominant_periods(*spectrum([(1.0, 0.4, 1e-3), (0.5, 0.1, 1e-3)], 0.05), 30.0)
    assert [period.length for period in found] == pytest.approx([1.0, 0.5], rel=1e-3)
    assert [period.share for period in found] == pytest.approx([0.4, 0.1], abs=1e-9)


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_a_smooth_function_has_no_period(scale):
    assert dominant_periods(*spectrum([], scale), 30.0) == []


def test_a_wave_longer_than_half_the_range_is_no_period():
    omega, energy = spectrum([(20.0, 0.5, 1e-3)], 0.01)
    assert dominant_periods(omega, energy, 30.0) == []
    assert dominant_periods(omega, energy, 90.0)[0].length == pytest.approx(20.0, rel=0.01)


def test_units():
    omega, energy = spectrum([(1.0, 0.6, 1e-3)], 0.05)
    (year,) = dominant_periods(omega, energy, 30.0)
    (days,) = dominant_periods(omega / 365.25, energy, 30.0 * 365.25)
    assert days.length == pytest.approx(365.25 * year.length)
    assert days.share == pytest.approx(year.share)


def test_weak_lines_and_constant_inputs_are_left_out():
    omega, energy = spectrum([(1.0, 0.01, 1e-3)], 0.05)
    assert dominant_periods(omega, energy, 30.0) == []
    assert len(dominant_periods(omega, energy, 30.0, least_share=0.005)) == 1
    assert dominant_periods(omega, energy, 0.0) == []


def test_energy_is_that_of_the_waves_alone():
    coef = np.array([[1.0, 2.0, 2.0, 4.0, 100.0], [0.0, 0.0, 3.0, 0.0, 7.0]])
    np.testing.assert_allclose(wave_energy(coef, 2), [[0.2, 0.8], [0.0, 1.0]])
    # A sum of waves at whole numbers of turns: mean squares are half the squares of weights.
    t = np.linspace(0.0, 1.0, 200, endpoint=False)
    waves = [1.0 * np.cos(2 * np.pi * t) + 2.0 * np.sin(2 * np.pi * t),
             2.0 * np.cos(6 * np.pi * t) + 4.0 * np.sin(6 * np.pi * t)]  # fmt: skip
    variances = np.array([wave.var() for wave in waves])
    np.testing.assert_allclose(wave_energy(coef[:1], 2)[0], variances / variances.sum())


def test_a_spectrum_without_energy_has_no_period():
    omega = np.linspace(0.0, 10.0, 40)[None]
    assert dominant_periods(omega, np.zeros((1, 40)), 30.0, least_share=0.0) == []
