"""Gaussian processes at scale: exact and sparse ones, and minima found by drawn functions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.processes import design, page, rows, thompson
from benchmarks.processes.measures import measured
from benchmarks.processes.methods import installed
from benchmarks.results import Row, median_table


def _draw_cells(options: Options) -> Iterator[Cell]:
    sizes = (design.QUICK_ROWS,) if options.quick else (design.FEW_ROWS, design.MANY_ROWS)
    names = [design.LARGEST_DRAW] if options.quick else list(design.DRAWS)
    places = [(name, n) for n in sizes for name in names]
    if not options.quick:
        places.append((design.LARGEST_DRAW, design.MOST_ROWS))
    for name, n in places:
        yield from _cells(name, n, options, is_draw=True)


def _table_cells(options: Options) -> Iterator[Cell]:
    if options.quick:
        yield from _cells(design.QUICK_TABLE, design.QUICK_ROWS, options, is_draw=False)
    for name, n in design.TABLES.items() if options.from_folder else ():
        yield from _cells(name, n, options, is_draw=False)


def _cells(name: str, n: int, options: Options, *, is_draw: bool) -> Iterator[Cell]:
    """Yield the cells of each seed next to each other, so that they share the rows."""
    for seed in range(design.SEEDS):
        for method in filter(installed, design.methods_of(n, is_draw=is_draw)):
            is_quick = not options.quick or (seed == 0 and method not in design.SPARSE)
            if seed < design.n_seeds(method, n) and is_quick:
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
        Part("draws", _draw_cells, _run_draw, page.draws),
        Part("tables", _table_cells, _run_table, page.tables),
        Part("minima", thompson.cells, thompson.run, _minima),
    ),
)
