"""Compilation of loops by Numba, which an interrupt does not break off.

An exception between two of Numba's steps may leave its registries incomplete, and every later
compilation of the process fails. Ctrl-C is therefore heard as soon as Numba gives back the lock
that it holds while it compiles.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, TypeVar

from numba import njit
from numba.core import event

_Loop = TypeVar("_Loop", bound=Callable[..., object])

_called: Any = partial(njit, nogil=True, no_cfunc_wrapper=True)  # Annotations of njit lack these


def compiled(*, cache: bool = True, **options: object) -> Callable[[_Loop], _Loop]:
    """Return the decorator of loops that Python calls; other threads go on while they run.

    Code is kept on the disk, next to the source or in the user's cache. Where neither can be
    written, as in a container, each process compiles the loops that it uses.
    """

    def decorate(function: _Loop) -> _Loop:
        loop: _Loop
        if cache:
            with suppress(RuntimeError):  # "no locator available"
                loop = _called(cache=True, **options)(function)
                return loop
        loop = _called(**options)(function)
        return loop

    return decorate


inner = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""The decorator of functions that only compiled loops call.

They have no entry from Python, and are kept on the disk only as a part of the loops that call them:
either would have to be compiled at the first fit.
"""


class _Deferred(event.Listener):
    """Keeps an interrupt of the main thread while that thread holds Numba's lock."""

    def __init__(self) -> None:
        self._depth = 0  # The lock can be taken again by the thread that has it
        self._handler: Any = None
        self._heard = False

    def on_start(self, event: event.Event) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth += 1
        if self._depth == 1:
            self._heard = False
            # None: a handler that was not set from Python could not be set again.
            self._handler = signal.getsignal(signal.SIGINT)
            if self._handler is not None:
                signal.signal(signal.SIGINT, self._hear)

    def on_end(self, event: event.Event) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0 and self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            if self._heard:
                signal.raise_signal(signal.SIGINT)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self._heard = True


class _Depth(event.Listener):
    """Counts the compilations that have begun and not ended; one may contain others."""

    def __init__(self) -> None:
        self.count = 0

    def on_start(self, event: event.Event) -> None:
        self.count += 1

    def on_end(self, event: event.Event) -> None:
        self.count -= 1


@contextmanager
def watched_compilation() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether a loop is being compiled, not read from the disk."""
    depth = _Depth()
    with event.install_listener("numba:compile", depth):
        yield lambda: depth.count > 0


event.register("numba:compiler_lock", _Deferred())  # type: ignore[no-untyped-call]
