"""Bugs that two-frequency measures invite."""

from dataclasses import replace

import numpy as np
from laws import locally_stationary_laws as laws
from mutants.registry import changes

from bochner.spectral.composite_laws import TwoFrequency
from bochner.spectral.laws import Draw

PLAIN, MIXED = (case for case in laws.CASES if case.dim == 2 and case.name in ("plain", "mixed"))


def check(case, sides="two-sided", **options):
    return lambda: laws.check_unbiased(case, sides=sides, seeds=100, m=144, **options)


@changes(TwoFrequency, "draw", check(PLAIN), check(PLAIN, "one-sided"))
def flipped_sign_of_v(draw, *args):
    """The phase is that of v at the centre, not of minus v."""
    drawn = draw(*args)
    return replace(drawn, phase=-drawn.phase)


@changes(TwoFrequency, "draw", check(PLAIN), check(PLAIN, "one-sided"))
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
