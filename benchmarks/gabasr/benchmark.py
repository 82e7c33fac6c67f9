"""Ranking, errors and predictive densities of locally stationary kernels that are learned."""

from collections.abc import Iterable, Iterator, Mapping

from benchmarks.gabasr import design
from benchmarks.gabasr.accuracy import accuracy_metrics
from benchmarks.gabasr.mixture import mixture_metrics
from benchmarks.gabasr.series import series_metrics
from benchmarks.gabasr.summary import summarise
from benchmarks.gabasr.update import update_metrics
from benchmarks.gabasr.views import FIELD, VIEWS, field_values
from benchmarks.gabasr.xor import xor_metrics
from benchmarks.harness import Benchmark, Cell, Options
from benchmarks.quiet import quiet

__all__ = ["FIELD", "GABASR", "VIEWS", "field_values"]

_MOST_SEEDS = 10
_BUNDLED: tuple[str, ...] = (design.BUNDLED_REGRESSION, design.BUNDLED_CLASSIFICATION)
_LEARNERS = (design.OURS, design.BANK)
_GENERATED = "synthetic"


def _cells(options: Options) -> Iterable[Cell]:
    # Fold by fold within a part, so that an interrupted run has as many of everything.
    return [cell for part in _PARTS for seed in range(_MOST_SEEDS) for cell in part(seed, options)]


def _from_folder(options: Options) -> bool:
    return options.data is not None and not options.quick


def _size(options: Options) -> design.Size:
    return design.QUICK if options.quick else design.FULL


def _cell(part: str, dataset: str, method: str, seed: int, m: int | str) -> Cell:
    return Cell(dataset, method, seed, {"part": part, "m": m})


def _accuracy_cells(seed: int, options: Options) -> Iterator[Cell]:
    size, names = _size(options), _BUNDLED
    if _from_folder(options):
        names = (*design.CLASSIFICATIONS, *design.REGRESSIONS)
    for name in names if seed < size.n_folds else ():
        for method in design.methods_of(name):
            m: int | str = "none"
            if method in _LEARNERS:
                m = design.budget_of(name, size).n_frequencies
            elif method == design.PUBLISHED:
                m = size.published_frequencies
            yield _cell(design.ACCURACY, name, method, seed, m)


def _xor_cells(seed: int, options: Options) -> Iterator[Cell]:
    size = _size(options)
    if seed < size.xor_trials:
        for method in (*_LEARNERS, design.PUBLISHED, design.TRUE):
            yield _cell(design.XOR, _GENERATED, method, seed, size.xor.n_frequencies)


def _mixture_cells(seed: int, options: Options) -> Iterator[Cell]:
    size = _size(options)
    if seed < size.mixture_trials:
        for method in (*_LEARNERS, design.TRUE):
            yield _cell(design.MIXTURE, _GENERATED, method, seed, size.mixture.n_frequencies)


def _series_cells(seed: int, options: Options) -> Iterator[Cell]:
    size = _size(options)
    for name in design.SERIES_NAMES if seed < size.splits else ():
        if name != design.MCYCLE or _from_folder(options):
            truth = () if name == design.MCYCLE else (design.TRUE,)
            for method in (*_LEARNERS, *truth):
                yield _cell(design.SERIES, name, method, seed, size.series.n_frequencies)


def _update_cells(seed: int, options: Options) -> Iterator[Cell]:
    size = _size(options)
    if seed < size.update_trials:
        m = size.update_each**2
        yield _cell(design.UPDATE, _GENERATED, design.OURS, seed, m)


_PARTS = (_accuracy_cells, _xor_cells, _mixture_cells, _series_cells, _update_cells)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    part, name, size = cell.settings["part"], cell.dataset, _size(options)
    with quiet():
        if part == design.XOR:
            return xor_metrics(cell.method, size, cell.seed)
        if part == design.MIXTURE:
            return mixture_metrics(cell.method, size, cell.seed)
        if part == design.UPDATE:
            return update_metrics(size.update_rows, size.update_each, cell.seed)
        if part == design.SERIES:
            return series_metrics(name, cell.method, size, cell.seed, options.data)
        return accuracy_metrics(name, cell.method, size, cell.seed, options.data)


GABASR = Benchmark(
    name="gabasr",
    description="Ranking, errors and densities of locally stationary kernels that are learned.",
    settings=("part", "m"),
    cells=_cells,
    run=_run,
    summarise=summarise,
)
