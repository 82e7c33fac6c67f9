"""How a part of the benchmark of speed is declared."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import Cell, Options, Part
from benchmarks.results import Row, median_table

DOUBLE, SINGLE = "float64", "float32"


@dataclass(frozen=True, slots=True)
class Place:
    """What is measured once in every repetition."""

    method: str
    # n, d, p: Rows, inputs and features.
    n: int
    d: int
    p: int
    dtype: str = DOUBLE
    repetitions: int = 5  # At the most: what takes minutes is repeated less often


class Measure(Protocol):
    """Measures one place."""

    def __call__(
        self, method: str, n: int, d: int, p: int, dtype: str, seed: int
    ) -> Mapping[str, float]:
        """Return metrics."""


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
