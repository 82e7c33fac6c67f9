"""Errors and accuracies of features learned from similarities of few rows."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from bochner.benchmarks import _digmm_design as design
from bochner.benchmarks._digmm_accuracy import (
    accuracy_metrics,
    best_metrics,
    cell_rows,
    course_metrics,
    error_metrics,
)
from bochner.benchmarks._digmm_paper import EEG, IJCNN1, LINEAR, MNIST, POLYNOMIAL, SIZES, TL1
from bochner.benchmarks._digmm_summary import summarise
from bochner.benchmarks._digmm_views import VIEWS
from bochner.benchmarks._quiet import quiet
from bochner.benchmarks._rows import loaded
from bochner.benchmarks.harness import Benchmark, Cell, Options

__all__ = ["DIGMM", "VIEWS"]

_TWO = (design.TAYLOR, design.EXACT)
_QUICK_SIZE = SIZES[:1]
_FEATURES = 4
_LARGE = 16


def _cells(options: Options) -> Iterable[Cell]:
    # Seed by seed, so that a run that ends early has all cells with few seeds.
    for seed in range(1 if options.quick else design.SEEDS):
        for cells in (_error, _accuracy, _truncation, _shift, _sketch, _convergence, _digits):
            yield from cells(seed, options)


def _cell(
    part: str, name: str, method: str, seed: int, kernel: str, size: int, value: float = 0.0
) -> Cell:
    return Cell(
        name, method, seed, {"part": part, "kernel": kernel, "size": size, "setting": value}
    )


def _name(name: str, options: Options) -> str:
    return name if options.data is not None and not options.quick else design.BUNDLED


def _error(seed: int, options: Options) -> Iterator[Cell]:
    for kernel in (POLYNOMIAL, TL1):
        for size in _QUICK_SIZE if options.quick else SIZES:
            for method in design.METHODS:
                if design.applies(method, kernel) and not (
                    options.quick and method == design.EXACT_LARGE
                ):
                    yield _cell(design.ERROR, _name(EEG, options), method, seed, kernel, size)


def _accuracy(seed: int, options: Options) -> Iterator[Cell]:
    from_folder = options.data is not None and not options.quick
    for name in design.DATASETS if from_folder else (design.BUNDLED,):
        if options.quick:
            yield from _accuracies_of(name, seed, _QUICK_SIZE, (POLYNOMIAL, TL1))
        else:
            yield from _accuracies_of(name, seed, SIZES, design.STUDIES)


def _digits(seed: int, options: Options) -> Iterator[Cell]:
    if options.data is not None and not options.quick:
        yield from _accuracies_of(MNIST, seed, SIZES[:1], (POLYNOMIAL, TL1))


def _accuracies_of(
    name: str, seed: int, sizes: Iterable[int], kernels: Iterable[str]
) -> Iterator[Cell]:
    if seed < design.n_seeds(name, SIZES[0]):
        yield _cell(design.ACCURACY, name, LINEAR, seed, design.NO_KERNEL, 0)
    for size in sizes:
        if seed >= design.n_seeds(name, size):
            continue
        for kernel, method in product(kernels, design.METHODS):
            if method != design.EXACT_LARGE and design.applies(method, kernel):
                yield _cell(design.ACCURACY, name, method, seed, kernel, size)
        if seed == 0 or (seed == 1 and size < _LARGE):
            yield _cell(design.ACCURACY, name, design.BEST, seed, design.NO_KERNEL, size)


def _truncation(seed: int, options: Options) -> Iterator[Cell]:
    sizes = _QUICK_SIZE if options.quick else (2, 8, 16)
    for kernel in (POLYNOMIAL, TL1) if seed < 2 else ():
        for size in sizes:
            for value in design.TRUNCATIONS[:2] if options.quick else design.TRUNCATIONS:
                for method in _TWO:
                    name = _name(IJCNN1, options)
                    yield _cell(design.TRUNCATION, name, method, seed, kernel, size, value)


def _shift(seed: int, options: Options) -> Iterator[Cell]:
    shifts = design.SHIFTS[:2] if options.quick else design.SHIFTS
    for value in shifts if seed < 3 else ():
        name = _name(IJCNN1, options)
        yield _cell(design.SHIFT, name, design.TAYLOR, seed, TL1, SIZES[0], value)


def _sketch(seed: int, options: Options) -> Iterator[Cell]:
    for kernel in (POLYNOMIAL, TL1) if seed < 3 else ():
        for value in design.SKETCHES[:2] if options.quick else design.SKETCHES:
            for method in _TWO:
                name = _name(IJCNN1, options)
                yield _cell(design.SKETCH, name, method, seed, kernel, SIZES[0], value)


def _convergence(seed: int, options: Options) -> Iterator[Cell]:
    from_folder = options.data is not None and not options.quick
    names = design.DATASETS if from_folder else (design.BUNDLED,)
    for name, method in product(names if seed == 0 else (), _TWO):
        yield _cell(design.CONVERGENCE, name, method, seed, TL1, SIZES[0])


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    part, kernel = str(cell.settings["part"]), str(cell.settings["kernel"])
    size, value = int(cell.settings["size"]), float(cell.settings["setting"])
    dim = loaded(cell.dataset, options.data).X.shape[1]
    p = _FEATURES * size * dim
    every = cell.method == design.BEST
    rows = cell_rows(cell.dataset, kernel, cell.seed, options.data, every=every)
    with quiet():
        if every:
            return best_metrics(rows, p, cell.seed)
        if cell.method == LINEAR:
            return accuracy_metrics(None, rows, cell.seed)
        features = design.made(part, kernel, cell.method, value, p, dim, cell.seed)
        if part == design.CONVERGENCE:
            return course_metrics(features, rows.train)
        metrics = {}
        if part in (design.ERROR, design.SKETCH):
            metrics = dict(error_metrics(features, design.STUDIES[kernel].kernel(dim), rows))
        if part != design.ERROR:
            metrics |= accuracy_metrics(features, rows, cell.seed)
        return metrics


DIGMM = Benchmark(
    name="digmm",
    description="Errors and accuracies of features learned from similarities of few rows.",
    settings=("part", "kernel", "size", "setting"),
    cells=_cells,
    run=_run,
    summarise=summarise,
)
