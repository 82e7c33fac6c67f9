"""Tables of the benchmark of asymmetric kernels, from its rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.asymmetric.accuracy_tables import accuracy_parts, direction_parts
from benchmarks.asymmetric.design import (
    ERROR,
    FITTED,
    GAUSSIAN,
    JORDAN_IID,
    JORDAN_SETS,
    MASS_NAMES,
    MASSES,
    METHODS,
    POLAR,
    POLAR_IID,
    QUADRATURE,
    SERIES,
    SHIFT,
    SINH,
    SPEED,
    SPEED_DIM,
)
from benchmarks.asymmetric.views import VIEWS
from benchmarks.results import Row, markdown_table, medians

Cells = Mapping[tuple[str, str, int], Mapping[str, float]]
Ratios = Mapping[tuple[str, str], Mapping[str, Sequence[float]]]

_SHOWN_SIZES = (2, 4, 8, 32, 128, 512, 1024)
_TARGETS: Mapping[str, Mapping[str, float]] = {
    POLAR_IID: {SHIFT: 0.78, SINH: 0.78},
    POLAR: {},
}
_OTHERWISE = {POLAR_IID: 1.0, POLAR: 0.5}

_INTRODUCTION = (
    "Features of asymmetric kernels with the parameters of the paper: inputs scaled to [0, 1] by "
    "the training part, σ = 2, r = 2/d and β = π/(2d) in each of the d inputs. “Jordan” draws the "
    "positive and negative real and the imaginary part of the measure as the paper does, “polar” "
    "draws once and carries phases."
)


def summarise(rows: Sequence[Row]) -> str:
    """Return the tables, what they add up to, and the figures, in Markdown."""
    parts = [_INTRODUCTION, *_masses(rows), *_errors(rows), *_speed(rows)]
    parts += [*accuracy_parts(rows), *direction_parts(rows)]
    stem = "asymmetric-quick" if rows[0].get("mode") == "quick" else "asymmetric"
    parts += [
        f"![{view.name}]({stem}-{view.name}.svg)\n\n{view.caption}"
        for view in VIEWS
        if view.values(rows)
    ]
    return "\n\n".join(parts)


def _masses(rows: Sequence[Row]) -> list[str]:
    chosen = [row for row in rows if row["part"] == MASSES]
    if not chosen:
        return []
    values: dict[tuple[str, str, str, int], list[float]] = defaultdict(list)
    for row in chosen:
        key = str(row["kernel"]), str(row["metric"]), str(row["method"]), int(row["size"])
        values[key].append(float(row["value"]))
    sizes = sorted({key[3] for key in values if key[2] == FITTED})
    shown = sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})
    lines = []
    for kernel in dict.fromkeys(key[0] for key in values):
        for name in MASS_NAMES:
            exact, integral = (
                values[kernel, name, method, sizes[0]][0] for method in (SERIES, QUADRATURE)
            )
            fits = [values[kernel, name, FITTED, size] for size in shown]
            texts = [f"{np.mean(fit):.4g} ± {np.std(fit):.2g}" for fit in fits]
            gap = f"{abs(exact - integral) / max(abs(exact), 1.0):.0e}"
            lines.append([f"{kernel}, {name}", f"{exact:.6g}", gap, *texts])
    n = max(len(values[key]) for key in values if key[2] == FITTED)
    header = ("mass", "exact", "off quadrature", *(f"fitted, M = {size}" for size in shown))
    return [
        "**Masses** of the parts of the measure in one dimension: exact by a series, its "
        "difference from quadrature of the density (relative where the mass is above one), and "
        f"fitted by least squares to the kernel on ten of 2,000 normal points, mean and standard "
        f"deviation over {n} trials, with 3 M frequencies in all.",
        markdown_table(header, lines),
    ]


def _errors(rows: Sequence[Row]) -> list[str]:
    chosen = [row for row in rows if row["part"] == ERROR]
    if not chosen:
        return []
    by = ("kernel", "dataset", "size", "method")
    cells: dict[tuple[str, str, int], dict[str, float]] = defaultdict(dict)
    for (kernel, name, size, method), value in medians(
        chosen, by=by, metric="relative_error"
    ).items():
        cells[str(kernel), str(name), int(size)][str(method)] = value
    parts = [
        "**Relative error** of the Gram matrix, ‖K̂ − K‖_F / ‖K‖_F, on at most 1,000 test rows, at "
        "the same number of frequencies in all for every method (Nyström: as many features, two a "
        "frequency): median over ten trials, over two beyond 8,192 frequencies, and over three "
        f"for Nyström. In brackets the ratio to “{JORDAN_IID}”. Weights are fitted to "
        "at most 1,024 frequencies and Nyström has at most 1,024 features."
    ]
    for kernel in dict.fromkeys(key[0] for key in cells):
        parts += [f"**{kernel}**", _error_table({k: v for k, v in cells.items() if k[0] == kernel})]
    return [*parts, *_ratios(cells)]


def _error_table(cells: Cells) -> str:
    methods = [name for name in METHODS if any(name in cell for cell in cells.values())]
    lines = [
        [f"{name}, M = {size} d", *(_with_ratio(cell, method) for method in methods)]
        for (_, name, size), cell in sorted(cells.items(), key=lambda item: item[0][1:])
        if size in _SHOWN_SIZES
    ]
    return markdown_table(("data set, frequencies", *methods), lines)


def _with_ratio(cell: Mapping[str, float], method: str) -> str:
    if method not in cell:
        return "–"
    text = f"{cell[method]:.2g}"
    if method == JORDAN_IID or JORDAN_IID not in cell:
        return text
    return f"{text} ({cell[method] / cell[JORDAN_IID]:.2f})"


def _ratios(cells: Cells) -> list[str]:
    """Return ratios to both forms of the reference, and how often the targets are met."""
    parts = []
    for reference, what in (
        (JORDAN_SETS, "the paper's three sets of equal size"),
        (JORDAN_IID, "sets in proportion to their masses"),
    ):
        ratios = _over_sizes(cells, reference)
        methods = [name for name in METHODS if any(name in found for found in ratios.values())]
        lines = [
            [f"{kernel}, {name}", *(_ranged(found.get(method, [])) for method in methods)]
            for (kernel, name), found in ratios.items()
        ]
        if lines:
            parts += [
                f"Ratio of median errors to that of “{reference}”, {what}: median over the sizes, "
                "least and greatest in brackets.",
                markdown_table(("kernel, data set", *methods), lines),
                " ".join(_met(method, ratios) for method in _TARGETS if method in methods),
            ]
    return parts


def _over_sizes(cells: Cells, reference: str) -> Ratios:
    """Return the ratios to a reference at every size, by kernel and data set and by method."""
    ratios: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (kernel, name, _), cell in cells.items():
        for method in METHODS:
            if method != reference and method in cell and reference in cell:
                ratios[kernel, name][method].append(cell[method] / cell[reference])
    return ratios


def _ranged(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return f"{np.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def _met(method: str, ratios: Ratios) -> str:
    def target(kernel: str) -> float:
        return _TARGETS[method].get(kernel, _OTHERWISE[method])

    chosen = {key: found[method] for key, found in ratios.items() if method in found}
    middle = {key: float(np.median(values)) for key, values in chosen.items()}
    missed = [
        f"{kernel}, {name} ({value:.2f})"
        for (kernel, name), value in middle.items()
        if value > target(kernel)
    ]
    every = [(ratio, target(key[0])) for key, values in chosen.items() for ratio in values]
    below = sum(ratio <= limit for ratio, limit in every)
    kernels = dict.fromkeys(key[0] for key in chosen)
    limits = ", ".join(f"{target(kernel):g} for {kernel}" for kernel in kernels)
    text = (
        f"“{method}” was to be at most {limits}: its median over the sizes is, in "
        f"{len(middle) - len(missed)} of {len(middle)} cases; single sizes are, in {below} of "
        f"{len(every)}."
    )
    return f"{text} Above it: {'; '.join(missed)}." if missed else text


def _speed(rows: Sequence[Row]) -> list[str]:
    chosen = [row for row in rows if row["part"] == SPEED]
    if not chosen:
        return []
    by = ("size", "kernel", "method")
    found = {
        metric: medians(chosen, by=by, metric=metric)
        for metric in ("draw_seconds", "left_seconds", "both_seconds")
    }
    lines = []
    for key in found["left_seconds"]:
        size, kernel, method = key
        reference = (size, GAUSSIAN, POLAR)
        one = found["left_seconds"][reference]
        lines.append(
            [
                f"{kernel}, {'closed form' if kernel == GAUSSIAN else method}",
                f"{2 * int(size) * SPEED_DIM}",
                f"{found['draw_seconds'][key]:.2g}",
                f"{found['left_seconds'][key]:.3g} ({found['left_seconds'][key] / one:.2f})",
                "–"
                if kernel == GAUSSIAN
                else f"{found['both_seconds'][key]:.3g} ({found['both_seconds'][key] / one:.2f})",
            ]
        )
    header = ("kernel, method", "features", "draw", "draw + left", "draw + left + right")
    return [
        f"**Seconds** to draw the frequencies and to transform 10,000 rows of {SPEED_DIM} inputs "
        "(a quick run: 500), on one thread, median over repetitions; in brackets the ratio to the "
        "left features of a Gaussian, whose right ones are the same.",
        markdown_table(header, lines),
    ]
