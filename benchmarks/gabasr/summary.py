"""Tables of the benchmark of locally stationary kernels, from its rows."""

from collections.abc import Sequence

import numpy as np

from benchmarks.fold_tables import (
    Reported,
    Values,
    by_method,
    means_table,
    medians_table,
    methods_in,
)
from benchmarks.gabasr.asked import asked_parts, gains, update_seconds
from benchmarks.gabasr.data import XOR_SPREAD
from benchmarks.gabasr.design import (
    ACCURACY,
    BANK,
    LINEAR_SVM,
    METHODS,
    MIXTURE,
    MOST_ROWS,
    OURS,
    PAPER,
    PAPER_FREQUENCIES,
    PAPER_ROWS,
    PAPER_SWEEPS,
    PAPER_XOR_AUC,
    PUBLISHED,
    SERIES,
    SERIES_NAMES,
    TRUE,
    UPDATE,
    XOR,
)
from benchmarks.gabasr.views import FIELD, FIELD_CAPTION, VIEWS, field_values
from benchmarks.results import Row, markdown_table

_ORDER = (*METHODS, TRUE)
_INTRODUCTION = (
    "Locally stationary kernels learned by sampling, beside stationary ones and what others would "
    "use; after “Gaussian Mixture Bayesian Nonparametric Kernel Learning using Spectral "
    "Representation” (GaBaSR). All figures are of rows that were held out."
)
_EXPLANATION = (
    f"Five shuffled folds (stratified for classes); carbon dioxide has five random fifths held "
    f"out. {OURS} and {BANK} have as many frequencies, as many iterations and the same limit of "
    f"seconds for a fold; in regressions both choose between no trend and straight lines. "
    f"“{PUBLISHED}” has the paper's sampler, of which {PAPER_SWEEPS} sweeps "
    f"over {PAPER_FREQUENCIES} combinations of frequencies, fewer where the seconds end them, and "
    f"its weights by least squares inside the logistic function; it is run on classifications of "
    f"at most 3,200 rows. The others choose their "
    f"settings on held-out rows of the training fold: linear, logistic or ridge regression its "
    f"penalty; linear SVM its C; RBF SVM also its width and, of regressions, its margin; trees "
    f"their rate and size. The linear model and the SVMs have inputs less their median over a "
    f"robust deviation; the SVMs learn from {MOST_ROWS[LINEAR_SVM]:,} rows at most, chosen at "
    f"random where a training fold has more. Columns of codes with more than two levels are "
    f"indicators for every method."
)
_CAVEATS = (
    "The paper's figures are for orientation: it does not say which rows they are of. Those of its "
    "linear SVM on California houses, Boston and Diabetes are of all rows, learned from or not, as "
    "their mean square error over 1 − R² is the variance of the whole target to four digits; for "
    "its other methods that ratio differs, as of some part of the rows. Its linear model of "
    "classes is a perceptron. An area of zero (its linear SVM on Blood Transfusion) is no usual "
    "ranking, and areas below one half are those of reversed ones. Its text has accuracies of "
    "0.89 and 0.91 for GaBaSR on Breast Cancer and Credit-g, its table areas of 0.51. Its record "
    "of carbon dioxide ends in 2001, this one in 1997."
)


def summarise(rows: Sequence[Row]) -> str:
    """Return the tables, what was asked and reached, and the figures, in Markdown."""
    parts = [_INTRODUCTION, *asked_parts(rows), *_accuracy(rows)]
    parts += [*_xor(rows), *_mixture(rows), *_series(rows), *_update(rows)]
    stem = "gabasr-quick" if rows[0].get("mode") == "quick" else "gabasr"
    if field_values(rows):
        parts.append(f"![{FIELD}]({stem}-{FIELD}.svg)\n\n{FIELD_CAPTION}")
    parts += [
        f"![{view.name}]({stem}-{view.name}.svg)\n\n{view.caption}"
        for view in VIEWS
        if view.values(rows)
    ]
    return "\n\n".join(parts)


def _accuracy(rows: Sequence[Row]) -> list[str]:
    found = {
        metric: by_method(rows, ACCURACY, metric)
        for metric in ("auc", "error", "r2", "mse", "nlpd", "fit_seconds")
    }
    if not found["fit_seconds"]:
        return []
    parts = [_EXPLANATION, _CAVEATS]
    for metric, what in (
        ("auc", "**Area under the curve**"),
        ("error", "**Error rate**"),
        ("r2", "**R²**"),
        ("mse", "**Mean square error**, in squared units of the target"),
        ("nlpd", "**Negative log predictive density** (of classes: log loss)"),
    ):
        if found[metric]:
            reported = _reported(metric)
            below = ", and below it the paper's figure" if reported else ""
            text = f"{what}, mean over the folds and its standard error{below}."
            parts += [text, means_table(found[metric], METHODS, reported, digits=4)]
    parts += [
        "**Seconds** to fit a fold, the choice of settings included, median over the folds.",
        medians_table(found["fit_seconds"], METHODS),
    ]
    return parts


def _reported(metric: str) -> Reported:
    return {
        name: (f"paper, “{PAPER_ROWS[name]}”", values)
        for name, values in PAPER.get(metric, {}).items()
    }


def _beside(found: Sequence[tuple[str, Values]]) -> str:
    """Return a line for each method, and a column of means for each metric."""
    methods = methods_in(found[0][1], _ORDER)
    (name,) = {key[0] for key in found[0][1]}
    lines = [
        [
            method,
            *(
                f"{np.mean(values[name, method]):.4f}" if (name, method) in values else "–"
                for _, values in found
            ),
        ]
        for method in methods
    ]
    return markdown_table(("", *(what for what, _ in found)), lines)


def _xor(rows: Sequence[Row]) -> list[str]:
    found = [
        (what, by_method(rows, XOR, metric))
        for what, metric in (
            ("area under the curve", "auc"),
            ("error", "error"),
            ("log loss", "nlpd"),
        )
    ]
    if not found[0][1]:
        return []
    return [
        f"**Exclusive or**, two inputs that scatter with deviation {XOR_SPREAD:g} about the "
        f"corners of a square of side two, means over trials. “{TRUE}” is the best possible. The "
        f"paper has an area of {PAPER_XOR_AUC:g} with 6,000 rows, 300 frequencies and five sweeps, "
        f"but does not say how its rows scatter.",
        _beside(found),
    ]


def _mixture(rows: Sequence[Row]) -> list[str]:
    found = by_method(rows, MIXTURE, "rms_error")
    if not found:
        return []
    n = max(map(len, found.values()))
    return [
        f"**A function with the spectrum (12)** of 250 frequencies, from 250 rows with noise of "
        f"deviation one, as the weights: root mean square error at 1,000 other places over the "
        f"function's deviation, mean over {n} functions. “{TRUE}” is the posterior mean with the "
        f"true kernel. The paper shows a picture, and names neither places nor noise.",
        _beside([("error", found)]),
    ]


def _series(rows: Sequence[Row]) -> list[str]:
    density, r2 = (by_method(rows, SERIES, metric) for metric in ("lpd", "r2"))
    if not density:
        return []
    columns = methods_in(density, (OURS, BANK, TRUE))
    lines = []
    for name in (name for name in SERIES_NAMES if (name, OURS) in density):
        differences = gains(rows, name)
        quartiles = ", ".join(f"{q:+.3f}" for q in np.quantile(differences, (0.25, 0.75)))
        better = f"{sum(gain > 0.0 for gain in differences)} of {len(differences)}"
        texts = [
            f"{np.median(density[name, method]):.3f} ({np.median(r2[name, method]):.3f})"
            if (name, method) in density
            else "–"
            for method in columns
        ]
        lines.append([name, *texts, f"{np.median(differences):+.3f}", quartiles, better])
    header = ("series", *columns, f"gain over {BANK}", "quartiles", "splits with a gain")
    return [
        "**Series**: log predictive density of held-out rows, in nats a row, and in brackets R²; "
        "medians over random splits, a fifth of the rows held out. The gain is the median of the "
        "differences split by split. Doppler: 400 rows of a signal whose frequency and amplitude "
        "change, with noise whose deviation grows threefold. Stationary: 300 rows of a process "
        "with a Gaussian kernel and white noise. Both are drawn anew for every split. "
        f"“{TRUE}” knows the signal and its noise, or the kernel.",
        markdown_table(header, lines),
    ]


def _update(rows: Sequence[Row]) -> list[str]:
    seconds = update_seconds(rows)
    if not seconds:
        return []
    (m,) = {row["m"] for row in rows if row["part"] == UPDATE}
    columns = {
        "block update, accepted": "block_seconds",
        "block update, refused": "refused_seconds",
        "factorisation alone": "refactored_seconds",
        "sums and factorisation": "recomputed_seconds",
    }
    texts = [f"{1e3 * seconds[metric]:.3g}" for metric in columns.values()]
    return [
        f"**A new amplitude** of a grid with as many amplitudes as frequencies, {m} combinations "
        "in all: milliseconds of its log likelihood by one block update of the posterior, and of "
        "everything afresh, on one thread. Medians over repetitions.",
        markdown_table(("", *columns), [[OURS, *texts]]),
    ]
