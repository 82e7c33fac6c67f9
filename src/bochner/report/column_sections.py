"""Report sections on importance, interactions and effects of columns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any

import numpy as np

from bochner._base.arrays import times_of
from bochner._base.names import listed
from bochner._base.number_texts import counted, number, percent
from bochner.comparison.verdict import LEAST_PAIR, no_pairs, sum_of_shares
from bochner.plot.effects import EffectDisplay
from bochner.plot.rankings import SharesDisplay
from bochner.report.html_blocks import MOST_UNFOLDED, Block, Cell, Figure, Section, Table, drawn
from bochner.report.name_texts import joined, quoted, short
from bochner.report.subject import Subject
from bochner.tables.encodings import is_free_text
from bochner.tables.sensitivity import Effect, VarianceShares

_MOST_BARS = 15
"""Largest number of columns with a bar in the picture; the table lists all columns."""

_LEAST_EFFECT = 0.01
"""Smallest share of the variance for which the effect of a column or pair is drawn."""

_VALUES = {1: 24, 2: 10}
"""Number of grid values of a column's effect, and of each column of a pair."""

_MOST_LEVELS = 3
"""Largest number of text levels named in a sentence."""


def importance_section(subject: Subject) -> Section | None:
    """Return the section on importance and interactions of columns; ``None`` if unknown."""
    shares, pairs = subject.study.importance, subject.study.interactions
    if shares is None:
        return None
    text = (
        "The share of a column is that of the variance of predictions which involves it: how much "
        "predictions change when rows take this column from other rows. ± is one standard error."
    )
    if note := sum_of_shares(float(shares.share.sum())):
        text += f" {note}"
    if subject.n_targets > 1:
        text += " Shares are those of all targets together, in units of their standard deviations."
    figures = [_shares_figure("Importance of columns", shares, importance_sentence(shares))]
    table = _shares_table("Columns by importance", "column", shares)
    folded = replace(table, is_folded=len(table.rows) > MOST_UNFOLDED)
    blocks: list[Block] = [text, figures, folded]
    if pairs is None:
        return Section("importance", "Importance and interactions", blocks)
    is_strong = pairs.share >= LEAST_PAIR
    if is_strong.any():
        names = tuple(compress(pairs.columns, is_strong))
        strong = VarianceShares(names, pairs.share[is_strong], pairs.std_error[is_strong])
        caption = (
            f"{' and '.join(map(quoted, names[0]))} interact most: {_share(strong, 0)} of the "
            "variance of predictions is due to their interaction."
        )
        figures.append(_shares_figure("Interactions of columns", strong, caption))
        n_weak = int(np.sum(~is_strong))
        least = f"less than {100.0 * LEAST_PAIR:.0f} % each"
        note = f"{counted(n_weak, 'more pair')} of important columns: {least}." if n_weak else ""
        table = _shares_table("Interactions of columns", "columns", strong)
        blocks.append(replace(table, note=note))
    else:
        blocks.append(no_pairs(pairs))
    return Section("importance", "Importance and interactions", blocks)


def _share(shares: VarianceShares, place: int) -> str:
    return percent(float(shares.share[place]), float(shares.std_error[place]))


def _shares_figure(title: str, shares: VarianceShares, caption: str) -> Figure:
    names = [joined(name) for name in shares.columns]
    display = SharesDisplay.largest(names, shares.share, shares.std_error, most=_MOST_BARS)
    return drawn(display, title, caption)


def _shares_table(title: str, head: str, shares: VarianceShares) -> Table:
    rows = [
        [Cell(joined(name)), Cell(_share(shares, place), float(shares.share[place]))]
        for place, name in enumerate(shares.columns)
    ]
    return Table(title, (head, "share of variance"), rows)


def importance_sentence(shares: VarianceShares) -> str:
    """Return a sentence on the most important column and its share of the variance."""
    if not len(shares.share) or not shares.share[0] > 0.0:
        return "Predictions depend on no column."
    text = (
        f"{quoted(shares.columns[0])} is the most important column: {_share(shares, 0)} of the "
        "variance of predictions involves it"
    )
    if len(shares.share) > 1 and shares.share[1] > 0.0:
        ratio = float(shares.share[0] / shares.share[1])
        times = f"{ratio:.1f} times" if ratio < 100.0 else "more than 100 times"
        text += f", {times} as much as {quoted(shares.columns[1])}, the next"
    n_none = int(np.sum(shares.share < _LEAST_EFFECT))
    if n_none:
        text += f". {counted(n_none, 'column')} of {len(shares.share)} have less than 1 %"
    return f"{text}."


def effects_section(subject: Subject, most: int, most_pairs: int) -> Section | None:
    """Return the section with averaged predictions along the most important columns and pairs."""
    study = subject.study
    if study.importance is None:
        return None
    names = [name for name in _above(study.importance, most) if name in subject.columns]
    states: list[Any] = study.model.encoder_.columns_
    free = [state["name"] for state in states if is_free_text(state)]
    cyclic = [s["name"] for s in states if {"hour", "weekday"} & {*s.get("cycles", ())}]
    drawn_names = [(name,) for name in names]
    if study.interactions is not None:
        drawn_names += _above(study.interactions, most_pairs)
    figures = [
        _figure(subject, study.model.effect(*each, n_values=_VALUES[len(each)]))
        for each in drawn_names
        if not {*each} & {*cyclic, *free}
    ]
    if not figures:
        return None
    text = (
        "Curves are predictions averaged over rows that all get the value on the axis and keep "
        "their other columns."
    )
    if not study.is_classification:
        text += (
            " Bands and bars lie between the quartiles of the rows' own curves, each shifted to "
            "the common average: they are wide where other columns change the effect, and are no "
            "confidence intervals."
        )
    if left_out := [quoted(name) for name in names if name in cyclic]:
        text += f" Effects of dates with hours or weekdays, {listed(left_out)}, are not drawn."
    if left_out := [quoted(name) for name in names if name in free]:
        text += f" Free text, {listed(left_out)}, has no curve: its parts have effects together."
    return Section("effects", "Effects of columns", [text, figures])


def _above(shares: VarianceShares, most: int) -> list[Any]:
    n_above = int(np.sum(shares.share > _LEAST_EFFECT))
    return list(shares.columns[: min(n_above, most)])


def _figure(subject: Subject, effect: Effect) -> Figure:
    if effect.mean.ndim > len(effect.columns) and not subject.study.is_classification:
        k = subject.study.number  # The target index, if the model has several targets
        parts = (getattr(effect, part)[..., k] for part in ("mean", "lower", "upper"))
        effect = Effect(effect.columns, effect.values, *parts)
    dates = [name for name in effect.columns
             if name in subject.columns and subject.columns[name].kind == "date"]  # fmt: skip
    label = "average prediction" if effect.classes is None else "average probability"
    title = subject.titled(f"Effect of {' and '.join(map(short, effect.columns))}")
    return drawn(EffectDisplay(effect, dates, label), title, effect_sentence(effect, dates))


def effect_sentence(effect: Effect, dates: Sequence[str] = ()) -> str:
    """Return a sentence on where averaged predictions are smallest and largest."""
    means, averaged = effect.mean.reshape(-1), "prediction"
    shown: Callable[[float], str] = partial(number, digits=3)
    if effect.classes is not None:
        cells = effect.mean.reshape(-1, len(effect.classes))
        k = 1 if len(effect.classes) == 2 else int(np.argmax(np.ptp(cells, axis=0)))
        means, averaged, shown = cells[:, k], f"probability of {quoted(effect.classes[k])}", percent
    shape = tuple(map(len, effect.values))
    low, high = (
        f"{shown(float(means[place]))} ({_where(effect, np.unravel_index(place, shape), dates)})"
        for place in (np.argmin(means), np.argmax(means))
    )
    return f"The average {averaged} ranges from {low} to {high}."


def _where(effect: Effect, place: Sequence[np.intp], dates: Sequence[str]) -> str:
    """Describe a grid point by its column values, such as "at 12" or "'hour' 12 and 'day' 3"."""
    values = zip(effect.columns, effect.values, place, strict=True)
    shown = [
        (quoted(name), _value(axis_values[i], name in dates)) for name, axis_values, i in values
    ]
    if len(shown) == 1:
        return f"at {shown[0][1]}"
    return " and ".join(f"{name} {value}" for name, value in shown)


def _value(value: object, is_date: bool) -> str:
    if isinstance(value, str):
        return "other or missing" if value == "<unknown>" else quoted(value)
    size = float(value)  # type: ignore[arg-type]
    if np.isnan(size):
        return "missing"
    if is_date:
        return str(times_of(np.array([size]))[0].astype("M8[D]"))
    return number(size)
