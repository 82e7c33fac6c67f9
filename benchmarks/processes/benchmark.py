"""Gaussian processes at scale: exact and sparse ones, and minima found by drawn functions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.processes import design, page, rows, thompson
from benchmarks.processes.measures import measured
from benchmarks.processes.methods import installed
from benchmarks.results import Row, median_table


def _draw_cells(options: Options) -> Iterator[Cell]:
    if options.quick:
        yield from _cells(design.LARGEST_DRAW, design.QUICK_ROWS, options)
        return
    for n in (design.FEW_ROWS, design.MANY_ROWS):
        for name in design.DRAWS:
            yield from _cells(name, n, options)
    yield from _cells(design.LARGEST_DRAW, design.MOST_ROWS, options)


def _table_cells(options: Options) -> Iterator[Cell]:
    if options.quick:
        yield from _cells(design.QUICK_TABLE, design.QUICK_ROWS, options)
    for name, n in design.TABLES.items() if options.from_folder else ():
        yield from _cells(name, n, options)


def _cells(name: str, n: int, options: Options) -> Iterator[Cell]:
    """Yield the cells of each seed next to each other, so that they share the rows."""
    methods = [method for method in design.methods_of(name, n) if installed(method)]
    for seed in range(1 if options.quick else design.SPLITS):
        for method in methods:
            if seed < design.n_seeds(name, method) and not (
                options.quick and method in design.SLOW
            ):
                yield Cell(name, method, seed, {"n": n})


def _run_draw(cell: Cell, options: Options) -> Mapping[str, float]:
    n_test = design.QUICK_ROWS if options.quick else design.TEST_ROWS
    problem = rows.drawn(cell.dataset, int(cell.settings["n"]), n_test, cell.seed)
    return measured(cell.method, problem, cell.seed)


def _run_table(cell: Cell, options: Options) -> Mapping[str, float]:
    return measured(cell.method, rows.table(cell.dataset, cell.seed, options.data), cell.seed)


def _minima(rows: Sequence[Row]) -> Iterable[str]:
    yield (
        "**Minima.** Distance of the least value found from the minimum, after all evaluations: "
        "30, 50 and 60, the first 2 d + 2 of them random and the same for all methods but random "
        "search. Medians over seeds."
    )
    yield median_table(rows, index=["dataset"], columns="method", metric="distance_at_1")


PROCESSES = Benchmark(
    name="processes",
    settings=("part", "n"),
    introduction=page.INTRODUCTION,
    parts=(
        Part("tables", _table_cells, _run_table, page.tables),
        Part("draws", _draw_cells, _run_draw, page.draws),
        Part("minima", thompson.cells, thompson.run, _minima),
    ),
)
