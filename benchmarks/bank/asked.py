"""What was asked of kernels learned by sampling, and what was reached."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.asked import Line, asked_table, count
from benchmarks.bank.design import (
    ACCURACY,
    ASKED,
    ASKED_COVERAGE,
    ASKED_PRODUCTS,
    ASKED_RACE,
    ASKED_RECOMPUTED,
    ASKED_SINGLE,
    COVERED,
    FULL,
    MH,
    OURS,
    RACED,
    RANKS,
    SPEED,
    is_regression,
)
from benchmarks.bank.speed import SWEEP
from benchmarks.results import Row

_SPEED_SIZE = FULL.speed_rows, FULL.speed_frequencies


def asked_parts(rows: Sequence[Row]) -> list[str]:
    """Return a table of what was asked beside what was reached, where it was measured."""
    lines = [*_errors(rows, OURS), *_coverage(rows), *_race(rows), *_speed(rows)]
    ranks = _errors(rows, RANKS)
    if not lines and not ranks:
        return []
    text = f"**Asked and reached**: {count(lines)}"
    if ranks:
        text += f"; of the errors with ranks beside the inputs, {count(ranks)}"
    return [f"{text}.", asked_table([*lines, *ranks])]


def _values(rows: Sequence[Row], method: str, metric: str) -> Mapping[str, Mapping[int, float]]:
    """Return a metric by data set and fold."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows:
        if (row["part"], row["method"], row["metric"]) == (ACCURACY, method, metric):
            found[str(row["dataset"])][int(row["seed"])] = float(row["value"])
    return found


def _errors(rows: Sequence[Row], method: str) -> list[Line]:
    lines = []
    beside = "" if method == OURS else f", {method}"
    for name, most in ASKED.items():
        metric = "mse" if is_regression(name) else "error"
        values = _values(rows, method, metric).get(name)
        if values:
            mean = float(np.mean(list(values.values())))
            what = "mean square error" if is_regression(name) else "error rate"
            lines.append((f"{name}: {what}{beside}", f"≤ {most:g}", f"{mean:.3g}", mean <= most))
    return lines


def _coverage(rows: Sequence[Row]) -> list[Line]:
    low, high = ASKED_COVERAGE
    lines = []
    for name in COVERED:
        values = _values(rows, OURS, "coverage").get(name)
        if values:
            mean = float(np.mean(list(values.values())))
            asked = f"{100 * low:g} to {100 * high:g} %"
            lines.append(
                (
                    f"{name}: coverage of 90 % intervals",
                    asked,
                    f"{100 * mean:.1f} %",
                    low <= mean <= high,
                )
            )
    return lines


def _race(rows: Sequence[Row]) -> list[Line]:
    lines = []
    ours, theirs = (_values(rows, method, "mse") for method in (OURS, MH))
    for name in (name for name in RACED if name in ASKED):
        folds = sorted(set(ours.get(name, {})) & set(theirs.get(name, {})))
        if folds:
            ratio = float(np.median([ours[name][f] / theirs[name][f] for f in folds]))
            lines.append(
                (
                    f"{name}: error over that of “{MH}” in the same time",
                    f"≤ {ASKED_RACE:g}",
                    f"{ratio:.2f}",
                    ratio <= ASKED_RACE,
                )
            )
    return lines


def _speed(rows: Sequence[Row]) -> list[Line]:
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["part"] == SPEED and (row["n"], row["m"]) == _SPEED_SIZE:
            key = str(row["method"]), str(row["threads"])
            found[key][str(row["metric"])].append(float(row["value"]))
    lines = []
    for (method, threads), metrics in found.items():
        middle = {name: float(np.median(values)) for name, values in metrics.items()}
        work = middle["work_seconds"]
        where = f"{method}, threads: {threads}"
        ratio = work / middle["product_seconds"]
        lines.append(
            (
                f"{where}: time over that of its matrix products",
                f"≤ {ASKED_PRODUCTS:g}",
                f"{ratio:.2f}",
                ratio <= ASKED_PRODUCTS,
            )
        )
        if method == SWEEP:
            for metric, asked, what in (
                ("single_seconds", ASKED_SINGLE, "faster than one at a time"),
                ("recomputed_seconds", ASKED_RECOMPUTED, "faster than with sums afresh"),
            ):
                gain = middle[metric] / work
                lines.append((f"{where}: {what}", f"≥ {asked:g}", f"{gain:.1f}", gain >= asked))
    return lines
