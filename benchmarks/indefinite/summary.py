"""Tables of the benchmark of indefinite kernels, from its rows."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.indefinite.design import (
    DESIGNED,
    DESIGNED_IID,
    GREATEST_C,
    LEAST_SQUARES,
    MAIN,
    METHODS,
    NYSTROMS,
    OURS,
    RANDOM,
)
from benchmarks.indefinite.views import VIEWS
from benchmarks.results import Row, markdown_table, medians

Key = tuple[str, str, int]
Cells = Mapping[Key, Mapping[str, float]]
Texts = Callable[[Mapping[str, float]], Mapping[str, str]]

_WITHIN = 0.25
_MANY_TIMES = 10_000
_TINY = float(np.finfo(np.float64).tiny)
_SAID: Mapping[str, str] = {
    DESIGNED: "predicted_error",
    DESIGNED_IID: "predicted_error",
    LEAST_SQUARES: "fit_error",
}

_INTRODUCTION = (
    "Features of indefinite kernels, their size s a multiple of the number of inputs d: p = 4 s "
    "real features for the Delta-Gaussian kernel and the spherical polynomials, p = 2 s for the "
    "other kernels. Every method has the same p, and Nyström no more. Columns are scaled to [0, 1] "
    "by the training part, and rows then to norm one, except for TL1 and Radial(trapezoid)."
)
_ERRORS = (
    "Relative error of the Gram matrix, ‖K̂ − K‖_F / ‖K‖_F, on at most 1,000 test rows, features "
    "fitted to at most 5,000 training rows: median over seeds. Bold is the lowest of the random "
    "features. Where Nyström's error is lower than that of designed measures with least-squares "
    "weights, brackets say how many times. A dash stands for what was not measured."
)


def summarise(rows: Sequence[Row]) -> str:
    """Return the tables, what they add up to, and the figures, in Markdown."""
    errors = by_cell(rows, "relative_error")
    parts = [_INTRODUCTION, _ERRORS, *_tables(errors, _error_texts)]
    parts += [_against_random(errors), _against_nystroem(errors)]
    parts += [*_predictions(rows), *_accuracies(rows), *_seconds(rows)]
    stem = "indefinite-quick" if rows[0].get("mode") == "quick" else "indefinite"
    parts += [
        f"![{view.name}]({stem}-{view.name}.svg)\n\n{view.caption}"
        for view in VIEWS
        if view.values(rows)
    ]
    return "\n\n".join(part for part in parts if part)


def by_cell(rows: Sequence[Row], metric: str) -> Cells:
    """Return the medians of a metric over seeds by kernel, data set and size, and then by method.

    Empty where no row has the metric.
    """
    if not any(row["metric"] == metric for row in rows):
        return {}
    cells: dict[Key, dict[str, float]] = defaultdict(dict)
    found = medians(rows, by=("kernel", "dataset", "size", "method"), metric=metric)
    for (kernel, dataset, size, method), value in found.items():
        cells[str(kernel), str(dataset), int(size)][str(method)] = value
    return cells


def _tables(cells: Cells, texts: Texts) -> list[str]:
    """Return a title and a table for each kernel."""
    parts = []
    for kernel in dict.fromkeys(key[0] for key in cells):
        chosen = {key: cell for key, cell in cells.items() if key[0] == kernel}
        parts += [f"**{kernel}**", _table(chosen, texts)]
    return parts


def _table(cells: Cells, texts: Texts, *, named: bool = False) -> str:
    """Return a table of cells by methods; ``named`` adds a column for the kernel."""
    methods = [name for name in METHODS if any(name in cell for cell in cells.values())]
    lines = []
    for (kernel, dataset, size), cell in cells.items():
        shown = texts(cell)
        label = [kernel] if named else []
        values = (shown.get(name, "–") for name in methods)
        lines.append([*label, f"{dataset}, s = {size} d", *values])
    return markdown_table((*(["kernel"] if named else []), "data set, size", *methods), lines)


def _error_texts(cell: Mapping[str, float]) -> Mapping[str, str]:
    texts = {method: f"{value:.2g}" for method, value in cell.items()}
    random = [method for method in cell if method in (*OURS, *RANDOM)]
    if random:
        best = min(random, key=cell.__getitem__)
        texts[best] = f"**{texts[best]}**"
    for method in NYSTROMS:
        if method in cell and cell.get(LEAST_SQUARES, 0.0) > cell[method]:
            texts[method] += f" ({_times(cell[LEAST_SQUARES] / max(cell[method], _TINY))})"
    return texts


def _times(ratio: float) -> str:
    # Nyström is exact for kernels of low rank, and rounding errors have no telling ratio.
    return f"{ratio:.2g}" if ratio < _MANY_TIMES else f"over {_MANY_TIMES:,}"


def _against_random(errors: Cells) -> str:
    """Say in how many cells ours is below every random-feature method, and name the others."""
    sentences = []
    for ours in (DESIGNED, LEAST_SQUARES):
        cells = {
            key: {method: value for method, value in cell.items() if method in RANDOM}
            for key, cell in errors.items()
            if ours in cell and any(method in cell for method in RANDOM)
        }
        if not cells:
            continue
        lost = {
            key: min(others, key=others.__getitem__)
            for key, others in cells.items()
            if errors[key][ours] >= min(others.values())
        }
        text = (
            f"“{ours}” is below every other random-feature method in {len(cells) - len(lost)} of "
            f"{len(cells)} cells that have one."
        )
        exceptions = "; ".join(
            f"{kernel}, {dataset}, s = {size} d ({method})"
            for (kernel, dataset, size), method in lost.items()
        )
        sentences.append(f"{text} Not in: {exceptions}." if lost else text)
    return " ".join(sentences)


def _against_nystroem(errors: Cells) -> str:
    """Say where the best Nyström features of a cell are lower than ours, and by how much."""
    sentences = []
    for ours in (DESIGNED, LEAST_SQUARES):
        pairs = {
            key: (cell[ours], min(cell[method] for method in NYSTROMS if method in cell))
            for key, cell in errors.items()
            if ours in cell and any(method in cell for method in NYSTROMS)
        }
        if not pairs:
            continue
        lower = [pair for pair in pairs.values() if pair[1] < pair[0]]
        text = (
            f"The best of Nyström's errors is lower than that of “{ours}” in {len(lower)} of "
            f"{len(pairs)} cells"
        )
        if lower:
            ratios = [pair[0] / max(pair[1], _TINY) for pair in lower]
            least, median, most = (_times(f(ratios)) for f in (min, _median, max))
            text += f", by a factor of {least} to {most}, {median} in the median"
        sentences.append(f"{text}.")
    return " ".join(sentences)


def _median(values: Sequence[float]) -> float:
    return float(np.median(values))


def _predictions(rows: Sequence[Row]) -> list[str]:
    """Return root mean square errors over what the features said of them."""
    ratios: dict[Key, dict[str, float]] = defaultdict(dict)
    for method, metric in _SAID.items():
        chosen = [row for row in rows if row["method"] == method]
        said = by_cell(chosen, metric)
        for key, cell in said.items():
            ratios[key][method] = _root_mean_square(chosen, key) / cell[method]
    if not ratios:
        return []
    counts = []
    for method in _SAID:
        values = [cell[method] for cell in ratios.values() if method in cell]
        within = sum(abs(value - 1.0) <= _WITHIN for value in values)
        counts.append(f"“{method}” in {within} of {len(values)}")
    return [
        "Measured errors, root mean square over seeds, over what was said of them before: the "
        "predicted error of designed measures, and the error on held-out training rows of "
        f"least-squares weights. Within 25 % of it: {', '.join(counts)} cells.",
        _table(ratios, lambda cell: {name: f"{v:.2f}" for name, v in cell.items()}, named=True),
    ]


def _root_mean_square(rows: Sequence[Row], key: Key) -> float:
    values = [
        float(row["value"])
        for row in rows
        if row["metric"] == "relative_error" and (row["kernel"], row["dataset"], row["size"]) == key
    ]
    return float(np.sqrt(np.mean(np.square(values))))


def _accuracies(rows: Sequence[Row]) -> list[str]:
    accuracies = by_cell(rows, "accuracy")
    if not accuracies:
        return []
    chosen = [float(row["value"]) for row in rows if row["metric"] == "C"]
    at_end = sum(value >= GREATEST_C for value in chosen)
    return [
        "Test accuracy of liblinear on the features, in per cent, median over seeds (fewer than "
        "for the errors): C is chosen among 0.01, 0.1, 1, 10 and 100 by five folds of at most "
        "2,000 training rows, at most 8,000 rows are trained on, and at most 20,000 tested. A "
        "linear classifier learns with the sum of the positive and the negative part of the "
        "kernel, whose size depends on the decomposition, so that features of larger masses are "
        f"regularised less at the same C. {GREATEST_C:g}, the end of the grid, was chosen in "
        f"{at_end} of {len(chosen)} fits.",
        *_tables(accuracies, lambda cell: {name: f"{100.0 * v:.1f}" for name, v in cell.items()}),
    ]


def _seconds(rows: Sequence[Row]) -> list[str]:
    every = by_cell(rows, "feature_seconds")
    seconds = {key: cell for key, cell in every.items() if key[0] in MAIN}
    if not seconds:
        return []
    return [
        "Seconds to fit the features to at most 5,000 training rows and to transform these, "
        "median over seeds. A design is cached by its inputs, which repeat only where there are no "
        "more than 1,000 rows.",
        *_tables(seconds, lambda cell: {name: f"{value:.2g}" for name, value in cell.items()}),
    ]
