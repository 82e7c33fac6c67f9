"""The register of planted bugs."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest
from sklearn.exceptions import ConvergenceWarning

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


def replaces(
    owner: object, attribute: str, *checks: Check, name: str = ""
) -> Callable[..., object]:
    """Register a wrong function that takes the place of an attribute of a class or module."""

    def register(wrong: Callable[..., object]) -> Callable[..., object]:
        bug = planted(*checks, name=name or wrong.__name__)
        bug(lambda patch: patch.setattr(owner, attribute, wrong))
        return wrong

    return register


def changes(owner: object, attribute: str, *checks: Check, name: str = "") -> Callable[..., object]:
    """Register a wrong function whose first argument is the right one, which it calls."""

    def register(wrong: Callable[..., object]) -> Callable[..., object]:
        def plant(patch: pytest.MonkeyPatch) -> None:
            right = getattr(owner, attribute)
            patch.setattr(owner, attribute, lambda *args, **named: wrong(right, *args, **named))

        planted(*checks, name=name or wrong.__name__)(plant)
        return wrong

    return register


def deferred(law: Callable[..., object], *last: object, **fixed: object) -> Callable[..., Check]:
    """Return a function that keeps the arguments of a law, the given ones last, for a check."""
    return lambda *args, **named: partial(law, *args, *last, **{**fixed, **named})


def quietly(function: Callable[..., object], *args: object) -> object:
    """Return what a function returns that fits chains too short to converge."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return function(*args)
