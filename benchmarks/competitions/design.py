"""The kinds of series, the methods and the quantiles that are measured."""

from collections.abc import Mapping
from dataclasses import dataclass

OURS = "bochner"
ETS, ARIMA, THETA, CES = "AutoETS", "AutoARIMA", "DynamicOptimizedTheta", "AutoCES"
MODELS = (ETS, ARIMA, THETA, CES)
MEDIAN = "median of four"
NAIVE = "seasonal naive"
OTHERS = (*MODELS, MEDIAN, NAIVE)
METHODS = (OURS, *OTHERS)

LEVELS = (0.025, 0.1, 0.5, 0.9, 0.975)
"""Quantiles whose loss is measured: the median, and the ends of 80 % and 95 % intervals."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Series of one competition and frequency: their season, horizon, and pandas' frequency.

    ``first`` is the date of the first value: the competitions' dates are not in the file.
    """

    season: int
    horizon: int
    frequency: str
    first: str = "1970-01-01"


KINDS: Mapping[str, Kind] = {
    "M3 monthly": Kind(12, 18, "MS"),
    "M3 quarterly": Kind(4, 8, "QS"),
    "M3 yearly": Kind(1, 6, "YS"),
    "M4 weekly": Kind(1, 13, "W", "1970-01-04"),
    "M4 hourly": Kind(24, 48, "h"),
}
"""Kinds of series by name."""

BUNDLED = "co2, weekly"
"""A series that comes with the package, of which a quick run forecasts one part."""
