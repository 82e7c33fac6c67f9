"""Tables of the benchmark of learned mixtures, from its rows."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bochner.benchmarks import _digmm_design as design
from bochner.benchmarks._asked import Line, asked_table, count
from bochner.benchmarks._digmm_paper import DIGMM, IJCNN1, MNIST, PAPER, SPHERICAL
from bochner.benchmarks._digmm_rows import MOST_ROWS
from bochner.benchmarks._digmm_views import VIEWS
from bochner.benchmarks.results import Row, markdown_table

Key = tuple[str, str, int]
Cells = Mapping[Key, Mapping[str, float]]
Texts = Callable[[Mapping[str, float]], Mapping[str, str]]

_POINT = 1.0
_SHARE = 0.8
_FIT_SECONDS = 10.0
_ROUNDING = 0.05

_INTRODUCTION = (
    "Features of mixtures learned from similarities of a few rows (“DIGMM”), beside features of "
    "the kernel itself; after “A double-variational Bayesian framework in random Fourier features "
    "for indefinite kernels”. The size M is the number of frequencies for each of the two parts, a "
    "multiple of the number of inputs d; with cosines and sines every method has p = 4 M real "
    "features. Columns are scaled to [0, 1] by the training part, and rows then to norm one, "
    "except for TL1. A sketch has five rows unless another number is said."
)
_LEARNING = (
    "**Test accuracy** in per cent of a linear support vector machine with squared hinge loss "
    "(liblinear's objective), mean over runs. C is chosen among 2⁻⁵, 2⁻³, …, 2⁵ by five folds of "
    "at most 2,000 training rows. At most 10,000 rows are trained on "
    f"({MOST_ROWS[MNIST]:,} of *mnist*) and 20,000 tested; “{design.BEST}” has all training rows "
    "(but for *mnist*), and is "
    "chosen by folds of training rows among features of given and of learned kernels, each of "
    "which has p features; it is the same for all kernels. Runs are fewer where they take "
    "long. On the right the paper's figures: its own method, and the best of its table, liblinear "
    "on the columns included."
)


def summarise(rows: Sequence[Row]) -> str:
    """Return the tables, what was asked and reached, and the figures, in Markdown."""
    parts = [_INTRODUCTION, *_asked(rows), *_errors(rows), *_accuracies(rows), *_choices(rows)]
    parts += [*_settings(rows), *_seconds(rows)]
    stem = "digmm-quick" if rows[0].get("mode") == "quick" else "digmm"
    parts += [
        f"![{view.name}]({stem}-{view.name}.svg)\n\n{view.caption}"
        for view in VIEWS
        if view.values(rows)
    ]
    return "\n\n".join(parts)


def means(rows: Sequence[Row], part: str, metric: str) -> Cells:
    """Return means over runs by kernel, data set and size, and then by method."""
    found: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["part"] == part and row["metric"] == metric:
            key = str(row["kernel"]), str(row["dataset"]), int(row["size"])
            found[key][str(row["method"])].append(float(row["value"]))
    return {
        key: {method: float(np.mean(values)) for method, values in cell.items()}
        for key, cell in found.items()
    }


def accuracies(rows: Sequence[Row]) -> Cells:
    """Return accuracies, those without a kernel in the cells of every kernel."""
    found = means(rows, design.ACCURACY, "accuracy")
    cells = {}
    for (kernel, name, size), cell in found.items():
        if kernel == design.NO_KERNEL:
            continue
        shared = {
            **found.get((design.NO_KERNEL, name, 0), {}),
            **found.get((design.NO_KERNEL, name, size), {}),
        }
        cells[kernel, name, size] = {**shared, **cell}
    return cells


def _asked(rows: Sequence[Row]) -> list[str]:
    lines: list[Line] = [*_error_lines(rows)]
    cells = {key: cell for key, cell in accuracies(rows).items() if key in PAPER}
    texts = []
    ours = {
        key: cell for key, cell in cells.items() if design.TAYLOR in cell and design.EXACT in cell
    }
    if ours:
        short = {key: gap for key, cell in ours.items() if (gap := _behind(key, cell)) > _POINT}
        share = 1.0 - len(short) / len(ours)
        reached = f"{len(ours) - len(short)} of {len(ours)}"
        lines.append((
            "accuracy: the better of both within 1 point of the paper's DIGMM, or above",
            f"{100.0 * _SHARE:.0f} % of cells", reached, share >= _SHARE,
        ))  # fmt: skip
        texts.append(_list("Cells where both are more than a point below the paper's DIGMM", short))
    best = {key: cell[design.BEST] for key, cell in cells.items() if design.BEST in cell}
    if best:
        short = {
            key: gap
            for key, value in best.items()
            if (gap := best_of_paper(key) - value) > _ROUNDING
        }
        reached = f"{len(best) - len(short)} of {len(best)}"
        lines.append((
            "accuracy: our best at or above the paper's best", "all cells", reached, not short
        ))  # fmt: skip
        texts.append(_list("Cells where our best is below the paper's best", short))
    lines += _fit_lines(rows)
    if not lines:
        return []
    return [f"**Asked and reached**: {count(lines)}.", asked_table(lines), *filter(None, texts)]


def _error_lines(rows: Sequence[Row]) -> list[Line]:
    cells = [cell for cell in means(rows, design.ERROR, "rmse").values() if design.EXACT in cell]
    lines: list[Line] = []
    for ours in (design.EXACT, design.EXACT_LARGE):
        for other in (design.TAYLOR, SPHERICAL):
            pairs = [(cell[ours], cell[other]) for cell in cells if ours in cell and other in cell]
            lower = sum(one < two for one, two in pairs)
            what = f"error: {ours} below {other}"
            if pairs:
                reached = f"{lower} of {len(pairs)}"
                lines.append((what, "all cells", reached, lower == len(pairs)))
    return lines


def _fit_lines(rows: Sequence[Row]) -> list[Line]:
    key_size = design.FIT_SIZE
    seconds = {
        method: max(cell[method] for cell in found.values())
        for method in (design.TAYLOR, design.EXACT)
        if (found := _fits(rows, method, key_size))
    }
    return [
        (f"seconds to fit, {method}, {IJCNN1}, M = {key_size} d", f"≤ {_FIT_SECONDS:g}",
         f"{value:.2g}", value <= _FIT_SECONDS)
        for method, value in seconds.items()
    ]  # fmt: skip


def _fits(rows: Sequence[Row], method: str, size: int) -> Cells:
    return {
        key: cell
        for key, cell in means(rows, design.ACCURACY, "fit_seconds").items()
        if key[1:] == (IJCNN1, size) and method in cell
    }


def _behind(key: Key, cell: Mapping[str, float]) -> float:
    return PAPER[key][DIGMM] - max(cell[design.TAYLOR], cell[design.EXACT])


def best_of_paper(key: Key) -> float:
    """Return the greatest accuracy that the paper has for a cell."""
    return max(PAPER[key].values())


def _list(what: str, gaps: Mapping[Key, float]) -> str:
    if not gaps:
        return ""
    places = "; ".join(
        f"{kernel}, {name}, M = {size} d ({gap:.1f})" for (kernel, name, size), gap in gaps.items()
    )
    return f"{what}, and by how many points: {places}."


def _errors(rows: Sequence[Row]) -> list[str]:
    cells = means(rows, design.ERROR, "rmse")
    if not cells:
        return []
    return [
        "**Root mean square error** over pairs of at most 1,000 test rows, mean over runs; bold is "
        "the lowest. TL1 is 0.7 d for a row and itself, the polynomial 1.",
        _table(cells, _lowest_bold),
    ]


def _accuracies(rows: Sequence[Row]) -> list[str]:
    cells = accuracies(rows)
    if not cells:
        return []
    parts = [_LEARNING]
    for kernel in design.STUDIES:
        chosen = {key: cell for key, cell in cells.items() if key[0] == kernel}
        if chosen:
            parts += [f"**{kernel}**", _accuracy_table(chosen)]
    return parts


def _accuracy_table(cells: Cells) -> str:
    methods = _methods(cells)
    lines = []
    for key, cell in cells.items():
        paper = PAPER.get(key, {})
        theirs = [paper.get(DIGMM), max(paper.values(), default=None)]
        values = [cell.get(method) for method in methods] + theirs
        texts = ["–" if value is None else f"{value:.1f}" for value in values]
        lines.append([f"{key[1]}, M = {key[2]} d", *texts])
    return markdown_table(("data set, size", *methods, "paper's DIGMM", "paper's best"), lines)


def _choices(rows: Sequence[Row]) -> list[str]:
    chosen: dict[tuple[str, int], list[str]] = defaultdict(list)
    for row in rows:
        if str(row["metric"]).startswith(design.CHOSEN):
            name = str(row["metric"])[len(design.CHOSEN) :]
            chosen[str(row["dataset"]), int(row["size"])].append(name)
    if not chosen:
        return []
    lines = [
        [f"{name}, M = {size} d", ", ".join(dict.fromkeys(found))]
        for (name, size), found in chosen.items()
    ]
    return [
        f"What “{design.BEST}” is, by run.",
        markdown_table(("data set, size", "chosen"), lines),
    ]


def _settings(rows: Sequence[Row]) -> list[str]:
    """Return a table for each setting of the method that was varied."""
    parts = []
    for part, what, label in (
        (design.TRUNCATION, "**Truncation** of the Dirichlet processes (the paper's Table VII): "
         "accuracy in per cent", "T"),
        (design.SHIFT, "**Shift** of the eigen-split (the paper's Table VIII): accuracy in per "
         "cent", "shift"),
        (design.SKETCH, "**Rows in the sketch** (the paper's Figures 3 and 4): accuracy in per "
         "cent; root mean square error; seconds to fit", "rows"),
    ):  # fmt: skip
        lines = _setting_lines(rows, part, label)
        if lines:
            head = ("kernel, size, setting", design.TAYLOR, design.EXACT)
            parts += [
                f"{what}, means over runs, {_name_of(rows, part)}.",
                markdown_table(head, lines),
            ]
    return parts


def _name_of(rows: Sequence[Row], part: str) -> str:
    return f"*{next(str(row['dataset']) for row in rows if row['part'] == part)}*"


def _setting_lines(rows: Sequence[Row], part: str, label: str) -> list[list[str]]:
    metrics = ("accuracy", "rmse", "fit_seconds") if part == design.SKETCH else ("accuracy",)
    found: dict[tuple[str, int, float], dict[tuple[str, str], list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        if row["part"] == part and row["metric"] in metrics:
            key = str(row["kernel"]), int(row["size"]), float(row["setting"])
            found[key][str(row["method"]), str(row["metric"])].append(float(row["value"]))
    return [
        [
            f"{kernel}, M = {size} d, {label} = {value:g}",
            *(
                "; ".join(
                    _number(cell[method, metric]) for metric in metrics if (method, metric) in cell
                )
                or "–"
                for method in (design.TAYLOR, design.EXACT)
            ),
        ]
        for (kernel, size, value), cell in found.items()
    ]


def _number(values: Sequence[float]) -> str:
    return f"{float(np.mean(values)):.3g}"


def _seconds(rows: Sequence[Row]) -> list[str]:
    cells = means(rows, design.ACCURACY, "fit_seconds")
    cells = {key: cell for key, cell in cells.items() if key[0] != design.NO_KERNEL}
    if not cells:
        return []
    return [
        "**Seconds** to fit the features, mean over runs, while another process measured other "
        "cells.",
        _table(cells, lambda cell: {name: f"{value:.2g}" for name, value in cell.items()}),
    ]


def _lowest_bold(cell: Mapping[str, float]) -> Mapping[str, str]:
    texts = {method: f"{value:.2g}" for method, value in cell.items()}
    best = min(cell, key=cell.__getitem__)
    return {**texts, best: f"**{texts[best]}**"}


def _methods(cells: Cells) -> list[str]:
    return [name for name in design.ORDER if any(name in cell for cell in cells.values())]


def _table(cells: Cells, texts: Texts) -> str:
    methods = _methods(cells)
    lines = []
    for (kernel, name, size), cell in cells.items():
        shown = texts(cell)
        label = f"{kernel}, {name}, M = {size} d"
        lines.append([label, *(shown.get(method, "–") for method in methods)])
    return markdown_table(("kernel, data set, size", *methods), lines)
