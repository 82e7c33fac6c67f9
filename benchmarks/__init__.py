"""Data set x method x setting x metric x seed: tidy tables, with the environment that made them."""

import difflib
from collections.abc import Mapping

from benchmarks.asymmetric.benchmark import ASYMMETRIC
from benchmarks.attention import ATTENTION
from benchmarks.bank.benchmark import BANK
from benchmarks.competitions.benchmark import COMPETITIONS
from benchmarks.digmm.benchmark import DIGMM
from benchmarks.evidence.benchmark import EVIDENCE
from benchmarks.first import FIRST_MINUTE
from benchmarks.forecasts.benchmark import FORECASTS
from benchmarks.free_text import FREE_TEXT
from benchmarks.gabasr.benchmark import GABASR
from benchmarks.gaussian import GAUSSIAN
from benchmarks.glm.benchmark import GLM
from benchmarks.harness import Benchmark, Cell, Options, Part, grid, render, run
from benchmarks.indefinite.benchmark import INDEFINITE
from benchmarks.intermittent.benchmark import INTERMITTENT
from benchmarks.many import MANY
from benchmarks.panels.benchmark import PANELS
from benchmarks.payoff import PAYOFF
from benchmarks.processes.benchmark import PROCESSES
from benchmarks.published.benchmark import PUBLISHED
from benchmarks.reading import READING
from benchmarks.real.benchmark import REAL
from benchmarks.results import markdown_table, median_table, medians, read_rows
from benchmarks.schemes.benchmark import SCHEMES_BENCHMARK
from benchmarks.seconds import SECONDS
from benchmarks.speed.benchmark import SPEED
from benchmarks.unlike.benchmark import UNLIKE

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Cell",
    "Options",
    "Part",
    "find",
    "grid",
    "markdown_table",
    "median_table",
    "medians",
    "read_rows",
    "render",
    "run",
]

BENCHMARKS: Mapping[str, Benchmark] = {
    each.name: each
    for each in (
        *(
            PUBLISHED,
            REAL,
            FORECASTS,
            COMPETITIONS,
            PANELS,
            INTERMITTENT,
            GAUSSIAN,
            SCHEMES_BENCHMARK,
            INDEFINITE,
            ASYMMETRIC,
        ),
        *(
            BANK,
            GABASR,
            DIGMM,
            PROCESSES,
            GLM,
            EVIDENCE,
            FIRST_MINUTE,
            SPEED,
            MANY,
            PAYOFF,
            ATTENTION,
            UNLIKE,
            FREE_TEXT,
            READING,
            SECONDS,
        ),
    )
}


def find(name: str) -> Benchmark:
    """Return a benchmark by its name; ValueError lists those there are, the nearest first."""
    if name not in BENCHMARKS:
        nearest = difflib.get_close_matches(name, BENCHMARKS, n=len(BENCHMARKS) or 1, cutoff=0.0)
        raise ValueError(f"There is no benchmark {name!r}; there are {', '.join(nearest)}.")
    return BENCHMARKS[name]
