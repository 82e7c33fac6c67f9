"""Waves with amplitudes: their features, sums, variances and gradients, wave by wave."""

import numpy as np
import pytest
from laws.amplitude_laws import BASES, GRID, MATCHED, amplitude_problem, features, unit_rows, units
from laws.inference_laws import central_differences, check_gradient_of
from numpy.testing import assert_allclose, assert_array_equal

from bochner.learned.basis import PLAIN, Grid
from bochner.learned.chain_state import (
    InverseGammaNoise,
    KnownNoise,
    evidence_of,
    frequency_gradient,
)
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
def test_units_come_apart_and_together_again(basis):
    omega = units(basis, np.random.default_rng(3), 3)
    s, v, phase = basis.split(omega)
    assert_array_equal(basis.joined(s, v, phase), omega)
    assert len(v) == len(phase) == basis.n_amplitudes(len(s))
    for group in basis.groups(len(omega)):
        moving_s, moving_v = basis.moving(np.random.default_rng(0), group, 0.4)
        assert_array_equal(np.sort(np.r_[moving_s, moving_v]), np.arange(len(group)))
        if len(moving_v):
            rows = basis.amplitude_rows(group[moving_v])
            v[rows], phase[rows] = 5.0, 7.0
            moved = omega[group[moving_v]]
            assert_array_equal(moved[:, -1], 7.0)
            assert_array_equal((moved == 5.0).sum(axis=1), v.shape[1])


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


@pytest.mark.parametrize("basis", [MATCHED, GRID], ids=["matched", "grid"])
def test_constant_amplitudes_have_no_gradient(basis):
    case = amplitude_problem(basis, n=25, d=2)
    evidence = evidence_of(case.rows(), case.omega, 0.3, KnownNoise())
    _, by_v, by_phase = basis.split(frequency_gradient(evidence, case.rows()))
    _, v, _ = basis.split(case.omega)
    constant = ~v.any(axis=1)
    assert constant.any()
    assert not by_v[constant].any()
    assert not by_phase[constant].any()
    assert np.abs(by_v[~constant]).min() > 0


def test_amplitudes_of_no_width_are_plain_waves():
    omega = units(MATCHED, np.random.default_rng(10), 3)
    omega[:, 3:6] = 0.0
    waves, plain = MATCHED.waves(omega), PLAIN.waves(omega[:, :3])
    assert not len(waves.modulated)
    assert_array_equal(waves.features(X.T, 0.2), plain.features(X.T, 0.2))


def test_summed_waves_are_plain_ones_at_s_and_half_of_v():
    """Every frequency of the paper's grid, in its order."""
    basis = Grid(2, 2, is_summed=True)
    omega = np.array([[1.0, 0.0], [10.0, 0.0], [4.0, 0.7], [8.0, 0.1]])
    assert_array_equal(basis.waves(omega).omega[:, 0], [3.0, 12.0, 5.0, 14.0])
