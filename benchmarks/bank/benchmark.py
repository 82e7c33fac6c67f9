"""Errors, recovery, scaling and speed of kernels learned by sampling their frequencies."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks.bank import design
from benchmarks.bank.accuracy import accuracy_metrics, scaling_metrics
from benchmarks.bank.kernel import LAGS, TRUE, TRUE_SPECTRUM, kernel_metrics
from benchmarks.bank.speed import GRADIENT, SWEEP, speed_metrics
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import LINEAR, Picture
from benchmarks.results import (
    Row,
    first_trial,
    group_table,
    grouped,
    markdown_table,
    mean_error,
    median_text,
    medians,
    name_at,
    published,
)

_SYNTHETIC = "synthetic"
_BUNDLED: tuple[str, ...] = (design.BUNDLED_REGRESSION, design.BUNDLED_CLASSIFICATION)
_METHODS = (
    design.OURS, design.RANKS, design.MH, design.RKS, design.MKL, design.ALAC, design.RFO,
    design.TREES,
)  # fmt: skip


def _size(options: Options) -> design.Size:
    return design.QUICK if options.quick else design.FULL


def _accuracy_cells(options: Options) -> Iterator[Cell]:
    size, names = _size(options), _BUNDLED
    if options.from_folder:
        names = (*design.REGRESSIONS, *design.CLASSIFICATIONS)
    for name in names:
        methods = design.methods_of(name)
        yield from grid(
            [name], methods, size.n_folds, n=[design.ALL], m=[size.n_frequencies], threads=[1]
        )


def _kernel_cells(options: Options) -> Iterable[Cell]:
    size, methods = _size(options), (TRUE, TRUE_SPECTRUM, design.OURS)
    settings = {"n": [1_000], "m": [size.kernel_frequencies], "threads": [1]}
    return grid([_SYNTHETIC], methods, size.kernel_trials, **settings)


def _scaling_cells(options: Options) -> Iterator[Cell]:
    size = _size(options)
    *fewer, most = size.scaling_frequencies
    for seed, name in enumerate(design.SCALED if options.from_folder else _BUNDLED):
        rows = (*size.scaling_rows, *([design.SCALED[name]] if name in design.SCALED else []))
        for n, m in [(n, most) for n in rows] + [(size.scaling_at, m) for m in fewer]:
            yield Cell(name, design.OURS, seed, {"n": n, "m": m, "threads": 1})


def _speed_cells(options: Options) -> Iterable[Cell]:
    size = _size(options)
    name = "bike_hourly" if options.from_folder else design.BUNDLED_REGRESSION
    settings = {"n": [size.speed_rows], "m": [size.speed_frequencies], "threads": (1, design.ALL)}
    return grid([name], (SWEEP, GRADIENT), size.repetitions, **settings)


def _run_accuracy(cell: Cell, options: Options) -> Mapping[str, float]:
    return accuracy_metrics(cell.dataset, cell.method, _size(options), cell.seed, options.data)


def _run_kernel(cell: Cell, options: Options) -> Mapping[str, float]:
    iterations = _size(options).kernel_iterations
    return kernel_metrics(cell.method, int(cell.settings["m"]), iterations, cell.seed)


def _run_scaling(cell: Cell, options: Options) -> Mapping[str, float]:
    n, m = int(cell.settings["n"]), int(cell.settings["m"])
    iterations = _size(options).scaling_iterations
    return scaling_metrics(cell.dataset, n, m, iterations, cell.seed, options.data)


def _run_speed(cell: Cell, options: Options) -> Mapping[str, float]:
    n, m = int(cell.settings["n"]), int(cell.settings["m"])
    n_threads = os.cpu_count() if cell.settings["threads"] == design.ALL else 1
    return speed_metrics(cell.method, cell.dataset, n, m, n_threads or 1, options.data)


def _accuracy_page(rows: Sequence[Row]) -> Iterator[str]:
    fewer = ", ".join(
        f"{n:,} rows for {method}"
        for method, n in design.MOST_ROWS.items()
        if method != design.TREES
    )
    yield (
        f"{design.OURS} has its default settings but for the number of frequencies, and a limit "
        f"of seconds for a fold; “{design.RANKS}” has the ranks of all inputs as further inputs. "
        f"“{design.MH}” is the paper's sampler, independence proposals for dense frequencies from "
        f"a draw of the prior on, in the seconds that {design.OURS} took for the same fold. "
        f"{design.RKS}: a Gaussian kernel's independent frequencies; {design.MKL}: those of "
        "Laplacian, Gaussian and Cauchy kernels at five scales; both with ridge or logistic "
        "regression, scale and penalty chosen on held-out rows of the training fold. "
        f"{design.ALAC} and {design.RFO}: 30 or 100 iterations, chosen likewise. Trees: rate and "
        f"size chosen likewise, their number by early stopping. At most {fewer}, chosen at random "
        "where a training fold has more. The target of shuttle is whether a row has the most "
        "frequent of its seven classes, “Rad Flow”."
    )
    for metric, title in (
        ("mse", "**Mean square error** of standardised targets"),
        ("error", "**Error rate**"),
    ):
        if errors := grouped(rows, metric):
            yield f"{title}, mean over the folds and its standard error; below, the paper's."
            paper = partial(published, design.PAPER, design.PAPER_ROWS, 3)
            yield group_table(errors, _METHODS, mean_error(), below=paper)
    coverage, density = grouped(rows, "coverage"), grouped(rows, "nlpd")
    coverage_and_density = {
        key: {
            method: [*coverage.get(key, {}).get(method, []), np.nan, *values]
            for method, values in line.items()
        }
        for key, line in density.items()
    }
    yield (
        "**Coverage** of central 90 % intervals and **negative log predictive density** (of "
        "classes: log loss), means over the folds."
    )
    yield group_table(coverage_and_density, _METHODS, _pair)
    yield "**Seconds** to fit a fold, the choice of settings included, median over the folds."
    yield group_table(grouped(rows, "fit_seconds"), _METHODS, median_text())


def _pair(values: Sequence[float]) -> str:
    """Return the means of what comes before and after the gap."""
    gap = int(np.flatnonzero(np.isnan(values))[0])
    return "; ".join(f"{np.mean(part):.3f}" for part in (values[:gap], values[gap + 1 :]) if part)


def _kernel_page(rows: Sequence[Row]) -> Iterator[str]:
    errors, shapes = (
        medians(rows, by=("method",), metric=metric)
        for metric in ("rms_error", "rms_up_to_constant")
    )
    shares = [float(row["value"]) for row in rows if row["metric"] == "share_in_band"]
    n = len({row["seed"] for row in rows})
    yield (
        "**The synthetic kernel** e^(−t²/8) (1 + cos(¾πt))/2: root mean square error on [0, 6], "
        f"median over {n} sets of 1,000 noisy rows. The band of 90 % of the draws holds the true "
        f"kernel at {100.0 * float(np.median(shares or [np.nan])):.0f} % of the distances. “Up to "
        "a constant” is the error of 1 − k times the best factor: next to an intercept, data do "
        "not determine the constant part of a kernel."
    )
    lines = [
        [str(key[0]), f"{value:.3f}", f"{shapes[key]:.3f}"]
        for key, value in errors.items()
        if value > 0.0
    ]
    yield markdown_table(("estimate", "error", "up to a constant"), lines)


def _scaling_page(rows: Sequence[Row]) -> Iterator[str]:
    metrics: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        key = str(row["dataset"]), int(row["n"]), int(row["m"])
        metrics[key][str(row["metric"])] = float(row["value"])
    yield (
        "**Scaling**: seconds of a sweep over all frequencies, of a classification with the "
        "drawing of its auxiliary variables, and test error after few sweeps (mean square error "
        "or error rate)."
    )
    lines = [
        [
            name,
            f"{n:,}",
            str(m),
            f"{values['sweep_seconds']:.3g}",
            f"{values.get('mse', values.get('error', np.nan)):.3g}",
        ]
        for (name, n, m), values in sorted(metrics.items())
    ]
    header = ("data set", "rows", "frequencies", "seconds per sweep", "error")
    yield markdown_table(header, lines)


def _speed_page(rows: Sequence[Row]) -> Iterator[str]:
    columns = {
        "work_seconds": "in blocks",
        "product_seconds": "matrix products alone",
        "single_seconds": "one at a time",
        "recomputed_seconds": "sums computed afresh",
    }
    n, m = (max(int(row[name]) for row in rows) for name in ("n", "m"))
    yield (
        f"**Seconds** of a sweep over all of {m} frequencies at {n:,} rows in blocks of 64, and "
        "of a gradient of the log evidence with its sums; of their matrix products with the rows "
        "alone; of the sweep one frequency at a time; and with the sums of all features computed "
        "afresh for each proposal, extrapolated from three. Medians over repetitions; “all” "
        "threads are the machine's."
    )
    seconds: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for metric, name in columns.items():
        for key, line in grouped(rows, metric, ("method", "threads"), columns="metric").items():
            seconds.setdefault(tuple(map(str, key)), {})[name] = line[metric]
    yield group_table(
        seconds,
        list(columns.values()),
        median_text(),
        header=[""],
        label=lambda method, threads: f"{method}, threads: {threads}",
    )


# Curves of a band with nine tenths of the draws.
_LOW, _HIGH = (f"{design.OURS}, {share} % of draws" for share in (5, 95))


def _kernel_curves(rows: Sequence[Row]) -> dict[tuple[str, str, float], float]:
    """Return the curves of the first trial."""
    values = first_trial(rows)
    curves = {
        TRUE: (TRUE, "mean"),
        TRUE_SPECTRUM: (TRUE_SPECTRUM, "mean"),
        design.OURS: (design.OURS, "mean"),
        _LOW: (design.OURS, "low"),
        _HIGH: (design.OURS, "high"),
    }
    return {
        ("", curve, lag): values[method, name_at(kind, lag)]
        for curve, (method, kind) in curves.items()
        for lag in LAGS
        if (method, name_at(kind, lag)) in values
    }


def _scaling_curves(
    rows: Sequence[Row], *, over: str, metrics: Sequence[str]
) -> dict[tuple[str, str, float], float]:
    """Return metrics over one of ``n`` and ``m``, the other at the value that has most cells."""
    other = "m" if over == "n" else "n"
    places: dict[float, set[float]] = defaultdict(set)
    for row in rows:
        places[float(row[other])].add(float(row[over]))
    fixed = max(places, key=lambda value: (len(places[value]), value))
    points = [
        (str(row["dataset"]), float(row[over]), float(row["value"]))
        for row in rows
        if float(row[other]) == fixed and row["metric"] in metrics
    ]
    panel = f"{other} = {fixed:,.0f}"
    return {(panel, name, x): value for name, x, value in sorted(points)}


def _scaling_pictures() -> Iterator[Picture]:
    for over, size, unit in (
        ("n", "training rows n", "rows"),
        ("m", "frequencies m", "frequencies"),
    ):
        error = "Mean square error or error rate after few sweeps"
        for name, metrics, ylabel, caption in (
            ("seconds", ["sweep_seconds"], "seconds per sweep", "Seconds of a sweep"),
            ("error", ["mse", "error"], "test error", error),
        ):
            values = partial(_scaling_curves, over=over, metrics=metrics)
            yield Picture(f"{name}-{over}", f"{caption} against {unit}.", size, ylabel, values)


BANK = Benchmark(
    name="bank",
    settings=("part", "n", "m", "threads"),
    introduction="Kernels learned by sampling their frequencies (BaNK), next to the methods that "
    "the paper compares with and gradient-boosted trees: Oliva, Dubey, Wilson, Póczos, Schneider "
    "and Xing, “Bayesian nonparametric kernel-learning”, 2016. Five shuffled folds (stratified for "
    "classes), targets standardised by the training fold, and as many features for every method.",
    parts=(
        Part("accuracy", _accuracy_cells, _run_accuracy, _accuracy_page),
        Part(
            "kernel",
            _kernel_cells,
            _run_kernel,
            _kernel_page,
            (
                Picture(
                    "kernel",
                    "The kernel of the paper's synthetic data, the average cosine of the "
                    "frequencies that made the data, and what was learned from 1,000 rows.",
                    "distance",
                    "kernel",
                    _kernel_curves,
                    LINEAR,
                    bands={("90 % of draws", design.OURS): (_LOW, _HIGH)},
                ),
            ),
        ),
        Part("scaling", _scaling_cells, _run_scaling, _scaling_page, tuple(_scaling_pictures())),
        Part("speed", _speed_cells, _run_speed, _speed_page),
    ),
)
