"""What each figure of the benchmark of learned mixtures shows."""

from collections.abc import Callable, Sequence
from functools import partial

from bochner.benchmarks import _digmm_design as design
from bochner.benchmarks._bank_views import Values, View
from bochner.benchmarks.results import Row, medians


def _over(rows: Sequence[Row], *, part: str, metric: str, panel: str, x: str) -> Values:
    """Return medians of a metric over a setting, a panel for each kernel or data set."""
    chosen = [row for row in rows if row["part"] == part and row["metric"] == metric]
    if not chosen:
        return {}
    found = medians(chosen, by=(panel, "method", x), metric=metric)
    return {(str(a), str(b), float(c)): value for (a, b, c), value in found.items()}


def _course(rows: Sequence[Row], *, what: str) -> Values:
    """Return a metric over iterations, a panel for each data set."""
    return {
        (str(row["dataset"]), str(row["method"]), _iteration(row)): float(row["value"])
        for row in rows
        if row["part"] == design.CONVERGENCE and str(row["metric"]).startswith(f"{what}(")
    }


def _iteration(row: Row) -> float:
    """Return the iteration in ``change(3)``."""
    return float(str(row["metric"]).split("(")[1][:-1])


def _changes(rows: Sequence[Row]) -> Values:
    """Return changes of labels that a logarithmic axis can show."""
    return {key: value for key, value in _course(rows, what="change").items() if value > 0.0}


def _accuracies(rows: Sequence[Row], *, kernel: str) -> Values:
    if all(row["kernel"] != kernel for row in rows):
        return {}
    chosen = [row for row in rows if row["kernel"] in (kernel, design.NO_KERNEL) and row["size"]]
    return _over(chosen, part=design.ACCURACY, metric="accuracy", panel="dataset", x="size")


def _view(name: str, caption: str, axes: tuple[str, str], scales: tuple[str, str],
          values: Callable[[Sequence[Row]], Values]) -> View:  # fmt: skip
    return View(name, caption, *axes, scales, values)


_ITERATION = "iteration"
_SIZE = "size, M / d"

VIEWS = (
    _view(
        "error",
        "Root mean square error over pairs of test rows against the size, for two kernels on the "
        "electroencephalogram (the paper's Figure 2).",
        (_SIZE, "root mean square error"),
        ("log", "log"),
        partial(_over, part=design.ERROR, metric="rmse", panel="kernel", x="size"),
    ),
    *(
        _view(
            f"accuracy-{name}",
            f"Test accuracy against the size, {kernel}.",
            (_SIZE, "test accuracy, %"),
            ("log", "linear"),
            partial(_accuracies, kernel=kernel),
        )
        for name, kernel in zip(
            ("polynomial", "hellinger", "tl1", "tanh"), design.STUDIES, strict=True
        )
    ),
    _view(
        "sketch",
        "Root mean square error against the number of rows in the sketch (the paper's Figures 3 "
        "and 4).",
        ("rows in the sketch", "root mean square error"),
        ("log", "log"),
        partial(_over, part=design.SKETCH, metric="rmse", panel="kernel", x="setting"),
    ),
    _view(
        "change",
        "Change of the labels' probabilities in every iteration, in the Frobenius norm (the "
        "paper's Figure 5). Of the exact bound it is over the model's 10,000 frequencies.",
        (_ITERATION, "change of labels"),
        ("linear", "log"),
        _changes,
    ),
    _view(
        "bound",
        "The evidence lower bound in every iteration; the two methods' models differ, and so do "
        "their levels.",
        (_ITERATION, "evidence lower bound"),
        ("linear", "linear"),
        partial(_course, what="bound"),
    ),
)
