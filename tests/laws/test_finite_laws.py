"""Every law of kernels of finitely many frequencies."""

import pytest
from laws import finite_laws as laws
from laws.registry import FINITE_CASES

FEW = [case for case in FINITE_CASES if laws.n_atoms(case) > 3]


@pytest.mark.thorough_cases("1d")
@pytest.mark.parametrize("check", laws.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", FINITE_CASES, ids=str)
def test_finite(case, check):
    check(case)


@pytest.mark.thorough_cases(but="iid")
@pytest.mark.parametrize("scheme", ["iid", "orthogonal"])
@pytest.mark.parametrize("case", FEW, ids=str)
def test_few_draws_are_unbiased(case, scheme):
    laws.check_few(case, scheme)
