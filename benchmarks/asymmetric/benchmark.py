"""Errors, masses, speed and accuracies of features of asymmetric kernels."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

from benchmarks.asymmetric import design
from benchmarks.asymmetric.accuracy import accuracy_metrics
from benchmarks.asymmetric.direction import MODELS, direction_metrics
from benchmarks.asymmetric.errors import error_metrics, mass_metrics, speed_metrics
from benchmarks.asymmetric.graph import GENERATED, edges_of
from benchmarks.asymmetric.rows import rows_of
from benchmarks.asymmetric.summary import summarise
from benchmarks.asymmetric.views import VIEWS, View
from benchmarks.harness import Benchmark, Cell, Options
from benchmarks.rows import loaded

__all__ = ["ASYMMETRIC", "VIEWS", "View"]

_BUNDLED = "breast_cancer"
_NORMAL, _UNIFORM = "normal", "uniform"
_QUICK_SIZES = (2, 4)
_SPEED_SIZES = (16, 64)
_SPEED_ROWS, _QUICK_SPEED_ROWS = 10_000, 500


def _cells(options: Options) -> Iterable[Cell]:
    # Trial by trial within a part, so that an interrupted run has as many of everything.
    return [
        cell
        for part in _PARTS
        for seed in range(max(design.TRIALS, design.REPETITIONS))
        for cell in part(seed, options)
    ]


def _datasets(options: Options) -> tuple[str, ...]:
    return design.DATASETS if options.data is not None and not options.quick else (_BUNDLED,)


def _cell(part: str, dataset: str, kernel: str, method: str, size: int, seed: int) -> Cell:
    return Cell(dataset, method, seed, {"part": part, "kernel": kernel, "size": size})


def _error_cells(seed: int, options: Options) -> Iterator[Cell]:
    for name in _datasets(options):
        dim = loaded(name, options.data).X.shape[1]
        for size in _QUICK_SIZES if options.quick else design.SIZES:
            for kernel in design.ASYMMETRIC:
                for method, made in design.METHODS.items():
                    n_trials = made.n_trials(size * dim)
                    if seed < (min(n_trials, 2) if options.quick else n_trials):
                        yield _cell(design.ERROR, name, kernel, method, size, seed)


def _mass_cells(seed: int, options: Options) -> Iterator[Cell]:
    sizes = _QUICK_SIZES if options.quick else design.SIZES
    for kernel in design.ASYMMETRIC:
        if seed == 0:
            for method in (design.SERIES, design.QUADRATURE):
                yield _cell(design.MASSES, _NORMAL, kernel, method, sizes[0], seed)
        if seed < (2 if options.quick else design.TRIALS):
            for size in sizes:
                yield _cell(design.MASSES, _NORMAL, kernel, design.FITTED, size, seed)


def _speed_cells(seed: int, options: Options) -> Iterator[Cell]:
    if seed >= (3 if options.quick else design.REPETITIONS):
        return
    for size in _SPEED_SIZES[:1] if options.quick else _SPEED_SIZES:
        for kernel in design.SPEED_KERNELS:
            methods = (design.POLAR, *([design.JORDAN_IID] * (kernel in design.ASYMMETRIC)))
            for method in methods:
                yield _cell(design.SPEED, _UNIFORM, kernel, method, size, seed)


def _table_cells(seed: int, options: Options) -> Iterator[Cell]:
    if seed >= (1 if options.quick else design.TRIALS):
        return
    part, size = design.TABLE, design.TABLE_SIZE
    for name in _datasets(options):
        yield _cell(part, name, design.LINEAR, design.LINEAR, size, seed)
        for method in design.BY_GAUSSIAN:
            yield _cell(part, name, design.GAUSSIAN, method, size, seed)
        for kernel in design.ASYMMETRIC:
            for method in design.BY_KERNEL:
                yield _cell(part, name, kernel, method, size, seed)


def _direction_cells(seed: int, options: Options) -> Iterator[Cell]:
    from_folder = options.data is not None and not options.quick
    if seed < (1 if options.quick else design.TRIALS):
        for name in design.GRAPHS if from_folder else (GENERATED,):
            for method in MODELS:
                yield _cell(design.DIRECTION, name, design.NO_KERNEL, method, 1, seed)


def _accuracy_cells(seed: int, options: Options) -> Iterator[Cell]:
    if options.quick:
        return
    for name in _datasets(options):
        for size, n_trials in design.ACCURACY_TRIALS.items():
            for kernel in design.ASYMMETRIC if seed < n_trials else ():
                for method in (design.ASY_JORDAN, design.ASY_POLAR):
                    yield _cell(design.ACCURACY, name, kernel, method, size, seed)


_PARTS = (
    _error_cells, _mass_cells, _speed_cells, _table_cells, _direction_cells, _accuracy_cells
)  # fmt: skip


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    part, label = str(cell.settings["part"]), str(cell.settings["kernel"])
    size = int(cell.settings["size"])
    with _quiet():
        if part == design.MASSES:
            return mass_metrics(label, cell.method, size, cell.seed)
        if part == design.SPEED:
            n_rows = _QUICK_SPEED_ROWS if options.quick else _SPEED_ROWS
            return speed_metrics(label, cell.method, size, n_rows, cell.seed)
        if part == design.DIRECTION:
            train, test = edges_of(cell.dataset, cell.seed, options.data)
            return direction_metrics(train, test, cell.method, cell.seed)
        rows = rows_of(cell.dataset, cell.seed, options.data)
        measure = error_metrics if part == design.ERROR else accuracy_metrics
        return measure(rows, label, cell.method, size, cell.seed)


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the warnings of what is measured here: fits that do not converge or are no better."""
    with warnings.catch_warnings():
        for category in (UserWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        yield


ASYMMETRIC = Benchmark(
    name="asymmetric",
    description="Errors, masses, speed and accuracies of features of asymmetric kernels.",
    settings=("part", "kernel", "size"),
    cells=_cells,
    run=_run,
    summarise=summarise,
)
