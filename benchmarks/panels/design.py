"""Panels of series, how much of each series is known, and a name for every method."""

from collections.abc import Mapping
from dataclasses import dataclass

SHARED, ALONE = "bochner", "bochner, one by one"
GLOBAL = "LightGBM, global"
ETS, NAIVE = "AutoETS", "seasonal naive"
METHODS = (SHARED, ALONE, GLOBAL, ETS, NAIVE)

INTERVAL = 0.9  # Probability of the intervals whose coverage is counted

EVERY = 4
"""One of so many series is new in a panel of long series: a quarter of them are forecast."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel with its season and horizon in steps.

    All series have one of the ``lengths``; or new series have one of the lengths of ``new``, and
    the others have ``long`` values.
    """

    season: int
    horizon: int
    lengths: tuple[int, ...]
    new: tuple[int, ...]
    long: int


PANELS: Mapping[str, Panel] = {
    "employment": Panel(12, 12, (8, 14, 24, 36), (8, 14), 72),
    "births, months": Panel(12, 12, (8, 14, 24, 36), (8, 14), 72),
    "births, days": Panel(7, 28, (14, 28, 112), (14, 28), 200),
    "departures, days": Panel(7, 28, (14, 28, 112), (14, 28), 200),
    "hotel nights": Panel(4, 4, (8, 12, 24), (8, 12), 60),
    "prisoners": Panel(4, 4, (8, 12, 24), (8, 12), 40),
}
"""Panels by name."""

QUICK = "hotel nights, all of 12"


def cases() -> dict[str, tuple[str, int, bool]]:
    """Return panel, length of short series, and whether these are new, by name of the case."""
    names: dict[str, tuple[str, int, bool]] = {}
    for name, panel in PANELS.items():
        names |= {f"{name}, all of {length}": (name, length, False) for length in panel.lengths}
        names |= {f"{name}, new of {length}": (name, length, True) for length in panel.new}
    return names
