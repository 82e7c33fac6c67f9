"""The register of planted bugs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest

Plant = Callable[[pytest.MonkeyPatch], object]
Check = Callable[[], object]


@dataclass(frozen=True)
class Mutant:
    """A bug to plant, and the checks that must fail while it is there."""

    name: str
    plant: Plant
    checks: tuple[Check, ...]


MUTANTS: list[Mutant] = []


def planted(*checks: Check, name: str = "") -> Callable[[Plant], Plant]:
    """Register a bug, by its function's name or another, with the checks that must notice it."""

    def register(plant: Plant) -> Plant:
        MUTANTS.append(Mutant(name or plant.__name__, plant, checks))
        return plant

    return register


def deferred(law: Callable[..., object], *last: object, **fixed: object) -> Callable[..., Check]:
    """Return a function that keeps the arguments of a law, the given ones last, for a check."""
    return lambda *args, **named: partial(law, *args, *last, **{**fixed, **named})
