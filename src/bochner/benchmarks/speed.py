"""Speed of the feature map and of ridge regression, as ratios to others and to the machine."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from bochner.benchmarks._speed_map import OURS, map_methods, map_metrics
from bochner.benchmarks._speed_ridge import METHODS, ridge_metrics
from bochner.benchmarks._speed_structured import (
    DENSE,
    ORTHOGONAL,
    STRUCTURED,
    structured_metrics,
)
from bochner.benchmarks.harness import Benchmark, Cell, Options
from bochner.benchmarks.results import Row, median_table, medians

_MAP, _RIDGE, _STRUCTURED = "map", "ridge", "structured"
_DTYPES = ("float64", "float32")
_NORMAL = "normal"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured.

    Parameters
    ----------
    map, ridges : tuples of int
        Rows, inputs and features: of the map, and of each of the regressions.
    structured, large : tuples of three ints
        Of the map with structured frequencies, beside the same as an array, and alone.
    repetitions : int
    """

    map: tuple[int, int, int]
    ridges: tuple[tuple[int, int, int], ...]
    structured: tuple[int, int, int]
    large: tuple[int, int, int]
    repetitions: int


FULL = Size(
    map=(200_000, 22, 1_024),
    ridges=((200_000, 20, 2_048), (100_000, 20, 8_192)),
    structured=(2_000, 1_024, 16_384),
    large=(1_000, 1_024, 65_536),
    repetitions=5,
)
QUICK = Size(
    map=(2_000, 5, 64),
    ridges=((2_000, 5, 64),),
    structured=(200, 64, 256),
    large=(50, 64, 512),
    repetitions=2,
)


def _cells(options: Options) -> Iterable[Cell]:
    size = QUICK if options.quick else FULL
    # Repetition by repetition, so that all methods share the machine's moods.
    return [cell for seed in range(size.repetitions) for cell in _one_of_each(size, seed)]


def _one_of_each(size: Size, seed: int) -> Iterator[Cell]:
    for dtype in _DTYPES:
        for method in map_methods():
            yield _cell(_MAP, method, seed, size.map, dtype)
        for method in (STRUCTURED, DENSE, ORTHOGONAL):
            yield _cell(_STRUCTURED, method, seed, size.structured, dtype)
        yield _cell(_STRUCTURED, STRUCTURED, seed, size.large, dtype)
    for place in size.ridges:
        for method in METHODS:
            yield _cell(_RIDGE, method, seed, place, _DTYPES[0])


def _cell(part: str, method: str, seed: int, place: tuple[int, int, int], dtype: str) -> Cell:
    n, d, p = place
    return Cell(_NORMAL, method, seed, {"part": part, "dtype": dtype, "n": n, "d": d, "p": p})


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    n, d, p = (int(cell.settings[name]) for name in ("n", "d", "p"))
    # All cores, whatever the harness gives to benchmarks of errors.
    with threadpool_limits(os.cpu_count()):
        if cell.settings["part"] == _RIDGE:
            return ridge_metrics(cell.method, n, d, p, cell.seed)
        metrics = map_metrics if cell.settings["part"] == _MAP else structured_metrics
        return metrics(cell.method, n, d, p, str(cell.settings["dtype"]), cell.seed)


def _summarise(rows: Sequence[Row]) -> str:
    parts = [
        "Seconds on all cores of the machine, medians over repetitions, and in brackets their "
        f"ratio to ours ({OURS}, {STRUCTURED}); all methods in one run, one after the other.",
    ]
    for part, metric, what in (
        (_MAP, "map_seconds", "**The feature map**: rows to features, and what the product with "
         "the frequencies and writing an array of that size take alone."),
        (_RIDGE, "fit_seconds", "**Ridge regression on random features** of float64 rows, and the "
         "products of such features with themselves alone."),
        (_STRUCTURED, "held_seconds", "**The feature map of structured frequencies**, held by "
         "Hadamard blocks and as an array."),
        (_STRUCTURED, "gram_error", "Root mean square errors of the Gram matrix, relative to it, "
         "with structured and with orthogonal frequencies:"),
    ):  # fmt: skip
        chosen = [row for row in rows if row["part"] == part]
        index = ("n", "d", "p", "dtype")
        ours = STRUCTURED if part == _STRUCTURED else OURS
        table = median_table(chosen, index=index, columns="method", metric=metric, ratio_to=ours)
        parts += [what, table]
    errors = [row for row in rows if row["metric"] == "max_error"]
    listed = medians(errors, by=("dtype",), metric="max_error")
    parts.append(
        "Greatest error of our cosines and sines against extended precision: "
        + ", ".join(f"{value:.1e} ({key[0]})" for key, value in listed.items())
        + "."
    )
    parts += [
        "Mean square errors of the regressions on fresh rows:",
        median_table(
            [row for row in rows if row["part"] == _RIDGE],
            index=("n", "d", "p"), columns="method", metric="mse",
        ),
    ]  # fmt: skip
    return "\n\n".join(parts)


SPEED = Benchmark(
    name="speed",
    description="Speed of the feature map and of ridge regression, beside others.",
    settings=("part", "dtype", "n", "d", "p"),
    cells=_cells,
    run=_run,
    summarise=_summarise,
)
