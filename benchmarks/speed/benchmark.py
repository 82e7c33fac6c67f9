"""Speed and memory of features and regressions, as ratios to others and to the machine."""

import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from threadpoolctl import threadpool_limits

from benchmarks.harness import Benchmark, Cell, Options
from benchmarks.results import Row
from benchmarks.speed.bank import BANK
from benchmarks.speed.distributed import DISTRIBUTED
from benchmarks.speed.first import FIRST
from benchmarks.speed.large import LARGE
from benchmarks.speed.map import MAP
from benchmarks.speed.part import Part
from benchmarks.speed.ridge import RIDGE
from benchmarks.speed.structured import STRUCTURED_MAP

PARTS: Mapping[str, Part] = MappingProxyType(
    {part.name: part for part in (FIRST, MAP, STRUCTURED_MAP, RIDGE, LARGE, BANK, DISTRIBUTED)}
)

REPETITIONS, _QUICK_REPETITIONS = 5, 1


def _cells(options: Options) -> Iterable[Cell]:
    # Repetition by repetition, so that all methods share the machine's moods.
    for seed in range(_QUICK_REPETITIONS if options.quick else REPETITIONS):
        for part in PARTS.values():
            for place in part.places(options.quick):
                if seed < place.repetitions:
                    sizes = {"n": place.n, "d": place.d, "p": place.p}
                    settings = {"part": part.name, "dtype": place.dtype} | sizes
                    yield Cell("normal", place.method, seed, settings)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    n, d, p = (int(cell.settings[name]) for name in ("n", "d", "p"))
    part = PARTS[str(cell.settings["part"])]
    # All cores, whatever the harness gives to benchmarks of errors.
    with threadpool_limits(os.cpu_count()):
        return part.measure(cell.method, n, d, p, str(cell.settings["dtype"]), cell.seed)


def _summarise(rows: Sequence[Row]) -> str:
    page = [
        "Seconds on all cores of the machine, medians over repetitions, and in brackets their "
        "ratio to ours, the first column; all methods in one run, one after the other."
    ]
    for part in PARTS.values():
        page += part.page([row for row in rows if row["part"] == part.name])
    return "\n\n".join(page)


SPEED = Benchmark(
    name="speed",
    description="Speed and memory of features and regressions, beside others.",
    settings=("part", "dtype", "n", "d", "p"),
    cells=_cells,
    run=_run,
    summarise=_summarise,
)
