"""Estimates of locally stationary kernels, for every pairing, scheme and side."""

import pytest
from laws import locally_stationary_laws as laws


@pytest.mark.thorough_cases("1d|5d|iid|combined")
@pytest.mark.parametrize(("case", "scheme", "sides"), laws.RUNS, ids=str)
def test_estimates_are_unbiased(case, scheme, sides):
    laws.check_unbiased(case, scheme, sides)


@pytest.mark.parametrize("case", laws.CASES, ids=str)
def test_midpoints_matter(case):
    laws.check_midpoints_matter(case)
