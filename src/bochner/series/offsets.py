"""Offsets of pandas between the dates of an index: as text, and the dates that come next."""

from __future__ import annotations

import json
from datetime import time, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_CLASSES = (
    "BusinessDay",
    "BusinessHour",
    "CustomBusinessDay",
    "CustomBusinessHour",
    "CustomBusinessMonthBegin",
    "CustomBusinessMonthEnd",
    "DateOffset",
    "Easter",
)
"""Offsets that the text of pandas does not describe in full: it has no holidays, for example."""

_WEEK = 7
"""Days of a week, from Monday to Sunday."""


def as_text(offset: Any) -> str | None:
    """Serialise an offset to a text that `from_text` reads, or return None if this is impossible.

    The text is the pandas alias, such as "ME", or JSON for offsets with holidays or other hours.
    """
    from pandas.tseries.frequencies import to_offset

    name = str(offset.freqstr)
    try:
        if to_offset(name) == offset:
            return name
    except ValueError:  # pandas does not read what it writes
        pass
    if type(offset).__name__ not in _CLASSES:
        return None
    try:
        options = {key: _plain(value) for key, value in offset.kwds.items() if key != "calendar"}
    except TypeError:
        return None
    facts = {"offset": type(offset).__name__, "n": offset.n, "normalize": offset.normalize}
    return json.dumps({**facts, "options": options})


def _plain(value: object) -> object:
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, time):
        return {"time": value.strftime("%H:%M")}
    if isinstance(value, timedelta):
        return {"microseconds": round(value / timedelta(microseconds=1))}
    if isinstance(value, np.datetime64):
        return {"day": str(value.astype("M8[D]"))}
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    raise TypeError


def _restored(value: object) -> object:
    if isinstance(value, list):
        return tuple(_restored(entry) for entry in value)
    if not isinstance(value, dict):
        return value
    if "time" in value:
        return time.fromisoformat(value["time"])
    if "day" in value:
        return np.datetime64(value["day"])
    return timedelta(microseconds=value["microseconds"])


def from_text(text: str) -> Any:
    """Return the offset of a text; raises ValueError if there is none."""
    import pandas as pd
    from pandas.tseries.frequencies import to_offset

    if not text.startswith("{"):
        return to_offset(text)
    try:
        facts = json.loads(text)
        if facts["offset"] not in _CLASSES:
            raise KeyError(facts["offset"])
        options = {key: _restored(value) for key, value in facts["options"].items()}
        made = getattr(pd.offsets, facts["offset"])
        return made(int(facts["n"]), normalize=facts["normalize"], **options)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"The frequency of the dates must be an offset, got {text}.") from error


def weekly(days: object) -> str:
    """Return the text of the offset to the next of some days of the week, Monday being 0."""
    import pandas as pd

    return _text_of(pd.offsets.CustomBusinessDay(weekmask=_mask(days)))


def opening_hours(first: int, end: int, after: np.timedelta64, days: object) -> str:
    """Return the text of the offset to the next hour from ``first`` to ``end`` on some days.

    Hours begin ``after`` the full ones.
    """
    import pandas as pd

    minutes = int(after / np.timedelta64(1, "m"))
    made: Any = pd.offsets.CustomBusinessHour  # Its stubs do not know the days
    offset = made(
        start=f"{first:02d}:{minutes:02d}", end=f"{end:02d}:{minutes:02d}", weekmask=_mask(days)
    )
    return _text_of(offset)


def _mask(days: Any) -> str:
    return "".join("1" if day in days else "0" for day in range(_WEEK))


def _text_of(offset: object) -> str:
    text = as_text(offset)
    assert text is not None
    return text


def is_clockwork(offset: object) -> bool:
    """Return whether an offset is a fixed duration, such as an hour, not a calendar step.

    A day of a zone has 23 to 25 hours.
    """
    import pandas as pd

    return isinstance(offset, pd.offsets.Tick) and not isinstance(offset, pd.offsets.Day)


def dates_from(first: pd.Timestamp, offset: Any, **end: Any) -> pd.DatetimeIndex:
    """Return ``pandas.date_range`` from a date, at the same time of the day where a zone allows.

    Times that clocks leave out move forward, and of times that come twice it is the earlier one.
    """
    import pandas as pd

    zone = first.tz
    if zone is None or is_clockwork(offset):
        return pd.date_range(first, freq=offset, **end)
    clock: dict[str, Any] = {
        name: bound.tz_localize(None) if isinstance(bound, pd.Timestamp) else bound
        for name, bound in end.items()
    }
    shown = pd.date_range(first.tz_localize(None), freq=offset, **clock)
    index = localised(shown, zone)
    # Only pandas sets the frequency of an index, if no time is missing or repeated.
    later = shown.tz_localize(zone, ambiguous=np.zeros(len(shown), bool), nonexistent="NaT")
    return pd.date_range(first, freq=offset, **end) if index.equals(later) else index


def localised(shown: pd.DatetimeIndex, zone: Any) -> pd.DatetimeIndex:
    """Return dates of the clocks of a zone as dates with the zone, as `dates_from` does."""
    twice = np.ones(len(shown), dtype=bool)
    return shown.tz_localize(zone, ambiguous=twice, nonexistent="shift_forward")


def next_dates(last: pd.Timestamp, offset: object, count: int) -> pd.DatetimeIndex:
    """Return the dates after the last one, which need not lie on the calendar itself."""
    index = dates_from(last, offset, periods=count + 1)
    return index[index > last][:count]
