"""Intervals of KreinRidge cover functions of the kernel itself."""

import pytest
from laws import feature_interval_laws as laws

QUICK = [("matern52", 2, 0.05), ("gaussian", 5, 0.1), ("matern12", 2, 0.1)]
"""Intervals of the function at 90 % covered 10 to 50 % of these without check features."""


@pytest.mark.parametrize(("name", "d", "noise"), QUICK)
def test_intervals_contain_what_the_features_miss(name, d, noise):
    laws.check_intervals(name, d, noise)


def test_intervals_with_landmarks():
    laws.check_intervals(residual=60)


def test_intervals_of_a_learned_ratio():
    laws.check_intervals("matern32", alpha="evidence")


def test_functions_are_drawn_from_the_same_law():
    laws.check_functions()


@pytest.mark.thorough
@pytest.mark.parametrize("residual", [None, 200])
@pytest.mark.parametrize("p", [128, 512])
@pytest.mark.parametrize("noise", [0.05, 0.3])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("name", laws.KERNELS)
def test_intervals_on_the_grid(name, d, noise, p, residual):
    laws.check_intervals(name, d, noise, 500, 3, p=p, residual=residual)
