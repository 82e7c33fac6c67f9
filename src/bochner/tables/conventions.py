"""Conventions of a file, decided by all of its columns: the decimal mark, the order of dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bochner.tables.guesses import Guess, PlainNumbers
from bochner.tables.local_dates import ORDERS, LocalDates, Order
from bochner.tables.local_numbers import LocalNumbers, find_numbers
from bochner.tables.options import DATE_KINDS, ReadOptions

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
        votes = Counter(
            g.interpretation.decimals for g in guesses if isinstance(g.interpretation, LocalNumbers)
        )
        decimal = "," if votes[",",] > votes[".",] else "."
    # With points as decimal marks, slashes are more often American than not.
    american = decimal == "." and not has_semicolons
    orders = _orders(guesses, options, american=american)
    counts = Counter(order for order, _ in orders.values())
    most: Order = max(ORDERS, key=lambda some: counts[some])
    order = _explicit(options.dates) or (most if counts else None)
    return guesses, Conventions(decimal, order, orders)


def _with_points(guesses: list[Guess], *, has_semicolons: bool) -> list[Guess]:
    """Return guesses in which points of plain numbers may separate thousands.

    Points may group thousands if semicolons separate the fields, or if a column may have decimal
    commas.
    """
    commas = any(
        isinstance(g.interpretation, LocalNumbers) and "," in g.interpretation.decimals
        for g in guesses
    )
    if not (commas or has_semicolons):
        return guesses
    changed = []
    for column in guesses:
        if isinstance(column.interpretation, PlainNumbers) and column.kind != "decimal point":
            local = find_numbers(column.cleaned, (".", ","))
            column = replace(column, interpretation=local) if local and local.decimals else column
        changed.append(column)
    return changed


def _explicit(dates: str | None) -> Order | None:
    return next((order for order in ORDERS if order == dates), None)


def _orders(
    guesses: Sequence[Guess], options: ReadOptions, *, american: bool
) -> dict[str, tuple[Order, str]]:
    """Return the order of days and months of each column that has them as numbers, and why."""
    orders: dict[str, tuple[Order, str]] = {}
    open_columns: list[tuple[str, LocalDates]] = []
    for column in guesses:
        if (
            not isinstance(column.interpretation, LocalDates)
            or column.interpretation.family != "numeric"
        ):
            continue
        kind = column.kind and DATE_KINDS[column.kind]
        possible = column.interpretation.orders()
        n_present = len(column.cleaned) - column.cleaned.null_count
        if requested := _explicit(kind) or _explicit(options.dates):
            orders[column.name] = requested, BY_OPTION
        elif not column.interpretation.reads(n_present):
            continue  # text, perhaps with a remark
        elif len(possible) == 1:
            orders[column.name] = possible[0], BY_ENTRIES
        else:
            open_columns.append((column.name, column.interpretation))
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
        order = max(ORDERS, key=lambda decided_order: counts[decided_order])
        other = next(name for decided_order, name in decided if decided_order == order)
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
