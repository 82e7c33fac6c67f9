"""Bugs that two-frequency measures invite."""

from dataclasses import replace

import numpy as np
from laws import locally_stationary_laws as laws
from mutants.registry import changes, planted

from bochner.spectral import CosineFactors, frequencies
from bochner.spectral import composite_laws as composite
from bochner.spectral.composite_laws import TwoFrequency
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import Draw

PLAIN, MIXED = (case for case in laws.CASES if case.dim == 2 and case.name in ("plain", "mixed"))


def check(case, sides="two-sided", **options):
    return lambda: laws.check_unbiased(case, sides=sides, seeds=100, m=144, **options)


@changes(TwoFrequency, "draw", check(PLAIN), check(PLAIN, "one-sided"))
def flipped_sign_of_v(draw, *args):
    """The phase is that of v at the centre, not of minus v."""
    drawn = draw(*args)
    return replace(drawn, phase=-drawn.phase)


@changes(TwoFrequency, "draw", check(PLAIN), check(PLAIN, "one-sided", pairs="grid"))
def lost_one_half(draw, *args):
    """v is added and taken away as a whole."""
    drawn = draw(*args)
    s, v = 0.5 * (drawn.omega + drawn.nu), drawn.omega - drawn.nu
    return replace(drawn, omega=s + v, nu=s - v)


@changes(TwoFrequency, "draw", check(PLAIN), check(PLAIN, "one-sided"))
def stationary_stand_in(draw, *args):
    """Both arguments have the frequencies of the lag."""
    drawn = draw(*args)
    s = 0.5 * (drawn.omega + drawn.nu)
    return Draw(s, drawn.ratio, np.zeros_like(drawn.phase), s)


@changes(TwoFrequency, "draw", check(PLAIN))
def same_sign_on_the_right(draw, *args):
    drawn = draw(*args)
    return replace(drawn, nu=drawn.omega)


@planted(check(MIXED), check(MIXED, pairs="grid"))
def no_reflections(patch):
    """Laws that are not even are left so."""
    patch.setattr(composite, "reflected", lambda laws, draws, rng: draws)


changes(CosineFactors, "values", check(PLAIN, "one-sided"), name="waves_of_whole_v")(
    lambda moved, self, X: moved(replace(self, v=2.0 * self.v), X)
)
changes(frequencies, "CosineFactors", check(PLAIN, "one-sided"), name="whole_phases_of_one_side")(
    lambda made, v, phase: made(v, 2.0 * phase)
)
changes(Frequencies, "one_sided", check(PLAIN, "one-sided"), name="one_sign_for_both_waves")(
    lambda one_sided, self: (made := one_sided(self)).with_weights(np.abs(made.weight))
)
