"""Public holidays of a country as known inputs of a series of days or hours.

Needs the extra ``holidays``: ``pip install 'bochner[holidays]'``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.names import nearest
from bochner.files.errors import InputError
from bochner.files.stamps import read_dates

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 2
"""Fewest dates of a holiday in the training rows from which on it has an effect of its own: one
date would be explained entirely by it. Rarer holidays share one effect."""

_LONGEST_STEP = np.timedelta64(36, "h")
"""Longest median step of times for which holidays are inputs: a week holds none or several."""


def holiday_inputs(times: object, n_known: int, place: str) -> pd.DataFrame:
    """Return an indicator (n, d) of each holiday at dates ``times`` (n,), by the local clock."""
    import pandas as pd

    try:
        stamps = read_dates(times).clock
    except TypeError as error:
        raise InputError("--holidays needs dates, and the times are numbers.") from error
    if len(stamps) > 1 and np.median(np.diff(stamps)) > _LONGEST_STEP:
        raise InputError(
            "--holidays needs a series of days or parts of a day; the steps of this one are longer."
        )
    days = stamps.astype("M8[D]")
    calendar = _calendar(place, range(days.min().item().year, days.max().item().year + 1))
    named = {np.datetime64(day): name for day, name in calendar.items()}
    names = np.array([named.get(day, "") for day in days], dtype=object)
    pairs = set(zip(names[:n_known].tolist(), days[:n_known].tolist(), strict=True))
    n_dates = Counter(name for name, _ in pairs if name)
    frequent = sorted(name for name, count in n_dates.items() if count >= _FEWEST)
    columns = {name: (names == name).astype(np.float64) for name in frequent}
    rare = (names != "") & ~np.isin(names, frequent)
    if rare[:n_known].any():
        columns["other holidays"] = rare.astype(np.float64)
    if not columns:
        raise InputError(f"No holiday of {place} is among the dates of the series.")
    return pd.DataFrame(columns)


def _calendar(place: str, years: range) -> Any:
    try:
        import holidays
    except ImportError:
        raise ImportError(
            "Holidays are those of the package holidays: pip install 'bochner[holidays]'."
        ) from None
    country, _, part = place.partition("-")
    parts = holidays.list_supported_countries()
    if country not in parts:
        near = nearest(country, parts)
        hint = f" Did you mean {near}?" if near else ""
        raise InputError(
            f"There is no calendar of holidays for {place!r}: expected the code of a country, such "
            f"as DE or US, or of a part of one, such as DE-BY.{hint}"
        )
    if part and part not in parts[country]:
        raise InputError(
            f"There is no calendar of holidays for {place!r}: expected {country}, or {country}- "
            f"and one of {', '.join(parts[country])}."
        )
    return holidays.country_holidays(country, subdiv=part or None, years=years)
