"""What each figure of the benchmark of asymmetric kernels shows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.asymmetric.design import (
    ACCURACY,
    ASY_JORDAN,
    ASY_POLAR,
    ASYMMETRIC,
    ERROR,
    FITTED,
    LINEAR,
    MASS_NAMES,
    MASSES,
    SERIES,
    TABLE,
)
from benchmarks.results import Row, medians

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
    return _by_panel([row for row in rows if row["part"] == ERROR], "relative_error")


def _of_classifier(rows: Sequence[Row], metric: str) -> Values:
    chosen = [row for row in rows if row["part"] in (TABLE, ACCURACY)]
    ours = [row for row in chosen if row["method"] in (ASY_JORDAN, ASY_POLAR)]
    values = _by_panel(ours, metric)
    linear = [row for row in chosen if row["method"] == LINEAR]
    if metric != "accuracy" or not values or not linear:
        return values
    level = {
        str(name): value
        for (name,), value in medians(linear, by=("dataset",), metric=metric).items()
    }
    # The classifier on the rows themselves has no size: its curve is flat.
    flat = {
        (panel, LINEAR, x): level[panel.partition(", ")[2]]
        for panel, _, x in values
        if panel.partition(", ")[2] in level
    }
    return {**values, **flat}


def _by_panel(rows: Sequence[Row], metric: str) -> Values:
    """Return medians with a panel for each kernel and data set, and sizes in order."""
    rows = [row for row in rows if row["metric"] == metric]
    if not rows:
        return {}
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    found = medians(rows, by=("kernel", "dataset", "method", "size"), metric=metric)
    ordered = sorted(
        found.items(),
        key=lambda item: (
            ASYMMETRIC.index(str(item[0][0])), names.index(item[0][1]), float(item[0][3])
        ),
    )  # fmt: skip
    return {
        (f"{kernel}, {name}", str(method), float(size)): value
        for (kernel, name, method, size), value in ordered
    }


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
