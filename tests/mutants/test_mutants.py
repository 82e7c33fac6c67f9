"""Every planted bug is noticed: its laws hold without it and fail with it."""

import pytest
from mutants import (
    planted,
    planted_asymmetric,
    planted_bank,
    planted_chains,
    planted_digmm,
    planted_evidence,
    planted_gabasr,
    planted_indefinite,
    planted_jordan,
    planted_krein,
    planted_large,
    planted_locally_stationary,
    planted_measures,
    planted_mixture,
    planted_structured,
)

MODULES = (
    planted,
    planted_asymmetric,
    planted_bank,
    planted_chains,
    planted_digmm,
    planted_evidence,
    planted_gabasr,
    planted_indefinite,
    planted_jordan,
    planted_krein,
    planted_large,
    planted_locally_stationary,
    planted_measures,
    planted_mixture,
    planted_structured,
)
PLANTED = [
    pytest.param(mutant.plant, check, id=f"{mutant}-{index}")
    for module in MODULES
    for mutant in module.MUTANTS
    for index, check in enumerate(mutant.checks)
]


@pytest.mark.parametrize(("plant", "check"), PLANTED)
def test_the_law_fails_under_the_bug(plant, check, monkeypatch):
    check()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()
