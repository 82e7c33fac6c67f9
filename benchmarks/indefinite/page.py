"""Text, tables and curves of the page on features of indefinite kernels."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.indefinite import design
from benchmarks.results import Row, group_table, grouped, median_groups, median_text

Cells = Mapping[tuple[Any, ...], Mapping[str, float]]
"""Medians over seeds by kernel, data set and size, and then by method."""

_INDEX = ("kernel", "dataset", "size")

# Predicted errors within a quarter of the measured ones count as right.
_WITHIN = 0.25

# Nyström's features are exact for kernels of low rank: ratios beyond this one are rounding.
_MANY_TIMES = 10_000
_TINY = float(np.finfo(np.float64).tiny)  # Divisor in the place of an error of zero
_PREDICTED: Mapping[str, str] = {
    design.DESIGNED: "predicted_error",
    design.DESIGNED_IID: "predicted_error",
    design.LEAST_SQUARES: "fit_error",
}


def features_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield errors, predicted errors, accuracies and seconds."""
    errors = grouped(rows, "relative_error", _INDEX)
    yield (
        "Relative error of the Gram matrix, ‖K̂ − K‖_F / ‖K‖_F, on at most 1,000 test rows, "
        "features fitted to at most 5,000 training rows: median over seeds. Bold is the lowest of "
        "the random features. Where Nyström's error is lower than that of designed measures with "
        "least-squares weights, brackets give the ratio. A dash stands for what was not "
        "measured."
    )
    yield from _tables(errors, _error_texts, whole_line=True)
    cells = median_groups(errors)
    yield _against_random(cells)
    yield _against_nystroem(cells)
    yield from _predictions(rows)
    if accuracies := grouped(rows, "accuracy", _INDEX):
        chosen = [float(row["value"]) for row in rows if row["metric"] == "C"]
        at_end = sum(value >= design.CS[-1] for value in chosen)
        yield (
            "Test accuracy of liblinear on the features, in per cent, median over seeds (fewer "
            "than for the errors): C is chosen among 0.01, 0.1, 1, 10 and 100 by five folds of at "
            "most 2,000 training rows, at most 8,000 rows are trained on, and at most 20,000 "
            "tested. A linear classifier learns with the sum of the positive and the negative "
            "part of the kernel, whose size depends on the decomposition, so that features of "
            f"larger masses are regularised less at the same C. {design.CS[-1]:g}, the end of "
            f"the grid, was chosen in {at_end} of {len(chosen)} fits."
        )
        yield from _tables(accuracies, lambda values: f"{100.0 * np.median(values):.1f}")
    every = grouped(rows, "feature_seconds", _INDEX)
    if seconds := {key: line for key, line in every.items() if key[0] in design.MAIN}:
        yield (
            "Seconds to fit the features to at most 5,000 training rows and to transform these, "
            "median over seeds. A design is cached by its inputs, which repeat only where there "
            "are no more than 1,000 rows."
        )
        yield from _tables(seconds, median_text(2))


def _tables(groups: Any, show: Any, *, whole_line: bool = False) -> Iterator[str]:
    """Yield a title and a table for each kernel."""
    for kernel in dict.fromkeys(key[0] for key in groups):
        chosen = {key: line for key, line in groups.items() if key[0] == kernel}
        yield f"**{kernel}**"
        yield group_table(
            chosen,
            list(design.METHODS),
            show,
            header=["data set, size"],
            label=lambda kernel, name, size: f"{name}, s = {size} d",
            whole_line=whole_line,
        )


def _error_texts(line: Mapping[str, Sequence[float]]) -> Mapping[str, str]:
    cell = {name: float(np.median(values)) for name, values in line.items()}
    texts = {method: f"{value:.2g}" for method, value in cell.items()}
    random = [method for method in cell if method in (*design.OURS, *design.RANDOM)]
    if random:
        best = min(random, key=cell.__getitem__)
        texts[best] = f"**{texts[best]}**"
    ours = cell.get(design.LEAST_SQUARES, 0.0)
    for method in design.NYSTROMS:
        if method in cell and ours > cell[method]:
            texts[method] += f" ({_times(ours / max(cell[method], _TINY))})"
    return texts


def _times(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < _MANY_TIMES else f"over {_MANY_TIMES:,}"


def _against_random(errors: Cells) -> str:
    """Return in how many cells ours is below every random-feature method, and the other cells."""
    sentences = []
    for ours in (design.DESIGNED, design.LEAST_SQUARES):
        cells = {
            key: {method: value for method, value in cell.items() if method in design.RANDOM}
            for key, cell in errors.items()
            if ours in cell and any(method in cell for method in design.RANDOM)
        }
        if not cells:
            continue
        lost = {
            key: min(random_errors, key=random_errors.__getitem__)
            for key, random_errors in cells.items()
            if errors[key][ours] >= min(random_errors.values())
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
    """Return where the best Nyström features of a cell are lower than ours, and by how much."""
    sentences = []
    for ours in (design.DESIGNED, design.LEAST_SQUARES):
        pairs = [
            (cell[ours], min(cell[method] for method in design.NYSTROMS if method in cell))
            for cell in errors.values()
            if ours in cell and any(method in cell for method in design.NYSTROMS)
        ]
        if not pairs:
            continue
        ratios = [mine / max(theirs, _TINY) for mine, theirs in pairs if theirs < mine]
        text = (
            f"The best of Nyström's errors is lower than that of “{ours}” in {len(ratios)} of "
            f"{len(pairs)} cells"
        )
        if ratios:
            least, median, most = map(_times, (min(ratios), float(np.median(ratios)), max(ratios)))
            text += f", by a factor of {least} to {most}, {median} in the median"
        sentences.append(f"{text}.")
    return " ".join(sentences)


def _predictions(rows: Sequence[Row]) -> Iterator[str]:
    """Yield root mean square errors over what the features predicted."""
    ratios: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(dict)
    for method, metric in _PREDICTED.items():
        measured = grouped(rows, "relative_error", _INDEX, method=method)
        for key, line in grouped(rows, metric, _INDEX, method=method).items():
            error = np.sqrt(np.mean(np.square(measured[key][method])))
            ratios[key][method] = [float(error / np.median(line[method]))]
    if not ratios:
        return
    counts = []
    for method in _PREDICTED:
        values = [line[method][0] for line in ratios.values() if method in line]
        within = sum(abs(value - 1.0) <= _WITHIN for value in values)
        counts.append(f"“{method}” in {within} of {len(values)}")
    yield (
        "Measured errors, root mean square over seeds, over predicted ones: the predicted error "
        "of designed measures, and the error on held-out training rows of least-squares weights. "
        f"Within 25 % of it: {', '.join(counts)} cells."
    )
    yield group_table(
        ratios,
        list(design.METHODS),
        lambda values: f"{values[0]:.2f}",
        header=["kernel", "data set, size"],
        label=lambda kernel, name, size: [kernel, f"{name}, s = {size} d"],
    )


ALL_METHODS = tuple(design.METHODS)


def curves(
    rows: Sequence[Row],
    *,
    metric: str,
    kernels: Sequence[str],
    methods: Sequence[str] = ALL_METHODS,
) -> dict[tuple[str, str, float], float]:
    """Return medians over seeds, a panel for each kernel and data set, a curve for each method."""
    chosen = [row for row in rows if row["kernel"] in kernels and row["method"] in methods]
    if metric == "k":
        profile = [row for row in chosen if str(row["metric"]).startswith("k(")]
        places = [float(str(row["metric"])[2:-1]) for row in profile]
        values: dict[Any, float] = {
            (row["kernel"], row["dataset"], row["method"], place): float(row["value"])
            for row, place in zip(profile, places, strict=True)
        }
    else:
        index = ("kernel", "dataset", "method", "size")
        medians = median_groups(grouped(chosen, metric, index))
        values = {key: value for key, line in medians.items() for value in line.values()}
    shown = [kernel for kernel in kernels if any(key[0] == kernel for key in values)]
    names = list(dict.fromkeys(key[1] for key in values))
    order = [shown.index, names.index, methods.index]
    return {
        (_panel(kernel, name, shown, names), method, float(x)): values[kernel, name, method, x]
        for kernel, name, method, x in sorted(
            values, key=lambda key: [place(part) for place, part in zip(order, key, strict=False)]
        )
    }


def _panel(kernel: str, dataset: str, kernels: Sequence[str], datasets: Sequence[str]) -> str:
    if len(kernels) == 1:
        return dataset
    return kernel if len(datasets) == 1 else f"{kernel}, {dataset}"
