"""The rule for times of day, and for durations below a day."""

from __future__ import annotations

import re
from datetime import time
from typing import TYPE_CHECKING

from bochner.files.rules import FunctionRule

if TYPE_CHECKING:
    import pandas as pd

_TIME = re.compile(
    r"\s*(?P<hour>[01]?[0-9]|2[0-4]):(?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9])(?:[.,](?P<fraction>[0-9]{1,6}))?)? ?(?P<half>[AaPp][Mm])?\s*"
)

_MIXED = 0.5
"""Share of times below which the rule declines a column."""


def times_of_day(texts: pd.Series) -> pd.Series | None:
    """Return times (n,) such as 13:05, 1:05 pm or 00:18:19.5, which models use as hours."""
    read = ((text, _time(text)) for text in texts.dropna().unique())
    times = texts.map({text: found for text, found in read if found is not None}).astype(object)
    return times if times.notna().sum() >= max(_MIXED * texts.notna().sum(), 1) else None


def _time(text: str) -> time | None:
    """Return a time; 24:00 is midnight."""
    match = _TIME.fullmatch(text)
    hour, half = (int(match["hour"]), match["half"]) if match else (0, None)
    if match is None or (half and not 1 <= hour <= 12):  # The hours of a half day
        return None
    hour = hour % 12 + 12 * (half in ("pm", "PM", "Pm")) if half else hour % 24
    fraction = int(f"{match['fraction'] or ''}000000"[:6])
    return time(hour, int(match["minute"]), int(match["second"] or 0), fraction)


TIMES = FunctionRule("time", times_of_day, "times of day")
"""The rule for times of day."""
