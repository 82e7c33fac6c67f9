"""Progress of a command: a line on a terminal, or lines at intervals elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic

from rich.console import Console
from rich.text import Text

from bochner._base.number_texts import duration
from bochner._base.progress import FitProgress, Progress
from bochner.cli.output import plain

_FIRST_SECONDS, _MOST_SECONDS = 5.0, 60.0
"""Shortest and longest interval between two lines in seconds: a short command writes no line, a
long command one line per minute."""

_GROWTH = 0.5
"""Ratio of the interval before the next line to the elapsed time: an hour gives 70 lines."""


_COMPILING = "compiling loops, once after an installation"


@contextmanager
def reporting(*, limit: float | None = None) -> Iterator[Progress]:
    """Show the current step and the time left of a command: a spinner, or lines at intervals."""
    from bochner._base.compiling import watched_compilation

    console = Console(stderr=True, soft_wrap=True)
    with watched_compilation() as is_compiling:
        activity = Activity(limit, is_compiling=is_compiling)
        shown = console.status(activity) if console.is_terminal else _lines(console, activity)
        with shown:
            yield Progress(activity.note)


@contextmanager
def _lines(console: Console, activity: "Activity") -> Iterator[None]:
    """Print the activity at intervals."""
    is_over = Event()

    def work() -> None:
        while not is_over.wait(activity.pause()):
            with suppress(OSError, ValueError):  # Standard error has no reader or is closed
                console.print(Text(str(activity)))

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


class Activity:
    """The current step of a command, with the remaining time if steps are counted."""

    def __init__(
        self,
        limit: float | None = None,
        clock: Callable[[], float] = monotonic,
        is_compiling: Callable[[], bool] = bool,
    ) -> None:
        self._clock, self._limit, self._is_compiling = clock, limit, is_compiling
        self._start = self._last = clock()
        self._began: dict[str, float] = {}
        self._text, self._end = "reading", self._start

    def note(self, step: FitProgress) -> None:
        """Record the current step of a command."""
        now = self._clock()
        seconds = self._seconds_left(step, now)
        self._text, self._end = plain(str(step)), now + seconds

    def _seconds_left(self, step: FitProgress, now: float) -> float:
        """Return the estimated remaining seconds of a stage, or zero if unknown."""
        last, self._last = self._last, now
        if not step.step or step.total is None:
            return 0.0
        # The first message of a stage may come before or after its first step of work.
        seconds = now - self._began.setdefault(step.stage, last)
        return seconds / step.step * (step.total - step.step)

    def pause(self) -> float:
        """Return the seconds until the next line."""
        passed = self._clock() - self._start
        return min(max(_FIRST_SECONDS, _GROWTH * passed), _MOST_SECONDS)

    def __str__(self) -> str:
        """Return "after 12 s: learned kernel 3/8, about 20 s left of this step"."""
        now = self._clock()
        passed = duration(int(now - self._start))
        limit = "" if self._limit is None else f" of {duration(self._limit)}"
        if self._is_compiling():
            return f"after {passed}{limit}: {_COMPILING}"
        left = self._end - now
        remaining = f", about {duration(round(left))} left of this step" if left >= 1.0 else ""
        return f"after {passed}{limit}: {self._text}{remaining}"

    def __rich__(self) -> Text:
        """Return the current line; called at each turn of the spinner."""
        return Text(str(self))
