"""Tables of the benchmark of double mixtures, from its rows."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.digmm.asked import asked_parts
from benchmarks.digmm.design import (
    ACCURACY,
    ACCURACY_METHODS,
    BEST,
    CONVERGENCE,
    DIGMMS,
    ERROR,
    ERROR_METHODS,
    LINEAR,
    MACLAURIN,
    NO_KERNEL,
    PAPER_SKETCH,
    SHIFT,
    SIMILARITIES,
    SKETCH,
    SPEED,
    SPHERICAL,
    TRUNCATION,
)
from benchmarks.digmm.paper import (
    ACCURACIES,
    DIGMM,
    LIBLINEAR,
    TRUNCATIONS,
    best_of_paper,
)
from benchmarks.digmm.rows import Cells, gathered
from benchmarks.digmm.views import VIEWS
from benchmarks.results import Row, markdown_table

Show = Callable[[Sequence[float]], str]

_INTRODUCTION = (
    "Double mixtures learned from similarities of few rows; after “A Double-Variational Bayesian "
    "Framework in Random Fourier Features for Indefinite Kernels”. A size M is the number of "
    "frequencies of each of both parts, so that there are p = 4 M real features, cosines and "
    "sines, and every method has as many. Columns are scaled to [0, 1] by the training part; for "
    "the polynomial of degree ten, Hellinger's kernel and tanh rows then have norm one."
)
_ACCURACIES = (
    "**Test accuracy** in per cent of a linear classifier on the features: means over seeds and "
    "standard errors, and in a line below what the paper reports, its DIGMM in the columns of "
    "both expectations. The classifier has liblinear's objective, an L2 penalty and squared "
    "hinges; C is the best over five folds of at most 4,000 training rows among 2⁻⁵, 2⁻³ … 2⁵, "
    "and it is then fitted to at most 20,000 training rows (10,000 digits). As many rows are "
    "tested at the most. A row of zeros, such as black, is on the sphere one of equal entries. "
    "“library best” has all training rows, but for the digits, and "
    "is what they prefer among random Fourier features of Gaussian, Matérn and Laplacian kernels "
    "of several length scales, one for all inputs or one for each: the four best over folds of "
    "some rows meet on held out quarters of all, with C up to 2⁷."
)
_ERRORS = {
    "rmse": (
        "**Root mean square error** of the Gram matrix over pairs of different rows, means over "
        "seeds, of 1,000 of the rows that features are fitted to; after Figure 2. Bold is the "
        "lowest."
    ),
    "test_rmse": "The same error over 1,000 **test rows**.",
}


def summarise(rows: Sequence[Row]) -> str:
    """Return the tables, what was asked and reached, and the figures, in Markdown."""
    parts = [_INTRODUCTION, *asked_parts(rows), *_accuracies(rows), *_errors(rows)]
    parts += [*_truncations(rows), *_shifts(rows), *_sketches(rows)]
    parts += [*_iterations(rows), *_seconds(rows)]
    stem = "digmm-quick" if rows[0].get("mode") == "quick" else "digmm"
    parts += [
        f"![{view.name}]({stem}-{view.name}.svg)\n\n{view.caption}"
        for view in VIEWS
        if view.values(rows)
    ]
    return "\n\n".join(parts)


def _accuracies(rows: Sequence[Row]) -> list[str]:
    cells = gathered(rows, ACCURACY, "accuracy")
    if not cells:
        return []
    parts = [_ACCURACIES]
    for kernel in SIMILARITIES:
        lines = []
        for (label, name, size, _), cell in cells.items():
            if label == kernel:
                lines.append([f"{name}, M = {size} d", *_texts(cell, ACCURACY_METHODS, _percent)])
                lines += _reported(kernel, name, size)
        if lines:
            parts += [f"**{kernel}**", markdown_table(("", *ACCURACY_METHODS), lines)]
    return [*parts, *_without_kernel(rows)]


def _reported(kernel: str, name: str, size: int) -> list[list[str]]:
    """Return the paper's line of a cell, or none."""
    columns = {SPHERICAL: SPHERICAL, MACLAURIN: MACLAURIN, **dict.fromkeys(DIGMMS, DIGMM)}
    keys = [(kernel, name, size, columns.get(method, "")) for method in ACCURACY_METHODS]
    if not any(key in ACCURACIES for key in keys):
        return []
    return [["paper", *(f"{ACCURACIES[key]:.1f}" if key in ACCURACIES else "–" for key in keys)]]


def _without_kernel(rows: Sequence[Row]) -> list[str]:
    cells = gathered(rows, ACCURACY, "accuracy")
    mine = {key[1:3]: cell for key, cell in cells.items() if key[0] == NO_KERNEL}
    reported = {**best_of_paper(), **{(name, 0): value for name, value in LIBLINEAR.items()}}
    lines = [
        [
            f"{name}, {LINEAR}" if LINEAR in cell else f"{name}, {BEST}, M = {size} d",
            *_texts(cell, tuple(cell), _percent),
            f"{reported[name, size]:.1f}" if (name, size) in reported else "–",
        ]
        for (name, size), cell in mine.items()
    ]
    if not lines:
        return []
    text = "**Raw columns, and the best of the library** beside the best of the paper's methods."
    return [text, markdown_table(("", "accuracy", "paper"), lines)]


def _errors(rows: Sequence[Row]) -> list[str]:
    parts = []
    for metric, text in _ERRORS.items():
        if cells := gathered(rows, ERROR, metric):
            parts += [text, _error_table(cells)]
    return parts


def _error_table(cells: Cells) -> str:
    lines = []
    for (kernel, name, size, _), cell in cells.items():
        texts = _texts(cell, ERROR_METHODS, _mean)
        means = [float(np.mean(cell.get(m, [np.inf]))) for m in ERROR_METHODS]
        best = int(np.argmin(means))
        texts[best] = f"**{texts[best]}**"
        lines.append([f"{kernel}, {name}, M = {size} d", *texts])
    return markdown_table(("", *ERROR_METHODS), lines)


def _truncations(rows: Sequence[Row]) -> list[str]:
    cells = gathered(rows, TRUNCATION, "accuracy")
    if not cells:
        return []
    lines = []
    for (kernel, name, size, option), cell in cells.items():
        place = dict(zip(("1", "5", "10"), TRUNCATIONS.get((kernel, size), ()), strict=False))
        paper = place.get(option)
        label = f"{kernel}, {name}, M = {size} d, T = {option}"
        texts = _texts(cell, DIGMMS, _percent)
        lines.append([label, *texts, "–" if paper is None else f"{paper:.1f}"])
    text = "**Truncation**: accuracy with at most T components of each part; after Table VII."
    return [text, markdown_table(("", *DIGMMS, "paper"), lines)]


def _shifts(rows: Sequence[Row]) -> list[str]:
    cells, seconds = (gathered(rows, SHIFT, what) for what in ("accuracy", "fit_seconds"))
    if not cells:
        return []
    lines = [
        [
            f"{kernel}, {name}, M = {size} d, {option}",
            *(text for m in cell for text in (_percent(cell[m]), _median(seconds[key][m]))),
        ]
        for key, cell in cells.items()
        for kernel, name, size, option in [key]
    ]
    text = (
        "**Shift** of the eigenvalues of both parts, in multiples of the size of the least: the "
        "published updates; after Table VIII."
    )
    return [text, markdown_table(("", "accuracy", "seconds of a fit"), lines)]


def _sketches(rows: Sequence[Row]) -> list[str]:
    tables = [
        ("relative error", gathered(rows, SKETCH, "relative_error"), _mean),
        ("accuracy", gathered(rows, SKETCH, "accuracy"), _percent),
        ("seconds", gathered(rows, SKETCH, "fit_seconds"), _median),
    ]
    if not tables[0][1]:
        return []
    lines = [
        [
            f"{kernel}, {name}, M = {size} d, {option} rows",
            *(text for _, cells, show in tables for text in _texts(cells[key], DIGMMS, show)),
        ]
        for key in tables[0][1]
        for kernel, name, size, option in [key]
    ]
    header = [f"{what}, {method}" for what, *_ in tables for method in DIGMMS]
    text = "**Rows of the sketch**: error, accuracy and seconds of a fit; after Figures 3 and 4."
    return [text, markdown_table(("", *header), lines)]


def _iterations(rows: Sequence[Row]) -> list[str]:
    cells = gathered(rows, CONVERGENCE, "n_iter")
    if not cells:
        return []
    lines = [
        [f"{kernel}, {name}, M = {size} d", *_texts(cell, DIGMMS, lambda v: f"{np.median(v):.0f}")]
        for (kernel, name, size, _), cell in cells.items()
    ]
    text = "**Iterations** until the ascent ended; after Figure 5."
    return [text, markdown_table(("", *DIGMMS), lines)]


def _seconds(rows: Sequence[Row]) -> list[str]:
    parts = []
    for part, what in (
        (SPEED, f"**Seconds of a fit** with a sketch of {PAPER_SKETCH} rows, medians."),
        (ACCURACY, "**Seconds of a fit** to at most 5,000 training rows, medians over seeds."),
    ):
        cells = gathered(rows, part, "fit_seconds")
        shown = {key: cell for key, cell in cells.items() if key[0] != NO_KERNEL}
        lines = [
            [f"{kernel}, {name}, M = {size} d", *_texts(cell, ACCURACY_METHODS, _median)]
            for (kernel, name, size, _), cell in shown.items()
        ]
        if lines:
            parts += [what, markdown_table(("", *ACCURACY_METHODS), lines)]
    return parts


def _texts(cell: Mapping[str, Sequence[float]], methods: Sequence[str], show: Show) -> list[str]:
    return [show(cell[method]) if method in cell else "–" for method in methods]


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
