"""Bugs that two-frequency measures invite."""

from dataclasses import replace

import numpy as np
from laws import locally_stationary_laws as laws
from mutants.registry import changes, planted

from bochner.features import one_sided
from bochner.frequencies import CosineFactors
from bochner.spectral import TwoFrequency, composite, two_frequency
from bochner.spectral.laws import Draw

PLAIN, MIXED = (case for case in laws.CASES if case.dim == 2 and case.name in ("plain", "mixed"))


def check(case, sides="two-sided", **options):
    return lambda: laws.check_unbiased(case, sides=sides, seeds=100, m=144, **options)


def with_draws(patch, change):
    draw = TwoFrequency.draw
    patch.setattr(
        TwoFrequency, "draw", lambda self, m, rng, scheme: change(self, draw(self, m, rng, scheme))
    )


@planted(check(PLAIN), check(PLAIN, "one-sided"))
def flipped_sign_of_v(patch):
    """The phase is that of v at the centre, not of minus v."""
    with_draws(patch, lambda law, draw: replace(draw, phase=-draw.phase))


@planted(check(PLAIN), check(PLAIN, "one-sided", pairs="grid"))
def lost_one_half(patch):
    """v is added and taken away as a whole."""

    def change(law, draw):
        s, v = 0.5 * (draw.omega + draw.nu), draw.omega - draw.nu
        return replace(draw, omega=s + v, nu=s - v)

    with_draws(patch, change)


@planted(check(PLAIN), check(PLAIN, "one-sided"))
def stationary_stand_in(patch):
    """Both arguments have the frequencies of the lag."""

    def change(law, draw):
        s = 0.5 * (draw.omega + draw.nu)
        return Draw(s, draw.ratio, np.zeros_like(draw.phase), s)

    with_draws(patch, change)


@planted(check(PLAIN))
def same_sign_on_the_right(patch):
    with_draws(patch, lambda law, draw: replace(draw, nu=draw.omega))


@planted(check(MIXED), check(MIXED, pairs="grid"))
def no_reflections(patch):
    """Laws that are not even are left so."""
    for module in (composite, two_frequency):
        patch.setattr(module, "reflected", lambda laws, draws, rng: draws)


changes(CosineFactors, "to_device_of", check(PLAIN, "one-sided"), name="waves_of_whole_v")(
    lambda moved, self, X: moved(replace(self, v=2.0 * self.v), X)
)
changes(one_sided, "CosineFactors", check(PLAIN, "one-sided"), name="whole_phases_of_one_side")(
    lambda made, v, phase: made(v, 2.0 * phase)
)
changes(one_sided, "Frequencies", check(PLAIN, "one-sided"), name="one_sign_for_both_waves")(
    lambda made, omega, weight, **options: made(omega, np.abs(weight), **options)
)
