"""Every planted bug is noticed: its laws hold without it and fail with it."""

from importlib import import_module
from pathlib import Path

import pytest
from mutants.registry import MUTANTS

for path in sorted(Path(__file__).parent.glob("planted*.py")):
    import_module(f"mutants.{path.stem}")

PLANTED = [
    pytest.param(mutant.plant, check, id=f"{mutant.name}-{index}")
    for mutant in MUTANTS
    for index, check in enumerate(mutant.checks)
]


@pytest.mark.parametrize(("plant", "check"), PLANTED)
def test_the_law_fails_under_the_bug(plant, check, monkeypatch):
    check()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()
