"""Errors, recovery, scaling and speed of kernels learned by sampling their frequencies."""

import os
from collections.abc import Iterable, Iterator, Mapping

from benchmarks.bank import design
from benchmarks.bank.accuracy import accuracy_metrics
from benchmarks.bank.kernel import TRUE, TRUE_SPECTRUM, kernel_metrics
from benchmarks.bank.scaling import scaling_metrics
from benchmarks.bank.speed import GRADIENT, SWEEP, speed_metrics
from benchmarks.bank.summary import summarise
from benchmarks.bank.views import VIEWS, View
from benchmarks.harness import Benchmark, Cell, Options
from benchmarks.quiet import quiet

__all__ = ["BANK", "VIEWS", "View"]

_SYNTHETIC = "synthetic"
_MOST_SEEDS = 5
_BUNDLED: tuple[str, ...] = (design.BUNDLED_REGRESSION, design.BUNDLED_CLASSIFICATION)


def _cells(options: Options) -> Iterable[Cell]:
    # Fold by fold within a part, so that an interrupted run has as many of everything.
    return [cell for part in _PARTS for seed in range(_MOST_SEEDS) for cell in part(seed, options)]


def _from_folder(options: Options) -> bool:
    return options.data is not None and not options.quick


def _size(options: Options) -> design.Size:
    return design.QUICK if options.quick else design.FULL


def _cell(
    part: str,
    dataset: str,
    method: str,
    seed: int,
    *,
    n: int | str = design.ALL,
    m: int,
    threads: int | str = 1,
) -> Cell:
    return Cell(dataset, method, seed, {"part": part, "n": n, "m": m, "threads": threads})


def _accuracy_cells(seed: int, options: Options) -> Iterator[Cell]:
    size, names = _size(options), _BUNDLED
    if _from_folder(options):
        names = (*design.REGRESSIONS, *design.CLASSIFICATIONS)
    for name in names if seed < size.n_folds else ():
        for method in design.methods_of(name):
            yield _cell(design.ACCURACY, name, method, seed, m=size.n_frequencies)


def _kernel_cells(seed: int, options: Options) -> Iterator[Cell]:
    size = _size(options)
    if seed < size.kernel_trials:
        for method in (TRUE, TRUE_SPECTRUM, design.OURS):
            yield _cell(design.KERNEL, _SYNTHETIC, method, seed, n=1_000, m=size.kernel_frequencies)


def _scaling_cells(seed: int, options: Options) -> Iterator[Cell]:
    size, names = _size(options), _BUNDLED
    if _from_folder(options):
        names = tuple(design.SCALED)
    # One fold each, and another one, so that halves by parity have as much to do.
    if seed >= len(names):
        return
    name, most = names[seed], size.scaling_frequencies[-1]
    rows = (*size.scaling_rows, *([design.SCALED[name]] if name in design.SCALED else []))
    places = [(n, most) for n in rows]
    places += [(size.scaling_at, m) for m in size.scaling_frequencies[:-1]]
    for n, m in places:
        yield _cell(design.SCALING, name, design.OURS, seed, n=n, m=m)


def _speed_cells(seed: int, options: Options) -> Iterator[Cell]:
    size = _size(options)
    name = "bike_hourly" if _from_folder(options) else design.BUNDLED_REGRESSION
    if seed < size.repetitions:
        for threads in (1, design.ALL):
            for method in (SWEEP, GRADIENT):
                yield _cell(
                    design.SPEED, name, method, seed,
                    n=size.speed_rows, m=size.speed_frequencies, threads=threads,
                )  # fmt: skip


_PARTS = (_accuracy_cells, _kernel_cells, _scaling_cells, _speed_cells)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    part, name, size = cell.settings["part"], cell.dataset, _size(options)
    n, m = cell.settings["n"], int(cell.settings["m"])
    with quiet():
        if part == design.KERNEL:
            return kernel_metrics(cell.method, m, size.kernel_iterations, cell.seed)
        if part == design.SCALING:
            return scaling_metrics(
                name, int(n), m, size.scaling_iterations, cell.seed, options.data
            )
        if part == design.SPEED:
            n_threads = os.cpu_count() if cell.settings["threads"] == design.ALL else 1
            return speed_metrics(cell.method, name, int(n), m, n_threads or 1, options.data)
        return accuracy_metrics(name, cell.method, size, cell.seed, options.data)


BANK = Benchmark(
    name="bank",
    description="Errors, recovery, scaling and speed of kernels learned by sampling.",
    settings=("part", "n", "m", "threads"),
    cells=_cells,
    run=_run,
    summarise=summarise,
)
