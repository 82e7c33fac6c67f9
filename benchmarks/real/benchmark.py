"""Real tables: errors, intervals, seconds and megabytes on three folds, and learning curves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import Picture
from benchmarks.real import design, page
from benchmarks.real.measures import measured
from benchmarks.real.methods import METHODS, installed
from benchmarks.real.reading import curve_of, fold_of
from benchmarks.results import Row

_ALL = "all"


def _cells(options: Options) -> Iterable[Cell]:
    if options.quick:
        return grid(design.QUICK, (design.OURS, design.TREES), 1, rows=(_ALL,))
    names = (
        name for name, table in design.TABLES.items() if options.from_folder or not table.in_folder
    )
    cells = grid(names, installed(design.METHODS), design.FOLDS, rows=(_ALL,))
    return [cell for cell in cells if cell.seed == 0 or cell.method not in design.ONE_FOLD]


def _curve_cells(options: Options) -> Iterator[Cell]:
    if options.quick:
        methods = (design.OURS, design.TREES)
        yield from grid((design.QUICK_CURVE,), methods, 1, rows=design.QUICK_SIZES)
    elif options.from_folder:
        for name, sizes in design.CURVE_ROWS.items():
            yield from grid((name,), installed(design.CURVE_METHODS), 1, rows=sizes)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    rows = fold_of(cell.dataset, cell.seed, options.data)
    if options.quick:
        rows = rows.thinned(design.QUICK_SHARE, design.QUICK_ROWS)
    return measured(METHODS[cell.method](cell.seed, rows.is_regression), rows)


def _run_curve(cell: Cell, options: Options) -> Mapping[str, float]:
    n_test = design.CURVE_TEST_ROWS.get(cell.dataset, design.QUICK_TEST_ROWS)
    rows = curve_of(cell.dataset, int(cell.settings["rows"]), n_test, options.data)
    return measured(METHODS[cell.method](cell.seed, rows.is_regression), rows)


def _curves(rows: Sequence[Row]) -> Mapping[tuple[str, str, float], float]:
    return {
        (str(row["dataset"]), str(row["method"]), float(row["rows"])): float(row["value"])
        / page.curve_unit(rows, str(row["dataset"]))
        for row in rows
        if row["metric"] in ("rmse", "log_loss")
    }


REAL = Benchmark(
    name="real",
    settings=("part", "rows"),
    introduction=page.INTRODUCTION,
    parts=(
        Part("tables", _cells, _run, page.tables),
        Part(
            "curves",
            _curve_cells,
            _run_curve,
            page.curves,
            (
                Picture(
                    "curves",
                    "Error on the same test rows by the number of training rows, relative to that "
                    "of CatBoost (boosted trees where it is missing) with the fewest rows.",
                    "training rows",
                    "relative error",
                    _curves,
                ),
            ),
        ),
    ),
)
