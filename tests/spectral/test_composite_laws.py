"""Laws of products of kernels and of kernels of mapped inputs."""

from dataclasses import replace

import numpy as np
import pytest
from laws.phase_factor_laws import MODULATIONS
from numpy.testing import assert_allclose, assert_array_equal

from bochner import kernels, spectral_measure
from bochner.spectral import Chi, Elliptical, Envelope, Isotropic, Part, SpectralMeasure
from bochner.spectral.composite_laws import Convolution, Mapped
from bochner.spectral.laws import Draw
from bochner.spectral.schemes import resolve_scheme
from bochner.spectral.shifted_gaussian import ShiftedGaussian

RNG = np.random.default_rng(0)
MEAN = Elliptical(Chi(), (3.0, -2.0), ((0.1, 0.0), (0.0, 0.1)))
PHASED = ShiftedGaussian(1.0, (0.5, 0.2), MODULATIONS["sinh"])
EVEN = Isotropic(Chi(), 2)
LEFT, RIGHT = RNG.normal(size=(3, 2)), RNG.normal(size=(4, 2))


def draw(law, m=64, seed=0, scheme="iid"):
    return law.draw(m, np.random.default_rng(seed), resolve_scheme(scheme))


def random_draw(n=7, right=None):
    nu = None if right is None else RNG.normal(size=(n, right))
    return Draw(RNG.normal(size=(n, 2)), RNG.random(n), RNG.uniform(-3.0, 3.0, n), nu)


def estimate(one, X, Y):
    nu = one.omega if one.nu is None else one.nu
    angle = X @ one.omega.T - Y @ nu.T + one.phase
    return np.cos(angle) * one.ratio


@pytest.mark.parametrize("right", [None, 3])
def test_reflected_and_rearranged_draws_have_the_same_cosines(right):
    one = random_draw(right=right)
    X, Y = RNG.normal(size=(5, 2)), RNG.normal(size=(5, right or 2))
    signs = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    assert_allclose(estimate(one.reflected(signs), X, Y), estimate(one, X, Y), atol=1e-14)
    order = RNG.permutation(7)
    assert_array_equal(estimate(one.rearranged(order), X, Y), estimate(one, X, Y)[:, order])


@pytest.mark.parametrize(("right", "other"), [(None, None), (2, None), (None, 2), (2, 2)])
def test_cosines_of_sums_and_differences_make_products(right, other):
    one, two = random_draw(right=right), random_draw(right=other)
    X, Y = RNG.normal(size=(2, 5, 2))
    both = [one + two, one + two.reflected(-np.ones(7))]
    total = 0.5 * sum(estimate(sum_, X, Y) for sum_ in both)
    assert_allclose(total, estimate(one, X, Y) * estimate(two, X, Y), atol=1e-13)


def test_frequencies_phases_and_weights_come_in_step():
    # Each row of the product's draw is one of either factor's, up to a reflection.
    law = Convolution((PHASED, MEAN))
    one = draw(law, 200)
    narrow = one.omega - np.sign(one.omega @ [3.0, -2.0])[:, None] * [3.0, -2.0]
    assert (one.ratio > 0.0).all()
    t = narrow @ np.array(PHASED.shift)
    # The mixture's component has a spread of a tenth, so that t is known to about as much.
    expected = PHASED.factor.size(t) / PHASED.variation
    assert np.corrcoef(one.ratio, expected)[0, 1] > 0.95
    phase = np.arctan2(PHASED.factor.imaginary(t), PHASED.factor.real(t))
    assert np.corrcoef(one.phase, phase)[0, 1] > 0.95


def test_maps_turn_frequencies_of_either_side():
    inner, outer = draw(PHASED), draw(Mapped(PHASED, LEFT, RIGHT))
    assert_allclose(outer.omega, inner.omega @ LEFT.T)
    assert_allclose(outer.nu, inner.omega @ RIGHT.T)
    assert_array_equal(outer.phase, inner.phase)
    assert_array_equal(outer.ratio, inner.ratio)
    again = draw(Mapped(Mapped(PHASED, LEFT, RIGHT), np.eye(3), np.ones((1, 4))))
    assert_allclose(again.nu, outer.nu.sum(axis=1, keepdims=True))
    law = Mapped(EVEN, LEFT, RIGHT)
    assert (law.dim, law.dim_right, law.at_zero) == (3, 4, 1.0)
    assert_allclose(draw(law).omega, draw(EVEN).omega @ LEFT.T)
    assert [Mapped(EVEN, L, R).is_positive for L, R in ((LEFT, LEFT), (LEFT, -LEFT))] == [
        True,
        False,
    ]
    assert not Mapped(PHASED, LEFT, LEFT).is_positive
    assert [share for share, _ in Mapped(PHASED, LEFT, RIGHT).jordan()] == [
        share for share, _ in PHASED.jordan()
    ]


def test_products_have_the_envelopes_of_mapped_factors():
    enveloped = SpectralMeasure((Part(2.0, EVEN, (0.3, 1.5)),)).mapped(LEFT, LEFT)
    plain = spectral_measure(kernels.Gaussian(), 3)
    rows, turned = RNG.normal(size=(4, 3)), np.eye(3)[:, ::-1]
    expected = np.repeat(Envelope([0.3], [1.5]).values(rows @ LEFT), 8, axis=1)
    for measure in (enveloped * plain, plain * enveloped, plain * (plain * enveloped)):
        assert_allclose(measure.sample(8, 0).factor.values(rows), expected)
        again = measure.mapped(turned, turned).sample(8, 0)
        assert_allclose(again.factor.values(rows[:, ::-1]), expected)


def test_the_error_of_a_product_is_that_of_the_worst_case():
    """Both factors too large by their greatest errors: 2.1 times 3.2 in place of 2 times 3."""
    one = replace(2.0 * spectral_measure(kernels.Gaussian(), 1), max_error=0.1)
    other = replace(3.0 * spectral_measure(kernels.Matern(), 1), max_error=0.2)
    assert_allclose((one * other).max_error, 2.1 * 3.2 - 2.0 * 3.0)
    assert_allclose((other * one).max_error, 2.1 * 3.2 - 2.0 * 3.0)
