"""Every planted bug is noticed: its laws hold without it and fail with it."""

from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from mutants.registry import MUTANTS

pytestmark = pytest.mark.thorough

for path in sorted(Path(__file__).parent.glob("planted*.py")):
    import_module(f"mutants.{path.stem}")

PLANTED = [
    pytest.param(mutant.plant, check, id=f"{mutant.name}-{index}")
    for mutant in MUTANTS
    for index, check in enumerate(mutant.checks)
]


HELD = set()
"""Checks that have passed without a bug, which several bugs share."""


def key_of(check):
    """Return what is the same for two checks of the same function and arguments."""
    if isinstance(check, partial):
        return repr((check.func, check.args, check.keywords))
    # A function that another has made has its arguments in its closure.
    values = [cell.cell_contents for cell in check.__closure__ or ()]
    return repr((check.__code__, values, check.__defaults__))


def held(check):
    """Run a check without a bug, once."""
    if key_of(check) not in HELD:
        check()
        HELD.add(key_of(check))


@pytest.mark.parametrize(("plant", "check"), PLANTED)
def test_the_law_fails_under_the_bug(plant, check, monkeypatch):
    held(check)
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()
