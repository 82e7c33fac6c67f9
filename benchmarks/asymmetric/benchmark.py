"""Errors, masses, speed and accuracies of features of asymmetric kernels."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.asymmetric import design, measures
from benchmarks.asymmetric.direction import GENERATED, MODELS, direction_metrics, edges_of
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import LOG, SEMILOG, Picture
from benchmarks.results import Row, group_table, grouped, markdown_table, median_groups, medians
from benchmarks.rows import loaded

_BUNDLED = "breast_cancer"
_QUICK_SIZES = (2, 4)  # M / d of a quick run
_SPEED_SIZES = (16, 64)  # M / d of the part on speed: 512 and 2,048 features
_SPEED_ROWS, _QUICK_SPEED_ROWS = 10_000, 500  # 10,000 rows of 2,048 features are 164 MB


def _datasets(options: Options) -> tuple[str, ...]:
    return design.DATASETS if options.from_folder else (_BUNDLED,)


def _sizes(options: Options) -> tuple[int, ...]:
    return _QUICK_SIZES if options.quick else design.SIZES


def _trials(options: Options, quick: int = 1) -> int:
    return quick if options.quick else design.TRIALS


def _error_cells(options: Options) -> Iterator[Cell]:
    for cell in grid(
        _datasets(options), design.METHODS, _trials(options, 2),
        size=_sizes(options), kernel=design.ASYMMETRIC,
    ):  # fmt: skip
        m = int(cell.settings["size"]) * loaded(cell.dataset, options.data).X.shape[1]
        if cell.seed < design.METHODS[cell.method].n_trials(m):
            yield cell


def _mass_cells(options: Options) -> Iterator[Cell]:
    sizes, kernels = _sizes(options), design.ASYMMETRIC
    yield from grid(["normal"], design.EXACT_MASSES, 1, kernel=kernels, size=sizes[:1])
    yield from grid(["normal"], [design.FITTED], _trials(options, 2), kernel=kernels, size=sizes)


def _speed_cells(options: Options) -> Iterator[Cell]:
    sizes = _SPEED_SIZES[:1] if options.quick else _SPEED_SIZES
    repetitions = 3 if options.quick else design.REPETITIONS
    methods = (design.POLAR, design.JORDAN_IID)
    kernels = (design.GAUSSIAN, *design.ASYMMETRIC)
    for cell in grid(["uniform"], methods, repetitions, size=sizes, kernel=kernels):
        if (cell.settings["kernel"], cell.method) != (design.GAUSSIAN, design.JORDAN_IID):
            yield cell


def _table_cells(options: Options) -> Iterator[Cell]:
    names, trials, size = _datasets(options), _trials(options), (design.TABLE_SIZE,)
    for methods, kernels in (
        ((design.LINEAR,), (design.LINEAR,)),
        (design.BY_GAUSSIAN, (design.GAUSSIAN,)),
        (design.BY_KERNEL, design.ASYMMETRIC),
    ):
        yield from grid(names, methods, trials, kernel=kernels, size=size)


def _direction_cells(options: Options) -> Iterable[Cell]:
    names = design.GRAPHS if options.from_folder else (GENERATED,)
    return grid(names, MODELS, _trials(options), kernel=[design.NO_KERNEL], size=[1])


def _accuracy_cells(options: Options) -> Iterator[Cell]:
    methods = (design.ASY_JORDAN, design.ASY_POLAR)
    for size, trials in {} if options.quick else design.ACCURACY_TRIALS.items():
        yield from grid(_datasets(options), methods, trials, size=[size], kernel=design.ASYMMETRIC)


def _setting(cell: Cell) -> tuple[str, str, int, int]:
    return str(cell.settings["kernel"]), cell.method, int(cell.settings["size"]), cell.seed


def _run_error(cell: Cell, options: Options) -> Mapping[str, float]:
    return measures.error_metrics(
        design.rows_of(cell.dataset, cell.seed, options.data), *_setting(cell)
    )


def _run_masses(cell: Cell, options: Options) -> Mapping[str, float]:
    return measures.mass_metrics(*_setting(cell))


def _run_speed(cell: Cell, options: Options) -> Mapping[str, float]:
    return measures.speed_metrics(
        *_setting(cell), n_rows=_QUICK_SPEED_ROWS if options.quick else _SPEED_ROWS
    )


def _run_accuracy(cell: Cell, options: Options) -> Mapping[str, float]:
    return measures.accuracy_metrics(
        design.rows_of(cell.dataset, cell.seed, options.data), *_setting(cell)
    )


def _run_direction(cell: Cell, options: Options) -> Mapping[str, float]:
    train, test = edges_of(cell.dataset, cell.seed, options.data)
    return direction_metrics(train, test, cell.method, cell.seed)


def _mass_page(rows: Sequence[Row]) -> Iterator[str]:
    values = {
        name: grouped(rows, name, ("kernel", "size"), columns="method")
        for name in design.MASS_NAMES
    }
    sizes = sorted({int(row["size"]) for row in rows if row["method"] == design.FITTED})
    shown = sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})
    lines = []
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        for name, found in values.items():
            exact, integral = (found[kernel, sizes[0]][method][0] for method in design.EXACT_MASSES)
            fits = [found[kernel, size][design.FITTED] for size in shown]
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


def _error_page(rows: Sequence[Row]) -> Iterator[str]:
    found = grouped(rows, "relative_error", ("kernel", "dataset", "size"))
    yield (
        "**Relative error** of the Gram matrix, ‖K̂ − K‖_F / ‖K‖_F, on at most 1,000 test rows, at "
        "the same number of frequencies in all for every method (Nyström: as many features, two a "
        "frequency): median over ten trials, over two beyond 8,192 frequencies, and over three "
        f"for Nyström. In brackets the ratio to “{design.JORDAN_IID}”. Weights are fitted to "
        "at most 1,024 frequencies and Nyström has at most 1,024 features."
    )
    for kernel in dict.fromkeys(key[0] for key in found):
        chosen = sorted(key for key in found if key[0] == kernel and key[2] in design.SHOWN_SIZES)
        yield f"**{kernel}**"
        yield group_table(
            {key: found[key] for key in chosen},
            list(design.METHODS),
            _with_ratios,
            header=["data set, frequencies"],
            label=lambda kernel, name, size: f"{name}, M = {size} d",
            whole_line=True,
        )
    cells = median_groups(found)
    for reference, what in (
        (design.JORDAN_SETS, "the paper's three sets of equal size"),
        (design.JORDAN_IID, "sets in proportion to their masses"),
    ):
        if ratios := _over_sizes(cells, reference):
            yield (
                f"Ratio of median errors to that of “{reference}”, {what}: median over the sizes, "
                "least and greatest in brackets."
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


def _speed_page(rows: Sequence[Row]) -> Iterator[str]:
    by = ("size", "kernel", "method")
    draw, left, both = (
        medians(rows, by=by, metric=f"{what}_seconds") for what in ("draw", "left", "both")
    )
    lines = []
    for size, kernel, method in left:
        one, key = left[size, design.GAUSSIAN, design.POLAR], (size, kernel, method)
        is_closed = kernel == design.GAUSSIAN
        lines.append([
            f"{kernel}, {'closed form' if is_closed else method}",
            f"{2 * int(size) * design.SPEED_DIM}",
            f"{draw[key]:.2g}",
            f"{left[key]:.3g} ({left[key] / one:.2f})",
            "–" if is_closed else f"{both[key]:.3g} ({both[key] / one:.2f})",
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


def _table_page(rows: Sequence[Row]) -> Iterator[str]:
    found = grouped(rows, "accuracy", ("dataset", "kernel"))
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
    names = list(dict.fromkeys(key[0] for key in found))
    lines = [
        [
            f"{name}, {kernel}",
            *_entries(found.get((name, kernel), {}), design.BY_KERNEL),
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
        ours = _entries(found.get((name, design.GAUSSIAN), {}), design.BY_GAUSSIAN)
        linear = _entries(found.get((name, design.LINEAR), {}), [design.LINEAR])
        lines.append([name, *ours, theirs[0], *linear, theirs[1]])
    header = ("data set", *design.BY_GAUSSIAN, "paper, RBF", "linear", "paper, linear")
    yield markdown_table(header, lines)
    yield " ".join(_counts(found))


def _entries(line: Mapping[str, Sequence[float]], methods: Sequence[str]) -> list[str]:
    return [_spread(line[method]) if method in line else "–" for method in methods]


def _paper(name: str, kernel: str) -> tuple[float, ...]:
    return design.PAPER.get(name, {}).get(kernel, ())


def _counts(found: Any) -> Iterator[str]:
    """Say how often features of asymmetric kernels are above what they are compared with."""
    means = {
        (*key, method): 100.0 * float(np.mean(values))
        for key, line in found.items()
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
        for what, others in against.items():
            gaps = [
                means[key] - other
                for key, other in zip(cases, others, strict=True)
                if other is not None
            ]
            if gaps:
                above = sum(gap > 0.0 for gap in gaps)
                mean = f"{np.mean(gaps):+.2f} on average"
                counts.append(f"{what} in {above} of {len(gaps)} cases ({mean})")
        if counts:
            yield f"The mean of “{ours}” is above {', '.join(counts)}."


def _direction_page(rows: Sequence[Row]) -> Iterator[str]:
    found = grouped(rows, "accuracy", ["method"], columns="dataset")
    n = len({row["seed"] for row in rows})
    yield (
        "**Direction of edges**: share of held-out edges, a fifth of all, whose direction is "
        f"found, in per cent, mean and standard deviation over {n} splits. Pairs are bilinear "
        "models of the features of both nodes; a kernel alone answers by its own two values. "
        "A symmetric model scores an edge and its reversal the same, and is right half of the "
        "time by construction."
    )
    ordered = {(method,): found[method,] for method in MODELS if (method,) in found}
    names = list(dict.fromkeys(str(row["dataset"]) for row in rows))
    yield group_table(ordered, names, _spread, header=["method"])


def _mass_curves(rows: Sequence[Row]) -> dict[tuple[str, str, float], float]:
    values: dict[tuple[str, str, float], float] = {}
    for name in design.MASS_NAMES:
        found = medians(rows, by=("kernel", "method", "size"), metric=name)
        sizes = sorted({float(size) for _, method, size in found if method == design.FITTED})
        for (kernel, method, size), value in found.items():
            if method == design.FITTED:
                values[str(kernel), f"{name}, fitted", float(size)] = value
            elif method == design.SERIES:
                values |= {(str(kernel), f"{name}, exact", x): value for x in sizes}
    return values


def _curves(rows: Sequence[Row], *, metric: str) -> dict[tuple[str, str, float], float]:
    """Return medians with a panel for each kernel and data set, and sizes in order."""
    found = median_groups(grouped(rows, metric, ("kernel", "dataset", "size")))
    names = list(dict.fromkeys(key[1] for key in found))
    ordered = sorted(
        (key for key in found if key[0] in design.ASYMMETRIC),
        key=lambda key: (design.ASYMMETRIC.index(key[0]), names.index(key[1]), key[2]),
    )
    return {
        (f"{kernel}, {name}", method, float(size)): value
        for kernel, name, size in ordered
        for method, value in found[kernel, name, size].items()
    }


def _classifier_curves(rows: Sequence[Row], *, metric: str) -> dict[tuple[str, str, float], float]:
    ours = [row for row in rows if row["method"] in (design.ASY_JORDAN, design.ASY_POLAR)]
    values = _curves(ours, metric=metric)
    level = median_groups(grouped(rows, metric, method=design.LINEAR))
    # A classifier of the rows themselves has no size: its curve is flat.
    flat = {
        (panel, design.LINEAR, x): level[name,][design.LINEAR]
        for panel, _, x in values
        if (name := panel.partition(", ")[2],) in level
    }
    return {**values, **flat} if metric == "accuracy" else values


_SIZE = "M / d"
_TABLE = Part("table 1", _table_cells, _run_accuracy, _table_page)

ASYMMETRIC = Benchmark(
    name="asymmetric",
    settings=("part", "kernel", "size"),
    introduction="Features of asymmetric kernels with the parameters of the paper: inputs scaled "
    "to [0, 1] by the training part, σ = 2, r = 2/d and β = π/(2d) in each of the d inputs. "
    "“Jordan” draws the positive and negative real and the imaginary part of the measure as the "
    "paper does, “polar” draws once and carries phases.",
    parts=(
        Part(
            "error",
            _error_cells,
            _run_error,
            _error_page,
            (
                Picture(
                    "error",
                    "Relative error of the Gram matrix against the number of frequencies over "
                    "that of inputs.",
                    _SIZE,
                    "relative error of the Gram matrix",
                    partial(_curves, metric="relative_error"),
                ),
            ),
        ),
        Part(
            "masses",
            _mass_cells,
            _run_masses,
            _mass_page,
            (
                Picture(
                    "masses",
                    "Masses in one dimension, fitted on ten points and exact, against M; 3 M "
                    "frequencies.",
                    "M",
                    "mass",
                    _mass_curves,
                    ("log", "symlog"),
                ),
            ),
        ),
        Part("speed", _speed_cells, _run_speed, _speed_page),
        _TABLE,
        Part("direction", _direction_cells, _run_direction, _direction_page),
        Part(
            "accuracy",
            _accuracy_cells,
            _run_accuracy,
            lambda rows: (),
            (
                Picture(
                    "accuracy",
                    "Test accuracy of liblinear on the features, against M over the number of "
                    "inputs.",
                    _SIZE,
                    "test accuracy",
                    partial(_classifier_curves, metric="accuracy"),
                    SEMILOG,
                ),
                Picture(
                    "seconds",
                    "Seconds to draw the frequencies and to transform the training rows, against "
                    "M over the number of inputs.",
                    _SIZE,
                    "seconds",
                    partial(_classifier_curves, metric="feature_seconds"),
                    LOG,
                ),
            ),
            shares=("table 1",),
        ),
    ),
    order=("masses", "error", "speed", "table 1", "direction", "accuracy"),
)
