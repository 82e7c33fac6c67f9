"""What each figure of the benchmark of double mixtures shows."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from benchmarks.bank.views import Values, View
from benchmarks.digmm.design import (
    ACCURACY_METHODS,
    BEST,
    CONVERGENCE,
    DIGMMS,
    ERROR,
    ERROR_METHODS,
    EXACT,
    MNIST,
    SIMILARITIES,
    SKETCH,
    TAYLOR,
)
from benchmarks.digmm.paper import ACCURACIES, DIGMM
from benchmarks.digmm.rows import gathered, percentages
from benchmarks.results import Row

PAPER = "paper's DIGMM"


def _errors(rows: Sequence[Row]) -> Values:
    return {
        (kernel, method, float(size)): float(np.mean(cell[method]))
        for (kernel, _, size, _), cell in gathered(rows, ERROR, "rmse").items()
        for method in ERROR_METHODS
        if method in cell
    }


def _accuracies(rows: Sequence[Row], *, kernel: str) -> Values:
    """Return percentages over sizes, a panel a data set."""
    ours = percentages(rows)
    found = {
        (name, method, float(size)): value
        for (label, name, size, method), value in ours.items()
        if (label == kernel and method in ACCURACY_METHODS) or method == BEST
    }
    names = {name for label, name, *_ in ours if label == kernel and name != MNIST}
    theirs = {
        (name, PAPER, float(size)): value
        for (label, name, size, method), value in ACCURACIES.items()
        if (label, method) == (kernel, DIGMM) and name in names
    }
    shown = {key: value for key, value in {**found, **theirs}.items() if key[0] in names}
    order = (*ACCURACY_METHODS, BEST, PAPER)
    return dict(sorted(shown.items(), key=lambda item: (item[0][0], order.index(item[0][1]))))


def _sketches(rows: Sequence[Row], *, metric: str) -> Values:
    return {
        (kernel, method, float(option)): float(np.mean(cell[method]))
        for (kernel, _, _, option), cell in gathered(rows, SKETCH, metric).items()
        for method in DIGMMS
        if method in cell
    }


def _ascents(rows: Sequence[Row], *, what: str, method: str) -> Values:
    """Return a curve over iterations for each data set, differences from the last bound."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        name, _, place = str(row["metric"]).rstrip(")").partition("(")
        if (row["part"], row["method"], name) == (CONVERGENCE, method, what):
            found.setdefault(str(row["dataset"]), {})[int(place)] = float(row["value"])
    return {
        (method, name, float(place)): value
        for name, curve in found.items()
        for place, value in _shown(curve, what).items()
        if value > 0.0
    }


def _shown(curve: Mapping[int, float], what: str) -> Mapping[int, float]:
    if what == "change":
        return curve
    highest = max(curve.values())
    return {place: highest - value for place, value in curve.items()}


_LOG, _SEMI = ("log", "log"), ("log", "linear")
_SIZE = "M / d"

VIEWS = (
    View(
        "error",
        "Root mean square error of the Gram matrix on eeg_eye_state, against frequencies of each "
        "part over inputs; after Figure 2 of the paper.",
        _SIZE,
        "root mean square error",
        _LOG,
        _errors,
    ),
    *(
        View(
            f"accuracy-{kernel.lower()}",
            f"Test accuracy on features of the {kernel} kernel, beside the best of the library and "
            f"what the paper reports.",
            _SIZE,
            "accuracy, %",
            _SEMI,
            partial(_accuracies, kernel=kernel),
        )
        for kernel in SIMILARITIES
    ),
    View(
        "sketch-error",
        "Relative error of the Gram matrix on ijcnn1 by rows of the sketch; after Figures 3 and 4.",
        "rows of the sketch",
        "relative error",
        _LOG,
        partial(_sketches, metric="relative_error"),
    ),
    View(
        "sketch-accuracy",
        "Test accuracy on ijcnn1 by rows of the sketch.",
        "rows of the sketch",
        "accuracy",
        _SEMI,
        partial(_sketches, metric="accuracy"),
    ),
    View(
        "sketch-seconds",
        "Seconds of a fit on ijcnn1 by rows of the sketch.",
        "rows of the sketch",
        "seconds",
        _LOG,
        partial(_sketches, metric="fit_seconds"),
    ),
    View(
        "changes",
        "Change of the probabilities of labels in each iteration of the published updates, TL1 "
        "kernel, M = 2 d; after Figure 5.",
        "iteration",
        "Frobenius norm",
        ("linear", "log"),
        partial(_ascents, what="change", method=TAYLOR),
    ),
    View(
        "bounds",
        "How far the evidence lower bound is below its highest value, TL1 kernel, M = 2 d.",
        "iteration",
        "below the highest",
        ("linear", "log"),
        partial(_ascents, what="bound", method=EXACT),
    ),
)
