"""Series that are sums of other series: validation, values, and correlations of errors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bochner._base.arrays import Array
from bochner.series.fitted_series import FittedSeries
from bochner.series.reconciliation import Reconciliation, error_correlation
from bochner.series.series_rows import SeriesRows, series_values

Parts = dict[str, list[str]]
"""Names of the parts of each sum, by the name of the sum."""

_ROUNDING = 0.01
"""Largest gap between a sum and its parts, relative to the largest value of the sum: published
figures are rounded to two digits or more."""


def check_sums(sums: object, group: Mapping[str, object] | None) -> Parts:
    """Return the parts of each sum, without sums among them; ``group`` has series by name."""
    if sums is None:
        return {}
    named = _read_sums(sums)
    if group is None:
        raise ValueError(
            "sums needs several series, got one: pass a data frame or a mapping of series as y."
        )
    parts: Parts = {}
    for name in named:
        _resolve(name, named, group, (), parts)
    return parts


def _read_sums(sums: object) -> Parts:
    """Return the sums as a dictionary of names, or raise TypeError for another type."""
    expected = (
        "sums must be a mapping from the name of each sum to the names of its parts, such as "
        "{'total': ['north', 'south']}"
    )
    if not isinstance(sums, Mapping) or not sums:
        raise TypeError(f"{expected}, got {sums!r}.")
    named = {}
    for name, parts in sums.items():
        if isinstance(parts, str) or not isinstance(parts, Sequence) or not parts:
            raise TypeError(f"{expected}, got {parts!r} as the parts of {name!r}.")
        named[str(name)] = [str(part) for part in parts]
    return named


def _resolve(
    name: str, sums: Parts, group: Mapping[str, object], above: tuple[str, ...], parts: Parts
) -> list[str]:
    """Return the names of the series, none of them a sum, that add up to the series ``name``.

    The result is stored in ``parts``. ``above`` are the names of the sums that contain ``name``.
    """
    if name in above:
        circle = " -> ".join(map(repr, (*above[above.index(name) :], name)))
        raise ValueError(f"sums must not contain themselves, got {circle}: leave one name out.")
    if name not in sums:
        if name not in group:
            names = ", ".join(map(repr, dict.fromkeys([*group, *sums])))
            raise ValueError(
                f"The part {name!r} of the sum {above[-1]!r} is neither a series nor a sum: add it "
                f"to y, or choose from {names}."
            )
        return [name]
    if name not in parts:
        leaves = [
            leaf
            for part in sums[name]
            for leaf in _resolve(part, sums, group, (*above, name), parts)
        ]
        twice = [leaf for leaf in leaves if leaves.count(leaf) > 1]
        if twice:
            raise ValueError(
                f"The sum {name!r} counts {twice[0]!r} twice: name each part once, either by "
                "itself or by a sum that contains it."
            )
        parts[name] = leaves
    return parts[name]


def with_sums(group: Mapping[str, object], parts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the series of a group, followed by the computed sums that it lacks."""
    added = {
        name: _sum_of({part: group[part] for part in some}, name)
        for name, some in parts.items()
        if name not in group
    }
    return {**group, **added}


def _sum_of(series: Mapping[str, Any], name: str) -> Any:
    """Return the sum of several series, NaN where any series is unknown."""
    each = list(series.values())
    if all(hasattr(one, "index") and hasattr(one, "iloc") for one in each):
        total = each[0]
        for one in each[1:]:
            total = total.add(one)
        return total
    values = [series_values(one) for one in each]
    if len({len(one) for one in values}) > 1:
        lengths = ", ".join(
            f"{part!r}: {len(one)}" for part, one in zip(series, values, strict=True)
        )
        raise ValueError(
            f"The parts of {name!r} must have as many values as each other to be added up, got "
            f"{lengths}. Give pandas series with dates, which are added up by date."
        )
    return np.sum(values, axis=0)


def check_values(rows: Mapping[str, SeriesRows], parts: Parts) -> None:
    """Raise ValueError if a sum differs from its parts' sum at a time when all are known."""
    for name, leaves in parts.items():
        times, values = _joined(
            [name, *leaves], rows, [rows[each].values for each in (name, *leaves)]
        )
        gaps = np.nan_to_num(np.abs(values[:, 0] - values[:, 1:].sum(axis=1)))
        worst = int(np.argmax(gaps))
        if gaps[worst] > _ROUNDING * np.nanmax(np.abs(values[:, 0])):
            raise ValueError(
                f"The series {name!r} is not the sum of its parts: value {worst + 1} of "
                f"{len(times)} is {values[worst, 0]:g}, and the parts add up to "
                f"{values[worst, 1:].sum():g}. Correct the values or the sum, or leave the "
                "series out, so that its parts are added up."
            )


def reconciliation(
    fitted: Mapping[str, FittedSeries], rows: Mapping[str, SeriesRows], parts: Parts
) -> Reconciliation:
    """Return the sum constraints of fitted series, with correlations of one-step errors."""
    leaves = list(dict.fromkeys(leaf for some in parts.values() for leaf in some))
    names = [name for name in fitted if name in parts or name in leaves]
    summing = np.zeros((len(names), len(leaves)))
    for name, row in zip(names, summing, strict=True):
        row[[leaves.index(leaf) for leaf in parts.get(name, [name])]] = 1.0
    learned = {name: rows[name].learned for name in names}
    errors = [fitted[name].law.standardised_errors() for name in names]
    correlation = error_correlation(_joined(names, learned, errors)[1])
    places = np.array([names.index(leaf) for leaf in leaves])
    has_floor = np.array([np.nanmin(rows[leaf].values) >= 0.0 for leaf in leaves])
    return Reconciliation(names, summing, places, correlation, has_floor)


def _joined(
    names: Sequence[str], rows: Mapping[str, SeriesRows], columns: Sequence[Array]
) -> tuple[Array, Array]:
    """Return the union of times (T,), and ``columns`` of n series at them (T, n), NaN elsewhere."""
    times = np.unique(np.concatenate([rows[name].times for name in names]))
    table = np.full((len(times), len(names)), np.nan)
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        table[np.searchsorted(times, rows[name].times), place] = column
    return times, table
