"""What a part of the benchmark of speed consists of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from benchmarks.results import Row, median_table

DOUBLE, SINGLE = "float64", "float32"


@dataclass(frozen=True, slots=True)
class Place:
    """What is measured once in every repetition.

    Parameters
    ----------
    method : str
    n, d, p : int
        Rows, inputs and features.
    dtype : {"float64", "float32"}
    repetitions : int
        At the most: what takes minutes is repeated less often.
    """

    method: str
    n: int
    d: int
    p: int
    dtype: str = DOUBLE
    repetitions: int = 5


class Measure(Protocol):
    """Measures one place."""

    def __call__(
        self, method: str, n: int, d: int, p: int, dtype: str, seed: int
    ) -> Mapping[str, float]:
        """Return metrics."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things whose speed is measured.

    Parameters
    ----------
    name : str
    places : callable
        From whether to be quick to what is measured.
    measure : callable
        Returns the metrics of one place, for a seed.
    page : callable
        From the part's rows to paragraphs and tables.
    """

    name: str
    places: Callable[[bool], Sequence[Place]]
    measure: Measure
    page: Callable[[Sequence[Row]], Sequence[str]]


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
