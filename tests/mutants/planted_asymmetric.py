"""Bugs that complex measures invite."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from laws import asymmetric_laws as laws
from laws import finite_laws, phase_factor_laws
from laws.phase_factor_laws import LAWS, MODULATIONS
from laws.registry import FINITE_CASES
from mutants.registry import changes, deferred, planted, replaces

from bochner.spectral import shifted_gaussian
from bochner.spectral.laws import Draw
from bochner.spectral.shifted_gaussian import Component, PhaseFactor, ShiftedGaussian

SMALL_ALPHA = 1e-4

SHIFT, SINH, COSH = (case for case in laws.NAMED if case.dim == 5 and "(0.8" not in str(case))
WIDE_SHIFT, WIDE_SINH, WIDE_COSH = (
    case for case in laws.NAMED if case.dim == 5 and "(0.8" in str(case)
)
PLANE = [case for case in laws.COMBINED if case.dim == 2]
JOINED, OPPOSITE, _, ODD, *_ = PLANE
(STEPS,) = (case for case in FINITE_CASES if str(case).startswith("2d-Ordinal(n_levels=(3, 3)"))


def check(case, decomposition="polar", scheme="iid", **options):
    return lambda: laws.check_unbiased(case, decomposition, scheme, **options)


check_fitted = deferred(laws.check_fitted_masses, "iid", seeds=10)
check_mass = deferred(laws.check_mass)


def check_masses(component, name):
    return lambda: phase_factor_laws.check_masses(component, MODULATIONS[name])


def check_component(name, component, scheme="iid"):
    (law,) = (
        part for part in phase_factor_laws.jordan_laws(LAWS[name]) if part.component is component
    )
    return lambda: phase_factor_laws.check_component(law, scheme, SMALL_ALPHA)


check_few = deferred(laws.check_few_frequencies, seeds=1_200)


@changes(
    PhaseFactor,
    "imaginary_variation",
    check(SHIFT, "jordan"),
    check(WIDE_SINH, "jordan", "orthogonal"),
    check(COSH, "jordan", "orthogonal"),
    check_masses(Component.IMAGINARY, "sinh"),
)
def lost_factor_of_the_imaginary_mass(imaginary_variation, self, s):
    """Only one of the two imaginary parts is counted."""
    return 0.5 * imaginary_variation(self, s)


@changes(
    Component,
    "phase",
    check(SHIFT),
    check(WIDE_SINH, "polar", "orthogonal"),
    check(WIDE_COSH, "jordan"),
    check_fitted(SHIFT, "polar"),
    check_fitted(SINH, "jordan"),
)
def conjugated_phases(phase, self, factor, t):
    return -phase(self, factor, t)


@changes(ShiftedGaussian, "draw", phase_factor_laws.check_weights)
def negative_ratios_without_their_sign(draw, law, *args):
    """Where the correction makes a weight negative, its phase stays what it was."""
    drawn = draw(law, *args)
    if law.component is not Component.POLAR:
        return drawn
    t = drawn.omega @ np.array(law.shift)
    return replace(drawn, phase=law.component.phase(law.factor, t))


# Draws of nearly constant factors begin with their constants.
replaces(Draw, "rearranged", deferred(finite_laws.check_few)(STEPS), name="factors_in_step")(
    lambda self, order: self
)


def with_correction(patch, change: Callable):
    correction = shifted_gaussian.correction
    for module in (shifted_gaussian, phase_factor_laws):
        patch.setattr(module, "correction", lambda halves, s: change(correction, halves, s))


@planted(check_few("iid"), phase_factor_laws.check_correction)
def corrected_by_itself(patch):
    """The error that corrects the weights is that of the same draws."""

    def change(correction, halves, s):
        first, second = (
            correction([half, half], s)[: len(half)] for half in (halves[0], halves[1])
        )
        return 1.0 + 2.0 * (np.concatenate([first, second]) - 1.0)

    with_correction(patch, change)


@changes(ShiftedGaussian, "jordan", check(SHIFT, "jordan"), check_mass(SHIFT))
def unsigned_negative_part(jordan, self):
    return tuple((abs(share), law) for share, law in jordan(self))


@changes(
    Component,
    "bound",
    check_component("cosh", Component.POSITIVE),
    check_component("sinh", Component.IMAGINARY),
)
def proposals_below_half_of_the_bound(bound, self, factor):
    """Acceptance and rejection with a bound that the density exceeds."""
    return 0.5 * bound(self, factor)
