"""Time limits of functions."""

import signal
from collections.abc import Callable
from math import inf, isfinite
from threading import current_thread, main_thread
from time import perf_counter
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")

_IMPORT_SECONDS = 0.05
"""Seconds after which work that imports a module is interrupted again: imports take about one."""


class TimeOver(BaseException):
    """Ends work at its deadline, as ``KeyboardInterrupt`` does when a user interrupts it."""


class Deadline:
    """The moment at which work has to end.

    Parameters
    ----------
    seconds : float
        Time from now on; infinite for no limit.
    clock : callable, default=time.perf_counter
        Function that returns the time in seconds.
    """

    def __init__(self, seconds: float = inf, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def left(self) -> float:
        """Seconds until the deadline, at least zero."""
        return max(0.0, self._end - self._clock())

    def part(self, share: float) -> "Deadline":
        """Return the deadline after a share of the remaining time."""
        return Deadline(share * self.left, self._clock)

    def run(self, work: Callable[[], Result]) -> Result | None:
        """Return the result of a function, or ``None`` if the time is over before it returns.

        A function is interrupted between two Python steps; steps in compiled code and imports are
        completed. Without ``SIGALRM``, or outside of the main thread, the function is not
        interrupted, but does not start after the deadline.
        """
        seconds = self.left
        if not seconds:
            return None
        if not isfinite(seconds) or not _can_interrupt():
            return work()
        before = signal.signal(signal.SIGALRM, _interrupt)
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                return work()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
        except TimeOver:
            return None
        finally:
            signal.signal(signal.SIGALRM, before)


def _can_interrupt() -> bool:
    return hasattr(signal, "setitimer") and current_thread() is main_thread()


def _interrupt(_: int, frame: FrameType | None) -> None:
    """End the work, or try again later if it imports a module, which would remain incomplete."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            signal.setitimer(signal.ITIMER_REAL, _IMPORT_SECONDS)
            return
        frame = frame.f_back
    raise TimeOver
