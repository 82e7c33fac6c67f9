"""Compilation of loops by Numba."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from numba import njit
from numba.core import event

_Loop = TypeVar("_Loop", bound=Callable[..., object])

_called: Any = partial(njit, nogil=True, no_cfunc_wrapper=True)  # not in njit's annotations


def compiled(*, cache: bool = True, **options: object) -> Callable[[_Loop], _Loop]:
    """Return a decorator that compiles a function without holding the GIL, and keeps the code."""

    def decorate(function: _Loop) -> _Loop:
        loop: _Loop
        if cache:
            with suppress(RuntimeError):  # Numba's "no locator available"
                loop = _called(cache=True, **options)(function)
                return loop
        loop = _called(**options)(function)
        return loop

    return decorate


inner = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""The decorator of functions that only compiled loops call.

They cannot be called from Python and are stored on disk only within the loops that call them,
because an entry from Python, or code stored separately, would lengthen the first fit.
"""


class _Depth(event.Listener):
    """Listener that counts the running compilations, which may be nested."""

    def __init__(self) -> None:
        self.count = 0

    def on_start(self, event: event.Event) -> None:
        self.count += 1

    def on_end(self, event: event.Event) -> None:
        self.count -= 1


@contextmanager
def watched_compilation() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Numba is compiling, instead of reading its cache."""
    depth = _Depth()
    with event.install_listener("numba:compile", depth):
        yield lambda: depth.count > 0
