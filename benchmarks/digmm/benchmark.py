"""Errors and accuracies of double mixtures learned from similarities of few rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from benchmarks.digmm import design
from benchmarks.digmm.parts import (
    Task,
    accuracy_metrics,
    ascent_metrics,
    error_metrics,
    setting_metrics,
    speed_metrics,
)
from benchmarks.digmm.summary import summarise
from benchmarks.digmm.views import VIEWS
from benchmarks.harness import Benchmark, Cell, Options
from benchmarks.quiet import quiet
from benchmarks.results import Scalar

__all__ = ["DIGMM", "VIEWS"]

_NONE = "none"


def _cells(options: Options) -> Iterable[Cell]:
    # What few cells take goes first, then seed by seed, so that a run that ends early has every
    # cell with some seeds, and data set by data set, so that rows are prepared once.
    return [cell for part in _PARTS for cell in part(_size(options), options)]


def _from_folder(options: Options) -> bool:
    return options.data is not None and not options.quick


def _size(options: Options) -> design.Size:
    return design.QUICK if options.quick else design.FULL


def _name(wanted: str, options: Options) -> str:
    return wanted if _from_folder(options) else design.BUNDLED


def _cell(
    part: str, name: str, method: str, seed: int, kernel: str, size: int, option: Scalar = _NONE
) -> Cell:
    settings: Mapping[str, Scalar] = {
        "part": part,
        "kernel": kernel,
        "size": size,
        "option": option,
    }
    return Cell(name, method, seed, settings)


def _error_cells(size: design.Size, options: Options) -> Iterator[Cell]:
    name = _name(design.EEG, options)
    for seed in range(size.error_seeds):
        for kernel in design.FIGURE_KERNELS:
            for multiple in size.error_sizes:
                for method in design.ERROR_METHODS:
                    if design.is_measured(method, kernel):
                        yield _cell(design.ERROR, name, method, seed, kernel, multiple)


def _truncation_cells(size: design.Size, options: Options) -> Iterator[Cell]:
    name, part = _name(design.IJCNN1, options), design.TRUNCATION
    for seed in range(size.few_seeds):
        for kernel in design.FIGURE_KERNELS:
            for multiple in size.truncation_sizes:
                for method in design.DIGMMS:
                    for value in size.truncations:
                        yield _cell(part, name, method, seed, kernel, multiple, value)


def _shift_cells(size: design.Size, options: Options) -> Iterator[Cell]:
    name, part = _name(design.IJCNN1, options), design.SHIFT
    for seed in range(size.shift_seeds):
        for value in size.shifts:
            yield _cell(part, name, design.TAYLOR, seed, design.TL1, size.sizes[0], value)


def _sketch_cells(size: design.Size, options: Options) -> Iterator[Cell]:
    name, part = _name(design.IJCNN1, options), design.SKETCH
    for seed in range(size.few_seeds):
        for kernel in design.FIGURE_KERNELS:
            for method in design.DIGMMS:
                for value in size.sketches:
                    yield _cell(part, name, method, seed, kernel, size.sketch_size, value)


def _convergence_cells(size: design.Size, options: Options) -> Iterator[Cell]:
    for name in design.TABLES if _from_folder(options) else (design.BUNDLED,):
        for method in design.DIGMMS:
            yield _cell(design.CONVERGENCE, name, method, 0, design.TL1, size.sizes[0])


def _speed_cells(size: design.Size, options: Options) -> Iterator[Cell]:
    name = _name(design.IJCNN1, options)
    for seed in range(size.few_seeds):
        for kernel in design.FIGURE_KERNELS:
            for method in design.DIGMMS:
                yield _cell(design.SPEED, name, method, seed, kernel, size.sizes[-1])


def _accuracy_cells(size: design.Size, options: Options) -> Iterator[Cell]:
    if not _from_folder(options):
        yield from _accuracies_of(design.BUNDLED, 0, size, size.sizes, tuple(design.SIMILARITIES))
        return
    for seed in range(size.most_seeds):
        for name in design.TABLES:
            yield from _accuracies_of(name, seed, size, size.sizes, tuple(design.SIMILARITIES))
        yield from _accuracies_of(design.MNIST, seed, size, size.sizes[:1], design.FIGURE_KERNELS)


def _accuracies_of(
    name: str, seed: int, size: design.Size, multiples: tuple[int, ...], kernels: tuple[str, ...]
) -> Iterator[Cell]:
    part, none = design.ACCURACY, design.NO_KERNEL
    here = [m for m in multiples if seed < design.n_seeds(name, m, size.most_seeds)]
    if here:
        yield _cell(part, name, design.LINEAR, seed, none, 0)
    for multiple in here if seed < size.best_seeds else ():
        yield _cell(part, name, design.BEST, seed, none, multiple)
    for kernel in kernels:
        for multiple in here:
            for method in design.ACCURACY_METHODS:
                if design.is_measured(method, kernel):
                    yield _cell(part, name, method, seed, kernel, multiple)


_PARTS: tuple[Callable[[design.Size, Options], Iterator[Cell]], ...] = (
    _speed_cells,
    _convergence_cells,
    _error_cells,
    _shift_cells,
    _truncation_cells,
    _sketch_cells,
    _accuracy_cells,
)
_PARAMETERS: Mapping[str, str] = {
    design.TRUNCATION: "truncation",
    design.SHIFT: "shift",
    design.SKETCH: "n_sketch",
}
_MEASURES: Mapping[str, Callable[[Task], Mapping[str, float]]] = {
    design.ACCURACY: accuracy_metrics,
    design.ERROR: error_metrics,
    design.CONVERGENCE: ascent_metrics,
    design.SPEED: speed_metrics,
}


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    part, kernel = (str(cell.settings[name]) for name in ("part", "kernel"))
    multiple = int(cell.settings["size"])
    task = Task(
        cell.dataset, kernel, cell.method, multiple, cell.seed, _size(options), options.data
    )
    with quiet():
        if part in _PARAMETERS:
            return setting_metrics(task, **{_PARAMETERS[part]: cell.settings["option"]})
        return _MEASURES[part](task)


DIGMM = Benchmark(
    name="digmm",
    description="Errors and accuracies of double mixtures learned from similarities of few rows.",
    settings=("part", "kernel", "size", "option"),
    cells=_cells,
    run=_run,
    summarise=summarise,
)
