"""The rule for dates in the notation of programs and of countries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bochner.files.local_dates import (
    FORMS,
    LocalDates,
    find_dates,
    iso_dates,
    number_dates,
    number_times,
)
from bochner.files.read_options import DATE_KINDS
from bochner.files.rules import Decision, Rule, TextColumn, first_present, plain_numbers

ORDERS = {"dayfirst": "days before months", "monthfirst": "months before days"}
"""Orders of days and months, with their names in notes."""

_OTHER_ORDER = {"dayfirst": "monthfirst", "monthfirst": "dayfirst"}

_FEW = 8  # First entries that tell numbers from other notations


class DateRule(Rule):
    """Reads dates; the setting ``order`` is that of days and months that are both numbers.

    ``form`` is that of dates that are numbers, and ``written`` is a fiscal year as the file has it.
    """

    name = "date"
    noun = "dates"

    def decide(self, column: TextColumn) -> Decision | None:
        """Return the order of days and months, or None if less than half of the texts are dates."""
        if plain_numbers(first_present(column.texts, _FEW)) is not None:
            return self._decide_numbers(column)
        dates = _found(column)
        if dates is None:
            return None
        is_read = {order: ~np.isnat(dates.times(order)) for order in ORDERS}
        n_read = np.count_nonzero(is_read["dayfirst"] | is_read["monthfirst"])
        if not n_read:
            return None
        notes, form = dates.notes(column.entry()), dates.form
        if not form.is_ordered:
            written = {"written": column.entry()} if form.span == "fiscal year" else {}
            return Decision(self.name, written, notes=notes)
        only = {order: is_read[order] & ~is_read[other] for order, other in _OTHER_ORDER.items()}
        examples = {order: column.entry(int(np.argmax(rows))) for order, rows in only.items()}
        if n_read == column.n_present and all(rows.any() for rows in only.values()):
            words = "holds dates with days before months and months before days: read as text"
            return Decision("text", notes=[(words, ", ".join(examples.values()))])
        asked = DATE_KINDS.get(column.requested or "") or column.options.dates
        if asked in ORDERS:
            return Decision(self.name, {"order": asked}, notes=notes)
        order, *more = dates.orders()
        if more:
            return Decision(self.name, {}, {"order": tuple(ORDERS)}, notes)
        example = (f"holds {ORDERS[order]}", examples[order])
        return Decision(self.name, {"order": order}, notes=[example, *notes])

    def _decide_numbers(self, column: TextColumn) -> Decision | None:
        """Return the form of numbers that are dates, or None for other numbers."""
        is_asked = column.requested is not None
        if not is_asked and column.options.dates in ("iso", "none"):
            return None
        read = plain_numbers(column.texts)
        if read is None:
            return None
        dates = number_dates(column.name, np.array(read, dtype=float), requested=is_asked)
        if dates is None or not dates.is_sure:
            return None
        column.memo["times"] = dates.times
        words = f"holds {FORMS[dates.form][0]} as numbers, which are read as dates"
        advice = "a type number (types=, --types) keeps numbers"
        notes = [] if is_asked else [(words, f"{dates.example}; {advice}")]
        return Decision(self.name, {"form": dates.form}, notes=notes)

    def settle(
        self, column: TextColumn, decision: Decision, decided: Mapping[str, str], *, is_local: bool
    ) -> Decision:
        """Return the order of the other columns, or the likeliest one."""
        order, reason = _open_order(column, decided, is_local)
        other = _OTHER_ORDER[order]
        words = (
            f"has days and months in an order that no entry shows: {ORDERS[order]} is assumed, "
            f"{reason}; dates={other!r:.60} (--dates {other}) overrules that"
        )
        notes = [(words, column.entry()), *decision.notes]
        return replace(decision, settings={"order": order}, choices={}, notes=notes)

    def read(self, column: TextColumn, settings: Mapping[str, Any]) -> Any:
        """Return the times, in UTC or in local time with its offset."""
        import pandas as pd

        if "form" in settings and "times" not in column.memo:
            numbers = pd.to_numeric(column.texts.to_pandas(), errors="coerce").astype(float)
            column.memo["times"] = number_times(numbers.to_numpy(), settings["form"])
        if "form" in settings:
            return pd.Series(column.memo["times"])
        dates = _found(column)
        if dates is None:
            return pd.Series(np.full(len(column.texts), np.datetime64("NaT", "us")))
        return dates.series(settings.get("order", "dayfirst"))


def _found(column: TextColumn) -> LocalDates | None:
    """Return the dates of a column, those of ISO 8601 only if the options say so."""
    is_free = column.requested is not None or column.options.recorded
    if not column.n_present or (column.options.dates == "none" and not is_free):
        return None
    if "dates" not in column.memo:
        only_iso = column.options.dates == "iso" and not is_free
        found = iso_dates(column.texts) or find_dates(column.texts, only_iso=only_iso)
        column.memo["dates"] = found
    dates: LocalDates | None = column.memo["dates"]
    return dates


def _open_order(column: TextColumn, decided: Mapping[str, str], is_local: bool) -> tuple[str, str]:
    """Return the order, and its reason, for dates that are valid in both orders."""
    if decided:
        order = max(ORDERS, key=list(decided.values()).count)
        other = next(name for name, some in decided.items() if some == order)
        return order, f"as in {other!r:.60}"
    dates: LocalDates = column.memo["dates"]
    for orders, words in (
        (dates.rising(), "rise from row to row"), (dates.regular(), "have equal distances"),
    ):  # fmt: skip
        if len(orders) == 1:
            return orders[0], f"because the dates then {words}"
    mark = dates.form.matches[0]["mark"]
    if mark != "/":
        return "dayfirst", f"the usual order with {mark!r}"
    if not is_local:
        reason = "because the file has slashes in dates and no decimal commas"
        return "monthfirst", f"the American order, {reason}"
    return "dayfirst", "the European order, because the file has decimal commas or semicolons"
