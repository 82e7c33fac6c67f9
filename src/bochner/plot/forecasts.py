"""Forecasts of series: history, predictions with their bands, and observed values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, MatrixLike, as_array, as_level
from bochner.comparison.forecast_errors import SeriesForecast
from bochner.plot.display import Display, PanelLayout
from bochner.plot.predicted import intervals
from bochner.plot.scatter import MOST_VECTORS
from bochner.plot.series_times import drawn_times, forecast_times
from bochner.plot.style import BAND, DATA, HEIGHT, MISSED, MODEL, WIDTH, Theme
from bochner.plot.text_labels import date_ticks, finish, legend, panel_points
from bochner.series.forecaster import Forecaster

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BANDS = 3
"""Most nested bands whose shades can be distinguished."""

_FEWEST_PAST, _PAST = 60, 8
"""Values before a forecast that its picture shows: at least so many, and so many for each value of
the forecast, which would be too narrow to read next to more."""

Series = tuple[NDArray[Any], Array]
"""Times, as numbers or ``datetime64``, and values at them."""


@dataclass(frozen=True, slots=True, eq=False)
class ForecastDisplay(Display):
    """A series and its forecast.

    :func:`bochner.plot.forecast` returns it, and has an example.

    Parameters
    ----------
    times : ndarray of shape (n,)
        Numbers or ``datetime64``, in order.
    mean : ndarray of shape (n,)
        Predictions.
    bands : sequence of (level, lower, upper)
        Nominal levels of intervals, and their ends (n,).
    history, truth : pair of times and values, or None
        Observations before the forecast, and held-out observations.
    start : time or None, default=None
        Beginning of the forecast, marked by a line.
    xlabel, ylabel : str
        Labels of both axes, with units.
    n_earlier : int, default=0
        Number of observations before ``history`` that are not drawn.
    """

    times: NDArray[Any]
    mean: Array
    bands: Sequence[tuple[float, Array, Array]] = ()
    history: Series | None = None
    truth: Series | None = None
    start: Any = None
    xlabel: str = "time"
    ylabel: str = "value"
    n_earlier: int = 0

    def describe(self) -> str:
        text = f"Forecast of {self.ylabel} for {len(self.times)} times"
        if self.truth is None:
            return f"{text}."
        error = self._errors()
        text += f": RMSE {np.sqrt(np.mean(error**2)):.4g}" if len(error) else ""
        return f"{text}, with {len(self.truth[0])} observations held out."

    def _errors(self) -> Array:
        """Return errors at the times that the forecast and the held-out observations share."""
        assert self.truth is not None
        place = {time: i for i, time in enumerate(self.times.tolist())}
        pairs = zip(self.truth[0].tolist(), self.truth[1], strict=True)
        return as_array([y - self.mean[place[time]] for time, y in pairs if time in place])

    def _layout(self) -> PanelLayout:
        return PanelLayout(width=1.5 * WIDTH, height=HEIGHT)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        handles: list[Any] = []
        names: list[str] = []
        for series, name, color in (
            (self.history, self._observed(), DATA),
            (self.truth, "held out", MISSED),
        ):
            if series is not None:
                many = len(series[0]) > MOST_VECTORS
                axis.plot(*series, "o", color=color, ms=1.4, mew=0.0, rasterized=many)
                handles += axis.plot([], [], "o", color=color, ms=3.0)
                names.append(name)
        handles += axis.plot(self.times, self.mean, color=MODEL, lw=1.0)
        names.append("prediction")
        widest_first = sorted(self.bands, key=lambda band: -band[0])
        for number, (level, lower, upper) in enumerate(widest_first):
            alpha = BAND * (1.0 + number)
            band = axis.fill_between(self.times, lower, upper, color=MODEL, alpha=alpha, lw=0)
            handles.append(band)
            names.append(f"{100.0 * level:g} % interval")
        if self.start is not None:
            handles.append(axis.axvline(self.start, color=theme.ink, lw=0.7, ls="--", zorder=1))
            names.append("forecast starts")
        axis.margins(x=0.01)
        self._finish(axis)
        legend(axes, handles, names)

    def _observed(self) -> str:
        """Return the name of the observations, with their number if earlier ones are hidden."""
        if self.history is None or not self.n_earlier:
            return "observed"
        n_shown = len(self.history[0])
        return f"last {n_shown:,} of {n_shown + self.n_earlier:,} values"

    def _finish(self, axis: "Axes") -> None:
        if self.times.dtype.kind != "M":
            finish(axis, self.xlabel, self.ylabel)
            return
        finish(axis, self.xlabel, self.ylabel, ticks="y")
        series_times = [series[0] for series in (self.history, self.truth) if series is not None]
        times = np.concatenate([self.times, *series_times]).astype("M8[us]")
        date_ticks(axis.xaxis, times, panel_points(axis)[0], self.xlabel)


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
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    display : ForecastDisplay

    Raises
    ------
    ValueError
        If numbers of rows disagree, or a level is out of range.

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
    level_intervals: list[tuple[float, Array, Array | None, Array | None]]
    if isinstance(model, Forecaster):
        check_is_fitted(model)
        times = forecast_times(model, X)
        level_intervals = [(each, *_forecast_intervals(model, X, inputs, each)) for each in levels]
    else:
        rows, times = _rows_and_times(X)
        level_intervals = [(each, *intervals(model, rows, each, None)) for each in levels]
    order = np.argsort(times, kind="stable")
    mean = level_intervals[0][1]
    bands = [
        (each, lower[order], upper[order])
        for each, _, lower, upper in level_intervals
        if lower is not None and upper is not None
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
    """Return the picture of a forecast and of the values before it, not yet drawn."""
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


def _forecast_intervals(
    model: BaseEstimator, horizon: object, inputs: object, level: float
) -> tuple[Array, Array | None, Array | None]:
    """Return the forecasts (h,) of a Forecaster, and the ends of their intervals."""
    lower, upper = model.predict_interval(horizon, level, inputs)
    return as_array(model.predict(horizon, inputs)), as_array(lower), as_array(upper)


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
