"""Errors and accuracies of double mixtures learned from similarities of few rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchmarks.digmm import design, page
from benchmarks.digmm.measures import (
    Task,
    accuracy_metrics,
    ascent_metrics,
    error_metrics,
    setting_metrics,
    speed_metrics,
)
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import LOG, SEMILOG, Picture

_NONE = "none"


def _size(options: Options) -> design.Size:
    return design.QUICK if options.quick else design.FULL


def _name(wanted: str, options: Options) -> list[str]:
    return [wanted if options.from_folder else design.BUNDLED]


def _error_cells(options: Options) -> Iterator[Cell]:
    size = _size(options)
    for kernel in design.FIGURE_KERNELS:
        methods = [m for m in design.ERROR_METHODS if design.is_measured(m, kernel)]
        yield from grid(
            _name(design.EEG, options), methods, size.error_seeds,
            kernel=[kernel], size=size.error_sizes, option=[_NONE],
        )  # fmt: skip


def _mixture_cells(options: Options, name: str, seeds: int, **settings: Any) -> list[Cell]:
    defaults: dict[str, Any] = {"kernel": design.FIGURE_KERNELS, "option": [_NONE]}
    return grid(_name(name, options), design.DIGMMS, seeds, **defaults | settings)


def _truncation_cells(options: Options) -> Iterable[Cell]:
    size = _size(options)
    settings = {"size": size.truncation_sizes, "option": size.truncations}
    return _mixture_cells(options, design.IJCNN1, size.few_seeds, **settings)


def _shift_cells(options: Options) -> Iterable[Cell]:
    size = _size(options)
    names, settings = _name(design.IJCNN1, options), {"kernel": [design.TL1], "option": size.shifts}
    return grid(names, [design.TAYLOR], size.shift_seeds, size=size.sizes[:1], **settings)


def _sketch_cells(options: Options) -> Iterable[Cell]:
    size = _size(options)
    settings = {"size": [size.sketch_size], "option": size.sketches}
    return _mixture_cells(options, design.IJCNN1, size.few_seeds, **settings)


def _convergence_cells(options: Options) -> Iterable[Cell]:
    names = design.TABLES if options.from_folder else (design.BUNDLED,)
    size = _size(options).sizes[:1]
    return grid(names, design.DIGMMS, 1, kernel=[design.TL1], size=size, option=[_NONE])


def _speed_cells(options: Options) -> Iterable[Cell]:
    size = _size(options)
    return _mixture_cells(options, design.IJCNN1, size.few_seeds, size=size.sizes[-1:])


def _accuracy_cells(options: Options) -> Iterator[Cell]:
    size, every = _size(options), tuple(design.SIMILARITIES)
    if not options.from_folder:
        cells = _accuracies_of(design.BUNDLED, size, size.sizes, every)
        yield from (cell for cell in cells if cell.seed == 0)
        return
    for name in design.TABLES:
        yield from _accuracies_of(name, size, size.sizes, every)
    yield from _accuracies_of(design.MNIST, size, size.sizes[:1], design.FIGURE_KERNELS)


def _accuracies_of(
    name: str, size: design.Size, multiples: Sequence[int], kernels: Sequence[str]
) -> Iterator[Cell]:
    no_kernel = {"kernel": [design.NO_KERNEL], "option": [_NONE]}
    seeds = {m: design.n_seeds(name, m, size.most_seeds) for m in multiples}
    yield from grid([name], [design.LINEAR], max(seeds.values()), size=[0], **no_kernel)
    for multiple, n in seeds.items():
        yield from grid(
            [name], [design.BEST], min(n, size.best_seeds), size=[multiple], **no_kernel
        )
        for kernel in kernels:
            methods = [m for m in design.ACCURACY_METHODS if design.is_measured(m, kernel)]
            yield from grid([name], methods, n, kernel=[kernel], size=[multiple], option=[_NONE])


def _task(cell: Cell, options: Options) -> Task:
    kernel, multiple = str(cell.settings["kernel"]), int(cell.settings["size"])
    size, folder = _size(options), options.data
    return Task(cell.dataset, kernel, cell.method, multiple, cell.seed, size, folder)


def _run_setting(cell: Cell, options: Options, *, parameter: str) -> Mapping[str, float]:
    return setting_metrics(_task(cell, options), **{parameter: cell.settings["option"]})


_SIZE, _SKETCH = "M / d", "rows of the sketch"

_ERROR_PICTURE = Picture(
    "error",
    "Root mean square error of the Gram matrix on eeg_eye_state, against frequencies of each part "
    "over inputs; after Figure 2 of the paper.",
    _SIZE,
    "RMSE",
    partial(page.means, metric="rmse", x="size", methods=design.DRAWN_ERRORS),
)
_ACCURACY_PICTURES = tuple(
    Picture(
        f"accuracy-{kernel.lower()}",
        f"Test accuracy on features of the {kernel} kernel, next to the best of the library and "
        "what the paper reports. The table has the other methods, too.",
        _SIZE,
        "accuracy (%)",
        partial(page.accuracy_curves, kernel=kernel),
        SEMILOG,
    )
    for kernel in design.SIMILARITIES
)
_SKETCH_PICTURES = tuple(
    Picture(
        name,
        caption,
        _SKETCH,
        ylabel,
        partial(page.means, metric=metric, x="option", methods=design.DIGMMS),
        scales,
    )
    for name, metric, ylabel, scales, caption in (
        (
            "sketch-error",
            "relative_error",
            "relative error",
            LOG,
            "Relative error of the Gram matrix on ijcnn1 by rows of the sketch; after Figures 3 "
            "and 4.",
        ),
        (
            "sketch-accuracy",
            "accuracy",
            "accuracy",
            SEMILOG,
            "Test accuracy on ijcnn1 by rows of the sketch.",
        ),
        (
            "sketch-seconds",
            "fit_seconds",
            "seconds",
            LOG,
            "Seconds of a fit on ijcnn1 by rows of the sketch.",
        ),
    )
)
_ASCENT_PICTURES = (
    Picture(
        "changes",
        "Change of the probabilities of labels in each iteration of the published updates, TL1 "
        "kernel, M = 2 d; after Figure 5.",
        "iteration",
        "Frobenius norm of the change",
        partial(page.ascents, what="change", method=design.TAYLOR),
        ("linear", "log"),
    ),
    Picture(
        "bounds",
        "How far the evidence lower bound is below its highest value, TL1 kernel, M = 2 d.",
        "iteration",
        "distance to the highest bound",
        partial(page.ascents, what="bound", method=design.EXACT),
        ("linear", "log"),
    ),
)


def _part(name: str, cells: Any, measure: Any, tables: Any, *pictures: Picture) -> Part:
    shares = ("accuracy",) if name == "speed" else ()
    return Part(
        name, cells, lambda cell, options: measure(_task(cell, options)), tables, pictures, shares
    )


DIGMM = Benchmark(
    name="digmm",
    settings=("part", "kernel", "size", "option"),
    introduction="Kernels learned from similarities of few rows by double mixtures (DIGMM); after "
    "“A Double-Variational Bayesian Framework in Random Fourier Features for Indefinite Kernels”. "
    "A size M is the number of frequencies of each of both parts, so that there are p = 4 M real "
    "features, cosines and sines, and every method has as many. Columns are scaled to [0, 1] by "
    "the training part; for the polynomial of degree ten, Hellinger's kernel and tanh rows then "
    "have norm one.",
    # The parts with few cells run first; the accuracies take most of the time.
    parts=(
        _part("speed", _speed_cells, speed_metrics, page.speed_page),
        _part("convergence", _convergence_cells, ascent_metrics, page.convergence_page,
              *_ASCENT_PICTURES),
        _part("error", _error_cells, error_metrics, page.error_page, _ERROR_PICTURE),
        Part("shift", _shift_cells, partial(_run_setting, parameter="shift"), page.shift_page),
        Part("truncation", _truncation_cells, partial(_run_setting, parameter="truncation"),
             page.truncation_page),
        Part("sketch", _sketch_cells, partial(_run_setting, parameter="n_sketch"), page.sketch_page,
             _SKETCH_PICTURES),
        _part("accuracy", _accuracy_cells, accuracy_metrics, page.accuracy_page,
              *_ACCURACY_PICTURES),
    ),
    order=("accuracy", "error", "truncation", "shift", "sketch", "convergence", "speed"),
)  # fmt: skip
