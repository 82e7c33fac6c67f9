"""Rows unlike the training rows: coverage, scores and errors by kind of test rows."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from time import perf_counter

from threadpoolctl import threadpool_limits

from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.real.design import threads
from benchmarks.unlike import design, page
from benchmarks.unlike.measures import measured
from benchmarks.unlike.methods import METHODS, Method, installed
from benchmarks.unlike.rows import rows_of


def _cells(options: Options) -> Iterator[Cell]:
    """Yield the kinds of a method and table one after the other, so that they share fits."""
    tables = design.QUICK if options.quick else design.TABLES
    methods = design.QUICK_METHODS if options.quick else installed(design.METHODS)
    for seed in range(1 if options.quick else design.SEEDS):
        for name, table in tables.items():
            if name == design.BIKES and not options.from_folder:
                continue
            for method in methods:
                kinds = (design.LATER,) if method == design.OURS_WITH_TIME else table.kinds
                for kind in kinds if set(kinds) <= set(table.kinds) else ():
                    yield Cell(name, method, seed, {"rows": kind})


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    kind = str(cell.settings["rows"])
    training = design.COMPLETE if kind in design.COMPLETE_TRAINING else kind
    with threadpool_limits(threads()):
        method, seconds = _fitted(cell.dataset, cell.method, cell.seed, training, options)
        metrics = measured(method, rows_of(cell.dataset, kind, cell.seed, options))
    return {**metrics, "fit_seconds": seconds}


@lru_cache(maxsize=1)
def _fitted(name: str, method: str, seed: int, kind: str, options: Options) -> tuple[Method, float]:
    """Return a method that is fitted to the training rows of a kind, and the seconds of the fit."""
    table, rows = design.EVERY[name], rows_of(name, kind, seed, options)
    start = perf_counter()
    model = METHODS[method](seed, table.is_regression, table.time).fit(rows.X, rows.y)
    return model, perf_counter() - start


UNLIKE = Benchmark(
    name="unlike",
    settings=("rows",),
    introduction=page.INTRODUCTION,
    parts=(Part("kinds", _cells, _run, page.tables),),
)
