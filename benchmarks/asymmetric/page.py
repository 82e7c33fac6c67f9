"""Text, tables and curves of the page on features of asymmetric kernels."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.asymmetric import design
from benchmarks.asymmetric.direction import MODELS
from benchmarks.results import Row, group_table, grouped, markdown_table, median_groups, medians


def mass_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the masses, exact and fitted."""
    values = {
        name: grouped(rows, name, ("kernel", "size"), columns="method")
        for name in design.MASS_NAMES
    }
    sizes = sorted({int(row["size"]) for row in rows if row["method"] == design.FITTED})
    shown = sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})
    lines = []
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        for name, masses in values.items():
            exact, integral = (
                masses[kernel, sizes[0]][method][0] for method in design.EXACT_MASSES
            )
            fits = [masses[kernel, size][design.FITTED] for size in shown]
            texts = [f"{np.mean(fit):.4g} ± {np.std(fit):.2g}" for fit in fits]
            gap = f"{abs(exact - integral) / max(abs(exact), 1.0):.0e}"
            lines.append([f"{kernel}, {name}", f"{exact:.6g}", gap, *texts])
    n = len({row["seed"] for row in rows})
    yield (
        "**Masses** of the parts of the measure in one dimension: exact by a series, its "
        "difference from quadrature of the density (relative where the mass is above one), and "
        "fitted by least squares to the kernel on ten of 2,000 normal points, mean and standard "
        f"deviation over {n} trials, with 3 M frequencies in all."
    )
    fitted = (f"fitted, M = {size}" for size in shown)
    yield markdown_table(("mass", "exact", "off quadrature", *fitted), lines)


Cells = Mapping[tuple[Any, ...], Mapping[str, float]]
"""Medians over trials by kernel, data set and size, and then by method."""


def error_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the errors of Gram matrices, and their ratios to the errors of both Jordan forms."""
    errors = grouped(rows, "relative_error", ("kernel", "dataset", "size"))
    yield (
        "**Relative error** of the Gram matrix, ‖K̂ − K‖_F / ‖K‖_F, on at most 1,000 test rows, at "
        "the same number of frequencies in all for every method (Nyström: as many features, two "
        "per frequency): median over ten trials, over two beyond 8,192 frequencies, and over three "
        f"for Nyström. In brackets the ratio to “{design.JORDAN_IID}”. Weights are fitted to "
        "at most 1,024 frequencies and Nyström has at most 1,024 features."
    )
    for kernel in dict.fromkeys(key[0] for key in errors):
        chosen = sorted(key for key in errors if key[0] == kernel and key[2] in design.SHOWN_SIZES)
        yield f"**{kernel}**"
        yield group_table(
            {key: errors[key] for key in chosen},
            list(design.METHODS),
            _with_ratios,
            header=["data set, frequencies"],
            label=lambda kernel, name, size: f"{name}, M = {size} d",
            whole_line=True,
        )
    cells = median_groups(errors)
    for reference, description in (
        (design.JORDAN_SETS, "the paper's three sets of equal size"),
        (design.JORDAN_IID, "sets in proportion to their masses"),
    ):
        if ratios := _over_sizes(cells, reference):
            yield (
                f"Ratio of median errors to that of “{reference}”, {description}: median over the "
                "sizes, least and greatest in brackets."
            )
            yield group_table(
                ratios,
                list(design.METHODS),
                lambda values: f"{np.median(values):.2f} ({min(values):.2f}–{max(values):.2f})",
                header=["kernel, data set"],
                label=lambda kernel, name: f"{kernel}, {name}",
            )


def _with_ratios(line: Mapping[str, Sequence[float]]) -> Mapping[str, str]:
    cell = {name: float(np.median(values)) for name, values in line.items()}
    reference = cell.get(design.JORDAN_IID)
    return {
        name: f"{value:.2g}"
        if reference is None or name == design.JORDAN_IID
        else f"{value:.2g} ({value / reference:.2f})"
        for name, value in cell.items()
    }


def _over_sizes(cells: Cells, reference: str) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Return the ratios to a reference at every size, by kernel and data set and by method."""
    ratios: dict[tuple[str, str], dict[str, list[float]]] = {}
    for (kernel, name, _), cell in cells.items():
        line = ratios.setdefault((kernel, name), defaultdict(list))
        for method in design.METHODS:
            if method != reference and method in cell and reference in cell:
                line[method].append(cell[method] / cell[reference])
    return ratios if any(ratios.values()) else {}


def speed_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the seconds to draw and to transform."""
    by = ("size", "kernel", "method")
    draw, left, both = (
        medians(rows, by=by, metric=f"{side}_seconds") for side in ("draw", "left", "both")
    )
    lines = []
    for size, kernel, method in left:
        reference, key = left[size, design.GAUSSIAN, design.POLAR], (size, kernel, method)
        is_closed = kernel == design.GAUSSIAN
        lines.append([
            f"{kernel}, {'closed form' if is_closed else method}",
            f"{2 * int(size) * design.SPEED_DIM}",
            f"{draw[key]:.2g}",
            f"{left[key]:.3g} ({left[key] / reference:.2f})",
            "–" if is_closed else f"{both[key]:.3g} ({both[key] / reference:.2f})",
        ])  # fmt: skip
    yield (
        "**Seconds** to draw the frequencies and to transform 10,000 rows of "
        f"{design.SPEED_DIM} inputs (a quick run: 500), on one thread, median over repetitions; "
        "in brackets the ratio to the left features of a Gaussian, whose right ones are the same."
    )
    header = ("kernel, method", "features", "draw", "draw + left", "draw + left + right")
    yield markdown_table(header, lines)


def _spread(values: Sequence[float]) -> str:
    percent = 100.0 * np.asarray(values)
    return f"{np.mean(percent):.2f} ± {np.std(percent):.2f}"


def table_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield test accuracies next to Table 1 of the paper."""
    accuracies = grouped(rows, "accuracy", ("dataset", "kernel"))
    n = len({row["seed"] for row in rows})
    chosen = [float(row["value"]) for row in rows if row["metric"] == "C"]
    at_end = sum(value >= design.CS[-1] for value in chosen)
    yield (
        "**Test accuracy** of liblinear on the features, in per cent, mean and standard deviation "
        f"over {n} trials, at M = 2 d. The paper's features have three sets of M frequencies for "
        "an asymmetric kernel and one for a symmetric one; ours have the number of frequencies in "
        "the header, left and right features side by side where the kernel is asymmetric. C is "
        "one of 2⁻⁵ to 2⁵ by five folds of at most 2,000 training rows; at most 12,000 rows are "
        f"trained on and at most 20,000 tested. The end of the grid was chosen in {at_end} of "
        f"{len(chosen)} fits."
    )
    names = list(dict.fromkeys(key[0] for key in accuracies))
    lines = [
        [
            f"{name}, {kernel}",
            *_entries(accuracies.get((name, kernel), {}), design.BY_KERNEL),
            *([f"{value:.2f}" for value in _paper(name, kernel)] or ["–", "–"]),
        ]
        for name in names
        for kernel in design.ASYMMETRIC
    ]
    header = ("data set, kernel", *design.BY_KERNEL, "paper, asymmetric", "paper, symmetrised")
    yield markdown_table(header, lines)
    yield (
        "Symmetric kernels and none. “Twice” has every feature twice, which is what left and "
        "right features are to a linear classifier; like “polar”, it has orthogonal directions, "
        "and the others independent ones, as in the paper."
    )
    lines = []
    for name in names:
        theirs = [
            "".join(f"{value:.2f}" for value in _paper(name, label)) or "–"
            for label in (design.GAUSSIAN, design.LINEAR)
        ]
        ours = _entries(accuracies.get((name, design.GAUSSIAN), {}), design.BY_GAUSSIAN)
        linear = _entries(accuracies.get((name, design.LINEAR), {}), [design.LINEAR])
        lines.append([name, *ours, theirs[0], *linear, theirs[1]])
    header = ("data set", *design.BY_GAUSSIAN, "paper, RBF", "linear", "paper, linear")
    yield markdown_table(header, lines)
    yield " ".join(_counts(accuracies))


def _entries(line: Mapping[str, Sequence[float]], methods: Sequence[str]) -> list[str]:
    return [_spread(line[method]) if method in line else "–" for method in methods]


def _paper(name: str, kernel: str) -> tuple[float, ...]:
    return design.PAPER.get(name, {}).get(kernel, ())


def _counts(accuracies: Any) -> Iterator[str]:
    """Yield how often features of asymmetric kernels have a higher accuracy than references."""
    means = {
        (*key, method): 100.0 * float(np.mean(values))
        for key, line in accuracies.items()
        for method, values in line.items()
    }
    for ours in (design.ASY_JORDAN, design.ASY_POLAR):
        cases = [key for key in means if key[2] == ours]
        against = {
            "“symmetrised, M”": [means.get((*key[:2], design.SYM)) for key in cases],
            "“symmetrised, 3 M”": [means.get((*key[:2], design.SYM_THRICE)) for key in cases],
            "the paper's asymmetric figure": [next(iter(_paper(*key[:2])), None) for key in cases],
        }
        counts = []
        for reference, reference_means in against.items():
            gaps = [
                means[key] - other
                for key, other in zip(cases, reference_means, strict=True)
                if other is not None
            ]
            if gaps:
                above = sum(gap > 0.0 for gap in gaps)
                mean = f"{np.mean(gaps):+.2f} on average"
                counts.append(f"{reference} in {above} of {len(gaps)} cases ({mean})")
        if counts:
            yield f"The mean of “{ours}” is above {', '.join(counts)}."


def direction_page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the shares of edges whose direction is found."""
    accuracies = grouped(rows, "accuracy", ["method"], columns="dataset")
    n = len({row["seed"] for row in rows})
    yield (
        "**Direction of edges**: share of held-out edges, a fifth of all, whose direction is "
        f"found, in per cent, mean and standard deviation over {n} splits. Pairs are bilinear "
        "models of the features of both nodes; a kernel alone answers by its own two values. "
        "A symmetric model scores an edge and its reversal the same, and is right half of the "
        "time by construction."
    )
    ordered = {(method,): accuracies[method,] for method in MODELS if (method,) in accuracies}
    names = list(dict.fromkeys(str(row["dataset"]) for row in rows))
    yield group_table(ordered, names, _spread, header=["method"])


def mass_curves(rows: Sequence[Row]) -> dict[tuple[str, str, float], float]:
    """Return masses over sizes, one panel per kernel and two curves per mass."""
    values: dict[tuple[str, str, float], float] = {}
    for name in design.MASS_NAMES:
        masses = medians(rows, by=("kernel", "method", "size"), metric=name)
        sizes = sorted({float(size) for _, method, size in masses if method == design.FITTED})
        for (kernel, method, size), value in masses.items():
            if method == design.FITTED:
                values[str(kernel), f"{name}, fitted", float(size)] = value
            elif method == design.SERIES:
                values |= {(str(kernel), f"{name}, exact", x): value for x in sizes}
    return values


def curves(
    rows: Sequence[Row], *, metric: str, methods: Collection[str] = tuple(design.METHODS)
) -> dict[tuple[str, str, float], float]:
    """Return medians with a panel for each kernel and data set, and sizes in order."""
    errors = median_groups(grouped(rows, metric, ("kernel", "dataset", "size")))
    names = list(dict.fromkeys(key[1] for key in errors))
    ordered = sorted(
        (key for key in errors if key[0] in design.ASYMMETRIC),
        key=lambda key: (design.ASYMMETRIC.index(key[0]), names.index(key[1]), key[2]),
    )
    return {
        (f"{kernel}, {name}", method, float(size)): value
        for kernel, name, size in ordered
        for method, value in errors[kernel, name, size].items()
        if method in methods
    }


def classifier_curves(rows: Sequence[Row], *, metric: str) -> dict[tuple[str, str, float], float]:
    """Return curves of both asymmetric forms, and the accuracy of a linear classifier."""
    ours = [row for row in rows if row["method"] in (design.ASY_JORDAN, design.ASY_POLAR)]
    values = curves(ours, metric=metric, methods=(design.ASY_JORDAN, design.ASY_POLAR))
    level = median_groups(grouped(rows, metric, method=design.LINEAR))
    # A classifier of the rows themselves has no size: its curve is flat.
    flat = {
        (panel, design.LINEAR, x): level[name,][design.LINEAR]
        for panel, _, x in values
        if (name := panel.partition(", ")[2],) in level
    }
    return {**values, **flat} if metric == "accuracy" else values
