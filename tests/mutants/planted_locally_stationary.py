"""Bugs that two-frequency measures invite."""

from dataclasses import replace

from laws import locally_stationary_laws as laws
from mutants.registry import changes

from bochner.spectral.composite_laws import TwoFrequency

PLAIN, MIXED = (case for case in laws.CASES if case.dim == 2 and case.name in ("plain", "mixed"))


def check(case, sides="two-sided", **options):
    return lambda: laws.check_unbiased(case, sides=sides, seeds=100, m=144, **options)


@changes(TwoFrequency, "draw", check(PLAIN), check(PLAIN, "one-sided"))
def flipped_sign_of_v(draw, *args):
    """The phase is that of v at the centre, not of minus v."""
    drawn = draw(*args)
    return replace(drawn, phase=-drawn.phase)
