"""How a part of the benchmark of speed is declared, and what its measurements share."""

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import Cell, Options, Part
from benchmarks.results import Row, median_table

DOUBLE, SINGLE = "float64", "float32"


@dataclass(frozen=True, slots=True)
class Place:
    """One configuration, measured once in every repetition."""

    method: str
    # n, d, p: Rows, inputs and features.
    n: int
    d: int
    p: int
    dtype: str = DOUBLE
    repetitions: int = 5  # At the most: what takes minutes is repeated less often


Measure = Callable[[str, int, int, int, str, int], Mapping[str, float]]
"""From method, n, d, p, type and seed of a place to its metrics."""


def speed_part(
    name: str,
    places: Callable[[bool], Sequence[Place]],
    measure: Measure,
    tables: Callable[[Sequence[Row]], Sequence[str]],
) -> Part:
    """Return a part of the benchmark from the places of a quick run, or of a whole one."""

    def cells(options: Options) -> list[Cell]:
        return [
            Cell("normal", place.method, seed,
                 {"dtype": place.dtype, "n": place.n, "d": place.d, "p": place.p})
            for place in places(options.quick)
            for seed in range(1 if options.quick else place.repetitions)
        ]  # fmt: skip

    def run(cell: Cell, options: Options) -> Mapping[str, float]:
        n, d, p = (int(cell.settings[name]) for name in ("n", "d", "p"))
        # All cores, whatever limit the harness sets.
        with threadpool_limits(os.cpu_count()):
            return measure(cell.method, n, d, p, str(cell.settings["dtype"]), cell.seed)

    return Part(name, cells, run, tables)


def by_method(rows: Sequence[Row], metric: str, ours: str | None = None) -> str:
    """Return a table of medians, one line for each size, with ratios to ``ours`` if given."""
    chosen = [row for row in rows if row["metric"] == metric]
    index = ("n", "d", "p", "dtype")
    return median_table(chosen, index=index, columns="method", metric=metric, ratio_to=ours)


def touch_memory(n: int, p: int, dtype: str) -> None:
    """Write to as much memory as three arrays (n, p) take, and give it back.

    What is new to a virtual machine takes longer to get than features to make, and whichever
    method came first would pay for it.
    """
    arrays = [np.ones((n, p), dtype=dtype) for _ in range(3)]
    del arrays


Prepared = TypeVar("Prepared")

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def seconds_and_peak(
    prepare: Callable[..., Prepared], function: Callable[[Prepared], Any], *args: Any
) -> tuple[float, float]:
    """Return the seconds of ``function(place)`` and the megabytes that it takes at its peak.

    ``place`` is what ``prepare(*args)`` returns; its memory counts for nothing. Linux alone tells
    the peak, elsewhere it is not a number.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_measured, prepare, function, args).result()


def _measured(
    prepare: Callable[..., Prepared], function: Callable[[Prepared], Any], args: tuple[Any, ...]
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
    """Return an entry of the process's status, such as ``VmRSS``; not a number except on Linux."""
    if not _STATUS.exists():
        return float("nan")
    lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines() if ":" in line)
    return float(lines[entry].split()[0]) * 1024 / 1e6
