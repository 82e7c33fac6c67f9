"""Which series are forecast, from where and how far; a name for every method."""

from collections.abc import Mapping
from dataclasses import dataclass

ORIGINS = 5
"""Origins of each series, evenly from the middle to the last from which all steps are known."""

INTERVAL = 0.9  # Probability of the intervals whose coverage is counted

OURS = "bochner"
ARIMA, ETS, THETA = "AutoARIMA", "AutoETS", "AutoTheta"
MSTL = "MSTL"
NAIVE = "seasonal naive"
METHODS = (OURS, ARIMA, ETS, THETA, MSTL, NAIVE)

LONGEST_ARIMA = 12
"""Steps of a season that AutoARIMA is told: of longer ones it takes minutes to hours."""


@dataclass(frozen=True, slots=True)
class Series:
    """The horizon of a series in steps, and the seasons that the other methods are told.

    ``season`` is the length in steps for AutoARIMA, AutoETS and AutoTheta, ``seasons`` those of the
    decomposition (MSTL), and ``naive`` the one that is repeated. ``most_rows`` before an origin are
    learned from.
    """

    horizon: int
    season: int
    seasons: tuple[int, ...]
    naive: int
    most_rows: int | None = None
    is_bundled: bool = False
    origins: int = ORIGINS


DECADE = "co2, last ten years"

SERIES: Mapping[str, Series] = {
    "airline": Series(24, 12, (12,), 12),
    "co2, monthly": Series(60, 12, (12,), 12),
    # AutoETS takes seasons of at most 24 steps: of a year of weeks it is told nothing.
    DECADE: Series(522, 1, (52,), 52, is_bundled=True, origins=1),
    # A month of the calendar says nothing about sunspots; a cycle is about 132 months.
    "sunspots": Series(60, 1, (132,), 132),
    "seattle, highest temperature": Series(28, 7, (365,), 365, is_bundled=True),
    "bike rentals, daily": Series(28, 7, (7,), 7),
    # Sixty days of hours, as a forecaster of the next week would take.
    "bike rentals, hourly": Series(168, 24, (24, 168), 168, most_rows=1440),
    "electricity demand, hourly": Series(168, 24, (24, 168), 168, most_rows=1440),
}
"""Series by name."""
