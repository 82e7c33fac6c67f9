"""Ranking, errors and predictive densities of locally stationary kernels that are learned."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from benchmarks.gabasr import design
from benchmarks.gabasr.accuracy import GRID, accuracy_metrics, probability_name, xor_metrics
from benchmarks.gabasr.data import XOR_SPREAD
from benchmarks.gabasr.mixture import FREQUENCIES, PLACES, mixture_metrics
from benchmarks.gabasr.series import SHOWN, series_metrics
from benchmarks.gabasr.update import update_metrics
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.pictures import LINEAR, Picture
from benchmarks.results import (
    Groups,
    Row,
    first_trial,
    group_table,
    grouped,
    markdown_table,
    mean_error,
    median_text,
    name_at,
    published,
)

_BUNDLED: tuple[str, ...] = (design.BUNDLED_REGRESSION, design.BUNDLED_CLASSIFICATION)
_LEARNERS = (design.OURS, design.BANK)
_GENERATED = "synthetic"
_ORDER = (*design.METHODS, design.TRUE)


def _size(options: Options) -> design.Size:
    return design.QUICK if options.quick else design.FULL


def _accuracy_cells(options: Options) -> Iterator[Cell]:
    size, names = _size(options), _BUNDLED
    if options.from_folder:
        names = (*design.CLASSIFICATIONS, *design.REGRESSIONS)
    for name in names:
        learned = design.budget_of(name, size).n_frequencies
        widths = dict.fromkeys(_LEARNERS, learned) | {design.PUBLISHED: size.published_frequencies}
        for method in design.methods_of(name):
            yield from grid([name], [method], size.n_folds, m=[widths.get(method, "none")])


def _xor_cells(options: Options) -> Iterable[Cell]:
    size, methods = _size(options), (*_LEARNERS, design.PUBLISHED, design.TRUE)
    return grid([_GENERATED], methods, size.xor_trials, m=[size.xor.n_frequencies])


def _mixture_cells(options: Options) -> Iterable[Cell]:
    size, methods = _size(options), (*_LEARNERS, design.TRUE)
    return grid([_GENERATED], methods, size.mixture_trials, m=[size.mixture.n_frequencies])


def _series_cells(options: Options) -> Iterator[Cell]:
    size = _size(options)
    for name in design.SERIES_NAMES:
        truth = () if name == design.MCYCLE else (design.TRUE,)
        processes = [
            other for other in size.processes if other != design.DEEP or find_spec("torch")
        ]
        methods = (*_LEARNERS, design.WINDOWED, design.HARMONIZABLE, *processes, *truth)
        # The terrain has the most rows, and its exact evidence takes most of a quick run.
        if (name != design.MCYCLE or options.from_folder) and name not in size.left_out:
            yield from grid([name], methods, size.splits, m=[size.series.n_frequencies])


def _update_cells(options: Options) -> Iterable[Cell]:
    size = _size(options)
    return grid([_GENERATED], [design.OURS], size.update_trials, m=[size.update_each**2])


def _run_accuracy(cell: Cell, options: Options) -> Mapping[str, float]:
    return accuracy_metrics(cell.dataset, cell.method, _size(options), cell.seed, options.data)


def _run_series(cell: Cell, options: Options) -> Mapping[str, float]:
    return series_metrics(cell.dataset, cell.method, _size(options), cell.seed, options.data)


def _run_update(cell: Cell, options: Options) -> Mapping[str, float]:
    size = _size(options)
    return update_metrics(size.update_rows, size.update_each, cell.seed)


def _accuracy_page(rows: Sequence[Row]) -> Iterator[str]:
    svm_rows = design.MOST_ROWS[design.LINEAR_SVM]
    yield (
        "Five shuffled folds (stratified for classes); carbon dioxide has five random fifths held "
        f"out. {design.OURS} and {design.BANK} have as many frequencies, as many iterations and "
        "the same limit of seconds for a fold; in regressions both choose between no trend and "
        f"straight lines. “{design.PUBLISHED}” has the paper's sampler, of which "
        f"{design.PAPER_SWEEPS} sweeps over {design.PAPER_FREQUENCIES} combinations of "
        "frequencies, fewer where the seconds end them, and its weights by least squares inside "
        "the logistic function; it is run on classifications of at most 3,200 rows. The others "
        "choose their settings on held-out rows of the training fold: linear, logistic or ridge "
        "regression its penalty; linear SVM its C; RBF SVM also its width and, of regressions, its "
        "margin; trees their rate and size. The linear model and the SVMs have inputs less their "
        f"median over a robust deviation; the SVMs learn from {svm_rows:,} rows at most, chosen at "
        "random where a training fold has more. Columns of codes with more than two levels are "
        "indicators for every method."
    )
    yield (
        "The paper's figures are for orientation: it does not state which rows they are of. Those "
        "of its linear SVM on California houses, Boston and Diabetes are of all rows, learned "
        "from or not, as their mean square error over 1 − R² is the variance of the whole target "
        "to four digits; for its other methods that ratio differs, as of some part of the rows. "
        "Its linear model of classes is a perceptron. An area of zero (its linear SVM on Blood "
        "Transfusion) is no usual ranking, and areas below one half are those of reversed ones. "
        "Its text has accuracies of 0.89 and 0.91 for GaBaSR on Breast Cancer and Credit-g, its "
        "table areas of 0.51. Its record of carbon dioxide ends in 2001, this one in 1997."
    )
    for metric, title in (
        ("auc", "**Area under the curve**"),
        ("error", "**Error rate**"),
        ("r2", "**R²**"),
        ("mse", "**Mean square error**, in squared units of the target"),
        ("nlpd", "**Negative log predictive density** (of classes: log loss)"),
    ):
        if values := grouped(rows, metric):
            figures = design.PAPER.get(metric, {})
            below = ", and below it the paper's figure" if figures else ""
            yield f"{title}, mean over the folds and its standard error{below}."
            paper = partial(published, figures, design.PAPER_ROWS, 4)
            yield group_table(values, design.METHODS, mean_error(4), below=paper)
    yield "**Seconds** to fit a fold, the choice of settings included, median over the folds."
    yield group_table(grouped(rows, "fit_seconds"), design.METHODS, median_text())


def _means(rows: Sequence[Row], metrics: Mapping[str, str]) -> str:
    """Return a line for each method, and a column of means for each metric."""
    method_values: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for metric, title in metrics.items():
        for (method,), line in grouped(rows, metric, ["method"], columns="metric").items():
            method_values.setdefault((str(method),), {})[title] = line[metric]
    ordered: Groups = {
        (method,): method_values[method,] for method in _ORDER if (method,) in method_values
    }
    columns = list(metrics.values())
    return group_table(ordered, columns, lambda values: f"{np.mean(values):.4f}", header=[""])


def _xor_page(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        f"**Exclusive or**, two inputs that scatter with deviation {XOR_SPREAD:g} about the "
        f"corners of a square of side two, means over trials. “{design.TRUE}” is the best "
        f"possible. The paper has an area of {design.PAPER_XOR_AUC:g} with 6,000 rows, 300 "
        "frequencies and five sweeps, but does not state how its rows scatter."
    )
    yield _means(rows, {"auc": "area under the curve", "error": "error", "nlpd": "log loss"})


def _mixture_page(rows: Sequence[Row]) -> Iterator[str]:
    n = len({row["seed"] for row in rows})
    yield (
        "**A function with the spectrum (12)** of 250 frequencies, from 250 rows with noise of "
        "deviation one, as the weights: root mean square error at 1,000 other places over the "
        f"function's deviation, mean over {n} functions. “{design.TRUE}” is the posterior mean "
        "with the true kernel. The paper shows a picture, and names neither places nor noise."
    )
    yield _means(rows, {"rms_error": "error"})


def gains(
    rows: Sequence[Row], name: str, method: str = design.OURS, other: str = design.BANK
) -> list[float]:
    """Return a method's log predictive density less another's, split by split."""
    by_seed = grouped(rows, "lpd", ["seed"], dataset=name)
    return [
        line[method][0] - line[other][0]
        for _, line in sorted(by_seed.items())
        if method in line and other in line
    ]


def _series_page(rows: Sequence[Row]) -> Iterator[str]:
    density, r2 = grouped(rows, "lpd"), grouped(rows, "r2")
    yield (
        "**Series**: log predictive density of held-out rows, in nats per row, and in brackets R²; "
        "medians over random splits, a fifth of the rows held out. The gain is the median of the "
        "differences split by split. Doppler: 400 rows of a signal whose frequency and amplitude "
        "change, with noise whose deviation grows threefold. Stationary: 300 rows of a process "
        "with a Gaussian kernel and white noise. Terrain: 600 rows of a surface that is flat and "
        "smooth at one side, high and rough at the other, with the same noise. All three are "
        f"drawn anew for every split. “{design.WINDOWED}” has windows for amplitudes, sampled by "
        f"the same chains. “{design.HARMONIZABLE}” is a ridge whose harmonizable "
        f"mixture has {design.WINDOWS[0]} or {design.WINDOWS[-1]} windows, and constant noise. "
        f"The next are exact processes of constant noise: “{design.GIBBS}” has a length scale and "
        "a deviation that are exponentials of cubics of the inputs, "
        f"“{design.WARPED}” and “{design.DEEP}” a Gaussian kernel of inputs that are warped one by "
        "one, or of the outputs of a network. "
        f"“{design.TRUE}” uses the signal and its noise, or the kernel."
    )
    columns = [
        method
        for method in (
            design.OURS,
            design.WINDOWED,
            design.BANK,
            design.HARMONIZABLE,
            *design.OTHERS,
            design.TRUE,
        )
        if any(method in line for line in density.values())
    ]
    lines = []
    for name in (name for name in design.SERIES_NAMES if (name,) in density):
        differences = gains(rows, name)
        quartiles = ", ".join(f"{q:+.3f}" for q in np.quantile(differences, (0.25, 0.75)))
        better = f"{sum(gain > 0.0 for gain in differences)} of {len(differences)}"
        texts = [
            f"{np.median(density[name,][method]):.3f} ({np.median(r2[name,][method]):.3f})"
            if method in density[name,]
            else "–"
            for method in columns
        ]
        lines.append([name, *texts, f"{np.median(differences):+.3f}", quartiles, better])
    gain = f"gain over {design.BANK}"
    yield markdown_table(("series", *columns, gain, "quartiles", "splits with a gain"), lines)
    for method in (design.WINDOWED, design.HARMONIZABLE):
        if method not in columns:
            continue
        yield (
            f"**Gains of “{method}”** in the same density: medians of the differences split by "
            "split, their quartiles, and splits with a gain."
        )
        references = [other for other in columns if other not in (method, design.TRUE)]
        heads = [f"over {other}" for other in references]
        yield markdown_table(("series", *heads), _all_gains(rows, density, method, references))


def _all_gains(
    rows: Sequence[Row], density: Groups, method: str, references: Sequence[str]
) -> Iterator[Sequence[str]]:
    for name in (name for name in design.SERIES_NAMES if (name,) in density):
        line = [name]
        for other in references:
            differences = gains(rows, name, method, other)
            low, middle, high = (
                np.quantile(differences, (0.25, 0.5, 0.75)) if differences else 3 * [np.nan]
            )
            better = f"{sum(gain > 0.0 for gain in differences)} of {len(differences)}"
            line.append(f"{middle:+.3f} ({low:+.3f}, {high:+.3f}; {better})")
        yield line


def _update_page(rows: Sequence[Row]) -> Iterator[str]:
    (m,) = {row["m"] for row in rows}
    yield (
        f"**A new amplitude** of a grid with as many amplitudes as frequencies, {m} combinations "
        "in all: milliseconds of its log likelihood by one block update of the posterior, and of "
        "everything afresh, on one thread. Medians over repetitions."
    )
    columns = {
        "block_seconds": "block update, accepted",
        "refused_seconds": "block update, refused",
        "refactored_seconds": "factorisation alone",
        "recomputed_seconds": "sums and factorisation",
    }
    seconds = {
        title: np.median([float(row["value"]) for row in rows if row["metric"] == metric])
        for metric, title in columns.items()
    }
    texts = [f"{1e3 * value:.3g}" for value in seconds.values()]
    yield markdown_table(("", *seconds), [[design.OURS, *texts]])


def _field(rows: Sequence[Row]) -> Mapping[Any, float]:
    """Return probabilities of class one by method and place."""
    values = first_trial(rows)
    return {
        (method, *place): values[method, probability_name(*place)]
        for method in (*_LEARNERS, design.TRUE)
        for place in product(GRID, GRID)
        if (method, probability_name(*place)) in values
    }


def _mixture_curves(
    rows: Sequence[Row], *, what: str, places: Sequence[float]
) -> Mapping[Any, float]:
    values = first_trial(rows)
    return {
        ("", method, place): values[method, name_at(what, place)]
        for method in (design.TRUE, *_LEARNERS)
        for place in places
        if (method, name_at(what, place)) in values
    }


def _series_curves(rows: Sequence[Row], *, dataset: str) -> Mapping[Any, float]:
    """Return mean and band of a series, one panel per method."""
    values = first_trial(rows, dataset)
    return {
        (method, curve, values[method, name_at("place", at)]): values[method, name_at(curve, at)]
        for method in (*_LEARNERS, design.HARMONIZABLE)
        for curve in ("mean", "low", "high")
        for at in SHOWN
        if (method, name_at(curve, at)) in values
    }


_BAND = {("central 95 %", "mean"): ("low", "high")}

GABASR = Benchmark(
    name="gabasr",
    settings=("part", "m"),
    introduction="Locally stationary kernels learned by sampling, next to stationary ones and "
    "other common methods; after “Gaussian Mixture Bayesian Nonparametric Kernel Learning using "
    "Spectral Representation” (GaBaSR). All figures are of rows that were held out.",
    parts=(
        Part("accuracy", _accuracy_cells, _run_accuracy, _accuracy_page),
        Part(
            "xor",
            _xor_cells,
            lambda cell, options: xor_metrics(cell.method, _size(options), cell.seed),
            _xor_page,
            (
                Picture(
                    "xor",
                    "The problem of exclusive or: the probability of class one that was learned, "
                    "and the true one.",
                    "x₁",
                    "x₂",
                    _field,
                    color="probability of class one",
                ),
            ),
        ),
        Part(
            "mixture",
            _mixture_cells,
            lambda cell, options: mixture_metrics(cell.method, _size(options), cell.seed),
            _mixture_page,
            (
                Picture(
                    "function",
                    "The function of the mixture (12), and what was learned from 250 noisy rows of "
                    "it.",
                    "x",
                    "f(x)",
                    partial(_mixture_curves, what="function", places=PLACES),
                    LINEAR,
                ),
                Picture(
                    "spectrum",
                    "The density of the frequencies' absolute values: the mixture (12), and what "
                    "was learned.",
                    "frequency",
                    "density",
                    partial(_mixture_curves, what="density", places=FREQUENCIES),
                    LINEAR,
                ),
            ),
        ),
        Part(
            "nonstationary",
            _series_cells,
            _run_series,
            _series_page,
            (
                Picture(
                    "mcycle",
                    "Head acceleration after an impact: predictions and their central 95 %.",
                    "time after the impact (ms)",
                    "acceleration (g)",
                    partial(_series_curves, dataset=design.MCYCLE),
                    LINEAR,
                    bands=_BAND,
                ),
                Picture(
                    "doppler",
                    "The Doppler series: predictions and their central 95 %.",
                    "t",
                    "y",
                    partial(_series_curves, dataset=design.DOPPLER),
                    LINEAR,
                    bands=_BAND,
                ),
            ),
        ),
        Part("update", _update_cells, _run_update, _update_page),
    ),
)
