"""Probabilistic forecasts of time series with trend, seasons, cycles and known inputs."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import ArrayLike, RandomState, as_count, as_flag, as_level, as_levels
from bochner._base.checks import check_choice, check_seed, generators, unfit
from bochner._base.progress import Callback, Progress
from bochner._base.registry import register
from bochner._base.threads import checked_n_jobs, single_threaded_blas, threads_for
from bochner.series.fitted_series import (
    FittedSeries,
    Options,
    SeriesForecasts,
    check_periods,
    fitted_series,
)
from bochner.series.panel_fits import panel_laws
from bochner.series.panel_priors import FEWEST_SERIES
from bochner.series.rolling_origins import rolling_table
from bochner.series.series_rows import (
    indexed,
    inputs_by_text,
    labels_of,
    series_values,
    several,
    taken_series,
)
from bochner.series.value_transformations import TRANSFORMATIONS

_ONE = "y"  # Name of the series if only one is fitted


@register
@dataclass(eq=False, repr=False)
class Forecaster(BaseEstimator):
    """Forecast time series, with prediction intervals and components; defaults need no tuning.

    ``fit(y)`` takes a series with times in its index or in ``times=``, or a data frame of series.
    ``predict(h)`` returns the next h values, ``predict_interval(h)`` their intervals, and
    ``components(h)`` the trend and the seasons.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Forecaster
    >>> rng = np.random.default_rng(0)
    >>> t = np.arange(120.0)
    >>> y = 0.1 * t + np.sin(2.0 * np.pi * t / 12.0) + 0.1 * rng.normal(size=120)
    >>> model = Forecaster(random_state=0).fit(y[:96])
    >>> [period.name for period in model.periods_]
    ['12 steps']
    >>> lower, upper = model.predict_interval(24, level=0.9)
    >>> bool(np.mean((lower <= y[96:]) & (y[96:] <= upper)) > 0.8)
    True
    >>> sorted(model.components(24))
    ['12 steps', 'remainder', 'trend']

    Parameters
    ----------
    periods : "auto" or sequence of float or str, default="auto"
        Lengths of the seasons: names for dates (``"year"``, ``"quarter"``, ``"month"``,
        ``"week"``, ``"day"``, ``"hour"``), or numbers in units of the times: days for dates, months
        for dates that stand for months, quarters or years, otherwise as in ``times``. ``"auto"``
        compares a day, a week and a year for dates, and searches for further periods.
    transformation : {"auto", "none", "floor", "sqrt", "log", "counts"}, default="auto"
        Transformation of the values that is modelled. ``"auto"`` compares the transformations that
        the values allow: ``"sqrt"`` needs values of zero or more, ``"log"`` values above zero.
        ``"floor"`` models nonnegative values untransformed and replaces negative forecasts by zero;
        ``"auto"`` takes it in place of ``"none"`` if two or more values are zero and none is below,
        and ``"sqrt"`` for at most 54 yearly values.
        ``"counts"`` is a negative binomial law of whole numbers; ``"auto"`` takes it if all values
        are whole numbers and more than half are zero.
    find_cycle : bool, default=True
        Whether to search for a cycle: a wave with a drifting phase, such as the sunspot cycle.
    find_breaks : bool, default=True
        Whether to look for outliers, for lasting shifts of the level, and for days of the calendar
        with another level, such as ends of months, 24 December or Good Friday. The value of an
        outlier is ignored, a shift is part of the trend, and such a day is a known input.
    n_jobs : int or None, default=None
        Number of threads, at most one per core. ``None`` means as many as linear algebra may use.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws from the posterior of the parameters.

    Attributes
    ----------
    series_ : dict of str to FittedSeries
        Fitted model of each series, by the text of its name. A single series has the name ``"y"``.
    is_single_ : bool
        Whether a single series was fitted.
    periods_ : list of Period, or dict of str to such
        Periods with a probability of at least one half, the largest first, with ``name``
        (such as ``"week"`` or ``"11 years"``), ``length``, ``std`` (the standard deviation of the
        component over the training rows, on the scale of the model) and ``memory`` (the time after
        which the correlation with the current shape falls to 1/e).
    transformation_ : str, or dict of str to str
        Transformation of the values that is modelled.
    calendar_patterns_ : list of CalendarPattern, or dict of str to such
        Days of the calendar with another level, such as ``"24 December"``, by ``name``.
    outliers_, level_shifts_ : ndarray of int, or dict of str to such
        Positions of values that are ignored as outliers, and of the first values after lasting
        shifts of the level, among all values of the series, the first of which has position 0.

    See Also
    --------
    bochner.TableRegressor : Rows with several inputs, and rows in time with ``time=``.

    Notes
    -----
    The series, or its square root or logarithm, is a sum of Gaussian processes in time: a trend,
    seasons, a cycle, linear effects of known inputs, autocorrelated short-term variation, and
    noise. Three trends are compared: a level, a damped slope, and a line around which the slope
    varies. Models are weighted by their evidence, and the parameters of each model are averaged
    over their posterior. If errors of forecasts from past origins were larger than expected, the
    prediction intervals are widened. Every process is a state-space model with a few states: a fit
    is exact, accepts irregular times and unknown values, and its time is linear in the rows.

    Counts that are mostly zero are negative binomial. The logarithm of their mean is a level, which
    returns to its mean, plus seasons of the calendar and effects of known inputs. Trends, cycles,
    outliers and days of the calendar are not looked for.
    """

    periods: Any = "auto"
    _: KW_ONLY
    transformation: str = "auto"
    find_cycle: bool = True
    find_breaks: bool = True
    n_jobs: int | None = None
    random_state: Any = None

    series_: dict[str, FittedSeries] = field(init=False)
    is_single_: bool = field(init=False)

    def fit(
        self, y: object, X: object = None, *, times: object = None, callback: Callback | None = None
    ) -> Self:
        """Fit a model to each series; eight or more share seasons, effects of inputs and priors.

        Raises ``TypeError`` if values, inputs or times are not numbers or dates. Raises
        ``ValueError`` if times do not increase, values are constant, infinite, fewer than eight or
        outside the domain of ``transformation``, inputs do not match the values, a series is not
        the sum of its parts, or a parameter is out of range.

        Parameters
        ----------
        y : array-like of shape (n,), pandas Series, DataFrame, or mapping of str to such
            Values in order of time, NaN for an unknown value. The columns of a data frame and the
            entries of a mapping are several series; a data frame of ``ds`` and ``y`` is one. The
            model is learned from the latest 10,000 values, from the first to the last known one.
        X : array-like of shape (n, d) or DataFrame, default=None
            Inputs whose future values are also known, such as indicators of holidays. If ``y`` is a
            mapping, ``X`` is a mapping with the inputs of each series.
        times : array-like of shape (n,), default=None
            Numbers or dates. By default the index of a pandas series, or positions 0, 1, ...
            Dates may have gaps: forecasts follow the calendar that is inferred from the dates.
            For dates with a time zone or an offset from UTC, days, weeks and years follow the local
            time.
        callback : callable, default=None
            Function that is called with a :class:`bochner.FitProgress` before every step. If it
            returns ``False``, the remaining structures and transformations are not compared.
        """
        self._check_parameters()
        unfit(self)
        group = several(y := indexed(y))
        options, rows, fitted = self._options(Progress(callback)), {}, {}
        X, labels = (X, {}) if group is None else (inputs_by_text(X, group), labels_of(y))
        for name, one in (group or {_ONE: y}).items():
            inputs = X.get(name) if isinstance(X, dict) and group is not None else X
            shown = None if group is None else name
            rows[name] = taken_series(one, inputs, times, self.transformation, shown)
        laws = panel_laws(rows, options) if len(rows) >= FEWEST_SERIES else {}
        for name, one in rows.items():
            (rng,) = generators(self.random_state, 1)  # Equal to a separate fit to this series
            series = fitted_series(one, options, rng, laws.get(name))
            fitted[name] = replace(series, label=labels.get(name))
        self.series_, self.is_single_ = fitted, group is None
        return self

    def predict(self, horizon: ArrayLike, X: object = None, return_std: bool = False) -> Any:
        """Return point forecasts and, with ``return_std``, standard deviations.

        Raises ``TypeError`` if the series has dates and the times are numbers, or the reverse.
        Raises ``ValueError`` if inputs are missing, have another shape or, at times of the series,
        other values than in the fit, if times repeat or are before the series, or if the series is
        irregular and ``horizon`` is a number.

        Parameters
        ----------
        horizon : int or array-like of shape (h,)
            Number of steps after the last time of the series, or times to predict at. At times up
            to the last known value the result is smoothed, and unknown values are imputed.
        X : array-like of shape (h, d) or DataFrame, default=None
            Inputs at these times, if the model was fitted with inputs.
        return_std : bool, default=False
            Whether to also return standard deviations of new values.

        Returns
        -------
        mean, std : ndarray of shape (h,), pandas Series or DataFrame, or dict
            In the type of the series. The mean of the value or, with a transformation, the mean of
            its square root or logarithm transformed back, which is close to the median; with
            ``"counts"``, the expected count. ``std`` is the standard deviation of the values that
            ``sample`` draws; their last upper ten-thousandth counts as its smallest value.
        """
        forecasts = self._forecasts(horizon, X)
        laws = forecasts.laws()
        mean = forecasts.framed(laws, lambda law: law.centre())
        return (mean, forecasts.framed(laws, lambda law: law.std())) if return_std else mean

    def predict_interval(
        self, horizon: ArrayLike, level: float = 0.9, X: object = None
    ) -> tuple[Any, Any]:
        """Return lower and upper ends of prediction intervals, in the shape of ``predict``.

        Raises ValueError if ``level`` is not strictly between zero and one, or as ``predict``.
        """
        if hasattr(level, "columns"):
            raise TypeError("level must be a number, got a data frame: pass inputs as X=...")
        levels = 0.5 + 0.5 * np.array([-1.0, 1.0]) * as_level(level)
        forecasts = self._forecasts(horizon, X)
        laws = forecasts.laws()
        lower = forecasts.framed(laws, lambda law: law.quantiles(levels[:1])[:, 0])
        return lower, forecasts.framed(laws, lambda law: law.quantiles(levels[1:])[:, 0])

    def predict_quantiles(
        self, horizon: ArrayLike, levels: Sequence[float], X: object = None
    ) -> Any:
        """Return quantiles (h, q) of new values at ``levels`` (q,).

        The result is a data frame with the levels as columns for a series with a pandas index, and
        a mapping for several series. Raises ValueError if a level is not strictly between zero and
        one, or as ``predict``.
        """
        checked = as_levels(levels)
        forecasts = self._forecasts(horizon, X)
        laws = forecasts.laws()
        return forecasts.each(lambda name: laws[name].quantiles(checked), checked.tolist())

    def sample(
        self,
        horizon: ArrayLike,
        n_samples: int = 1,
        X: object = None,
        *,
        random_state: RandomState = None,
    ) -> Any:
        """Return sample paths (h, n_samples): joint draws of new values at all times.

        Times must lie after the last known value of the series. With equal integers as
        ``random_state``, draws with other inputs ``X`` have the same noise, trend and seasons, so
        that their differences are draws of the effect of the inputs. Raises ValueError otherwise,
        or as ``predict``.
        """
        count = as_count("n_samples", n_samples)
        (rng,) = generators(random_state, 1)
        return self._forecasts(horizon, X).sample(count, rng)

    def components(self, horizon: ArrayLike, X: object = None, *, level: float = 0.9) -> Any:
        """Return the components of a forecast with their intervals.

        Components are on the scale of the value, its square root or its logarithm
        (``transformation_``); the means of all components add up to the mean of the forecast. With
        ``"counts"``, they add up to the mean of the logarithm of the expected count.
        ``"trend"`` has level, slope and lasting variation, ``"inputs"`` the effects of known inputs
        relative to their means over the rows of the fit, ``"remainder"`` short-term variation.
        Every season with a probability of at least one half is a component with its name; noise
        is none.

        Raises ``TypeError, ValueError`` as ``predict`` and ``predict_interval``.

        Returns
        -------
        components : dict of str to ndarray of shape (h, 3), or DataFrame
            Mean, lower and upper end of each component; a mapping of these for several series.
        """
        ends = 0.5 + 0.5 * np.array([-1.0, 1.0]) * as_level(level)
        return self._forecasts(horizon, X).components(ends)

    def effects(self, *, level: float = 0.9) -> Any:
        """Return the effects of known inputs and of days of the calendar, with their intervals.

        A day or holiday has the value one; other inputs are counted in their units. Effects are on
        the scale of ``components``.

        Returns
        -------
        effects : dict of str to ndarray of shape (3,)
            Mean, lower and upper end by name; a mapping of these for several series.
        """
        inside = as_level(level)
        return self._of_each(lambda one: one.effects(inside))

    def log_density(self, y: object, X: object = None, *, times: object = None) -> Any:
        """Return log predictive densities (h,) of values, by default at the next ``h`` times.

        ``y`` has shape (h,), or is a pandas series whose index has the times. With ``"counts"``,
        all values have the logarithm of their probability; where forecasts below zero are zero
        (``"floor"`` and ``"sqrt"``), a value of zero has. Values outside the domain of the
        transformation have minus infinity. A single series must have been fitted. Raises TypeError
        or ValueError as ``predict``.
        """
        if not self._fitted().is_single_:
            raise ValueError("log_density takes a model that was fitted to a single series.")
        values = series_values(y)
        if times is None:
            index = getattr(y, "index", None)
            times = index if hasattr(index, "get_indexer") else len(values)
        return self._forecasts(times, X).log_densities(values)

    def cross_validate(
        self,
        y: object,
        horizon: int,
        n_origins: int = 5,
        X: object = None,
        *,
        times: object = None,
        stride: int | None = None,
        level: float = 0.9,
        season_length: int | None = None,
    ) -> Any:
        """Return forecasts from several origins, with a model fitted to the values before each.

        Raises ``ValueError`` if the series is too short for the origins, or as ``fit``.

        Parameters
        ----------
        y, X, times
            As in ``fit``. Several series must have one length.
        horizon : int
            Number of values to forecast from each origin.
        n_origins : int, default=5
            Number of origins. The last forecast ends with the series.
        stride : int or None, default=None
            Number of values from one origin to the next; ``None`` means ``horizon``.
        level : float, default=0.9
            Probability of the intervals.
        season_length : int or None, default=None
            Number of steps of the seasonal differences that scale the errors; ``None`` means the
            shortest period of the calendar, or one step.

        Returns
        -------
        table : dict of str to ndarray, or DataFrame
            One row per forecast: ``origin`` (number of training values), ``step`` (1 to
            ``horizon``), ``observed``, ``predicted``, ``lower``, ``upper``, ``covered``,
            ``scaled_error`` (the error divided by the mean absolute seasonal difference of the
            training values; its mean absolute value is the MASE), ``smape`` (200 times the
            absolute error divided by the sum of the sizes of both values, per cent), ``crps``
            (the continuous ranked probability score of the predictive distribution, in units of
            ``y``) and ``log_density``; ``series`` is the name if there
            are several. The result is a data frame with ``time`` if ``y`` is a pandas object.
        """
        self._check_parameters()
        return rolling_table(self, y, X, times, horizon, n_origins, stride, level, season_length)

    def plot(
        self,
        horizon: ArrayLike,
        X: object = None,
        *,
        components: bool = False,
        level: float = 0.9,
        ax: Any = None,
        theme: str = "light",
    ) -> Any:
        """Draw the last values and the forecast with its intervals, or with ``components`` those.

        ``horizon`` and ``X`` are those of ``predict``. The display is that of
        :func:`bochner.plot.forecast` or :func:`bochner.plot.components`, which have more options.
        Raises ValueError for several series: use ``of``.
        """
        from bochner import plot

        if components:
            return plot.components(self, horizon, X, level=level, ax=ax, theme=theme)
        return plot.forecast(self, horizon, inputs=X, level=level, ax=ax, theme=theme)

    def of(self, name: object) -> "Forecaster":
        """Return a forecaster of the named series alone.

        Raises ValueError if there is no such series.
        """
        if str(name) not in self._fitted().series_:
            names = ", ".join(map(repr, self.series_))
            raise ValueError(f"There is no series {name!r:.60}: choose from {names}.")
        single: Forecaster = clone(self)
        single.series_, single.is_single_ = {_ONE: self.series_[str(name)]}, True
        return single

    @property
    def periods_(self) -> Any:
        """Periods with a probability of at least one half, the largest first."""
        return self._of_each(lambda one: one.law.periods())

    @property
    def transformation_(self) -> Any:
        """Transformation of the values that is modelled, for each series."""
        return self._of_each(lambda one: one.law.transformation)

    @property
    def outliers_(self) -> Any:
        """Positions of values that are ignored as outliers, for each series."""
        return self._of_each(lambda one: one.law.positions(one.law.outliers))

    @property
    def level_shifts_(self) -> Any:
        """Positions of the first values after lasting shifts of the level, for each series."""
        return self._of_each(lambda one: one.law.positions(one.law.shifts))

    @property
    def calendar_patterns_(self) -> Any:
        """Days of the calendar at which each series has another level."""
        return self._of_each(lambda one: one.patterns)

    def _of_each(self, values: Callable[[FittedSeries], Any]) -> Any:
        by_name = {one.shown(name): values(one) for name, one in self._fitted().series_.items()}
        return by_name[_ONE] if self.is_single_ else by_name

    def _fitted(self) -> Self:
        check_is_fitted(self, "series_")
        return self

    def _try_out(self) -> list[Any]:
        """Return test forecasts of a model, which are finite, or raise ValueError."""
        return [series.try_out() for series in self._fitted().series_.values()]

    def _forecasts(self, horizon: object, X: object) -> SeriesForecasts:
        """Return the forecasts of all series for a number of steps or for requested times."""
        fitted = self._fitted().series_
        return SeriesForecasts.at(fitted, self.is_single_, horizon, X)

    def _options(self, progress: Progress) -> Options:
        with single_threaded_blas() as n_threads:
            n_threads = threads_for(self.n_jobs, n_threads)
        some = self.periods, self.find_cycle, self.find_breaks, self.transformation, n_threads
        return Options(*some, progress)

    def _check_parameters(self) -> None:
        check_choice("transformation", self.transformation, ("auto", *TRANSFORMATIONS))
        check_periods(self.periods)
        as_flag("find_cycle", self.find_cycle)
        as_flag("find_breaks", self.find_breaks)
        checked_n_jobs(self.n_jobs)
        check_seed(self.random_state)
