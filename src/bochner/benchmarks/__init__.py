"""Data set x method x setting x metric x seed: tidy tables, with the environment that made them."""

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from bochner.benchmarks.asymmetric import ASYMMETRIC
from bochner.benchmarks.bank import BANK
from bochner.benchmarks.digmm import DIGMM
from bochner.benchmarks.gabasr import GABASR
from bochner.benchmarks.gaussian import GAUSSIAN
from bochner.benchmarks.harness import Benchmark, Cell, Options, render, run
from bochner.benchmarks.indefinite import INDEFINITE
from bochner.benchmarks.results import markdown_table, median_table, medians, read_rows
from bochner.benchmarks.speed import SPEED
from bochner.benchmarks.tables import TABLES

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Cell",
    "Options",
    "find",
    "markdown_table",
    "median_table",
    "medians",
    "read_rows",
    "render",
    "run",
]

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        benchmark.name: benchmark
        for benchmark in (TABLES, GAUSSIAN, INDEFINITE, ASYMMETRIC, BANK, GABASR, DIGMM, SPEED)
    }
)


def find(name: str) -> Benchmark:
    """Return a benchmark by its name.

    Parameters
    ----------
    name : str

    Returns
    -------
    benchmark : Benchmark

    Raises
    ------
    ValueError
        If there is none of that name; the message lists those there are, the nearest first.
    """
    if name not in BENCHMARKS:
        nearest = difflib.get_close_matches(name, BENCHMARKS, n=len(BENCHMARKS) or 1, cutoff=0.0)
        raise ValueError(f"There is no benchmark {name!r}; there are {', '.join(nearest)}.")
    return BENCHMARKS[name]
