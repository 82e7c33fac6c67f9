"""What was asked of locally stationary kernels, and what was reached."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.asked import Line, asked_table, count
from benchmarks.fold_tables import by_method
from benchmarks.gabasr.design import (
    ACCURACY,
    ASKED_AUC,
    ASKED_GAIN,
    ASKED_R2,
    ASKED_UPDATE,
    BANK,
    OURS,
    PAPER_XOR_AUC,
    SERIES,
    UPDATE,
    UPDATE_EACH,
    XOR,
)
from benchmarks.results import Row


def asked_parts(rows: Sequence[Row]) -> list[str]:
    """Return a table of what was asked beside what was reached, where it was measured."""
    lines = [*_accuracy(rows), *_xor(rows), *_gains(rows), *_update(rows)]
    if not lines:
        return []
    return [f"**Asked and reached**: {count(lines)}.", asked_table(lines)]


def gains(rows: Sequence[Row], name: str) -> list[float]:
    """Return our log predictive density less BaNK's, split by split."""
    ours, theirs = (_by_seed(rows, name, method) for method in (OURS, BANK))
    return [ours[seed] - theirs[seed] for seed in sorted(set(ours) & set(theirs))]


def update_seconds(rows: Sequence[Row], m: int | None = None) -> Mapping[str, float]:
    """Return medians of the seconds of an update, by metric; of ``m`` combinations or of any."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["part"] == UPDATE and m in (None, row["m"]):
            found[str(row["metric"])].append(float(row["value"]))
    return {metric: float(np.median(values)) for metric, values in found.items()}


def _by_seed(rows: Sequence[Row], name: str, method: str) -> Mapping[int, float]:
    wanted = (SERIES, name, method, "lpd")
    return {
        int(row["seed"]): float(row["value"])
        for row in rows
        if (row["part"], row["dataset"], row["method"], row["metric"]) == wanted
    }


def _accuracy(rows: Sequence[Row]) -> list[Line]:
    lines = []
    for metric, what, asked in (
        ("auc", "area under the curve", ASKED_AUC),
        ("r2", "R²", ASKED_R2),
    ):
        found = by_method(rows, ACCURACY, metric)
        for name, least in asked.items():
            if (name, OURS) in found:
                mean = float(np.mean(found[name, OURS]))
                lines.append((f"{name}: {what}", f"≥ {least:g}", f"{mean:.4f}", mean >= least))
    return lines


def _xor(rows: Sequence[Row]) -> list[Line]:
    found = [values for key, values in by_method(rows, XOR, "auc").items() if key[1] == OURS]
    if not found:
        return []
    mean = float(np.mean(found[0]))
    asked = f"≥ {PAPER_XOR_AUC:g}"
    return [("xor: area under the curve", asked, f"{mean:.4f}", mean >= PAPER_XOR_AUC)]


def _gains(rows: Sequence[Row]) -> list[Line]:
    lines = []
    for name, more_than in ASKED_GAIN.items():
        found = gains(rows, name)
        if found:
            gain = float(np.median(found))
            what = f"{name}: gain over {BANK} in log predictive density, median"
            lines.append((what, f"> {more_than:g}", f"{gain:+.3f}", gain > more_than))
    return lines


def _update(rows: Sequence[Row]) -> list[Line]:
    seconds = update_seconds(rows, UPDATE_EACH**2)
    if not seconds:
        return []
    ratio = seconds["recomputed_seconds"] / seconds["block_seconds"]
    what = "block update of an amplitude: faster than sums and factorisation afresh"
    return [(what, f"≥ {ASKED_UPDATE:g}", f"{ratio:.1f}", ratio >= ASKED_UPDATE)]
