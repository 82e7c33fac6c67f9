"""Every planted bug is noticed: its laws hold without it and fail with it."""

from importlib import import_module
from pathlib import Path

import pytest

MODULES = [
    import_module(f"mutants.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("planted*.py"))
]
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
