"""What each figure of the benchmark of learned kernels shows."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.bank.design import KERNEL, OURS, SCALING
from benchmarks.bank.kernel import LAGS, TRUE, TRUE_SPECTRUM, lag_name
from benchmarks.results import Row

Values = Mapping[tuple[str, str, float], float]


@dataclass(frozen=True, slots=True)
class View:
    """A figure: panels of curves.

    Parameters
    ----------
    name, caption, xlabel, ylabel : str
    scales : tuple of two str
        Of the abscissa and the ordinate.
    values : callable
        From the rows to ordinates by panel, curve and abscissa; empty without any.
    """

    name: str
    caption: str
    xlabel: str
    ylabel: str
    scales: tuple[str, str]
    values: Callable[[Sequence[Row]], Values]


def _kernel(rows: Sequence[Row]) -> Values:
    """Return the curves of the first trial."""
    found = {
        (str(row["method"]), str(row["metric"])): float(row["value"])
        for row in rows
        if row["part"] == KERNEL and row["seed"] == 0
    }
    curves = {
        TRUE: (TRUE, "mean"),
        TRUE_SPECTRUM: (TRUE_SPECTRUM, "mean"),
        OURS: (OURS, "mean"),
        f"{OURS}, 5 % of draws": (OURS, "low"),
        f"{OURS}, 95 % of draws": (OURS, "high"),
    }
    return {
        ("trial 0", curve, lag): found[method, lag_name(what, lag)]
        for curve, (method, what) in curves.items()
        for lag in LAGS
        if (method, lag_name(what, lag)) in found
    }


def _scaling(rows: Sequence[Row], *, over: str, metrics: Sequence[str]) -> Values:
    """Return metrics over one of ``n`` and ``m``, the other at the value that has most cells."""
    chosen = [row for row in rows if row["part"] == SCALING]
    other = "m" if over == "n" else "n"
    places: dict[float, set[float]] = defaultdict(set)
    for row in chosen:
        places[float(row[other])].add(float(row[over]))
    if not places:
        return {}
    fixed = max(places, key=lambda value: (len(places[value]), value))
    found = [
        (str(row["dataset"]), float(row[over]), float(row["value"]))
        for row in chosen
        if float(row[other]) == fixed and row["metric"] in metrics
    ]
    panel = f"{other} = {fixed:,.0f}"
    return {(panel, name, x): value for name, x, value in sorted(found)}


def _scaling_view(over: str, metrics: Sequence[str], ylabel: str, caption: str) -> View:
    kind = "seconds" if metrics == _SECONDS else "error"
    return View(
        f"{kind}-{over}",
        caption,
        "training rows n" if over == "n" else "frequencies m",
        ylabel,
        ("log", "log"),
        lambda rows: _scaling(rows, over=over, metrics=metrics),
    )


_SECONDS, _ERRORS = ("sweep_seconds",), ("mse", "error")

VIEWS = (
    View(
        "kernel",
        "The kernel of the paper's synthetic data, the average cosine of the frequencies that "
        "made the data, and what was learned from 1,000 rows.",
        "distance",
        "kernel",
        ("linear", "linear"),
        _kernel,
    ),
    _scaling_view("n", _SECONDS, "seconds a sweep", "Seconds of a sweep against rows."),
    _scaling_view(
        "n", _ERRORS, "test error", "Mean square error or error rate after few sweeps, by rows."
    ),
    _scaling_view("m", _SECONDS, "seconds a sweep", "Seconds of a sweep against frequencies."),
    _scaling_view(
        "m",
        _ERRORS,
        "test error",
        "Mean square error or error rate after few sweeps, by frequencies.",
    ),
)
