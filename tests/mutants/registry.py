"""The register of planted bugs."""

import __future__

import inspect
import textwrap
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

EDITS: list[tuple[object, str]] = []
"""Functions and the line of each that a bug changes."""


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


def source_of(function):
    """Return the source of a function, also of a compiled one or a class method."""
    function = getattr(function, "__func__", function)
    return textwrap.dedent(inspect.getsource(getattr(function, "py_func", function)))


def edited(function, old, new):
    """The function with a line of it changed, which must be there once."""
    function = getattr(function, "py_func", function)  # That of a compiled function
    source = source_of(function)
    if source.count(old) != 1:
        raise LookupError(f"{old!r} is not once in {function.__qualname__}; plant the bug anew.")
    scope = {}
    # Annotations stay text, because modules import some of their types for type checkers only.
    flags = __future__.annotations.compiler_flag
    exec(compile(source.replace(old, new), "<string>", "exec", flags), function.__globals__, scope)
    return scope[function.__name__]


def edit(owner, name, old, new, *users):
    """Return what plants a changed line, also where the name has been imported to."""
    EDITS.append((inspect.getattr_static(owner, name), old))

    def plant(patch):
        function = inspect.getattr_static(owner, name)
        # Of a class method, whose decorator is a line of its source
        changed = edited(getattr(function, "__func__", function), old, new)
        for place in (owner, *users):
            patch.setattr(place, name, changed)

    return plant


def plant_edits(owner, attribute, *checks, users=(), **edits):
    """Register bugs by their names, each of which changes one line of the same function.

    ``users`` are modules that have imported the function by its name.
    """
    for name, (old, new) in edits.items():
        planted(*checks, name=name)(edit(owner, attribute, old, new, *users))


def deferred(law: Callable[..., object], *last: object, **fixed: object) -> Callable[..., Check]:
    """Return a function that keeps the arguments of a law, the given ones last, for a check."""
    return lambda *args, **named: partial(law, *args, *last, **{**fixed, **named})


def quietly(function: Callable[..., object], *args: object) -> object:
    """Return what a function returns that fits chains too short to converge."""
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        return function(*args)
