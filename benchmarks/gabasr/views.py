"""What each figure of the benchmark of locally stationary kernels shows."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

from benchmarks.bank.views import Values, View
from benchmarks.gabasr.design import (
    BANK,
    DOPPLER,
    MCYCLE,
    MIXTURE,
    OURS,
    SERIES,
    TRUE,
    XOR,
)
from benchmarks.gabasr.mixture import FREQUENCIES, PLACES, metric_name
from benchmarks.gabasr.series import SHOWN, shown_name
from benchmarks.gabasr.xor import GRID, probability_name
from benchmarks.results import Row

FIELD = "xor"
FIELD_CAPTION = (
    "The problem of exclusive or: the probability of class one that was learned, and the true one."
)

_CURVES = ("mean", "low", "high")


def field_values(rows: Sequence[Row]) -> Mapping[tuple[str, float, float], float]:
    """Return probabilities of class one by method and place; empty without any."""
    found = _first_trial(rows, XOR)
    return {
        (method, *place): found[method, probability_name(*place)]
        for method in (OURS, BANK, TRUE)
        for place in product(GRID, GRID)
        if (method, probability_name(*place)) in found
    }


def _first_trial(
    rows: Sequence[Row], part: str, dataset: str | None = None
) -> Mapping[tuple[str, str], float]:
    """Return the values of a part's first trial, by method and metric."""
    return {
        (str(row["method"]), str(row["metric"])): float(row["value"])
        for row in rows
        if (row["part"], row["seed"]) == (part, 0) and dataset in (None, row["dataset"])
    }


def _mixture(rows: Sequence[Row], *, what: str, places: Sequence[float]) -> Values:
    found = _first_trial(rows, MIXTURE)
    return {
        ("trial 0", method, place): found[method, metric_name(what, place)]
        for method in (TRUE, OURS, BANK)
        for place in places
        if (method, metric_name(what, place)) in found
    }


def _series(rows: Sequence[Row], *, dataset: str) -> Values:
    """Return mean and band of a series, a panel a method."""
    found = _first_trial(rows, SERIES, dataset)
    return {
        (method, curve, found[method, shown_name("place", share)]): found[
            method, shown_name(curve, share)
        ]
        for method in (OURS, BANK)
        for curve in _CURVES
        for share in SHOWN
        if (method, shown_name(curve, share)) in found
    }


_LINEAR = ("linear", "linear")

VIEWS = (
    View(
        "function",
        "The function of the mixture (12), and what was learned from 250 noisy rows of it.",
        "x",
        "f(x)",
        _LINEAR,
        partial(_mixture, what="function", places=PLACES),
    ),
    View(
        "spectrum",
        "The density of the frequencies' absolute values: the mixture (12), and what was learned.",
        "frequency",
        "density",
        _LINEAR,
        partial(_mixture, what="density", places=FREQUENCIES),
    ),
    View(
        "mcycle",
        "Head acceleration after an impact: predictions and their central 95 %.",
        "milliseconds",
        "acceleration, g",
        _LINEAR,
        partial(_series, dataset=MCYCLE),
    ),
    View(
        "doppler",
        "The Doppler series: predictions and their central 95 %.",
        "t",
        "y",
        _LINEAR,
        partial(_series, dataset=DOPPLER),
    ),
)
