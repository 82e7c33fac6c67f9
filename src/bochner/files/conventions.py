"""Conventions of a file, decided by all of its columns: the decimal mark, the order of dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bochner.files.guesses import Guess, Interpretation, PlainNumbers
from bochner.files.local_dates import ORDERS, LocalDates, Order
from bochner.files.local_numbers import LocalNumbers, find_numbers, has_mark
from bochner.files.quantities import Quantities, find_quantities
from bochner.files.reading_options import DATE_KINDS, NUMBER_KINDS, ReadOptions

_FEWEST_DATES = 5
"""Fewest distinct dates whose rising order is evidence: five random dates rise once in 120."""

BY_ENTRIES = "by the entries"
BY_OPTION = "by an option"


@dataclass(frozen=True, slots=True)
class Conventions:
    """The decimal mark and the order of dates of a file; no order if it has no such dates.

    ``orders`` has the order of each column with days and months as numbers, and the reason.
    """

    decimal: str
    order: Order | None
    orders: dict[str, tuple[Order, str]]


def decide(
    guesses: Sequence[Guess], options: ReadOptions, *, has_semicolons: bool
) -> tuple[list[Guess], Conventions]:
    """Return the conventions of a file, and the guesses for its columns that agree with them.

    ``has_semicolons`` is True if semicolons separate the fields, as is usual in countries with
    decimal commas.
    """
    guesses, decimal = list(guesses), options.decimal
    if decimal == "auto":
        guesses = _with_points(guesses, has_semicolons=has_semicolons)
        locals_ = (_local(g.interpretation) for g in guesses)
        votes = Counter(local.decimals for local in locals_ if local is not None)
        decimal = "," if votes[",",] > votes[".",] else "."
    # With points as decimal marks, slashes are more often American than not.
    american = decimal == "." and not has_semicolons
    orders = _orders(guesses, options, american=american)
    counts = Counter(order for order, _ in orders.values())
    most: Order = max(ORDERS, key=lambda some: counts[some])
    order = _explicit(options.dates) or (most if counts else None)
    return guesses, Conventions(decimal, order, orders)


def _local(interpretation: Interpretation | None) -> LocalNumbers | None:
    """Return the numbers of a column whose decimal mark is to be decided."""
    if isinstance(interpretation, Quantities):
        return interpretation.numbers
    return interpretation if isinstance(interpretation, LocalNumbers) else None


def _with_points(guesses: list[Guess], *, has_semicolons: bool) -> list[Guess]:
    """Return guesses in which points of plain numbers may separate thousands.

    Points may group thousands if semicolons separate the fields, or if a column may have decimal
    commas.
    """
    locals_ = (_local(g.interpretation) for g in guesses)
    commas = any(local is not None and "," in local.decimals for local in locals_)
    if not (commas or has_semicolons):
        return guesses
    changed = []
    for some in guesses:
        if isinstance(some.interpretation, PlainNumbers) and some.kind != "decimal point":
            local = find_numbers(some.cleaned, (".", ","))
            some = replace(some, interpretation=local) if local and local.decimals else some
        changed.append(some)
    return changed


_OTHER_MARKS = {",": (",", ".", "decimal point"), ".": (";", ",", "decimal comma")}
"""By the decimal mark of an earlier file: a delimiter with which a later file hardly has that mark,
the mark that its numbers then have, and the kind of such columns."""


def own_kind(texts: object, kind: str | None, options: ReadOptions, delimiter: str) -> str | None:
    """Return the kind of a column of a later file whose decimal mark is not that of the fit.

    Fields that commas separate have no decimal commas, unless some are quoted. Semicolons separate
    fields where commas are decimal marks. Returns None if there is no such evidence.
    """
    if not options.recorded or not (kind is None or kind in NUMBER_KINDS):
        return None
    if delimiter == options.delimiter:  # The mark of the fit went with it
        return None
    recorded = (kind and NUMBER_KINDS[kind]) or options.decimal
    if recorded not in _OTHER_MARKS:
        return None
    other, mark, note = _OTHER_MARKS[recorded]
    has_recorded, has_other = has_mark(texts, recorded), has_mark(texts, mark)
    if delimiter != other or has_recorded or not has_other:
        return None
    if recorded == "." and kind is not None and _are_numbers(texts, recorded):
        return None  # Separators of thousands, as at the fit
    return note if _are_numbers(texts, mark) else None


def _are_numbers(texts: object, mark: str) -> bool:
    """Return whether texts (n,) are numbers or quantities with a decimal mark."""
    if find_numbers(texts, (mark,)) is not None:
        return True
    quantities = find_quantities(texts, (mark,), is_recorded=True)
    return isinstance(quantities, Quantities) and not quantities.unread.any()


def _explicit(dates: str | None) -> Order | None:
    return next((order for order in ORDERS if order == dates), None)


def _orders(
    guesses: Sequence[Guess], options: ReadOptions, *, american: bool
) -> dict[str, tuple[Order, str]]:
    """Return the order of days and months of each column that has them as numbers, and why."""
    orders: dict[str, tuple[Order, str]] = {}
    open_columns: list[tuple[str, LocalDates]] = []
    for some in guesses:
        if (
            not isinstance(some.interpretation, LocalDates)
            or some.interpretation.family != "numeric"
        ):
            continue
        kind = some.kind and DATE_KINDS[some.kind]
        possible = some.interpretation.orders()
        n_present = len(some.cleaned) - some.cleaned.null_count
        if requested := _explicit(kind) or _explicit(options.dates):
            orders[some.name] = requested, BY_OPTION
        elif not some.interpretation.reads(n_present):
            continue  # text, perhaps with a remark
        elif len(possible) == 1:
            orders[some.name] = possible[0], BY_ENTRIES
        else:
            open_columns.append((some.name, some.interpretation))
    decided = [(order, name) for name, (order, reason) in orders.items() if reason == BY_ENTRIES]
    for name, dates in open_columns:
        orders[name] = _open_order(dates, decided, american=american)
    return orders


def _open_order(
    dates: LocalDates, decided: Sequence[tuple[Order, str]], *, american: bool
) -> tuple[Order, str]:
    """Return the order of dates that have a meaning in both, and the reason."""
    if decided:
        counts = Counter(order for order, _ in decided)
        order = max(ORDERS, key=lambda some: counts[some])
        other = next(name for some, name in decided if some == order)
        return order, f"as in {other!r}"
    rising = [order for order in ORDERS if _rises(dates, order)]
    if len(rising) == 1:
        return rising[0], "because the dates then rise from row to row"
    if dates.mark != "/":
        return "dayfirst", f"the usual order with {dates.mark!r}"
    if american:
        return (
            "monthfirst",
            "the American order, because the file has slashes in dates and no decimal commas",
        )
    return "dayfirst", "the European order, because the file has decimal commas or semicolons"


def _rises(dates: LocalDates, order: Order) -> bool:
    times = dates.times(order)
    steps = np.diff(times[~np.isnat(times)])
    zero = np.timedelta64(0)
    return bool((steps >= zero).all() and (steps > zero).sum() >= _FEWEST_DATES - 1)
