"""Tables of means over splits, ratios to CatBoost, and figures that others have published."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.published import design
from benchmarks.published.methods import REGRESSORS
from benchmarks.results import Row, group_table, grouped, markdown_table, mean_error

INTRODUCTION = (
    "Errors on test rows of methods at their default settings, or those of their documentation. "
    "All methods are fitted to the same rows. The tables show means over the splits, errors with "
    "their standard error."
)

_SPLITS = (
    f"**Published splits.** {len(design.SETS)} tables from the literature on Bayesian regression, "
    f"the first {design.SPLITS} of their 20 splits, nine tenths of the rows for training."
)
_FOLDS = (
    f"**Folds.** {design.FOLDS} folds of {len(design.FOLD_REGRESSIONS)} regression and "
    f"{len(design.FOLD_CLASSES)} classification tables, shuffled and stratified for classes."
)

_SOURCES = (
    "Published figures are means over all 20 splits, as their sources print them. MC dropout with "
    "a grid search: readme of github.com/yaringal/DropoutUncertaintyExps. Exact Gaussian processes "
    "with an RBF kernel in scikit-learn, GPyTorch and GPy, and sparse ones (SGPR, 512 inducing "
    "points): docs/comparison.md of github.com/YUKIKEDA/gprx."
)

_CONDITIONS = (
    f"**Conditions.** {design.OURS}, “{design.QUICK}”, {design.CATBOOST}, {design.XRFM} and the "
    f"Gaussian processes use {design.THREADS} threads, {design.TREES} one.",
    f"{design.XRFM} (recursive feature machines) has the settings and the preparation that its "
    "readme recommends for tables: standardised numbers, one-hot encoded codes, and a random fifth "
    "of the training rows for validation. Its target is standardised. The other methods read codes "
    "as numbers.",
    f"{design.SPARSE} is fitted to the first split or fold only, {design.XRFM} to the first fold "
    f"only, and not to {' and '.join(design.BEYOND_MEMORY)}, where it takes more than 24 GB. "
    "Ratios compare the same splits.",
    f"“{design.EXACT}” and {design.SPARSE} (stochastic variational) are Gaussian processes in "
    "GPyTorch with a constant mean and a Matérn 5/2 kernel with one length scale per input, on "
    "standardised inputs and targets. Their intervals are those of normal distributions. The exact "
    "one takes 100 steps of Adam with rate 0.1, twice as many as GPyTorch's tutorial, and is "
    f"fitted to tables of at most {design.MOST_EXACT:,} rows. {design.SPARSE} has the tutorial's "
    "500 inducing points, batches of 1,024 rows and rate 0.01, and at least 1,360 steps: as many "
    "as the tutorial's four passes over the 348,000 rows of its table (3droad). Four passes over "
    "a table of a few hundred rows would be four steps.",
)

_ERRORS = {
    "rmse": "**Root mean square error** on test rows.",
    "error": "**Mean square error** on test rows, divided by the variance of the training target.",
    "log_loss": "**Log loss**: mean negative log probability of the classes of test rows.",
    "error_rate": "**Error rate**: share of test rows whose class is predicted wrongly.",
    "nlpd": "**Negative log predictive density**, mean over test rows.",
}
_OTHERS = {
    "coverage": "**Coverage**: share of test rows inside their "
    f"{100 * design.INTERVAL:.0f} % intervals.",
    "fit_seconds": "**Seconds** to fit.",
}
_COMPARED = {"rmse": "root mean square errors", "log_loss": "log losses", "fit_seconds": "seconds"}


def splits(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the tables of the published splits."""
    yield _SPLITS
    yield from _tables(rows)
    yield from _next_to_printed(rows)


def _next_to_printed(rows: Sequence[Row]) -> Iterator[str]:
    for metric, figures in design.PRINTED.items():
        ours = grouped(rows, metric)
        lines = {
            (name,): {
                f"{design.OURS}, {design.SPLITS} splits": mean_error()(ours[name,][design.OURS]),
                **printed,
            }
            for name, printed in figures.items()
            if design.OURS in ours.get((name,), {})
        }
        if lines:
            yield f"{_ERRORS[metric]} {_SOURCES}"
            columns = dict.fromkeys(column for line in lines.values() for column in line)
            yield group_table(lines, list(columns), str)


def folds(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the tables of the folds, and the conditions of both parts."""
    yield _FOLDS
    yield from _tables(rows)
    yield from _CONDITIONS


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for metric, title in (_ERRORS | _OTHERS).items():
        if values := grouped(rows, metric):
            yield title
            show = mean_error() if metric in _ERRORS else _mean
            yield group_table(values, list(REGRESSORS), show)
    for metric, description in _COMPARED.items():
        yield from _ratios(rows, metric, description)


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3g}"


def _ratios(rows: Sequence[Row], metric: str, description: str) -> Iterator[str]:
    """Yield a table of every method's ratios to CatBoost."""
    tables: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        if row["metric"] == metric:
            table = tables.setdefault(str(row["dataset"]), {})
            table.setdefault(str(row["method"]), {})[int(row["seed"])] = float(row["value"])
    ratios = {
        method: {
            name: _ratio(table[method], table[design.CATBOOST])
            for name, table in tables.items()
            if table.get(method, {}).keys() & table.get(design.CATBOOST, {}).keys()
        }
        for method in REGRESSORS
        if method != design.CATBOOST
    }
    lines = []
    for method, method_ratios in ratios.items():
        ours = [ratios[design.OURS].get(name, np.nan) for name in method_ratios]
        if method_ratios:
            means = (
                f"{np.exp(np.mean(np.log(of))):.3g}" for of in (list(method_ratios.values()), ours)
            )
            ends = (f"{end(method_ratios.values()):.3g}" for end in (min, max))
            lines.append([method, str(len(method_ratios)), *means, *ends])
    if lines:
        yield (
            f"**Ratios to {design.CATBOOST}** of mean {description}: geometric mean over the "
            f"tables to which a method is fitted, that of {design.OURS} on the same tables, and "
            "the least and the greatest ratio."
        )
        header = ("method", "tables", "mean", f"{design.OURS}, same tables", "least", "greatest")
        yield markdown_table(header, lines)


def _ratio(values: Mapping[int, float], reference_values: Mapping[int, float]) -> float:
    """Return the ratio of means over the splits that both have."""
    shared = sorted(values.keys() & reference_values.keys())
    return float(
        np.mean([values[i] for i in shared]) / np.mean([reference_values[i] for i in shared])
    )
