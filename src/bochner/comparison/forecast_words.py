"""Sentences and facts on forecasts, for the screen and for reports."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner._base.number_texts import (
    PLAIN,
    PLAIN_ENTRIES,
    counted,
    may_be_years,
    number,
    percent,
    whole_percents,
)
from bochner.comparison.contenders import OURS
from bochner.comparison.forecast_fits import (
    MOST_COMPARED,
    OriginScores,
    SeriesForecast,
    best_other,
    mean_scores,
    on_calendar,
    scaled_measure,
)
from bochner.comparison.outcomes import calibrated_range
from bochner.files.joined_dates import fiscal_year
from bochner.series.calendars import WEEKEND
from bochner.series.count_law import CountLaw
from bochner.series.fitted_series import FittedSeries
from bochner.series.series_law import LEAST_PROBABLE, SeriesLaw
from bochner.series.value_transformations import component_scale

_ALIKE = 0.05  # Relative difference of mean errors below which no method is called better
_DIGITS = 3  # Number of significant digits of the smallest error
_SELDOM = 0.05  # Share of zeros below which they are not stated
_WHOLE = 100.0  # Size from which numbers have no decimals
_LARGE = 0.1  # Relative difference of errors that is stated if all past forecasts have its sign
_MOST_RUNS = 4  # Largest number of groups of steps ahead with errors of their own
_FEWEST_FORECASTS = 2  # Smallest number of past forecasts that have a standard error
_CLOSE = 0.08  # Largest difference of a coverage from its level that is not worth a remark
_INDEPENDENT = 4  # Number of independent values per past forecast, whose errors are correlated
_SCALES = {
    "floor": "values of zero or more",
    "sqrt": "square roots of the values",
    "log": "logarithms of the values",
    "counts": "counts, with effects that multiply their mean",
}
"""Description of the modelled quantity, by transformation."""

_CERTAIN = 0.995  # Smallest probability of a season that is not stated

NO_SEASON = f"none with a probability of {percent(LEAST_PROBABLE)} or more"
"""Text of a series without seasons."""

_LONGER_UNITS = {"hour": ("day", 47), "day": ("week", 14), "month": ("year", 12)}
"""Units of summaries, and the longest forecast without one."""

_MOST_DAYS = 45  # Longest forecast of days with a summary by week instead of month
_ONCE = " (a day of the calendar is forecast from its second time on)"
_MANY = 5  # Number of outliers without known inputs beyond which holidays are suggested
_MOST_BREAKS = 4  # Largest number of outliers or shifts that are listed


def shown_times(times: Any) -> list[str]:
    """Return times of a pandas index as text; dates at midnight have no time of day."""
    if hasattr(times, "normalize"):  # Periods or dates
        if (times == times.normalize()).all():
            return [time.strftime("%Y-%m-%d") for time in times]
        return [time.isoformat(sep=" ", timespec="minutes") for time in times]
    if times.dtype.kind == "f" and may_be_years(np.floor(times)):
        return [f"{time:.7g}" for time in times]
    return [f"{time:.10g}" if times.dtype.kind == "f" else str(time) for time in times]


def forecast_times(one: SeriesForecast) -> list[str]:
    """Return the times of a forecast as texts, fiscal years as in the file."""
    if one.fiscal:
        return [fiscal_year(time.year, one.fiscal) for time in one.times]
    return shown_times(one.times)


def model_facts(series: FittedSeries, index: object = None) -> dict[str, str]:
    """Return facts by name on the model of a series; with an index, breaks have their times."""
    law, trends = series.law, series.law.trends()
    shares = zip(trends, whole_percents(list(trends.values())), strict=True)
    facts = {
        "Seasons": ", ".join(_seasons(law)) or NO_SEASON,
        "Trend": ", ".join(f"{trend} ({share} %)" for trend, share in shares if share),
    }
    if series.patterns:
        facts["Calendar"] = "; ".join(pattern.name for pattern in series.patterns)
    if law.transformation in _SCALES:
        facts["Scale"] = _SCALES[law.transformation]
    if len(law.outliers):
        is_unknown = len(law.outliers) > _MANY and len(series.patterns) == law.inputs.shape[1]
        advice = "; --holidays COUNTRY may explain them" if is_unknown else ""
        facts["Outliers"] = f"{_breaks(law, law.outliers, index)}, ignored{_ONCE}{advice}"
    if len(law.shifts):
        facts["Shifts"] = f"of the level at {_breaks(law, law.shifts, index)}"
    return facts


def _breaks(law: SeriesLaw | CountLaw, times: Array, index: Any) -> str:
    """Return a list of the first times of outliers or shifts, or their number without an index."""
    if index is None:
        return counted(len(times), "time")
    return _listed(shown_times(index[law.positions(times)]))


def _listed(texts: Sequence[str]) -> str:
    rest = len(texts) - _MOST_BREAKS
    return ", ".join(texts[:_MOST_BREAKS]) + (f" and {rest} more" if rest > 0 else "")


def _seasons(law: SeriesLaw | CountLaw) -> list[str]:
    """Describe the probable seasons and regular cycles, the largest first."""
    known = {period.name: law.probability(period.name) for period in law.periods()}
    return [
        name if share > _CERTAIN else f"{name} (probability {percent(share)})"
        for name, share in known.items()
    ]


def number_of_values(one: SeriesForecast) -> str:
    """Return the number of known values, and that of times if some are missing."""
    n_values, n_times = one.values.count(), len(on_calendar(one.values))
    of = f" in {counted(n_times, one.unit)}" if n_times > n_values else ""
    return f"{counted(n_values, 'value')}{of}"


def missing_times(one: SeriesForecast) -> str:
    """Return the number of missing values and their times."""
    values = on_calendar(one.values)
    is_missing = ~np.isfinite(values.to_numpy(dtype=np.float64))
    if not is_missing.any():
        return ""
    starts = np.flatnonzero(is_missing & ~np.concatenate(([False], is_missing[:-1])))
    ends = np.flatnonzero(is_missing & ~np.concatenate((is_missing[1:], [False])))
    firsts, lasts = (shown_times(values.index[places[:_MOST_BREAKS]]) for places in (starts, ends))
    runs = [a if a == b else f"{a} to {b}" for a, b in zip(firsts, lasts, strict=True)]
    rest = len(starts) - len(runs)
    runs += [counted(rest, "further stretch", "further stretches")] if rest else []
    missing, verb = int(is_missing.sum()), "is" if is_missing.sum() == 1 else "are"
    return f"{missing:,} of {counted(len(values), one.unit)} {verb} missing: {', '.join(runs)}"


def outlook(one: SeriesForecast, level: float, steps: slice = slice(None)) -> Array | None:
    """Return medians and intervals (2, 3) of the mean of all values and of their total.

    They are those of joint draws of some steps; None without draws.
    """
    if one.paths is None or not np.isfinite(one.paths).all():
        return None
    paths, ends = one.paths[:, steps], 0.5 + 0.5 * level * np.array([0.0, -1.0, 1.0])
    mean = np.quantile(paths.mean(axis=1), ends)
    return as_array([mean, paths.shape[1] * mean])


def extremes(one: SeriesForecast) -> dict[str, int]:
    """Return the steps, counted from zero, of the lowest and the highest forecast."""
    return {"lowest": int(np.argmin(one.mean)), "highest": int(np.argmax(one.mean))}


def _extremes_text(one: SeriesForecast) -> str:
    """Return the lowest and the highest forecast with their intervals and times."""
    days, place = getattr(one.times, "day_of_week", None), "on" if one.unit == "day" else "at"
    if one.unit == "week" and days is not None:
        place = f"in the week {'to' if days[0] >= WEEKEND else 'from'}"
    texts, times, steps = [], forecast_times(one), extremes(one)
    if len({one.shown(one.mean[i]) for i in steps.values()}) == 1:
        steps = {"every forecast": len(times) - 1}
    for name, i in steps.items():
        value, *ends = (one.shown(law[i]) for law in (one.mean, one.lower, one.upper))
        texts.append(f"{name} {value} ({' to '.join(ends)}) {place} {times[i]}")
    return ", ".join(texts)


def outlook_sentence(one: SeriesForecast, level: float) -> str:
    """Return the forecast of all steps together in words; empty without draws."""
    whole, n, unit = outlook(one, level), len(one.mean), one.unit
    if whole is None:
        return ""
    mean, total = whole
    paths = cast(Array, one.paths)
    about, *ends = _rounded(mean, mean)
    share, sums = float(np.mean(paths == 0.0)), _rounded(total, total)
    if np.array_equal(paths, np.round(paths)):  # Draws of a law of counts
        sums = [f"{value:,.0f}" for value in total]
    each = f"{'an' if unit == 'hour' else 'a'} {unit}"
    zeros = f"; {each} is zero with probability {percent(share)}" if share > _SELDOM else ""
    if n == 1:
        within = f"{percent(level)} from {ends[0]} to {ends[1]}"
        return f"The next {unit}: about {about} ({within}){zeros}."
    in_all = f"; {sums[0]} in all ({sums[1]} to {sums[2]})" if one.are_counts else ""
    average = f"{about} {each} on average ({100.0 * level:g} % interval {ends[0]} to {ends[1]})"
    return f"The next {counted(n, unit)}: about {average}, {_extremes_text(one)}{zeros}{in_all}."


def without(n_refused: int) -> str:
    """Return the end of a sentence on series that have no forecast; empty for zero."""
    verb = "has" if n_refused == 1 else "have"
    return f", without {n_refused} series that {verb} no forecast" if n_refused else ""


def panel_sentence(forecasts: Sequence[SeriesForecast], level: float, n_refused: int = 0) -> str:
    """Return the total of several series of counts in words; empty without common times."""
    first, rng = forecasts[0], np.random.default_rng(0)
    if not all(one.are_counts and one.times.equals(first.times) for one in forecasts):
        return ""
    paths = [rng.permutation(cast(Array, one.paths).sum(axis=1)) for one in forecasts]
    law = np.quantile(np.sum(paths, axis=0), 0.5 + 0.5 * level * np.array([0.0, -1.0, 1.0]))
    about, *ends = _rounded(law, law)
    interval = f"{100.0 * level:g} % interval {' to '.join(ends)}, if the series are independent"
    steps = counted(len(first.mean), first.unit)
    of = f"{steps} of {len(forecasts)} series"
    return f"The next {of}: about {about} in all ({interval}){without(n_refused)}."


def _fixed(values: Sequence[float], size: float, digits: int, sign: str = "") -> list[str]:
    """Return numbers rounded to a number of significant digits of a size."""
    if not PLAIN[0] <= size < PLAIN_ENTRIES[1]:
        return [number(value, digits) for value in values]
    decimals = digits - 1 - int(np.floor(np.log10(size)))
    form = f"{sign},.{max(0, decimals)}f"
    texts = [f"{round(value, decimals) + 0.0:{form}}" for value in values]
    return [text.replace("-", "\u2212").replace("nan", "\u2013") for text in texts]


def _rounded(values: Any, law: Any) -> list[str]:
    """Return values with two digits of the width of the interval in ``law`` (3,)."""
    return _fixed(list(map(float, values)), float(law[2] - law[1]), 2)


def same_digits(values: Sequence[float]) -> list[str]:
    """Return numbers with equally many decimals, which give the smallest three digits."""
    sizes = [abs(value) for value in values if np.isfinite(value) and value]
    size = min(min(sizes, default=1.0), _WHOLE)
    return _fixed(values, size, _DIGITS)


def signed(values: Sequence[float], unit: str = "") -> list[str]:
    """Return numbers with signs, rounded to two digits of the largest one, or to whole numbers."""
    size = max(max(map(abs, values), default=1.0), PLAIN[0])
    texts = _fixed(values, min(size, 10.0), 2, "+")
    return [f"{text} {unit}".strip() for text in texts]


def input_rows(one: SeriesForecast, series: FittedSeries, level: float) -> list[list[str]]:
    """Return rows with the effect of each input or day and its interval, the largest first."""
    scale, by_name = component_scale(series.law.transformation), series.effects(level)
    effects, unit = np.array(list(by_name.values())), ""
    if scale == "log":
        effects, unit = 100.0 * np.expm1(effects), "%"
    elif scale == "sqrt":  # At the mean of the forecast
        root = np.sqrt(max(float(np.mean(one.mean)), 0.0))
        effects = np.maximum(root + effects, 0.0) ** 2 - root**2
    order = np.argsort(-np.abs(effects[:, 0]), kind="stable")
    names = list(by_name)
    return [[names[i], *signed(effects[i].tolist(), unit)] for i in order]


def period_rows(one: SeriesForecast, level: float) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of a long forecast by day, week, month or year; no rows if short."""
    n, times = len(one.times), cast(Any, one.times)  # Dates or periods if they have years
    usual, fewest = _LONGER_UNITS.get(one.unit, ("", n))
    if n <= fewest or outlook(one, level) is None or not hasattr(times, "year"):
        return [], []
    unit = "month" if usual == "week" and n > _MOST_DAYS else usual
    clock, code = times.tz_localize(None) if getattr(times, "tz", None) else times, unit[0].upper()
    labels = clock.to_period(code) if hasattr(clock, "to_period") else clock.asfreq(code)
    within = f"{100.0 * level:g} % interval"
    heads = [unit, f"{one.unit}s", f"mean per {one.unit}", f"{within} of the mean"]
    heads += ["total", f"{within} of the total"] if one.are_counts else []
    runs = [(label, np.flatnonzero(labels == label)) for label in labels.unique()]
    names = [str(label.start_time.date() if unit == "week" else label) for label, _ in runs]
    laws: Any = np.array([outlook(one, level, slice(run[0], run[-1] + 1)) for _, run in runs])
    columns = [names, [str(len(run)) for _, run in runs]]
    for part in laws.swapaxes(0, 1)[: 1 + one.are_counts]:
        texts = [_rounded(values, np.median(part, axis=0)) for values in part]
        columns += [[text[0] for text in texts], [f"{text[1]} to {text[2]}" for text in texts]]
    return heads, [list(row) for row in zip(*columns, strict=True)]


def error_rows(scores: OriginScores) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the errors of all methods of one series, the smallest first."""
    names, ours, measures = scores.methods, scores.error(OURS), scores.measures
    columns = [same_digits(list(map(measure, names))) for measure in measures.values()]
    if not scores.are_counts:
        columns.append([percent(0.01 * scores.smape(name), digits=1) for name in names])
    columns.append([_relative(scores.error(name), ours) for name in names])
    columns[-1][names.index(OURS)] = ""
    heads = ["method", *measures, *["sMAPE"][scores.are_counts :], f"error relative to {OURS}"]
    return heads, [list(row) for row in zip(names, *columns, strict=True)]


def _relative(error: float, reference: float) -> str:
    return signed([100.0 * (error / reference - 1.0) if reference else np.nan], "%")[0]


def horizon_rows(scores: OriginScores) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the errors of the model by the number of steps ahead."""
    other, runs = best_other([scores]), np.array_split(np.unique(scores.steps), _MOST_RUNS)
    runs = [run for run in runs if len(run)]
    parts = [scores.part(np.isin(scores.steps, run)) for run in runs]
    names = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    sizes = [(one.error(OURS), one.scaled(OURS), float(one.crps.mean())) for one in parts]
    errors, scaled, crps = (same_digits(column) for column in zip(*sizes, strict=True))
    shares = [[percent(0.01 * o.smape(OURS), digits=1), percent(o.coverage)] for o in parts]
    changes = [_relative(one.error(other), one.error(OURS)) for one in parts]
    first, _, last = scores.measures
    heads = ["steps ahead", first, last, "CRPS", *["sMAPE", "coverage"][scores.are_counts :]]
    rows = zip(names, errors, scaled, crps, shares, changes, strict=True)
    texts = [[*row, *pair[scores.are_counts :], change] for *row, pair, change in rows]
    return [*heads, f"\u201c{other}\u201d relative to {OURS}"], texts


def series_rows(
    forecasts: Sequence[tuple[SeriesForecast, str, OriginScores | None]], level: float
) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of totals or means of several forecasts, and of their scaled errors.

    Each series has its forecast, the text of its last time and its errors.
    """
    scores = [each for *_, each in forecasts if each is not None]
    are_counts = all(one.are_counts for one, *_ in forecasts)
    what = "total" if are_counts else "mean"
    heads = ["series", "until", what, f"{100.0 * level:g} % from", "to", "last forecast"]
    rows = []
    for one, until, _ in forecasts:
        whole, texts = outlook(one, level), ["\u2013"] * 3
        if whole is not None:  # There are draws
            texts = _rounded(whole[int(are_counts)], whole[int(are_counts)])
        rows.append([one.name, until, *texts, one.shown(float(one.mean[-1]))])
    if scores:
        other, measure = best_other(scores), scaled_measure(scores)
        heads += [measure, f"{measure} of {other}", "coverage"]
        sizes = [(s.scaled(OURS), s.scaled(other)) if s else (np.nan,) * 2 for *_, s in forecasts]
        *means, share = mean_scores(scores)
        columns = [same_digits(column) for column in zip(*sizes, means, strict=True)]
        shares = [percent(np.nan if s is None else s.coverage) for *_, s in forecasts]
        rows.append([f"mean of {len(scores)}", *[""] * 5])
        rows = [
            [*row, *texts]
            for row, *texts in zip(rows, *columns, [*shares, percent(share)], strict=True)
        ]
    return heads, rows


def forecast_verdict(scores: Collection[OriginScores]) -> str:
    """Return a sentence that compares past forecast errors with those of the best other method."""
    if not scores:
        return "The series are too short to measure forecasts of their last values."
    sizes, what = mean_scores(scores)[:2], best_other(scores)
    unit = f"mean {scaled_measure(scores)}"
    if len(scores) == 1:
        (only,) = scores
        sizes, unit = (only.error(OURS), only.error(what)), next(iter(only.measures))
    if not np.isfinite(sizes).all() or not sizes[0]:
        return "Past forecasts could not be compared with those of other methods."
    change, (ours, other) = sizes[1] / sizes[0] - 1.0, same_digits(sizes)
    how = f"{percent(abs(change))} {'smaller' if change < 0.0 else 'larger'}"
    how = "about as large" if abs(change) <= _ALIKE else how
    if abs(change) > _ALIKE and not _is_settled(scores, what, change):
        n = sum(each.n_origins for each in scores)
        how += f", a difference that {counted(n, 'past forecast')} do{'es' * (n == 1)} not settle"
    best = f"that of the best other method, \u201c{what}\u201d, is {other}"
    unit = "root mean squared error" if unit == "RMSE" else unit
    return f"Past forecasts have a {unit} of {ours}; {best}, {how}."


def _is_settled(scores: Collection[OriginScores], other: str, change: float) -> bool:
    """Return whether errors differ by two standard errors, or alike in all past forecasts."""
    gaps = []
    for one in scores:
        unit = 1.0 if len(scores) == 1 else one.scale
        size: Any = np.square if one.are_counts else np.abs
        gap = size(one.errors[OURS] / unit) - size(one.errors[other] / unit)
        gaps += [gap[one.origins == origin].mean() for origin in np.unique(one.origins)]
    gaps = [gap for gap in gaps if np.isfinite(gap)]
    if len(gaps) < _FEWEST_FORECASTS:
        return False
    mean, error = np.mean(gaps), np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    agree = np.all(np.sign(gaps) == np.sign(mean)) and abs(change) > _LARGE
    return bool(abs(mean) > 2.0 * error or agree)


def forecast_coverage(scores: Collection[OriginScores], level: float) -> str:
    """Return a sentence on the coverage of intervals; values of one forecast are dependent."""
    covered = np.concatenate([each.covered for each in scores]).astype(np.bool_)
    forecasts = [f"{i} {origin}" for i, each in enumerate(scores) for origin in each.origins]
    n_independent = min(len(covered), _INDEPENDENT * len(set(forecasts)))
    (lower, upper), share = calibrated_range(n_independent, level), float(covered.mean())
    if share < lower or (share > upper and share - level > _CLOSE):
        judged = "too narrow" if share < lower else "wider than necessary"
        ends = " to ".join(f"{100.0 * end:.1f}" for end in (float(lower), float(upper)))
        judged += f" (calibrated intervals contain {ends} %)"
    elif abs(share - level) > _CLOSE:
        judged = "too few independent values to judge the intervals"
    else:
        judged = "about as many as expected"
    of, nominal = counted(len(covered), "past value"), f"{100.0 * level:g} %"
    said = f"The {nominal} intervals contained {100.0 * share:.1f} % of {of}, {judged}."
    return f"{said}{_shift_remark(scores)}"


def _shift_remark(scores: Collection[OriginScores]) -> str:
    """Return the coverage of values forecast before a shift of the level, and of the others."""
    shifted = [each for each in scores if each.are_before_shifts().any()]
    if not shifted:
        return ""
    at = f"shifts of the level in {len(shifted)} series"
    if len(scores) == 1:
        (only,) = shifted
        times = only.times[only.shifts[only.shifts >= only.origins.min()]]
        at = f"a shift of the level at {_listed(shown_times(times))}"
    covered = np.concatenate([each.covered for each in scores])
    is_before = np.concatenate([each.are_before_shifts() for each in scores])
    share = f"{percent(covered[is_before].mean())} of them"
    if not is_before.all():
        share += f" and {percent(covered[~is_before].mean())} of the others"
    of = f"{is_before.sum():,} of these values were forecast before {at}"
    return f" {of}: the intervals contained {share}."


def origins_sentence(scores: Collection[OriginScores]) -> str:
    """Return the first times of past forecasts in words."""
    starts, *others = (each.times[np.unique(each.origins)] for each in scores)
    for other in others:
        starts = starts.union(other)
    return f"Past forecasts begin at {_listed(shown_times(starts))}."


def uncompared(n_series: int, n_compared: int) -> str:
    """Return why some series have no errors in words; empty if all or none have."""
    n_short, reason = min(n_series, MOST_COMPARED) - n_compared, ""
    if n_series == n_compared or not n_compared:
        return ""
    if n_series > MOST_COMPARED:
        reason = f" at most {MOST_COMPARED}, evenly spread over the table, are compared"
    if n_short:
        reason += f"{';' * bool(reason)} {n_short} {'is' if n_short == 1 else 'are'} too short"
    of = f"Past errors are those of {n_compared} of {n_series} series"
    return f"{of}:{reason}. The other series show \u201c\u2013\u201d."
