"""Waves with amplitudes: their features, sums, variances and gradients, wave by wave."""

import numpy as np
import pytest
from laws.amplitude_laws import BASES, amplitude_problem, features, unit_rows, units
from laws.inference_laws import central_differences, check_gradient_of
from numpy.testing import assert_allclose, assert_array_equal

from bochner.learned.basis import PLAIN, Grid
from bochner.learned.chain_state import InverseGammaNoise, KnownNoise
from bochner.learned.modulated_waves import CosineAmplitudes, WaveFeatures

X = np.random.default_rng(1).normal(size=(40, 3))
named = pytest.mark.parametrize("basis", BASES.values(), ids=BASES.keys())


@named
@pytest.mark.parametrize("zeros", [True, False], ids=["some constant", "none constant"])
@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-13), (np.float32, 2e-6)])
def test_features_are_those_of_every_wave(basis, zeros, dtype, atol):
    omega = units(basis, np.random.default_rng(2), 3, zeros=zeros)
    waves = basis.waves(omega)
    assert len(waves) == basis.n_waves(len(omega)) == len(unit_rows(basis, omega))
    found = waves.features(X.T.astype(dtype), 1.0 / np.sqrt(len(waves)))
    assert found.dtype == dtype
    assert_allclose(found.T, features(basis, X, omega), atol=atol)
    room = np.full((2 * len(waves), len(X)), np.nan, dtype=dtype)
    assert waves.features(X.T.astype(dtype), 1.0 / np.sqrt(len(waves)), room) is room
    assert_array_equal(room, found)


@named
def test_touched_waves_are_those_that_change(basis):
    rng = np.random.default_rng(4)
    omega, other = units(basis, rng, 3, zeros=False), units(basis, rng, 3, zeros=False)
    before = features(basis, X, omega)
    for group in basis.groups(len(omega)):
        touched = basis.touched(group, len(omega))
        proposed = basis.proposed(omega, group, other[group])
        made = proposed.features(X.T, 1.0 / np.sqrt(basis.n_waves(len(omega))))
        made = made.reshape(*touched.shape, 2, len(X))
        for place, unit in enumerate(group):
            changed = omega.copy()
            changed[unit] = other[unit]
            after = features(basis, X, changed)
            moved = np.flatnonzero((before != after).any(axis=0).reshape(-1, 2).any(axis=1))
            assert_array_equal(np.sort(touched[place]), moved)
            for wave, pair in zip(touched[place], made[place], strict=True):
                assert_allclose(pair.T, after[:, 2 * wave : 2 * wave + 2], atol=1e-13)


@named
def test_a_function_is_a_sum_of_waves(basis):
    rng = np.random.default_rng(5)
    omega = units(basis, rng, 3)
    coef = rng.normal(size=2 * len(unit_rows(basis, omega)))
    waves = basis.waves(omega).summed(coef, 0.3)
    at = rng.normal(size=(25, 3))
    found = np.zeros(25)
    for number, (w, weight) in enumerate(zip(waves.omega, waves.weight, strict=True)):
        wave = (weight * np.exp(1j * (at @ w))).real
        if waves.decay is not None:
            wave *= np.exp(-0.5 * (at - waves.centre[number]) ** 2 @ waves.decay[number])
        found += wave
    whole = features(basis, at, omega) * np.sqrt(len(coef) / 2)
    assert_allclose(found, 0.3 * whole @ coef, atol=1e-12)


@named
def test_variance_is_the_prior_variance_of_the_function(basis):
    omega = units(basis, np.random.default_rng(6), 3)
    assert_allclose(
        basis.waves(omega).variance(X.T), np.sum(features(basis, X, omega) ** 2, axis=1)
    )
    assert_array_equal(PLAIN.waves(omega).variance(X[:, :1].T), np.ones(len(X)))


def test_products_of_features_are_locally_stationary():
    """A wave's kernel: [cos(v.u + 2 psi) + cos(v.delta/2)] cos(s.delta)."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        s, v, x, y = rng.normal(size=(4, 3))
        phase = rng.normal()
        amplitudes = CosineAmplitudes(v[None], np.array([phase]))
        rows = WaveFeatures(s[None], amplitudes).features(np.array([x, y]).T, 1.0)
        u, delta = 0.5 * (x + y), x - y
        expected = (np.cos(v @ u + 2.0 * phase) + np.cos(v @ delta / 2.0)) * np.cos(s @ delta)
        assert_allclose(rows[:, 0] @ rows[:, 1], expected, atol=1e-12)


@named
def test_gradients_of_features_by_units(basis):
    """Central differences of a weighted sum of all features."""
    rng = np.random.default_rng(9)
    omega = units(basis, rng, 3, zeros=False)
    waves = basis.waves(omega)
    slope = rng.normal(size=(2 * len(waves), len(X)))
    Z = waves.features(X.T, 1.0 / np.sqrt(len(waves)))
    parts = waves.gradient(X.T, Z, slope, 1.0 / np.sqrt(len(waves)))
    found = basis.pull(parts, len(omega))
    expected = central_differences(
        lambda moved: np.sum(slope.T * features(basis, X, moved)), omega, 1e-6
    )
    assert_allclose(found, expected, atol=1e-7 * np.max(np.abs(expected)))


@pytest.mark.parametrize("noise", [InverseGammaNoise(0.7, 0.2), KnownNoise()], ids=repr)
@pytest.mark.parametrize("keep", [True, False])
@named
def test_gradients_of_the_evidence_by_units(basis, noise, keep):
    weights = "integer" if isinstance(noise, InverseGammaNoise) else "real"
    case = amplitude_problem(basis, n=25, d=2, m=3, q=1, zeros=False, weights=weights)
    check_gradient_of(case, noise, keep=keep)


def test_summed_waves_are_plain_ones_at_s_and_half_of_v():
    """Every frequency of the paper's grid, in its order."""
    basis = Grid(2, 2, is_summed=True)
    omega = np.array([[1.0, 0.0], [10.0, 0.0], [4.0, 0.7], [8.0, 0.1]])
    assert_array_equal(basis.waves(omega).omega[:, 0], [3.0, 12.0, 5.0, 14.0])
