"""Text, tables and curves of the page on double mixtures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.digmm import design, paper
from benchmarks.results import Groups, Row, group_table, grouped, markdown_table

_INDEX = ("kernel", "dataset", "size", "option")


def _cell_label(kernel: str, name: str, size: int, *options: object) -> str:
    return f"{kernel}, {name}, M = {size} d"


def _named_table(groups: Groups, columns: Sequence[str], show: Any, **options: Any) -> str:
    settings: dict[str, Any] = {"header": [""], "label": _cell_label} | options
    return group_table(groups, columns, show, **settings)


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


def accuracy_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield test accuracies, next to the paper's."""
    cells = grouped(rows, "accuracy", _INDEX)
    yield (
        "**Test accuracy** in per cent of a linear classifier on the features: means over seeds "
        "and standard errors, and in a line below what the paper reports, its DIGMM in the columns "
        "of both expectations. The classifier has liblinear's objective, an L2 penalty and squared "
        "hinges; C is the best over five folds of at most 4,000 training rows among 2⁻⁵, 2⁻³ … 2⁵, "
        "and it is then fitted to at most 20,000 training rows (10,000 digits). As many rows are "
        "tested at the most. On the sphere a row of zeros (a black image) has equal entries. "
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
    accuracies = {}
    for method in design.ACCURACY_METHODS:
        theirs = paper.DIGMM if method in design.DIGMMS else method
        if (key := (kernel, name, size, theirs)) in paper.ACCURACIES:
            accuracies[method] = f"{paper.ACCURACIES[key]:.1f}"
    return ("paper", accuracies) if accuracies else None


def error_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the errors of Gram matrices."""
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


def truncation_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield accuracies by the number of components, next to the paper's."""
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


def shift_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield accuracies by the shift of the eigenvalues."""
    yield (
        "**Shift** of the eigenvalues of both parts, in multiples of the size of the least: the "
        "published updates; after Table VIII."
    )
    columns = {"accuracy": ("accuracy", _percent), "fit_seconds": ("seconds of a fit", _median)}
    yield _setting_table(rows, columns, [design.TAYLOR], "")


def sketch_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield errors, accuracies and seconds by the number of rows of the sketch."""
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
    for metric, (title, show) in columns.items():
        for key, line in grouped(rows, metric, _INDEX).items():
            for method in methods:
                name = f"{title}, {method}" if several else title
                texts.setdefault(key, {})[name] = show(line[method]) if method in line else "–"
    return _named_table(
        texts,
        list(next(iter(texts.values()))),
        str,
        label=lambda *key: f"{_cell_label(*key)}, {key[3]}{unit}",
    )


def convergence_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the numbers of iterations."""
    yield "**Iterations** until the ascent ended; after Figure 5."
    cells = grouped(rows, "n_iter", _INDEX)
    yield _named_table(cells, design.DIGMMS, lambda values: f"{np.median(values):.0f}")


def speed_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the seconds of a fit."""
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


def means(rows: Sequence[Row], *, metric: str, x: str, methods: Sequence[str]) -> Curves:
    """Return means over seeds, one panel per kernel and one curve per method."""
    return {
        (kernel, method, float(place)): float(np.mean(line[method]))
        for (kernel, place), line in grouped(rows, metric, ("kernel", x)).items()
        for method in methods
        if method in line
    }


def accuracy_curves(rows: Sequence[Row], *, kernel: str) -> Curves:
    """Return percentages over sizes, one panel per data set."""
    ours = {
        (label, name, size, method): 100.0 * float(np.mean(values))
        for (label, name, size, _), line in grouped(rows, "accuracy", _INDEX).items()
        for method, values in line.items()
    }
    names = {name for label, name, *_ in ours if label == kernel and name != design.MNIST}
    curves = {
        (str(name), method, float(size)): value
        for (label, name, size, method), value in ours.items()
        if method in design.DRAWN_ACCURACIES and label in (kernel, design.NO_KERNEL)
    } | {
        (name, _PAPER_CURVE, float(size)): value
        for (label, name, size, method), value in paper.ACCURACIES.items()
        if (label, method) == (kernel, paper.DIGMM)
    }
    order = (*design.DRAWN_ACCURACIES, _PAPER_CURVE)
    shown = sorted(
        (key for key in curves if key[0] in names), key=lambda key: (key[0], order.index(key[1]))
    )
    return {key: curves[key] for key in shown}


def ascents(rows: Sequence[Row], *, what: str, method: str) -> Curves:
    """Return a curve over iterations for each data set, differences from the last bound."""
    values: dict[str, dict[int, float]] = {}
    for row in rows:
        name, _, place = str(row["metric"]).rstrip(")").partition("(")
        if (row["method"], name) == (method, what):
            values.setdefault(str(row["dataset"]), {})[int(place)] = float(row["value"])
    if what == "bound":
        for name, curve in values.items():
            highest = max(curve.values())
            values[name] = {place: highest - value for place, value in curve.items()}
    return {
        (method, name, float(place)): value
        for name, curve in values.items()
        for place, value in curve.items()
        if value > 0.0
    }
