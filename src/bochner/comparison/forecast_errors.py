"""Forecasts of series with their intervals, and sentences on their errors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.arrays import Array
from bochner._base.number_texts import counted, number, percent, whole_percents
from bochner.comparison.contenders import OURS
from bochner.comparison.coverage import coverage_of
from bochner.comparison.past_origins import SEASON_REPEATED, OriginScores, mean_mase
from bochner.series.law import SeriesLaw

if TYPE_CHECKING:
    import pandas as pd

_ALIKE = 0.05
"""Relative difference of mean errors from three origins or fewer that is not worth a word."""

_PLAIN = (1e-3, 1e9)
"""Sizes of the largest value that is written without a power of ten."""

_DIGITS = 3
"""Significant digits of the width of an interval to which values are rounded."""

_SCALES = {
    "floor": "values of zero or more",
    "sqrt": "square roots of the values",
    "log": "logarithms of the values",
}
"""Quantity that is modelled, by transformation."""

_NO_SEASONS = ("trend", "inputs", "remainder")
"""Components that are neither seasons nor cycles."""

_MIDNIGHT = "%Y-%m-%d"


@dataclass(frozen=True, slots=True, eq=False)
class SeriesForecast:
    """A series and its forecast: means (h,) and ends of intervals at ``times`` (h,)."""

    name: str
    values: pd.Series
    times: pd.Index[Any]
    mean: Array
    lower: Array
    upper: Array
    inputs: pd.DataFrame | None = None  # Known inputs (n + h, d) of the series and its forecast

    def shown(self, value: float) -> str:
        """Return a value with as many decimals as the widths of the intervals deserve."""
        width = float(np.median(self.upper - self.lower))
        largest = float(np.abs([*self.mean, *self.lower, *self.upper]).max())
        if not width or not _PLAIN[0] <= largest < _PLAIN[1] or not np.isfinite(value):
            return number(value)
        decimals = max(0, _DIGITS - 1 - int(np.floor(np.log10(width))))
        return f"{value:,.{decimals}f}"

    def shown_times(self) -> list[str]:
        """Return the times as text: dates without the time of day where all are at midnight."""
        return shown_times(self.times)

    def span(self) -> str:
        """Return the first and the last time of the series, as text."""
        first, last = shown_times(self.values.index[[0, -1]])
        return f"{first} to {last}"


_MOST_BREAKS = 4
"""Most outliers or shifts that are named: more would take another line of a terminal."""


def shown_times(times: Any) -> list[str]:
    """Return times of a pandas index as text."""
    if hasattr(times, "normalize"):  # Dates
        if (times == times.normalize()).all():
            return [time.strftime(_MIDNIGHT) for time in times]
        return [time.isoformat(sep=" ", timespec="minutes") for time in times]
    if times.dtype.kind in "iu":
        return [str(time) for time in times]
    if times.dtype.kind == "f":
        return [f"{time:.10g}" for time in times]
    return [str(time) for time in times]


def model_facts(law: SeriesLaw, index: object = None) -> dict[str, str]:
    """Return names and texts of the seasons, the trend and the transformation of a model.

    Outliers and shifts of the level have times of the pandas index of the values, if it is given.
    """
    trends = law.trends()
    shares = zip(trends, whole_percents(list(trends.values())), strict=True)
    facts = {
        "Seasons": ", ".join(_seasons(law)) or "none",
        "Trend": ", ".join(f"{trend} ({share} %)" for trend, share in shares if share),
    }
    if law.transformation in _SCALES:
        facts["Scale"] = _SCALES[law.transformation]
    if len(law.outliers):
        facts["Outliers"] = f"{_breaks(law, law.outliers, index)}, ignored"
    if len(law.shifts):
        facts["Shifts"] = f"of the level at {_breaks(law, law.shifts, index)}"
    return facts


def _breaks(law: SeriesLaw, times: Array, index: Any) -> str:
    """Return the first times of outliers or shifts as text, or their number without an index."""
    if index is None:
        return counted(len(times), "time")
    shown = shown_times(index[law.positions(times[:_MOST_BREAKS])])
    rest = len(times) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _seasons(law: SeriesLaw) -> list[str]:
    """Return the seasons and cycles of the best model, then those of other models only."""
    names = [period.name for period in law.periods()]
    others = [name for name in law.components if name not in (*names, *_NO_SEASONS)]
    for name in others:
        weights = [m.weights.sum() for m in law.members if name in m.model.components]
        names.append(f"{name} (probability {percent(float(sum(weights)))})")
    return names


def forecast_verdict(scores: Collection[OriginScores]) -> str:
    """Return a sentence on the errors of forecasts next to the last season or value repeated."""
    if not scores:
        return "The series are too short to measure forecasts of their last values."
    ours, other = mean_mase(scores, OURS), mean_mase(scores)
    names = {each.other for each in scores}
    what = (names.pop() if len(names) == 1 else SEASON_REPEATED).removesuffix(" repeated")
    if not np.isfinite([ours, other]).all() or not other:
        return (
            "Forecasts from past origins could not be compared with forecasts that repeat the "
            f"{what}."
        )
    ratio = ours / other
    if abs(ratio - 1.0) <= _ALIKE:
        how = "as large as those of forecasts that repeat"
    elif ratio < 1.0:
        how = f"{percent(1.0 - ratio)} smaller than those of forecasts that repeat"
    else:
        how = f"{percent(ratio - 1.0)} larger than those of forecasts that repeat"
    return f"Errors of forecasts from past origins are {how} the {what}."


def forecast_coverage(scores: Collection[OriginScores], level: float) -> str:
    """Return a sentence on the share of values within the intervals, and its usual range.

    Values of one forecast are dependent.
    """
    covered = np.concatenate([each.covered for each in scores]).astype(np.bool_)
    forecasts = [f"{i} {origin}" for i, each in enumerate(scores) for origin in each.origins]
    coverage = coverage_of(covered, level, np.asarray(forecasts))
    return (
        f"The {100.0 * level:g} % intervals contain {percent(coverage.observed)} of these "
        f"{counted(len(covered), 'value')}, {coverage.judgement} (calibrated intervals contain "
        f"{percent(coverage.lower).removesuffix(' %')} to {percent(coverage.upper)})."
    )
