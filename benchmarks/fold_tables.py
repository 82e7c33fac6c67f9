"""Tables of figures over folds, by data set and method."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from benchmarks.results import Row, Scalar, markdown_table

Values = Mapping[tuple[str, str], Sequence[float]]
"""Over folds, by data set and method."""

Reported = Mapping[str, tuple[str, Mapping[str, float]]]
"""By data set: how to call the line of what a paper reports, and its figures by method."""

_NONE: Reported = MappingProxyType({})


def by_method(rows: Sequence[Row], part: Scalar, metric: str) -> Values:
    """Return a metric of a part of a benchmark, in the order of the rows."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["part"] == part and row["metric"] == metric:
            found[str(row["dataset"]), str(row["method"])].append(float(row["value"]))
    return found


def methods_in(found: Values, every: Sequence[str]) -> list[str]:
    """Return those of the methods that have a value."""
    return [method for method in every if any(method == key[1] for key in found)]


def names_in(found: Values) -> list[str]:
    """Return the data sets."""
    return list(dict.fromkeys(key[0] for key in found))


def means_table(
    found: Values, methods: Sequence[str], reported: Reported = _NONE, digits: int = 3
) -> str:
    """Return means and their standard errors, with what a paper reports in a line below.

    Parameters
    ----------
    found : mapping
    methods : sequence of str
        The columns, of which those with a value are shown.
    reported : mapping, default={}
    digits : int, default=3
        Significant digits.
    """
    columns = methods_in(found, methods)
    lines = []
    for name in names_in(found):
        lines.append([name, *(_mean(found.get((name, method), ()), digits) for method in columns)])
        if name in reported:
            label, values = reported[name]
            theirs = [values.get(method) for method in columns]
            texts = ["–" if value is None else f"{value:.{digits}g}" for value in theirs]
            lines.append([label, *texts])
    return markdown_table(("data set", *columns), lines)


def medians_table(found: Values, methods: Sequence[str]) -> str:
    """Return medians."""
    columns = methods_in(found, methods)
    lines = [
        [
            name,
            *(
                f"{np.median(found[name, method]):.3g}" if (name, method) in found else "–"
                for method in columns
            ),
        ]
        for name in names_in(found)
    ]
    return markdown_table(("data set", *columns), lines)


def _mean(values: Sequence[float], digits: int) -> str:
    if not values:
        return "–"
    mean = f"{float(np.mean(values)):.{digits}g}"
    if len(values) == 1:
        return mean
    deviation = f"{np.std(values, ddof=1) / np.sqrt(len(values)):.1g}"
    return f"{mean} ± {float(deviation):g}"
