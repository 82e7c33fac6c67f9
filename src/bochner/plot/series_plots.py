"""Pictures of forecasts with history and intervals, and of components of forecasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, MatrixLike, as_array, as_level
from bochner.comparison.forecast_fits import SeriesForecast
from bochner.comparison.outcomes import with_ends
from bochner.files.stamps import read_dates
from bochner.plot import style
from bochner.plot.axis_texts import finish, fitted, legend, width_of
from bochner.plot.display import Display, PanelLayout
from bochner.plot.regression_errors import of_target
from bochner.series.forecaster import Forecaster

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
    if not model.is_single_:
        names = list(model.series_)
        raise ValueError(
            f"The model has {len(names)} series: draw one of them, such as that of "
            f"model.of({names[0]!r})."
        )
    (series,) = model.series_.values()
    future = series.timeline.future(horizon)
    if future.index is not None:
        return drawn_times(future.index)
    return drawn_times(horizon) if np.ndim(horizon) else future.numbers


_MOST_BANDS = 3
"""Largest number of nested bands."""

_FEWEST_PAST, _PAST = 60, 8
"""Number of drawn values before a forecast: the smallest number, and the number per forecast value,
beyond which the forecast would be too narrow."""

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
    n_earlier: int = 0  # Observations before the history that are not drawn

    def describe(self) -> str:
        text = f"Forecast of {self.ylabel} for {len(self.times)} times"
        if self.truth is None:
            return f"{text}."
        error = self._errors()
        text += f": RMSE {np.sqrt(np.mean(error**2)):.4g}" if len(error) else ""
        return f"{text}, with {len(self.truth[0])} observations held out."

    def _errors(self) -> Array:
        """Return forecast errors at the times with held-out observations."""
        assert self.truth is not None
        place = {time: i for i, time in enumerate(self.times.tolist())}
        pairs = zip(self.truth[0].tolist(), self.truth[1], strict=True)
        return as_array([y - self.mean[place[time]] for time, y in pairs if time in place])

    def _layout(self) -> PanelLayout:
        return PanelLayout(width=1.5 * style.WIDTH, height=style.HEIGHT)

    def _draw(self, axes: "Sequence[Axes]", theme: style.Theme) -> None:
        (axis,) = axes
        handles: list[Any] = []
        names: list[str] = []
        for series, name, color in (
            (self.history, self._observed(), style.DATA),
            (self.truth, "held out", style.MISSED),
        ):
            if series is not None:
                many = len(series[0]) > style.MOST_VECTORS
                axis.plot(*series, "o", color=color, ms=1.4, mew=0.0, rasterized=many)
                handles += axis.plot([], [], "o", color=color, ms=3.0)
                names.append(name)
        handles += axis.plot(self.times, self.mean, color=style.MODEL, lw=1.0)
        names.append("prediction")
        widest_first = sorted(self.bands, key=lambda band: -band[0])
        for number, (level, lower, upper) in enumerate(widest_first):
            alpha = style.BAND * (1.0 + number)
            band = axis.fill_between(self.times, lower, upper, color=style.MODEL, alpha=alpha, lw=0)
            handles.append(band)
            names.append(f"{100.0 * level:g} % interval")
        if self.start is not None:
            handles.append(axis.axvline(self.start, color=theme.ink, lw=0.7, ls="--", zorder=1))
            names.append("forecast starts")
        axis.margins(x=0.01)
        finish(axis, self.xlabel, self.ylabel, are_dates=self.times.dtype.kind == "M")
        legend(axes, handles, names)

    def _observed(self) -> str:
        """Return the legend text of the observations, with their number if some are hidden."""
        if self.history is None or not self.n_earlier:
            return "observed"
        n_shown = len(self.history[0])
        return f"last {n_shown:,} of {n_shown + self.n_earlier:,} values"


def forecast(
    model: BaseEstimator,
    X: MatrixLike,
    *,
    inputs: object = None,
    history: object = None,
    truth: ArrayLike | None = None,
    level: float | Sequence[float] = 0.9,
    xlabel: str | None = None,
    ylabel: str = "value",
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ForecastDisplay:
    """Draw a forecast with its intervals, the training series and held-out observations.

    Parameters
    ----------
    model : fitted regressor
        With ``predict_interval`` or ``predict(X, return_std=True)``, such as
        :class:`bochner.Forecaster` of a single series.
    X : int or array-like of shape (n,) or (n, d)
        Rows to predict at; the first column is time. For a Forecaster, the number of steps after
        the series, or the times, as in its ``predict``.
    inputs : array-like of shape (n, d) or DataFrame, default=None
        Known inputs at these times, if a Forecaster has inputs.
    history : pandas Series or tuple of array-likes (X, y), default=None
        Training series, or training rows and their targets.
    truth : array-like of shape (n,), default=None
        Held-out targets at ``X``; ``nan`` where a target is missing.
    level : float or sequence of floats, default=0.9
        Nominal levels of the intervals, one to three of them.
    xlabel, ylabel : str
        Labels of both axes, with units; by default "time", or the name of the column at fit, and
        "value".
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from bochner import plot
    >>> t = np.arange(1990.0, 2000.0, 0.25)
    >>> model = GaussianProcessRegressor(alpha=0.1).fit(t[:30, None], np.sin(t[:30]))
    >>> display = plot.forecast(model, t[30:], history=(t[:30], np.sin(t[:30])), ylabel="CO₂ (ppm)")
    >>> display.start.item()
    1997.5

    Twelve months after a series with dates:

    >>> import pandas as pd
    >>> from bochner import Forecaster
    >>> months = pd.date_range("2015-01", periods=60, freq="MS")
    >>> y = pd.Series(10.0 + np.sin(np.arange(60.0) * np.pi / 6.0), index=months)
    >>> display = plot.forecast(Forecaster(random_state=0).fit(y), 12, history=y)
    >>> display.times[0]
    np.datetime64('2020-01-01T00:00:00.000000000')
    """
    levels = [float(each) for each in np.ravel(level)]
    for each in levels:
        as_level(each)
    if not 1 <= len(levels) <= _MOST_BANDS:
        raise ValueError(f"level must be at most {_MOST_BANDS} levels, got {len(levels)}.")
    if isinstance(model, Forecaster):
        check_is_fitted(model)
        times = forecast_times(model, X)
        steps: Any = X
        mean = as_array(model.predict(steps, inputs))
        ends = [[*map(as_array, model.predict_interval(steps, e, inputs))] for e in levels]
    else:
        rows, times = _rows_and_times(X)
        found = [[of_target(part, 0) for part in with_ends(model, rows, each)] for each in levels]
        mean, ends = found[0][0], [parts[1:] for parts in found if parts[1] is not None]
    order = np.argsort(times, kind="stable")
    bands = [
        (each, lower[order], upper[order])
        for each, (lower, upper) in zip(levels, ends, strict=False)
    ]
    past = None if history is None else _history(history)
    held_out = None if truth is None else (times, as_array(truth))
    for name, series in (("history", past), ("truth", held_out)):
        if series is not None and series[0].shape != series[1].shape:
            raise ValueError(
                f"{name} must have one target for each row, got shapes {series[0].shape} and "
                f"{series[1].shape}."
            )
    if held_out is not None:
        held_out = times[order], held_out[1][order]
    start = None if past is None or times.min() <= past[0].max() else times.min()
    names = getattr(model, "feature_names_in_", ["time"])
    labels = str(names[0]) if xlabel is None else xlabel, ylabel
    display = ForecastDisplay(times[order], mean[order], bands, past, held_out, start, *labels)
    return display.plot(ax, theme=theme)


def forecast_display(one: SeriesForecast, level: float, ylabel: str = "") -> ForecastDisplay:
    """Return the undrawn display of a forecast and its history."""
    times = drawn_times(one.times)
    values = one.values.iloc[-max(_FEWEST_PAST, _PAST * len(times)) :]
    return ForecastDisplay(
        times,
        one.mean,
        [(level, one.lower, one.upper)],
        (drawn_times(values.index), as_array(values)),
        start=times[0],
        xlabel="" if times.dtype.kind == "M" else str(one.times.name or "time"),
        ylabel=ylabel or one.name,
        n_earlier=len(one.values) - len(values),
    )


def _history(history: Any) -> Series:
    """Return the times and values of a pandas series, or of a pair of rows and targets."""
    if hasattr(history, "index") and hasattr(history, "iloc"):
        return drawn_times(history.index), as_array(history)
    return _rows_and_times(history[0])[1], as_array(history[1])


def _rows_and_times(X: Any) -> tuple[Any, NDArray[Any]]:
    """Return rows (n, d) to predict at, and their first column."""
    if hasattr(X, "columns"):
        first = X.iloc[:, 0] if hasattr(X, "iloc") else X[X.columns[0]]
        return X, drawn_times(first)
    if np.ndim(X) == 1:
        times = drawn_times(X)
        return times[:, None], times
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(
            f"X must be rows (n, d) or times (n,), got {X!r}; only a Forecaster takes a number of "
            "steps."
        )
    return rows, rows[:, 0]


_HEIGHT = 1.2
"""Height in inches of a panel with its title."""

_LEFT = 40.0
"""Width in points of the ticks to the left of a panel."""

_GAP, _USUAL = 3.0, 0.9
"""A gap is a step between times longer than the first number times the quantile of all steps at the
second number."""

_LAST = 0.3
"""Height in inches of the ticks and the label below the last panel."""


@dataclass(frozen=True, slots=True, eq=False)
class ComponentsDisplay(Display):
    """Components of a forecast along time, one panel each, with the ends of their intervals."""

    names: Sequence[str]
    times: NDArray[Any]  # (n,), numbers or datetime64, in order
    means: Array  # (J, n)
    lower: Array
    upper: Array
    xlabel: str = "time"

    def describe(self) -> str:
        return f"Components of a forecast for {len(self.times)} times: {', '.join(self.names)}."

    def _layout(self) -> PanelLayout:
        count = len(self.names)
        return PanelLayout(count, _HEIGHT * count + _LAST, style.FULL_WIDTH, columns=1, sharex=True)

    def _draw(self, axes: "Sequence[Axes]", theme: style.Theme) -> None:
        for number, (axis, name) in enumerate(zip(axes, self.names, strict=True)):
            parts = np.stack([self.means[number], self.lower[number], self.upper[number]])
            times, (mean, lower, upper) = _with_gaps(self.times, parts)
            axis.plot(times, mean, color=style.MODEL, lw=0.8)
            axis.fill_between(times, lower, upper, color=style.MODEL, alpha=style.BAND, lw=0)
            axis.margins(x=0.01)
            label = self.xlabel if number == len(axes) - 1 else ""
            shown = fitted(name, width_of(axis) - _LEFT)
            # A title, because a long name does not fit to the left of the panel.
            axis.set_title(shown, loc="left", fontsize=style.SMALL, parse_math=False)
            finish(axis, label, "", are_dates=self.times.dtype.kind == "M")


def _with_gaps(times: NDArray[np.generic], values: Array) -> tuple[NDArray[Any], Array]:
    """Insert NaN into values (3, n) at gaps between times (n,), so that lines are interrupted."""
    if len(times) < 3:
        return times, values
    steps = np.diff(times).astype(np.float64)
    after = np.flatnonzero(steps > _GAP * np.quantile(steps, _USUAL)) + 1
    return np.insert(times, after, times[after]), np.insert(values, after, np.nan, axis=1)


def components(
    model: BaseEstimator,
    times: ArrayLike,
    X: object = None,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.9,
    xlabel: str = "time",
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ComponentsDisplay:
    """Draw the components of a forecast, with intervals of each.

    Parameters
    ----------
    model : fitted Forecaster
        A model of a single series.
    times : int or array-like of shape (n,)
        Number of steps after the series, or times of the series, later ones, or both.
    X : array-like of shape (n, d), default=None
        Known inputs at these times, if the model has inputs.
    names : sequence of str, default=None
        Components to draw; ``None`` means all.
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
    ['trend', '12 steps', 'remainder']
    """
    display = component_display(model, times, X, names=names, level=level, xlabel=xlabel)
    return display.plot(ax, theme=theme)


def component_display(
    model: BaseEstimator,
    times: ArrayLike,
    X: object = None,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.9,
    xlabel: str = "time",
) -> ComponentsDisplay:
    """Return the undrawn display of the components of a forecast."""
    as_level(level)
    if not hasattr(model, "components"):
        raise TypeError(
            f"components takes a fitted Forecaster, got {type(model).__name__}, which has no "
            "components."
        )
    at = forecast_times(model, times)
    order = np.argsort(at, kind="stable")
    found: Any = model.components(times, X, level=level)
    # Columns of a data frame are pairs of a component and one of its parts.
    known = list(found.columns.unique(0)) if hasattr(found, "columns") else list(found)
    chosen = known if names is None else list(names)
    if unknown := [name for name in chosen if name not in known]:
        raise ValueError(f"There is no component {unknown[0]!r}: choose from {known}.")
    values = np.stack([np.asarray(found[name])[order] for name in chosen])
    means, lower, upper = np.moveaxis(values, 2, 0)
    scale = getattr(model, "transformation_", "none")
    if isinstance(scale, str) and scale not in ("none", "floor"):
        chosen = [f"{name} ({scale})" for name in chosen]
    return ComponentsDisplay(chosen, at[order], means, lower, upper, xlabel)
