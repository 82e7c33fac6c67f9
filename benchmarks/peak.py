"""The memory that a function takes at its peak, in a process of its own."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

Place = TypeVar("Place")

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def seconds_and_peak(
    prepare: Callable[..., Place], function: Callable[[Place], Any], *args: Any
) -> tuple[float, float]:
    """Return the seconds of ``function(place)`` and the megabytes that it takes at its peak.

    ``place`` is what ``prepare(*args)`` returns; its memory counts for nothing. Linux alone tells
    the peak, elsewhere it is not a number.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_measured, prepare, function, args).result()


def _measured(
    prepare: Callable[..., Place], function: Callable[[Place], Any], args: tuple[Any, ...]
) -> tuple[float, float]:
    place = prepare(*args)
    before = _start_again()
    start = perf_counter()
    function(place)
    return perf_counter() - start, _megabytes("VmHWM") - before


def _start_again() -> float:
    """Return the resident megabytes, from which the peak is measured from now on."""
    if _CLEAR.exists():
        _CLEAR.write_text("5")
    return _megabytes("VmRSS")


def _megabytes(entry: str) -> float:
    if not _STATUS.exists():
        return float("nan")
    lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)
    return float(lines[entry].split()[0]) * 1024 / 1e6
