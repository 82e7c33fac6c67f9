"""Errors and accuracies of features of indefinite kernels, next to other methods."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.indefinite import design
from benchmarks.pictures import LINEAR, LOG, SEMILOG, Picture
from benchmarks.results import Row, Scalar, group_table, grouped, median_groups, median_text
from benchmarks.rows import liblinear_accuracy, loaded
from bochner._numerics.arrays import Array
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel

_BUNDLED = "breast_cancer"
_QUICK_SIZES = (1, 2)  # s / d of a quick run; kernels that are not in MAIN have the first alone
_QUICK_METHODS = tuple(name for name in design.METHODS if name != design.DESIGNED_IID)

# Distances at which a kernel is drawn: from one point of the unit sphere to its antipode.
_DISTANCES = np.linspace(0.0, 2.0, 41)


def _cells(options: Options) -> Iterator[Cell]:
    bundled = {_BUNDLED: 1 if options.quick else design.SEEDS}
    designs = {
        label: study.datasets if options.from_folder else bundled
        for label, study in design.STUDIES.items()
    }
    for name in dict.fromkeys(name for datasets in designs.values() for name in datasets):
        for label, datasets in designs.items():
            for size in _sizes(label, options):
                for seed in range(datasets.get(name, 0)):
                    yield from _cells_of(name, label, size, seed, options)


def _sizes(label: str, options: Options) -> tuple[int, ...]:
    if not options.quick:
        return design.SIZES
    return _QUICK_SIZES if label in design.MAIN else _QUICK_SIZES[:1]


def _cells_of(name: str, label: str, size: int, seed: int, options: Options) -> Iterator[Cell]:
    study = design.STUDIES[label]
    settings: Mapping[str, Scalar] = {"kernel": label, "size": size}
    p = study.features * size * loaded(name, options.data).X.shape[1]
    if _is_drawn(name, label, size, seed, options):
        yield Cell(name, design.EXACT, seed, settings)
    short = options.quick and label not in design.MAIN
    for method in _QUICK_METHODS if short else design.METHODS:
        if seed < design.n_seeds(study, design.METHODS[method], p):
            yield Cell(name, method, seed, settings)


def _is_drawn(name: str, label: str, size: int, seed: int, options: Options) -> bool:
    """Whether values of the kernel itself are measured, for a picture."""
    drawn = (_QUICK_SIZES[-1] if options.quick else design.PROFILE_SIZE, 0)
    named = name in (design.PROFILE_SET, _BUNDLED)
    return label in design.MAIN and named and (size, seed) == drawn


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    label, size = str(cell.settings["kernel"]), int(cell.settings["size"])
    study = design.STUDIES[label]
    rows = design.rows_of(cell.dataset, cell.seed, options.data, on_sphere=study.on_sphere)
    dim = rows.train.shape[1]
    kernel = study.kernel(dim)
    if cell.method == design.EXACT:
        return _profile(kernel, dim)
    p = study.features * size * dim
    method = design.METHODS[cell.method]
    # Each method gets other rows where there are more than 1,000, so that no design is cached.
    random_state = cell.seed + design.SEEDS * (1 + list(design.METHODS).index(cell.method))
    features = method.make(kernel, p, random_state)
    metrics = {**_timed(features, rows.fit), **_errors(features, kernel, rows.error)}
    if design.learns(study, method, p, cell.seed):
        metrics |= liblinear_accuracy(features.transform, rows, design.CS)
    drawn = _is_drawn(cell.dataset, label, size, cell.seed, options)
    if drawn and cell.method in design.PROFILED:
        metrics |= _profile(features.gram, dim)
    return metrics


def _timed(features: design.FeatureMap, X: Array) -> dict[str, float]:
    """Fit and transform rows; return the seconds that both took."""
    start = perf_counter()
    features.fit(X)
    Z = features.transform(X)
    seconds = perf_counter() - start
    return {"feature_seconds": seconds, "n_features": float(Z.shape[1])}


def _errors(features: design.FeatureMap, kernel: Kernel, X: Array) -> dict[str, float]:
    """Return the relative error on rows, and the errors that our features predict."""
    exact = kernel(X)
    error = np.linalg.norm(features.gram(X) - exact) / np.linalg.norm(exact)
    # ``fit_error_`` of spherical random features is another quantity.
    names = ("predicted_error", "fit_error") if isinstance(features, FourierFeatures) else ()
    values = {name: getattr(features, f"{name}_") for name in names}
    known = {name: float(value) for name, value in values.items() if value is not None}
    return {"relative_error": float(error), **known}


def _profile(gram: Any, dim: int) -> dict[str, float]:
    """Return kernel values along a great circle, by their distances."""
    circle = np.linalg.qr(np.random.default_rng(0).standard_normal((dim, 2)))[0].T
    angle = 2.0 * np.arcsin(0.5 * _DISTANCES)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) @ circle
    values: NDArray[np.float64] = np.asarray(gram(points[:1], points))[0]
    return {f"k({z:.2f})": float(value) for z, value in zip(_DISTANCES, values, strict=True)}


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


def _page(rows: Sequence[Row]) -> Iterator[str]:
    errors = grouped(rows, "relative_error", _INDEX)
    yield (
        "Relative error of the Gram matrix, ‖K̂ − K‖_F / ‖K‖_F, on at most 1,000 test rows, "
        "features fitted to at most 5,000 training rows: median over seeds. Bold is the lowest of "
        "the random features. Where Nyström's error is lower than that of designed measures with "
        "least-squares weights, brackets say how many times. A dash stands for what was not "
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
    """Say in how many cells ours is below every random-feature method, and name the others."""
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


_ALL_METHODS = tuple(design.METHODS)
_BELOW = "Curves below 1e-6 leave the picture."


def _curves(
    rows: Sequence[Row],
    *,
    metric: str,
    kernels: Sequence[str],
    methods: Sequence[str] = _ALL_METHODS,
) -> dict[tuple[str, str, float], float]:
    """Return medians over seeds, a panel for each kernel and data set, a curve for each method."""
    chosen = [row for row in rows if row["kernel"] in kernels and row["method"] in methods]
    if metric == "k":
        profile = [row for row in chosen if str(row["metric"]).startswith("k(")]
        places = [float(str(row["metric"])[2:-1]) for row in profile]
        found: dict[Any, float] = {
            (row["kernel"], row["dataset"], row["method"], place): float(row["value"])
            for row, place in zip(profile, places, strict=True)
        }
    else:
        index = ("kernel", "dataset", "method", "size")
        medians = median_groups(grouped(chosen, metric, index))
        found = {key: value for key, line in medians.items() for value in line.values()}
    shown = [kernel for kernel in kernels if any(key[0] == kernel for key in found)]
    names = list(dict.fromkeys(key[1] for key in found))
    order = [shown.index, names.index, methods.index]
    return {
        (_panel(kernel, name, shown, names), method, float(x)): found[kernel, name, method, x]
        for kernel, name, method, x in sorted(
            found, key=lambda key: [place(part) for place, part in zip(order, key, strict=False)]
        )
    }


def _panel(kernel: str, dataset: str, kernels: Sequence[str], datasets: Sequence[str]) -> str:
    if len(kernels) == 1:
        return dataset
    return kernel if len(datasets) == 1 else f"{kernel}, {dataset}"


def _picture(
    name: str,
    caption: str,
    metric: str,
    kernels: Sequence[str],
    methods: Sequence[str] = _ALL_METHODS,
    lowest: float | None = None,
) -> Picture:
    xlabel, ylabel, scales = {
        "k": ("distance", "kernel", LINEAR),
        "relative_error": ("size, s / d", "relative error of the Gram matrix", LOG),
        "accuracy": ("size, s / d", "test accuracy", SEMILOG),
    }[metric]
    values = partial(_curves, metric=metric, kernels=kernels, methods=methods)
    return Picture(name, caption, xlabel, ylabel, values, scales, lowest)


INDEFINITE = Benchmark(
    name="indefinite",
    settings=("kernel", "size"),
    introduction="Features of indefinite kernels, their size s a multiple of the number of inputs "
    "d: p = 4 s real features for the Delta-Gaussian kernel and the spherical polynomials, p = 2 s "
    "for the other kernels. Every method has the same p, and Nyström no more. Columns are scaled "
    "to [0, 1] by the training part, and rows then to norm one, except for TL1 and "
    "Radial(trapezoid).",
    parts=(
        Part(
            "features",
            _cells,
            _run,
            _page,
            (
                _picture(
                    "kernel",
                    "The kernels and one draw of features of each, along a great circle. No data "
                    "lie beyond the distances that measures are designed for, where only a bound "
                    "holds.",
                    "k",
                    design.MAIN,
                    design.PROFILED,
                ),
                _picture(
                    "error",
                    f"Relative error of the Gram matrix against the size. {_BELOW}",
                    "relative_error",
                    design.MAIN,
                    lowest=1e-6,
                ),
                _picture(
                    "accuracy",
                    "Test accuracy of liblinear on the features, against the size.",
                    "accuracy",
                    design.MAIN,
                ),
                _picture(
                    "schemes",
                    "Relative error by sampling scheme: independent and orthogonal frequencies, of "
                    "the Jordan parts and of designed measures.",
                    "relative_error",
                    design.MAIN,
                    (design.JORDAN_IID, design.JORDAN, design.DESIGNED_IID, design.DESIGNED),
                ),
                _picture(
                    "orders",
                    f"Relative error by the degree of the spherical polynomial. {_BELOW}",
                    "relative_error",
                    design.POLYNOMIALS,
                    lowest=1e-6,
                ),
                _picture(
                    "others",
                    f"Relative error for other kernels. {_BELOW}",
                    "relative_error",
                    design.OTHERS,
                    lowest=1e-6,
                ),
            ),
        ),
    ),
)
