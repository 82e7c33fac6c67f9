"""Errors and accuracies of double mixtures learned from similarities of few rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.digmm import design, paper
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
from benchmarks.results import Groups, Row, group_table, grouped, markdown_table

_NONE = "none"
_INDEX = ("kernel", "dataset", "size", "option")


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
        found = _accuracies_of(design.BUNDLED, size, size.sizes, every)
        yield from (cell for cell in found if cell.seed == 0)
        return
    for name in design.TABLES:
        yield from _accuracies_of(name, size, size.sizes, every)
    yield from _accuracies_of(design.MNIST, size, size.sizes[:1], design.FIGURE_KERNELS)


def _accuracies_of(
    name: str, size: design.Size, multiples: Sequence[int], kernels: Sequence[str]
) -> Iterator[Cell]:
    none = {"kernel": [design.NO_KERNEL], "option": [_NONE]}
    seeds = {m: design.n_seeds(name, m, size.most_seeds) for m in multiples}
    yield from grid([name], [design.LINEAR], max(seeds.values()), size=[0], **none)
    for multiple, n in seeds.items():
        yield from grid([name], [design.BEST], min(n, size.best_seeds), size=[multiple], **none)
        for kernel in kernels:
            methods = [m for m in design.ACCURACY_METHODS if design.is_measured(m, kernel)]
            yield from grid([name], methods, n, kernel=[kernel], size=[multiple], option=[_NONE])


def _task(cell: Cell, options: Options) -> Task:
    kernel, multiple = str(cell.settings["kernel"]), int(cell.settings["size"])
    size, folder = _size(options), options.data
    return Task(cell.dataset, kernel, cell.method, multiple, cell.seed, size, folder)


def _run_setting(cell: Cell, options: Options, *, parameter: str) -> Mapping[str, float]:
    return setting_metrics(_task(cell, options), **{parameter: cell.settings["option"]})


def _cell_label(kernel: str, name: str, size: int, *rest: object) -> str:
    return f"{kernel}, {name}, M = {size} d"


def _named_table(found: Groups, columns: Sequence[str], show: Any, **options: Any) -> str:
    settings: dict[str, Any] = {"header": [""], "label": _cell_label} | options
    return group_table(found, columns, show, **settings)


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3g}"


def _median(values: Sequence[float]) -> str:
    return f"{np.median(values):.2g}"


def _percent(values: Sequence[float]) -> str:
    """Return a mean in per cent, and its standard error if there is more than one value."""
    mean = f"{100.0 * np.mean(values):.1f}"
    if len(values) == 1:
        return mean
    return f"{mean} ± {100.0 * np.std(values, ddof=1) / len(values) ** 0.5:.1f}"


def _accuracy_page(rows: Sequence[Row]) -> Iterator[str]:
    cells = grouped(rows, "accuracy", _INDEX)
    yield (
        "**Test accuracy** in per cent of a linear classifier on the features: means over seeds "
        "and standard errors, and in a line below what the paper reports, its DIGMM in the columns "
        "of both expectations. The classifier has liblinear's objective, an L2 penalty and squared "
        "hinges; C is the best over five folds of at most 4,000 training rows among 2⁻⁵, 2⁻³ … 2⁵, "
        "and it is then fitted to at most 20,000 training rows (10,000 digits). As many rows are "
        "tested at the most. A row of zeros, such as black, is on the sphere one of equal entries. "
        "“library best” has all training rows, but for the digits, and is the best on training "
        "rows among random Fourier features of Gaussian, Matérn and Laplacian kernels of several "
        "length scales, one for all inputs or one for each: the four best over folds of some rows "
        "are compared on held out quarters of all, with C up to 2⁷."
    )
    for kernel in design.SIMILARITIES:
        if chosen := {key: line for key, line in cells.items() if key[0] == kernel}:
            yield f"**{kernel}**"
            yield group_table(
                chosen,
                design.ACCURACY_METHODS,
                _percent,
                header=[""],
                label=lambda kernel, name, size, option: f"{name}, M = {size} d",
                below=_published,
            )
    reported: dict[Any, float] = {**paper.best_of_paper()}
    reported |= {(name, 0): value for name, value in paper.LIBLINEAR.items()}
    lines = [
        [
            f"{name}, {method}" + (f", M = {size} d" if method == design.BEST else ""),
            _percent(values),
            f"{reported[name, size]:.1f}" if (name, size) in reported else "–",
        ]
        for (kernel, name, size, _), line in cells.items()
        if kernel == design.NO_KERNEL
        for method, values in line.items()
    ]
    if lines:
        yield (
            "**Raw columns, and the best of the library** next to the best of the paper's methods."
        )
        yield markdown_table(("", "accuracy", "paper"), lines)


def _published(
    kernel: str, name: str, size: int, option: object
) -> tuple[str, Mapping[str, str]] | None:
    found = {}
    for method in design.ACCURACY_METHODS:
        theirs = paper.DIGMM if method in design.DIGMMS else method
        if (key := (kernel, name, size, theirs)) in paper.ACCURACIES:
            found[method] = f"{paper.ACCURACIES[key]:.1f}"
    return ("paper", found) if found else None


def _error_page(rows: Sequence[Row]) -> Iterator[str]:
    for metric, text in (
        (
            "rmse",
            "**Root mean square error** of the Gram matrix over pairs of different rows, means "
            "over seeds, of 1,000 of the rows that features are fitted to; after Figure 2. Bold "
            "is the lowest.",
        ),
        ("test_rmse", "The same error over 1,000 **test rows**."),
    ):
        if cells := grouped(rows, metric, _INDEX):
            yield text
            yield _named_table(cells, design.ERROR_METHODS, _bold_best, whole_line=True)


def _bold_best(line: Mapping[str, Sequence[float]]) -> Mapping[str, str]:
    texts = {method: _mean(values) for method, values in line.items()}
    shown = [method for method in design.ERROR_METHODS if method in line]
    best = min(shown, key=lambda method: float(np.mean(line[method])))
    return texts | {best: f"**{texts[best]}**"}


def _truncation_page(rows: Sequence[Row]) -> Iterator[str]:
    cells: dict[Any, Any] = grouped(rows, "accuracy", _INDEX)
    texts = {key: {m: _percent(v) for m, v in line.items()} for key, line in cells.items()}
    for (kernel, _, size, option), line in texts.items():
        published = dict(zip((1, 5, 10), paper.TRUNCATIONS.get((kernel, size), ()), strict=False))
        line["paper"] = f"{published[option]:.1f}" if option in published else "–"
    yield "**Truncation**: accuracy with at most T components of each part; after Table VII."
    yield _named_table(
        texts,
        (*design.DIGMMS, "paper"),
        str,
        label=lambda *key: f"{_cell_label(*key)}, T = {key[3]}",
    )


def _shift_page(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "**Shift** of the eigenvalues of both parts, in multiples of the size of the least: the "
        "published updates; after Table VIII."
    )
    columns = {"accuracy": ("accuracy", _percent), "fit_seconds": ("seconds of a fit", _median)}
    yield _setting_table(rows, columns, [design.TAYLOR], "")


def _sketch_page(rows: Sequence[Row]) -> Iterator[str]:
    yield "**Rows of the sketch**: error, accuracy and seconds of a fit; after Figures 3 and 4."
    columns = {
        "relative_error": ("relative error", _mean),
        "accuracy": ("accuracy", _percent),
        "fit_seconds": ("seconds", _median),
    }
    yield _setting_table(rows, columns, design.DIGMMS, " rows")


def _setting_table(
    rows: Sequence[Row], columns: Mapping[str, Any], methods: Sequence[str], unit: str
) -> str:
    """Return a table of some metrics of every method."""
    texts: dict[Any, dict[str, str]] = {}
    several = len(methods) > 1
    for metric, (what, show) in columns.items():
        for key, line in grouped(rows, metric, _INDEX).items():
            for method in methods:
                name = f"{what}, {method}" if several else what
                texts.setdefault(key, {})[name] = show(line[method]) if method in line else "–"
    return _named_table(
        texts,
        list(next(iter(texts.values()))),
        str,
        label=lambda *key: f"{_cell_label(*key)}, {key[3]}{unit}",
    )


def _convergence_page(rows: Sequence[Row]) -> Iterator[str]:
    yield "**Iterations** until the ascent ended; after Figure 5."
    cells = grouped(rows, "n_iter", _INDEX)
    yield _named_table(cells, design.DIGMMS, lambda values: f"{np.median(values):.0f}")


def _speed_page(rows: Sequence[Row]) -> Iterator[str]:
    for part, text in (
        ("speed", f"with a sketch of {design.PAPER_SKETCH} rows, medians."),
        ("accuracy", "to at most 5,000 training rows, medians over seeds."),
    ):
        every = grouped(rows, "fit_seconds", _INDEX, part=part)
        if cells := {key: line for key, line in every.items() if key[0] != design.NO_KERNEL}:
            yield f"**Seconds of a fit** {text}"
            yield _named_table(cells, design.ACCURACY_METHODS, _median)


Curves = Mapping[tuple[str, str, float], float]

_PAPER_CURVE = "paper's DIGMM"


def _means(rows: Sequence[Row], *, metric: str, x: str, methods: Sequence[str]) -> Curves:
    """Return means over seeds, a panel a kernel and a curve a method."""
    return {
        (kernel, method, float(place)): float(np.mean(line[method]))
        for (kernel, place), line in grouped(rows, metric, ("kernel", x)).items()
        for method in methods
        if method in line
    }


def _accuracy_curves(rows: Sequence[Row], *, kernel: str) -> Curves:
    """Return percentages over sizes, a panel a data set."""
    ours = {
        (label, name, size, method): 100.0 * float(np.mean(values))
        for (label, name, size, _), line in grouped(rows, "accuracy", _INDEX).items()
        for method, values in line.items()
    }
    names = {name for label, name, *_ in ours if label == kernel and name != design.MNIST}
    curves = {
        (str(name), method, float(size)): value
        for (label, name, size, method), value in ours.items()
        if (label == kernel and method in design.ACCURACY_METHODS) or method == design.BEST
    } | {
        (name, _PAPER_CURVE, float(size)): value
        for (label, name, size, method), value in paper.ACCURACIES.items()
        if (label, method) == (kernel, paper.DIGMM)
    }
    order = (*design.ACCURACY_METHODS, design.BEST, _PAPER_CURVE)
    shown = sorted(
        (key for key in curves if key[0] in names), key=lambda key: (key[0], order.index(key[1]))
    )
    return {key: curves[key] for key in shown}


def _ascents(rows: Sequence[Row], *, what: str, method: str) -> Curves:
    """Return a curve over iterations for each data set, differences from the last bound."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        name, _, place = str(row["metric"]).rstrip(")").partition("(")
        if (row["method"], name) == (method, what):
            found.setdefault(str(row["dataset"]), {})[int(place)] = float(row["value"])
    if what == "bound":
        for name, curve in found.items():
            highest = max(curve.values())
            found[name] = {place: highest - value for place, value in curve.items()}
    return {
        (method, name, float(place)): value
        for name, curve in found.items()
        for place, value in curve.items()
        if value > 0.0
    }


_SIZE, _SKETCH = "M / d", "rows of the sketch"

_ERROR_PICTURE = Picture(
    "error",
    "Root mean square error of the Gram matrix on eeg_eye_state, against frequencies of each part "
    "over inputs; after Figure 2 of the paper.",
    _SIZE,
    "root mean square error",
    partial(_means, metric="rmse", x="size", methods=design.ERROR_METHODS),
)
_ACCURACY_PICTURES = tuple(
    Picture(
        f"accuracy-{kernel.lower()}",
        f"Test accuracy on features of the {kernel} kernel, next to the best of the library and "
        "what the paper reports.",
        _SIZE,
        "accuracy, %",
        partial(_accuracy_curves, kernel=kernel),
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
        partial(_means, metric=metric, x="option", methods=design.DIGMMS),
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
        "Frobenius norm",
        partial(_ascents, what="change", method=design.TAYLOR),
        ("linear", "log"),
    ),
    Picture(
        "bounds",
        "How far the evidence lower bound is below its highest value, TL1 kernel, M = 2 d.",
        "iteration",
        "below the highest",
        partial(_ascents, what="bound", method=design.EXACT),
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
        _part("speed", _speed_cells, speed_metrics, _speed_page),
        _part("convergence", _convergence_cells, ascent_metrics, _convergence_page,
              *_ASCENT_PICTURES),
        _part("error", _error_cells, error_metrics, _error_page, _ERROR_PICTURE),
        Part("shift", _shift_cells, partial(_run_setting, parameter="shift"), _shift_page),
        Part("truncation", _truncation_cells, partial(_run_setting, parameter="truncation"),
             _truncation_page),
        Part("sketch", _sketch_cells, partial(_run_setting, parameter="n_sketch"), _sketch_page,
             _SKETCH_PICTURES),
        _part("accuracy", _accuracy_cells, accuracy_metrics, _accuracy_page,
              *_ACCURACY_PICTURES),
    ),
    order=("accuracy", "error", "truncation", "shift", "sketch", "convergence", "speed"),
)  # fmt: skip
