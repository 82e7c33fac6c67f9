"""Stages of a command: their seconds, and their shares of a time limit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from textwrap import wrap
from time import perf_counter

from bochner.comparison.deadline import Deadline
from bochner.comparison.shown import number

_MINOR, _LEAST_SHOWN = ("reading", "test"), 0.1
"""Minor stages, and the least duration in seconds for which they are shown."""

_JOINT = "\u00a0"
"""Space at which no line ends."""

LEAST_SECONDS = 0.01
"""Least time limit of a stage that cannot be left out: limits are positive."""


class Stages:
    """The stages of a command in their order.

    Parameters
    ----------
    weights : mapping of str to float
        The stages, and their parts of the time. Each stage may take its part of the time that is
        left at its start, so later stages share the time that earlier stages did not need.
    limit : float or None
        Seconds for all stages; ``None`` for no limit.
    clock : callable, default=time.perf_counter
        Function that returns the time in seconds.
    used : float, default=0.0
        Seconds of the limit that are used before the first stage.

    Attributes
    ----------
    seconds : dict of str to float
        Duration of each stage so far.
    left_out : list of str
        Parts of the work that were skipped for lack of time.
    """

    def __init__(
        self,
        weights: Mapping[str, float],
        limit: float | None = None,
        clock: Callable[[], float] = perf_counter,
        used: float = 0.0,
    ) -> None:
        self._weights = dict(weights)
        self._clock = clock
        self.limit = limit
        self._all = Deadline(inf if limit is None else limit - used, clock)
        self.seconds: dict[str, float] = {}
        self.left_out: list[str] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[Deadline]:
        """Measure the seconds of a stage, and yield its deadline."""
        began = self._clock()
        try:
            yield self._deadline(name)
        finally:
            self.seconds[name] = self._clock() - began

    def _deadline(self, name: str) -> Deadline:
        """Return the deadline of a stage that starts now."""
        total = sum(self._weights.values())
        share = self._weights.pop(name) / total
        return self._all.part(share)

    def lines(self, width: int) -> list[str]:
        """Return "fit 4.2 s, comparison 1.9 s" and the skipped parts, in lines of some width.

        Reading and test are named if they are long. Lines end between two names.
        """
        seconds = [
            f"{name} {shown_seconds(value)} s"
            for name, value in self.seconds.items()
            if name not in _MINOR or value >= _LEAST_SHOWN
        ]
        lines = _folded(seconds, width)
        if self.limit is not None and self.left_out:
            head = f"Left out at the limit of {shown_seconds(self.limit)} s"
            lines += _folded(self.left_out, width, f"{head}: ")
        return lines


def _folded(names: Sequence[str], width: int, head: str = "") -> list[str]:
    """Return names with commas, after a head, in lines that end between two of them."""
    text = head + ", ".join(name.replace(" ", _JOINT) for name in names)
    return [
        line.replace(_JOINT, " ")
        for line in wrap(text, width, break_long_words=False, break_on_hyphens=False)
    ]


def shown_seconds(seconds: float) -> str:
    """Return seconds with two digits, and all digits of whole ones.

    Examples
    --------
    >>> shown_seconds(0.0042), shown_seconds(4.23), shown_seconds(1234.5)
    ('0.0042', '4.2', '1,234')
    """
    return number(seconds, 2)
