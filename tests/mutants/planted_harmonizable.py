"""Bugs that windows and correlated frequencies invite."""

from dataclasses import replace

from kernels import test_harmonizable as laws
from laws.registry import HARMONIZABLE_CASES
from mutants.registry import changes

from bochner.spectral.feature_factors import Amplitudes

COMPLEX, WINDOWED, GRID = HARMONIZABLE_CASES[4:7]


def check(case, scheme="iid"):
    return lambda: laws.test_estimates_are_unbiased_and_positive_definite(case, scheme)


changes(Amplitudes, "values", check(COMPLEX), check(WINDOWED), name="window_of_the_kernel")(
    lambda moved, self, X: moved(
        replace(self, window=self.window * 2**0.5, centre=self.centre * 2**0.5), X
    )
)
