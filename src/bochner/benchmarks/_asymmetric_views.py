"""What each figure of the benchmark of asymmetric kernels shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bochner.benchmarks._asymmetric_design import (
    ACCURACY,
    ASY_JORDAN,
    ASY_POLAR,
    ERROR,
    FITTED,
    LINEAR,
    MASS_NAMES,
    MASSES,
    SERIES,
    TABLE,
)
from bochner.benchmarks.results import Row, medians

Values = Mapping[tuple[str, str, float], float]


@dataclass(frozen=True, slots=True)
class View:
    """A figure: panels of curves over sizes.

    Parameters
    ----------
    name, caption : str
    metric : str
        What the ordinate is.
    values : callable
        From the rows to medians over trials by panel, curve and size; empty without any.
    """

    name: str
    caption: str
    metric: str
    values: Callable[[Sequence[Row]], Values]


def _masses(rows: Sequence[Row]) -> Values:
    chosen = [row for row in rows if row["part"] == MASSES]
    values: dict[tuple[str, str, float], float] = {}
    for name in MASS_NAMES if chosen else ():
        found = medians(chosen, by=("kernel", "method", "size"), metric=name)
        sizes = sorted({float(size) for _, method, size in found if method == FITTED})
        for (kernel, method, size), value in found.items():
            if method == FITTED:
                values[str(kernel), f"{name}, fitted", float(size)] = value
            elif method == SERIES:
                values |= {(str(kernel), f"{name}, exact", x): value for x in sizes}
    return values


def _errors(rows: Sequence[Row]) -> Values:
    chosen = [row for row in rows if row["part"] == ERROR]
    if not chosen:
        return {}
    by = ("kernel", "dataset", "method", "size")
    found = medians(chosen, by=by, metric="relative_error")
    return {(f"{k}, {n}", str(m), float(size)): value for (k, n, m, size), value in found.items()}


def _of_classifier(rows: Sequence[Row], metric: str) -> Values:
    methods = (ASY_JORDAN, ASY_POLAR)
    chosen = [row for row in rows if row["part"] in (TABLE, ACCURACY) and row["metric"] == metric]
    ours = [row for row in chosen if row["method"] in methods]
    if not ours:
        return {}
    found = medians(ours, by=("kernel", "dataset", "method", "size"), metric=metric)
    values = {
        (f"{kernel}, {name}", str(method), float(size)): value
        for (kernel, name, method, size), value in sorted(found.items(), key=_place)
    }
    return {**values, **_levels(chosen, values, metric)}


def _place(item: tuple[tuple[object, ...], float]) -> tuple[str, ...]:
    kernel, name, method, size = item[0]
    return str(kernel), str(name), str(method), f"{float(str(size)):9.1f}"


def _levels(rows: Sequence[Row], values: Values, metric: str) -> Values:
    """Return what does not depend on the size, along every panel."""
    if metric != "accuracy":
        return {}
    levels: dict[tuple[str, str, float], float] = {}
    for method in (LINEAR,):
        chosen = [row for row in rows if row["method"] == method]
        for (name,), value in medians(chosen, by=("dataset",), metric=metric).items():
            levels |= {
                (panel, method, x): value
                for panel, _, x in values
                if panel.endswith(f", {name}")
            }  # fmt: skip
    return levels


VIEWS = (
    View(
        "masses",
        "Masses in one dimension, fitted on ten points and exact, against M; 3 M frequencies.",
        "mass",
        _masses,
    ),
    View(
        "error",
        "Relative error of the Gram matrix against the number of frequencies over that of inputs.",
        "relative_error",
        _errors,
    ),
    View(
        "accuracy",
        "Test accuracy of liblinear on the features, against M over the number of inputs.",
        "accuracy",
        lambda rows: _of_classifier(rows, "accuracy"),
    ),
    View(
        "seconds",
        "Seconds to draw the frequencies and to transform the training rows, against M over the "
        "number of inputs.",
        "feature_seconds",
        lambda rows: _of_classifier(rows, "feature_seconds"),
    ),
)
