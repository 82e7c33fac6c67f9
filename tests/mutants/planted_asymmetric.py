"""Bugs that complex measures invite."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from laws import asymmetric_laws as laws
from laws import phase_factor_laws
from laws.asymmetric_laws import Case
from laws.phase_factor_laws import LAWS, MODULATIONS
from mutants.registry import changes, deferred, planted, replaces

from bochner import kernels
from bochner.spectral import closed_forms, shifted_gaussian
from bochner.spectral.composite_laws import Mapped
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import Draw
from bochner.spectral.shifted_gaussian import Component, PhaseFactor, ShiftedGaussian

SMALL_ALPHA = 1e-4

SHIFT, SINH, COSH = (case for case in laws.NAMED if case.dim == 5 and "(0.8" not in str(case))
WIDE_SHIFT, WIDE_SINH, WIDE_COSH = (
    case for case in laws.NAMED if case.dim == 5 and "(0.8" in str(case)
)
PLANE = [case for case in laws.COMBINED if case.dim == 2]
JOINED, OPPOSITE, _, ODD, *_ = PLANE
SINH_TIMES_COSH, MIXTURES = (PLANE[8], PLANE[10])


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


STEEP = Case(kernels.SinhGaussian(1.0, laws.vector(2, 1.8)) * kernels.CoshGaussian(1.0, 0.3), 2)

check_few = deferred(laws.check_few_frequencies, seeds=1_200)


@changes(
    PhaseFactor,
    "imaginary_variation",
    check(SHIFT, "jordan"),
    check(WIDE_SINH, "jordan", "orthogonal"),
    check(COSH, "jordan", "qmc"),
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


@planted(
    check(SHIFT, "polar", "qmc"),
    check(SINH, "jordan"),
    check(WIDE_COSH, "polar", "orthogonal"),
    check_fitted(COSH, "polar"),
)
def swapped_sides(patch):
    features = Frequencies.features
    patch.setattr(Frequencies, "features", lambda self, X, *other: features(self.right, X, *other))
    patch.setattr(Frequencies, "features_right", features)


@planted(check(WIDE_SHIFT), check(COSH, "jordan"))
def opposite_translation(patch):
    patch.setattr(closed_forms, "_TRANSLATION", PhaseFactor(0.0, 1.0, -1.0))


@changes(closed_forms, "_tilt", check(WIDE_SINH), check(WIDE_COSH, "jordan"))
def tilt_without_its_length_scales(tilt, kernel, dim):
    """The vector is taken as it is, and not times the squared length scale."""
    shift, factor = tilt(kernel, dim)
    return shift / np.broadcast_to(kernel.length_scale, dim) ** 2, factor


@changes(ShiftedGaussian, "draw", check(SINH), check(WIDE_SINH, "polar", "orthogonal"))
def no_importance_weights(draw, law, *args):
    drawn = draw(law, *args)
    return replace(drawn, ratio=np.ones_like(drawn.ratio))


@changes(ShiftedGaussian, "draw", phase_factor_laws.check_weights)
def negative_ratios_without_their_sign(draw, law, *args):
    """Where the correction makes a weight negative, its phase stays what it was."""
    drawn = draw(law, *args)
    if law.component is not Component.POLAR:
        return drawn
    t = drawn.omega @ np.array(law.shift)
    return replace(drawn, phase=law.component.phase(law.factor, t))


@replaces(Draw, "reflected", check(MIXTURES), check(MIXTURES, "polar", "qmc"))
def no_reflections(self, signs):
    return self


@changes(Draw, "__add__", check(SINH_TIMES_COSH), check(SINH_TIMES_COSH, "jordan"))
def phases_that_do_not_add(add, a, b):
    return replace(add(a, b), phase=a.phase)


changes(Draw, "__add__", check(STEEP), name="ratios_that_do_not_multiply")(
    lambda add, a, b: replace(add(a, b), ratio=b.ratio)
)
# The factors of a product are drawn from quasi-random sequences row by row.
replaces(Draw, "rearranged", laws.check_products_keep_their_rate, name="sequences_in_step")(
    lambda self, order: self
)


@replaces(Mapped, "draw", check(PLANE[-2]), check(PLANE[-3], "jordan"))
def swapped_maps(self, m, rng, scheme):
    """Square matrices: the left argument is mapped by the right one's."""
    inner = self.law.draw(m, rng, scheme)
    nu = inner.omega if inner.nu is None else inner.nu
    return Draw(inner.omega @ self.right.T, inner.ratio, inner.phase, nu @ self.left.T)


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


@replaces(ShiftedGaussian, "draw", check_few("orthogonal"))
def halves_of_one_draw(self, m, rng, scheme):
    """The halves come from the same orthogonal blocks and strata."""
    standard = shifted_gaussian.Isotropic(shifted_gaussian.Chi(), self.dim)
    points = standard.draw(m, rng, scheme).omega
    t = points @ self._axis
    halves = [t[: m // 2], t[m // 2 :]]
    ratio = self.factor.size(t) * shifted_gaussian.correction(halves, self.spread)
    phase = self.component.phase(self.factor, t)
    phase = np.where(ratio < 0.0, phase + np.pi, phase)
    omega = points / np.asarray(self.length_scale)
    return Draw(omega, np.abs(ratio) / self.variation, phase)


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


@changes(ShiftedGaussian, "joined", check(OPPOSITE), check_mass(OPPOSITE))
def sums_without_the_other_mass(joined, self, mass, other, other_mass):
    """Joined measures count every member's law, not its mass."""
    return joined(self, mass, other, other.variation)


@replaces(PhaseFactor, "reversed", check(JOINED), check(ODD), check(OPPOSITE))
def sums_without_reversal(self):
    """Opposite shifts are taken to be the same one."""
    return self


@replaces(
    PhaseFactor,
    "real_variation",
    check_masses(Component.POSITIVE, "shift"),
    check_masses(Component.NEGATIVE, "cosh"),
)
def sines_for_cosines(self, s):
    return PhaseFactor(0.0, 0.0, self.cosine).imaginary_variation(s)
