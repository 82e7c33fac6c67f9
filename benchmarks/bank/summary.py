"""Tables of the benchmark of learned kernels, from its rows."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from benchmarks.bank.asked import asked_parts
from benchmarks.bank.design import (
    ACCURACY,
    ALAC,
    KERNEL,
    MH,
    MKL,
    MOST_ROWS,
    OURS,
    PAPER,
    PAPER_ROWS,
    RANKS,
    RFO,
    RKS,
    SCALING,
    SPEED,
    TREES,
)
from benchmarks.bank.views import VIEWS
from benchmarks.fold_tables import (
    Values,
    by_method,
    means_table,
    medians_table,
    methods_in,
    names_in,
)
from benchmarks.results import Row, markdown_table, medians

_INTRODUCTION = (
    "Kernels learned by sampling their frequencies, beside the methods that the paper compares "
    "with and gradient-boosted trees: Oliva, Dubey, Wilson, Póczos, Schneider and Xing, “Bayesian "
    "nonparametric kernel-learning”, 2016. Five shuffled folds (stratified for classes), targets "
    "standardised by the training fold, and as many features for every method."
)
_METHODS = (OURS, RANKS, MH, RKS, MKL, ALAC, RFO, TREES)
_EXPLANATION = (
    f"{OURS} has its default settings but for the number of frequencies, and a limit of seconds "
    f"for a fold; “{RANKS}” has the ranks of all inputs for further inputs, and chooses. “{MH}” is "
    f"the paper's sampler, independence proposals for dense frequencies from a draw of the prior "
    f"on, in the seconds that {OURS} took for the same fold. {RKS}: a Gaussian kernel's "
    f"independent frequencies; {MKL}: those of Laplacian, Gaussian and Cauchy kernels at five "
    f"scales; both with ridge or logistic regression, scale and penalty chosen on held-out rows "
    f"of the training fold. {ALAC} and {RFO}: 30 or 100 iterations, chosen likewise. Trees: rate "
    f"and size chosen likewise, their number by early stopping. At most "
    + ", ".join(f"{n:,} rows for {method}" for method, n in MOST_ROWS.items() if method != TREES)
    + ", chosen at random where a training fold has more. Of shuttle's seven classes the most "
    "frequent one, “Rad Flow”, is to be told from the rest."
)


def summarise(rows: Sequence[Row]) -> str:
    """Return the tables, what was asked and reached, and the figures, in Markdown."""
    parts = [_INTRODUCTION, *asked_parts(rows), *_accuracy(rows)]
    parts += [*_kernel(rows), *_scaling(rows), *_speed(rows)]
    stem = "bank-quick" if rows[0].get("mode") == "quick" else "bank"
    parts += [
        f"![{view.name}]({stem}-{view.name}.svg)\n\n{view.caption}"
        for view in VIEWS
        if view.values(rows)
    ]
    return "\n\n".join(parts)


def _accuracy(rows: Sequence[Row]) -> list[str]:
    squares, rates = (by_method(rows, ACCURACY, metric) for metric in ("mse", "error"))
    if not squares and not rates:
        return []
    paper = {name: (f"paper, “{PAPER_ROWS[name]}”", found) for name, found in PAPER.items()}
    parts = [_EXPLANATION]
    for found, what in (
        (squares, "**Mean square error** of standardised targets"),
        (rates, "**Error rate**"),
    ):
        if found:
            parts += [
                f"{what}, mean over the folds and its standard error; below it, where there is "
                "one, the paper's figure.",
                means_table(found, _METHODS, paper),
            ]
    coverage, density = (by_method(rows, ACCURACY, metric) for metric in ("coverage", "nlpd"))
    parts += [
        "**Coverage** of central 90 % intervals and **negative log predictive density** (of "
        "classes: log loss), means over the folds.",
        _pairs(coverage, density),
        "**Seconds** to fit a fold, the choice of settings included, median over the folds.",
        medians_table(by_method(rows, ACCURACY, "fit_seconds"), _METHODS),
    ]
    return parts


def _pairs(coverage: Values, density: Values) -> str:
    columns = methods_in(density, _METHODS)
    lines = []
    for name in names_in(density):
        texts = []
        for method in columns:
            parts = [
                f"{np.mean(found[name, method]):.3f}"
                for found in (coverage, density)
                if (name, method) in found
            ]
            texts.append("; ".join(parts) or "–")
        lines.append([name, *texts])
    return markdown_table(("data set", *columns), lines)


def _kernel(rows: Sequence[Row]) -> list[str]:
    chosen = [row for row in rows if row["part"] == KERNEL]
    if not chosen:
        return []
    errors, shapes = (
        medians(chosen, by=("method",), metric=metric)
        for metric in ("rms_error", "rms_up_to_constant")
    )
    lines = [
        [str(key[0]), f"{value:.3f}", f"{shapes[key]:.3f}"]
        for key, value in errors.items()
        if value > 0.0
    ]
    shares = [float(row["value"]) for row in chosen if row["metric"] == "share_in_band"]
    n = len({row["seed"] for row in chosen})
    return [
        "**The synthetic kernel** e^(−t²/8) (1 + cos(¾πt))/2: root mean square error on [0, 6], "
        f"median over {n} sets of 1,000 noisy rows. The band of 90 % of the draws holds the true "
        f"kernel at {100.0 * float(np.median(shares or [np.nan])):.0f} % of the distances. “Up to "
        "a constant” is the error of 1 − k times the best factor: beside an intercept no data tell "
        "of a constant part of the kernel.",
        markdown_table(("estimate", "error", "up to a constant"), lines),
    ]


def _scaling(rows: Sequence[Row]) -> list[str]:
    chosen = [row for row in rows if row["part"] == SCALING]
    if not chosen:
        return []
    found: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    for row in chosen:
        key = str(row["dataset"]), int(row["n"]), int(row["m"])
        found[key][str(row["metric"])] = float(row["value"])
    lines = [
        [
            name,
            f"{n:,}",
            str(m),
            f"{values['sweep_seconds']:.3g}",
            f"{values.get('mse', values.get('error', np.nan)):.3g}",
        ]
        for (name, n, m), values in sorted(found.items())
    ]
    return [
        "**Scaling**: seconds of a sweep over all frequencies, of a classification with the "
        "drawing of its auxiliary variables, and test error after few sweeps (mean square error "
        "or error rate).",
        markdown_table(("data set", "rows", "frequencies", "seconds a sweep", "error"), lines),
    ]


def _speed(rows: Sequence[Row]) -> list[str]:
    chosen = [row for row in rows if row["part"] == SPEED]
    metrics = ("work_seconds", "product_seconds", "single_seconds", "recomputed_seconds")
    lines = []
    for method, threads in dict.fromkeys((row["method"], row["threads"]) for row in chosen):
        own = [row for row in chosen if (row["method"], row["threads"]) == (method, threads)]
        held = {row["metric"] for row in own}
        seconds = [
            f"{np.median([float(row['value']) for row in own if row['metric'] == metric]):.3g}"
            if metric in held
            else "–"
            for metric in metrics
        ]
        lines.append([f"{method}, threads: {threads}", *seconds])
    if not lines:
        return []
    n, m = (max(int(row[name]) for row in chosen) for name in ("n", "m"))
    header = ("", "in blocks", "matrix products alone", "one at a time", "sums computed afresh")
    return [
        f"**Seconds** of a sweep over all of {m} frequencies at {n:,} rows in blocks of 64, and "
        "of a gradient of the log evidence with its sums; of their matrix products with the rows "
        "alone; of the sweep one frequency at a time; and with the sums of all features computed "
        "afresh for each proposal, extrapolated from three. Medians over repetitions; “all” "
        f"threads are the machine's.",
        markdown_table(header, lines),
    ]
