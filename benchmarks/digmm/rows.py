"""Rows of the benchmark of double mixtures, gathered by cell."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.digmm.design import ACCURACY, BEST, DIGMMS
from benchmarks.digmm.paper import ACCURACIES, DIGMM, best_of_paper
from benchmarks.results import Row

Key = tuple[str, str, int, str]
"""Kernel, data set, size and option."""

Cells = Mapping[Key, Mapping[str, Sequence[float]]]
"""Over seeds, by cell and method."""


def gathered(rows: Sequence[Row], part: str, metric: str) -> Cells:
    """Return a metric of a part, in the order of the rows."""
    found: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["part"] == part and row["metric"] == metric:
            key = str(row["kernel"]), str(row["dataset"]), int(row["size"]), str(row["option"])
            found[key][str(row["method"])].append(float(row["value"]))
    return found


def percentages(rows: Sequence[Row]) -> dict[tuple[str, str, int, str], float]:
    """Return mean accuracies in per cent, by kernel, data set, size and method."""
    return {
        (kernel, name, size, method): 100.0 * float(np.mean(values))
        for (kernel, name, size, _), cell in gathered(rows, ACCURACY, "accuracy").items()
        for method, values in cell.items()
    }


def beside_paper(rows: Sequence[Row]) -> dict[tuple[str, str, int], tuple[float, float]]:
    """Return the better of both expectations and the paper's DIGMM, by kernel, data set and size.

    Of the cells that have both.
    """
    ours = percentages(rows)
    found = {}
    for (kernel, name, size, method), paper in ACCURACIES.items():
        values = [ours[key] for m in DIGMMS if (key := (kernel, name, size, m)) in ours]
        if method == DIGMM and len(values) == len(DIGMMS):
            found[kernel, name, size] = max(values), paper
    return found


def best_beside_paper(rows: Sequence[Row]) -> dict[tuple[str, int], tuple[float, float]]:
    """Return the best of the library and of the paper, by data set and size."""
    ours = {
        (name, size): value
        for (_, name, size, method), value in percentages(rows).items()
        if method == BEST
    }
    return {key: (ours[key], paper) for key, paper in best_of_paper().items() if key in ours}
