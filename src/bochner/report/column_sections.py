"""Report sections on importance, interactions and effects of columns."""

from calendar import day_name
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import as_array, times_of
from bochner._base.names import listed
from bochner._base.number_texts import may_be_years, number, percent
from bochner.comparison.verdict import LEAST_PAIR, no_pairs, of_used_columns, sum_of_shares
from bochner.files.columns import clock_times
from bochner.plot.effects import EffectDisplay
from bochner.plot.rankings import SharesDisplay
from bochner.report.html_blocks import (
    MOST_UNFOLDED,
    Block,
    Figure,
    Section,
    Table,
    cells,
    drawn,
    joined,
    quoted,
    short,
)
from bochner.report.subject import Subject
from bochner.tables.encodings import is_free_text
from bochner.tables.sensitivity import Effect, VarianceShares

_MOST_BARS = 15
"""Largest number of columns with a bar in the picture; the table lists all columns."""

_LEAST_EFFECT = 0.01
"""Smallest share of the variance for which the effect of a column or pair is drawn."""

_VALUES = {1: 24, 2: 10}
"""Number of grid values of a column's effect, and of each column of a pair."""

_QUANTILES = (0.01, *np.linspace(0.1, 0.9, 9).tolist(), 0.99)
"""Quantiles of the rows that are ticks of a curve; maps end at the outer ones."""

_FEW_LEVELS = 2
"""Number of levels up to which a sentence says as much as a picture."""

_MOST_TIMES = 1_000
"""Largest number of times whose effects are averaged by weekday or hour, those of the model."""

_THURSDAY = 3  # Weekday of 1 January 1970, Monday being zero
_ROOM, _NEAR_ZERO = 0.05, 0.6
"""Margin of an axis, and ratio of the smallest to the largest number up to which an axis from zero
leaves the curves 40 % of its height."""

_MOST_COMPUTED = 200
"""Largest number of levels whose effects are computed to find the extreme ones."""


def importance_section(subject: Subject) -> Section | None:
    """Return the section on importance and interactions of columns; ``None`` if unknown."""
    shares, pairs = subject.study.importance, subject.study.interactions
    if shares is None:
        return None
    shares = of_used_columns(shares)
    text = (
        "The share of a column is the share of the variance of predictions that depends on it: how "
        "much predictions change when rows take this column from other rows. ± is one standard "
        "error."
    )
    if note := sum_of_shares(float(shares.share.sum())):
        text += f" {note}"
    if subject.n_targets > 1:
        text += " Shares count all targets together, in units of their standard deviations."
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
            "variance of predictions comes from their interaction."
        )
        figures.append(_shares_figure("Interactions of columns", strong, caption))
        table = _shares_table("Interactions of columns", "columns", strong)
        blocks.append(table)
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
    texts = [_share(shares, place) for place in range(len(shares.columns))]
    columns = {
        head: cells(map(joined, shares.columns)),
        "share of variance": cells(texts, list(shares.share)),
    }
    return Table.of(title, columns)


def importance_sentence(shares: VarianceShares) -> str:
    """Return a sentence on the most important column and its share of the variance."""
    if not len(shares.share) or not shares.share[0] > 0.0:
        return "Predictions depend on no column."
    text = (
        f"The most important column is {quoted(shares.columns[0])}: {_share(shares, 0)} of the "
        "variance of predictions depends on it"
    )
    if len(shares.share) > 1 and shares.share[1] > 0.0:
        ratio = float(shares.share[0] / shares.share[1])
        times = f"{ratio:.1f} times" if ratio < 100.0 else "more than 100 times"
        text += f", {times} as much as on {quoted(shares.columns[1])}"
    return f"{text}."


def effects_section(subject: Subject, most: int, most_pairs: int) -> Section | None:
    """Return the section with averaged predictions along the most important columns and pairs."""
    study = subject.study
    if study.importance is None:
        return None
    names = [name for name in _above(study.importance, most) if name in subject.columns]
    states: list[Any] = study.model.encoder_.columns_
    free = [state["name"] for state in states if is_free_text(state)]
    cycles = {s["name"]: {"hour", "weekday"} & {*s.get("cycles", ())} for s in states}
    cyclic = [name for name in names if cycles[name]]
    drawn_names = [(name,) for name in names]
    if study.interactions is not None:
        drawn_names += _above(study.interactions, most_pairs)
    computed = [
        _display(subject, *_computed(subject, each))
        for each in drawn_names
        if not {*each} & {*cyclic, *free}
    ]
    zones = {state["name"]: state.get("zone") for state in states}
    for name in cyclic:
        along = study.model.effect(name, n_values=_MOST_TIMES)
        for cycle in sorted(cycles[name]):
            computed.append(_display(subject, _by_cycle(along, cycle, zones[name]), ""))
    if not computed:
        return None
    low, high = _common_limits([display.span for display, _ in computed], study.is_classification)
    figures, sentences = list[Figure](), list[str]()
    for display, caption in computed:
        effect, name = display.effect, " and ".join(map(short, display.effect.columns))
        is_short = len(display.effect.columns) == 1 and len(effect.values[0]) <= _FEW_LEVELS
        if is_short and effect.values[0].dtype.kind == "O":
            sentences.append(f"{name}: {caption}")
            continue
        if not np.isnan(low + sum(display.span)):
            display = replace(display, limits=(low, high))
        figures.append(drawn(display, subject.titled(f"Effect of {name}"), caption))
    text = (
        "A curve is the average prediction if all rows had the value on the axis and kept their "
        "other columns. The thin line is the average prediction of the test rows, and ticks at the "
        "bottom are the quantiles of their values: 1 %, 10 %, 20 % to 90 % and 99 %. All curves "
        "have the same scale."
    )
    if not study.is_classification:
        text += (
            " Bands and bars show how much the effect differs between rows: half of the rows' own "
            "curves, shifted to the common average, lie within. They are wide where other columns "
            "change the effect. They are no confidence intervals."
        )
    for name in cyclic:
        text += (
            f" {quoted(name)} has the averages of its {listed(sorted(cycles[name]))}, because a "
            "curve along the time would go up and down."
        )
    if left_out := [quoted(name) for name in names if name in free]:
        text += f" Free text, {listed(left_out)}, has no curve."
    blocks: list[Block] = [text, sentences, figures]
    return Section("effects", "Effects of columns", [block for block in blocks if block])


def _common_limits(spans: Sequence[tuple[float, float]], are_classes: bool) -> tuple[float, float]:
    """Return the ends of an axis for all curves, of classes from zero if it does not flatten."""
    ends = as_array(spans)[~np.isnan(spans).any(axis=1)]
    if not len(ends):
        return np.nan, np.nan
    low, high = float(ends.min()), float(ends.max())
    room = _ROOM * (high - low) or 1.0
    return 0.0 if are_classes and 0.0 <= low < _NEAR_ZERO * high else low - room, high + room


def _above(shares: VarianceShares, most: int) -> list[Any]:
    n_above = int(np.sum(shares.share > _LEAST_EFFECT))
    return list(shares.columns[: min(n_above, most)])


def _computed(subject: Subject, names: Sequence[str]) -> tuple[Effect, str]:
    """Return the effect of columns; of many levels, those with extreme means or many rows."""
    most, column = _VALUES[len(names)], subject.columns.get(names[0])
    if len(names) > 1 or column is None or column.kind != "text":
        effect = subject.study.model.effect(*names, n_values=most)
        is_cut = any(v.dtype.kind == "O" and len(v) == most for v in effect.values)
        return effect, f" At most {most} levels of a column, the most frequent, are shown." * is_cut
    effect = subject.study.model.effect(*names, n_values=_MOST_COMPUTED)
    if (n_levels := len(effect.values[0])) <= most:
        return effect, ""
    means = effect.mean.reshape(n_levels, -1)
    order = np.argsort(means[:, int(np.argmax(np.ptp(means, axis=0)))], kind="stable")
    part, entries = most // 3, column.texts()
    counts = np.array([np.sum(entries == level) for level in effect.values[0]])
    frequent = order[part:-part][np.argsort(-counts[order[part:-part]], kind="stable")[:part]]
    rows = np.sort(np.r_[order[:part], order[-part:], frequent])
    curves: dict[str, Any] = {n: getattr(effect, n)[rows] for n in ("mean", "lower", "upper")}
    shown = replace(effect, values=(effect.values[0][rows],), **curves)
    return shown, (
        f" Of {n_levels} levels, the {part} with the lowest and the {part} with the highest "
        f"averages are shown, and the {part} most frequent others."
    )


def _by_cycle(effect: Effect, cycle: str, zone: str | None) -> Effect:
    """Return an effect along times, averaged over those of each weekday or hour."""
    times = times_of(effect.values[0])
    times = clock_times(times, zone) if zone else times
    phases = (times.astype("M8[D]").astype(np.int64) + _THURSDAY) % 7
    names: NDArray[Any] = np.array(day_name[:], dtype=object)
    if cycle == "hour":
        phases, names = times.astype("M8[h]").astype(np.int64) % 24, np.arange(24.0)
    present = np.unique(phases[~np.isnat(times)])
    rows = [(phases == phase) & ~np.isnat(times) for phase in present]
    parts = {
        part: as_array([getattr(effect, part)[each].mean(axis=0) for each in rows])
        for part in ("mean", "lower", "upper")
    }
    columns = (f"{cycle} of {effect.columns[0]}",)
    return replace(effect, columns=columns, values=(names[present],), dates=(), **parts)


def _display(subject: Subject, effect: Effect, note: str) -> tuple[EffectDisplay, str]:
    if effect.mean.ndim > len(effect.columns) and not subject.study.is_classification:
        k = subject.study.number  # The target index, if the model has several targets
        parts = (getattr(effect, part)[..., k] for part in ("mean", "lower", "upper"))
        effect = Effect(effect.columns, effect.values, *parts)
    dates = [name for name in effect.columns
             if name in subject.columns and subject.columns[name].kind == "date"]  # fmt: skip
    label = "average prediction" if effect.classes is None else "average probability"
    outcome, average = subject.study.own, np.nan
    if outcome.classes is None:
        average = float(outcome.prediction.mean())
    elif len(outcome.classes) == 2 and outcome.probability is not None:
        if effect.classes is not None and effect.classes[1] != outcome.classes[1]:
            effect = replace(effect, mean=effect.mean[..., ::-1], classes=outcome.classes)
        average = float(outcome.probability[:, 1].mean())
    quantiles = {
        name: np.nanquantile(column.values[column.present], _QUANTILES)
        for name in effect.columns
        if (column := subject.columns.get(name)) is not None
        and column.kind in ("numeric", "date")
        and column.present.any()
    }
    caption = f"{effect_sentence(effect, dates)}{note}"
    return EffectDisplay(effect, dates, label, average, None, quantiles), caption


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
        (quoted(name), _value(axis_values, int(i), name in dates))
        for name, axis_values, i in values
    ]
    if len(shown) == 1:
        return f"at {shown[0][1]}"
    return " and ".join(f"{name} {value}" for name, value in shown)


def _value(axis_values: NDArray[Any], place: int, is_date: bool) -> str:
    """Return one of the values of a column as a text; years have no comma."""
    value = axis_values[place]
    if isinstance(value, str):
        return "other or missing" if value == "<unknown>" else quoted(value)
    if np.isnan(size := float(value)):
        return "missing"
    if is_date:
        return str(times_of(np.array([size]))[0].astype("M8[D]"))
    present = axis_values[np.isfinite(axis_values)]
    return number(size).replace(",", "," * (not may_be_years(present)))
