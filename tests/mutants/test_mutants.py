"""Every planted bug is noticed: its laws hold without it and fail with it."""

import pytest
from mutants.planted import MUTANTS

PLANTED = [
    pytest.param(mutant.plant, check, id=f"{mutant}-{index}")
    for mutant in MUTANTS
    for index, check in enumerate(mutant.checks)
]


@pytest.mark.parametrize(("plant", "check"), PLANTED)
def test_the_law_fails_under_the_bug(plant, check, monkeypatch):
    check()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()
