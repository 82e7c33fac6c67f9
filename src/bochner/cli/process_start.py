"""The start of the process of a command, from which its time limit counts."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

_STAT = Path("/proc/self/stat")

_START_FIELD = 19
"""Place of the start of a process among the fields of its status on Linux, from its state on: the
22nd of all, counted from one."""


@dataclass(slots=True)
class _Start:
    """A time of ``perf_counter``; None in processes that run other code, such as tests."""

    time: float | None = None


_START = _Start()


def note_start() -> None:
    """Take note of the start of this process, which so far has only imported modules."""
    _START.time = perf_counter() - _seconds_of_process()


def seconds_since_start() -> float:
    """Return the seconds since the start of the process, zero if it was not noted."""
    return 0.0 if _START.time is None else perf_counter() - _START.time


def _seconds_of_process() -> float:
    """Return the age of this process; where it is unknown, the time of the CPU, which is less."""
    used = process_time()
    with suppress(OSError, ValueError, IndexError, AttributeError):
        fields = _STAT.read_text().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[_START_FIELD]) / ticks
        return max(used, age)
    return used
