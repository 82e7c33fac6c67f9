"""Mixtures of normal laws of transformed values."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from bochner.series.value_transformations import TRANSFORMATIONS, PredictiveMixture, candidates

MEANS = np.array([[2.0, 3.0], [2.6, 1.8], [4.0, 3.2]])
VARIANCES = np.array([[0.04, 0.3], [0.2, 0.1], [0.01, 0.4]])
WEIGHTS = np.array([0.5, 0.3, 0.2])
LEVELS = np.array([0.01, 0.3, 0.5, 0.95])


def mixture(name="none"):
    return PredictiveMixture(MEANS, VARIANCES, WEIGHTS, name)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_quantiles_have_their_probability(name):
    function = TRANSFORMATIONS[name]
    found = mixture(name).quantiles(LEVELS)
    assert found.shape == (2, 4)
    for place in range(2):
        at = function.forward(found[place])
        mass = WEIGHTS @ norm.cdf(at, MEANS[:, place, None], np.sqrt(VARIANCES[:, place, None]))
        assert_allclose(mass, LEVELS, atol=1e-9)


LOW = PredictiveMixture(MEANS - 2.2, VARIANCES, WEIGHTS, "none")  # About a half is below zero


@pytest.mark.parametrize("name", ["floor", "sqrt", "log"])
def test_zeros_have_the_probability_that_the_density_leaves(name):
    """The probability of zero is that of draws, and the rest is under the density."""
    own = replace(LOW, transformation=name)
    at_zero = np.exp(own.log_density(np.zeros(2)))
    atom = WEIGHTS @ norm.cdf(0.0, LOW.means, np.sqrt(VARIANCES))
    assert_allclose(at_zero, atom if name in ("floor", "sqrt") else at_zero)
    assert_allclose(at_zero, 0.0 if name == "log" else at_zero)
    for place in range(2):

        def density(root, place=place):
            value = np.full(2, root**2)
            return 2.0 * root * np.exp(own.log_density(value)[place])

        above = quad(density, 1e-12, 20.0, limit=200, points=[0.5, 1.0, 2.0])[0]
        assert_allclose(above + at_zero[place], 1.0, atol=1e-6)
    quantiles = own.quantiles(np.array([0.5 * atom.min(), 0.999 * atom.min()]))
    assert not quantiles.any() if name != "log" else (quantiles > 0.0).all()


def assert_std(name="none", shift=0.0):
    """Standard deviations are those of the values at evenly spaced quantiles."""
    own = PredictiveMixture(MEANS - shift, VARIANCES, WEIGHTS, name)
    values = own.quantiles((np.arange(40_000) + 0.5) / 40_000)
    assert_allclose(own.std(), values.std(axis=1), rtol=0.003)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
@pytest.mark.parametrize("shift", [0.0, 2.2])
def test_mixtures_have_the_deviations_of_their_values(name, shift):
    assert_std(name, shift)


def test_a_draw_of_tiny_weight_does_not_decide_a_deviation():
    weights, variances = np.array([0.5, 0.5 - 1e-6, 1e-6]), np.array([[0.1], [0.1], [90.0]])
    wild = PredictiveMixture(np.zeros((3, 1)), variances, weights, "log")
    assert_allclose(wild.std(), replace(wild, variances=0.0 * variances + 0.1).std(), rtol=0.02)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations_are_undone_and_have_their_slopes(name):
    function, values = TRANSFORMATIONS[name], np.array([0.3, 1.0, 20.0])
    assert_allclose(function.back(function.forward(values)), values)
    step = 1e-6
    slope = (function.forward(values + step) - function.forward(values - step)) / (2.0 * step)
    assert_allclose(function.log_slope(values), np.log(slope), atol=1e-8)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([-1.0, 5.0], ["none"]),
        ([0.0, 5.0], ["none", "sqrt"]),
        ([1.0, 5.0], ["none", "sqrt", "log"]),
        ([100.0, 110.0], ["none"]),  # All of them are nearly lines there
    ],
)
def test_values_allow_transformations(values, names):
    assert candidates(np.array(values)) == names


def test_zeros_are_the_floor_of_values_without_a_negative_one():
    counts = np.array([0.0, 2.0, 0.0, 5.0])
    assert candidates(counts) == ["floor", "sqrt"]
    assert candidates(counts[1:]) == ["none", "sqrt"]
    assert candidates(counts - 1.0) == ["none"]
    assert candidates(counts + 1.0) == ["none", "sqrt", "log"]
