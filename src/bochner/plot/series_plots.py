"""Pictures of forecasts with history and intervals, and of components of forecasts."""

from calendar import day_abbr, month_abbr
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, Index, as_array, as_level
from bochner.comparison.forecast_words import signed
from bochner.files.stamps import read_dates
from bochner.plot import style
from bochner.plot.axis_texts import finish, fitted, legend, width_of
from bochner.plot.display import Display, PanelLayout
from bochner.series.forecaster import Forecaster
from bochner.series.value_transformations import TRANSFORMATIONS, component_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def drawn_times(times: Any) -> NDArray[np.generic]:
    """Return times (n,), which may be a pandas object, as numbers or local dates."""
    times = times.array if hasattr(times, "iloc") else times
    values = np.asarray(times)
    if values.dtype.kind in "iuf" and not hasattr(times, "to_timestamp"):
        return values
    return read_dates(times).clock


def forecast_times(model: BaseEstimator, horizon: Any) -> NDArray[np.generic]:
    """Return forecast times for a number of steps or times, of a model of a single series."""
    if not isinstance(model, Forecaster):
        raise TypeError(f"The model must be a fitted Forecaster, got {type(model).__name__}.")
    check_is_fitted(model, "series_")
    if not model.is_single_:
        names = list(model.series_)
        raise ValueError(
            f"The model has {len(names)} series: draw one of them, such as that of "
            f"model.of({names[0]!r:.60})."
        )
    (series,) = model.series_.values()
    future = series.timeline.future(horizon)
    if future.index is not None:
        return drawn_times(future.index)
    return drawn_times(horizon) if np.ndim(horizon) else future.numbers


_MOST_BANDS = 3  # Largest number of nested bands

_FEWEST_PAST, _PAST, _MOST_PAST = 40, 4, 8
"""Smallest number of drawn values before a forecast, their number per forecast value, and the
number beyond which two long seasons would make the forecast too narrow."""

_WIDTH = 1.5 * style.WIDTH  # Width in inches of a picture along time, which fills a page

_IGNORED = "outlier, ignored"
_FEW = 150  # Number of values up to which each of them is a point on the line

Series = tuple[NDArray[Any], Array]
"""Times, as numbers or ``datetime64``, and the values at these times."""


@dataclass(frozen=True, slots=True, eq=False)
class ForecastDisplay(Display):
    """A series and its forecast."""

    times: NDArray[Any]  # (n,), numbers or datetime64, in order
    mean: Array  # (n,)
    bands: Sequence[tuple[float, Array, Array]] = ()  # Nominal levels, and ends (n,) of intervals
    history: Series | None = None
    truth: Series | None = None  # Held-out observations
    start: Any = None  # Start of the forecast, marked by a line
    xlabel: str = "time"
    ylabel: str = "value"
    outliers: Series | None = None  # Observations that the model ignores
    shifts: Sequence[Any] = ()  # Times of shifts of the level

    def describe(self) -> str:
        return f"Forecast of {self.ylabel} for {len(self.times)} times, with past values."

    def _layout(self) -> PanelLayout:
        return PanelLayout(width=_WIDTH, height=style.HEIGHT, is_wide=True)

    def _draw(self, axes: "Sequence[Axes]", theme: style.Theme) -> None:
        (axis,) = axes
        named: list[tuple[Any, str]] = []
        observed, held_out = (self.history, style.DATA), (self.truth, style.MISSED)
        for (series, color), name in zip(
            (observed, held_out), ("observed", "held out"), strict=True
        ):
            if series is not None:
                times, (values,) = _with_gaps(series[0], series[1][None])
                is_line = len(times) < _REGULAR * len(series[0])
                form = "-" * is_line + "o" * (not is_line or len(times) <= _FEW)
                named += [(axis.plot(times, values, form, color=color, lw=0.8, ms=1.4)[0], name)]
        named += [(axis.plot(self.times, self.mean, color=style.MODEL, lw=1.2)[0], "forecast")]
        widest_first = sorted(self.bands, key=lambda band: -band[0])
        for number, (level, lower, upper) in enumerate(widest_first):
            alpha = style.BAND * (1.0 + number)
            band = axis.fill_between(self.times, lower, upper, color=style.MODEL, alpha=alpha, lw=0)
            named.append((band, f"{100.0 * level:g} % interval"))
        starts = [] if self.start is None else [self.start]
        for places, dashes, name in zip(
            (self.shifts, starts), (":", "--"), ("level shift", "start"), strict=True
        ):
            lines = [axis.axvline(t, color=theme.ink, lw=0.7, ls=dashes, zorder=1) for t in places]
            named += [(line, name) for line in lines[:1]]
        axis.margins(x=0.01)
        low, high = axis.get_ylim()
        for time, value in zip(*(self.outliers or ((), ())), strict=True):
            mark = "v" if value < low else "^" if value > high else "o"
            (ring,) = axis.plot(time, np.clip(value, low, high), mark, mec=style.MISSED, ms=5.0)
            ring.set(markerfacecolor="none", clip_on=False)
            named = [each for each in named if each[1] != _IGNORED] + [(ring, _IGNORED)]
        axis.set_ylim(low, high)
        finish(axis, self.xlabel, self.ylabel, are_dates=self.times.dtype.kind == "M")
        legend(axes, *zip(*named, strict=True))


def forecast(
    model: Forecaster,
    X: ArrayLike,
    *,
    inputs: object = None,
    truth: ArrayLike | None = None,
    level: float | Sequence[float] = 0.9,
    xlabel: str = "time",
    ylabel: str = "value",
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ForecastDisplay:
    """Draw a forecast with its intervals, the last values of the series and held-out ones.

    Parameters
    ----------
    model : fitted Forecaster
        A model of a single series.
    X : int or array-like of shape (n,)
        Number of steps after the series, or times, as in ``predict``.
    inputs : array-like of shape (n, d) or DataFrame, default=None
        Known inputs at these times, if the model has inputs.
    truth : array-like of shape (n,), default=None
        Held-out values at ``X``; ``nan`` where a value is missing.
    level : float or sequence of floats, default=0.9
        Nominal levels of the intervals, one to three of them.
    xlabel, ylabel : str
        Labels of both axes, with units.
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    Twelve months after a series with dates:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from bochner import Forecaster, plot
    >>> months = pd.date_range("2015-01", periods=60, freq="MS")
    >>> y = pd.Series(10.0 + np.sin(np.arange(60.0) * np.pi / 6.0), index=months)
    >>> plot.forecast(Forecaster(random_state=0).fit(y), 12, ylabel="sales").times[0]
    np.datetime64('2020-01-01T00:00:00.000000000')
    """
    levels = [as_level(each) for each in np.ravel(level).tolist()]
    if not 1 <= len(levels) <= _MOST_BANDS:
        raise ValueError(f"level must be at most {_MOST_BANDS} levels, got {len(levels)}.")
    times = forecast_times(model, X)
    order = np.argsort(times, kind="stable")
    if truth is not None and np.shape(truth) != times.shape:
        raise ValueError(f"truth must have shape {times.shape}, got {np.shape(truth)}.")
    held_out = None if truth is None else (times[order], as_array(truth)[order])
    times, mean = times[order], as_array(model.predict(X, inputs))[order]
    ends = [[as_array(e)[order] for e in model.predict_interval(X, q, inputs)] for q in levels]
    bands = [(each, lower, upper) for each, (lower, upper) in zip(levels, ends, strict=True)]
    (series,), step = model.series_.values(), model.series_["y"].timeline.step or np.inf
    past, values = series.history()
    longest = max((2.0 * period.length / step for period in model.periods_), default=0.0)
    count = max(_FEWEST_PAST, _PAST * len(times))
    if count < longest <= _MOST_PAST * len(times):
        count = int(np.ceil(longest))
    first = max(0, len(past) - count)
    outliers, shifts = (place[place >= first] for place in (model.outliers_, model.level_shifts_))
    shown = past[first:], np.where(np.isin(np.arange(len(past)), outliers), np.nan, values)[first:]
    start = None if times.min() <= past.max() else times.min()
    ignored = past[outliers], values[outliers]
    parts = times, mean, bands, shown, held_out, start, xlabel, ylabel, ignored, past[shifts]
    return ForecastDisplay(*parts).plot(ax, theme=theme)


_HEIGHT = 1.2  # Height in inches of a panel with its title
_LEFT = 40.0  # Width in points of the ticks to the left of a panel

_GAP, _OFTEN, _REGULAR = 1.6, 0.75, 1.2
"""A gap is a step longer than the first number times the median, and than the share of steps of
the second number; fewer gaps than the excess of the third are those of a line."""

_LAST = 0.3  # Height in inches of the ticks and the label below the last panel
_MOST_CYCLES = 6  # Number of periods from which a season is drawn as one period

_DAY, _YEAR = 86_400.0, 365.2425  # Seconds per day, mean days per year

_ROUNDED = 1e-4  # Rounding of decimal years, in years: less than an hour
_NEAR = 0.01  # Relative tolerance of the length of a day, a week or a year


class Cycle(NamedTuple):
    """One period of a season: rows (m,) of the times, their places, and the ticks' places."""

    rows: Index
    places: Array
    ticks: Sequence[float] = ()
    labels: Sequence[str] = ()


def _cycle(times: NDArray[Any], length: float) -> Cycle | None:
    """Return the last period of a season of a length in days or units; None for few periods."""
    are_dates = times.dtype.kind == "M"
    numbers = times.astype("M8[s]").astype(np.float64) / _DAY if are_dates else times
    step = float(np.median(np.diff(numbers))) if len(numbers) > 1 else length
    if np.ptp(numbers) < _MOST_CYCLES * length:
        return None
    rows = np.flatnonzero(numbers > numbers[-1] - length + 0.5 * step)
    cycle = Cycle(rows, numbers[rows] % length)
    if are_dates and abs(length - 1.0) < _NEAR:
        hours = np.arange(0.0, 1.1, 0.125)
        names = [f"{24 * hour:.0f}:00" for hour in hours]
        cycle = Cycle(rows, numbers[rows] % 1.0, hours.tolist(), names)
    elif are_dates and abs(length - 7.0) < _NEAR:
        ticks = np.arange(7.0) + (0.5 if step < 0.9 else 0.0)
        # The first of January 1970 was a Thursday.
        cycle = Cycle(rows, (numbers[rows] + 3.0) % 7.0, ticks.tolist(), day_abbr[:])
    elif abs(length / (_YEAR if are_dates else 1.0) - 1.0) < _NEAR and step < 0.3 * length:
        places = (numbers[rows] + _ROUNDED) % 1.0
        if are_dates:
            places = (times[rows] - times[rows].astype("M8[Y]")) / np.timedelta64(1, "D") / _YEAR
        ticks = np.arange(12.0) / 12.0 + (0.04 if step < 0.07 * length else 0.0)
        cycle = Cycle(rows, as_array(places), ticks.tolist(), month_abbr[1:])
    order = np.argsort(cycle.places, kind="stable")
    return cycle._replace(rows=rows[order], places=cycle.places[order])


@dataclass(frozen=True, slots=True, eq=False)
class ComponentsDisplay(Display):
    """Components of a forecast along time or over one period, with the ends of their intervals.

    ``units`` are those of what each component adds: "" for units of the values, or "%".
    """

    names: Sequence[str]
    times: NDArray[Any]  # (n,), numbers or datetime64, in order
    means: Array  # (J, n)
    lower: Array
    upper: Array
    xlabel: str = "time"
    units: Sequence[str] = ()
    cycles: Sequence[Cycle | None] = ()
    start: Any = None  # Start of the forecast, marked by a line

    def describe(self) -> str:
        return f"Components of a forecast for {len(self.times)} times: {', '.join(self.names)}."

    def _layout(self) -> PanelLayout:
        count = len(self.names)
        return PanelLayout(count, _HEIGHT * count + _LAST, _WIDTH, columns=1, is_wide=True)

    def _draw(self, axes: "Sequence[Axes]", theme: style.Theme) -> None:
        for number, (axis, name) in enumerate(zip(axes, self.names, strict=True)):
            parts = np.stack([self.means[number], self.lower[number], self.upper[number]])
            cycle, times = self.cycles[number] if self.cycles else None, self.times
            if cycle is not None:
                times, parts = cycle.places, parts[:, cycle.rows]
            ends = signed([parts[0].min(), parts[0].max()], self.units[number])
            if name != "trend":
                name = f"{name}: {ends[0]} to {ends[1]}"
                axis.axhline(0.0, color=theme.ink, lw=0.5, zorder=1)
            if cycle is None and self.start is not None:
                axis.axvline(self.start, color=theme.ink, lw=0.7, ls="--", zorder=1)
            times, (mean, lower, upper) = _with_gaps(times, parts)
            axis.plot(times, mean, color=style.MODEL, lw=1.0)
            axis.fill_between(times, lower, upper, color=style.MODEL, alpha=style.BAND, lw=0)
            axis.margins(x=0.01)
            shown = fitted(name, width_of(axis) - _LEFT)
            # A title, because a long name does not fit to the left of the panel.
            axis.set_title(shown, loc="left", fontsize=style.SMALL, parse_math=False)
            label = self.xlabel if number == len(axes) - 1 and cycle is None else ""
            finish(axis, label, "", are_dates=times.dtype.kind == "M")
            if cycle is not None and cycle.labels:
                axis.set_xticks(cycle.ticks, cycle.labels)


def _with_gaps(times: NDArray[np.generic], values: Array) -> tuple[NDArray[Any], Array]:
    """Insert NaN into values (k, n) at gaps between times (n,), so that lines are interrupted."""
    if len(times) < 3:
        return times, values
    steps = np.diff(times).astype(np.float64)
    # Weekends of business days are no gaps.
    longest = max(_GAP * np.median(steps), np.quantile(steps, _OFTEN))
    after = np.flatnonzero(steps > longest) + 1
    return np.insert(times, after, times[after]), np.insert(values, after, np.nan, axis=1)


def components(
    model: Forecaster,
    times: ArrayLike,
    X: object = None,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.9,
    xlabel: str = "time",
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ComponentsDisplay:
    """Draw what each component adds to a forecast, with intervals, the largest component first.

    Components are in units of the values, or in per cent if the logarithm is modelled. A season of
    many periods is drawn as its last period.

    Parameters
    ----------
    model : fitted Forecaster
        A model of a single series.
    times : int or array-like of shape (n,)
        Number of steps after the series, or times of the series, later ones, or both.
    X : array-like of shape (n, d), default=None
        Known inputs at these times, if the model has inputs.
    names : sequence of str, default=None
        Components to draw, in this order; ``None`` means all.
    level : float, default=0.9
        Nominal level of the intervals.
    xlabel : str, default="time"
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Forecaster, plot
    >>> t = np.arange(60.0)
    >>> y = np.sin(np.pi * t / 6.0) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> display = plot.components(Forecaster(random_state=0).fit(y), np.arange(72.0))
    >>> display.names
    ['12 steps', 'remainder', 'trend']
    """
    as_level(level)
    at = forecast_times(model, times)
    order = np.argsort(at, kind="stable")
    at, (series,) = at[order], model.series_.values()
    law, found = series.law, model.components(times, X, level=level)
    # Columns of a data frame are pairs of a component and one of its parts.
    known = list(found.columns.unique(0)) if hasattr(found, "columns") else list(found)
    if unknown := [name for name in names or () if name not in known]:
        raise ValueError(f"There is no component {unknown[0]!r:.60}: choose from {known}.")
    modelled = {name: np.asarray(found[name])[order].T for name in known}
    whole = np.sum([part[0] for part in modelled.values()], axis=0)
    sizes = {name: float(np.std(modelled[name][0])) for name in known}
    chosen = sorted(known, key=lambda name: -sizes[name]) if names is None else list(names)
    scale = TRANSFORMATIONS[component_scale(law.transformation)]
    back, is_log = scale.back, scale is TRANSFORMATIONS["log"]
    parts = []
    for name in chosen:
        rest = whole - modelled[name][0]
        if name == "trend":
            parts.append(back(modelled[name]))
        elif is_log:
            parts.append(100.0 * np.expm1(modelled[name]))
        elif scale.changes_scale:
            parts.append(back(rest + modelled[name]) - back(rest))
        else:
            parts.append(modelled[name])
    lengths = {period.name: period.length for period in model.periods_}
    if series.timeline.kind == "months":
        lengths = {name: length * _YEAR / 12.0 for name, length in lengths.items()}
    cycles = [_cycle(at, lengths[name]) if name in lengths else None for name in chosen]
    units = ["%" if is_log and name != "trend" else "" for name in chosen]
    means, lower, upper = np.moveaxis(np.array(parts), 1, 0)
    later = at[at > series.history()[0].max()]
    start = later[0] if 0 < len(later) < len(at) else None
    display = ComponentsDisplay(chosen, at, means, lower, upper, xlabel, units, cycles, start)
    return display.plot(ax, theme=theme)
