r"""Finds outliers, shifts of the level and spikes at days of the calendar.

A value that contradicts all other values is an outlier. Given the filter's errors :math:`e_t`,
their variances :math:`S_t` and the gains, a backward recursion gives, for every row t, the
difference between the value and its prediction from all other rows, and the most likely shift of
the level at row t; both are divided by their standard deviations.

References
----------
De Jong and Penzer, "Diagnosing shocks in time series", Journal of the American Statistical
Association, 1998. Chen and Liu, "Joint estimation of model parameters and outlier effects in time
series", Journal of the American Statistical Association, 1993.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner.series.calendar_patterns import CalendarPattern, CalendarSearch
from bochner.series.components import SHIFT_STD, LevelShifts
from bochner.series.parameter_posterior import Fit, SeriesStructure
from bochner.series.series_model import TINY, ScaledSeries, SeriesModel

_COST = np.log(20.0)
"""Prior log odds against an outlier or a shift: one series in twenty has an outlier or shift."""

_MOST_SHARE = 0.05
"""Largest share of rows with outliers or shifts; with more of them, no break is reported."""

NEW_BREAKS = 0.2
"""Weight, in forecasts, of the model without breaks, because new breaks may follow."""

_SURE = 5.0
"""Gain of evidence, in nats, above which a break is accepted without refitting the parameters."""

_MOST_PATTERNS = 24
"""Largest number of patterns of the calendar in one series: the hours of one day."""

_AT_ENDS = 3
"""Smallest number of rows before and after a shift: fewer rows do not determine a level."""


class Breaks(NamedTuple):
    """Standardised leave-one-out residuals (n,) and level shifts (n,), and precisions (n,).

    The precision of a known value given all others is the diagonal of the precision matrix.
    """

    of_values: Array
    of_levels: Array
    precisions: Array


class Explained(NamedTuple):
    """Rows with the columns of patterns and without outliers, with the fit to them.

    ``rows_with_outliers`` and ``fit_without_breaks`` have the patterns only.
    """

    rows: ScaledSeries
    fit: Fit
    outliers: NDArray[np.intp]
    patterns: list[CalendarPattern]
    rows_with_outliers: ScaledSeries
    fit_without_breaks: Fit

    @classmethod
    def nothing(cls, rows: ScaledSeries, fit: Fit) -> Self:
        """Return rows and fit without patterns and breaks."""
        return cls(rows, fit, np.zeros(0, dtype=np.intp), [], rows, fit)


Fitted = Callable[[ScaledSeries, SeriesStructure, Fit], Fit]


def find_breaks(
    rows: ScaledSeries, fit: Fit, fitted: Fitted, calendar: CalendarSearch | None
) -> Explained:
    """Return rows and fit with patterns of the calendar, outliers and level shifts."""
    everything, unbroken = rows, fit  # With outliers and without shifts
    outliers: list[int] = []  # Row indices
    patterns: list[CalendarPattern] = []
    n_known = int(rows.known.sum())
    most = int(_MOST_SHARE * n_known)
    _, counts = np.unique(rows.values[rows.known], return_counts=True)
    # If most values are equal, such as zero, the remaining values are the signal, not outliers.
    if 2 * counts.max(initial=0) >= n_known:
        return Explained.nothing(rows, fit)
    # The break may be at any known row, so each row has a prior probability of 1 / n_known.
    cost = float(np.log(n_known)) + _COST
    score, n_new, n_breaks = fit.score, 0, 0
    while n_breaks <= most:
        found = standardised(fit.mode.model, fit.mode.theta, rows)
        strongest = _strongest(found)
        gain = 0.5 * strongest.square - cost
        pattern = None
        if calendar is not None and len(patterns) < _MOST_PATTERNS:
            ratio = _day_ratio(rows, fit, calendar.one_day)
            pattern = calendar.strongest(found.of_values, found.precisions, ratio)
        is_pattern = pattern is not None and pattern.gain > max(gain, 0.0)
        if n_new and (is_pattern or gain <= _SURE):
            # The parameters were estimated with the breaks in the data, so refit them.
            fit, n_new = fitted(rows, fit.structure, fit), 0
            score = fit.score
            continue
        if calendar is not None and pattern is not None and is_pattern:
            column = pattern.pattern.indicator(calendar.days)
            new_rows = rows.with_input(column)
            new_fit = fitted(new_rows, fit.structure, fit)
            if new_fit.score - score > pattern.cost:
                rows, fit, score = new_rows, new_fit, new_fit.score
                everything = everything.with_input(column)
                patterns.append(pattern.pattern)
            else:
                calendar = None
            continue
        # If the square is small, a refit would hardly raise the evidence enough.
        if gain <= 0.0:
            break
        new_rows, structure = strongest.applied(rows, fit.structure)
        if gain > _SURE:
            fit, n_new = _with_same_parameters(fit, structure), n_new + 1
        else:
            new_fit = fitted(new_rows, structure, fit)
            if new_fit.score + strongest.density - score <= cost:
                break
            fit, score = new_fit, new_fit.score
        rows, n_breaks = new_rows, n_breaks + 1
        if not strongest.is_shift:
            outliers.append(strongest.place)
    if n_new:
        fit = fitted(rows, fit.structure, fit)
    if patterns:
        unbroken = fitted(everything, unbroken.structure, fit)
    if n_breaks > most:  # Too many breaks to be exceptions
        rows, fit, outliers = everything, unbroken, []
    elif not n_breaks:
        unbroken = fit
    places = np.sort(np.array(outliers, dtype=np.intp))
    return Explained(rows, fit, places, patterns, everything, unbroken)


class _Break(NamedTuple):
    """An outlier or a level shift at a row, with its squared standardised size."""

    is_shift: bool
    place: int
    square: float

    @property
    def density(self) -> float:
        """Log density of an outlier's value under a wide normal law; zero for a shift."""
        return 0.0 if self.is_shift else -float(np.log(SHIFT_STD * np.sqrt(2.0 * np.pi)))

    def applied(
        self, rows: ScaledSeries, structure: SeriesStructure
    ) -> tuple[ScaledSeries, SeriesStructure]:
        """Return rows and structure after this break: NaN for an outlier, or a shift added."""
        if self.is_shift:
            earlier = () if structure.shifts is None else structure.shifts.times
            times = tuple(sorted({*earlier, float(rows.times[self.place])}))
            return rows, replace(structure, shifts=LevelShifts(times))
        values = rows.values.copy()
        values[self.place] = np.nan
        return replace(rows, values=values), structure


def _strongest(found: Breaks) -> _Break:
    squares = np.square(found[:2])
    kind, place = divmod(int(np.argmax(squares)), squares.shape[1])
    return _Break(kind == 1, place, float(squares[kind, place]))


def _day_ratio(rows: ScaledSeries, fit: Fit, one_day: Array | None) -> float:
    """Return the sum of the precision matrix over the rows of a day, relative to its diagonal."""
    if one_day is None:
        return 1.0
    probe = np.where(rows.known, one_day, np.nan)
    found = standardised(fit.mode.model, fit.mode.theta, replace(rows, values=probe))
    is_probe = found.precisions * one_day > 0.0
    if not is_probe.any():
        return 1.0
    total = float(np.sum((found.of_values * np.sqrt(found.precisions))[is_probe]))
    return max(total, TINY) / float(np.sum(found.precisions[is_probe]))


def _with_same_parameters(fit: Fit, structure: SeriesStructure) -> Fit:
    """Return the fit with the level shifts of a structure added and its parameters unchanged."""
    model = fit.mode.model
    parts = [part for part in model.parts if not isinstance(part, LevelShifts)]
    if structure.shifts is not None:
        parts.insert(1, structure.shifts)
    return Fit(structure, replace(fit.mode, model=SeriesModel(tuple(parts), model.table)))


def standardised(model: SeriesModel, theta: Array, rows: ScaledSeries) -> Breaks:
    """Return standardised leave-one-out residuals and standardised level shifts of all rows."""
    steps, weights = model.steps(theta, rows.times), model.weights(rows)
    _, states = model.filtered(theta, rows)
    n, s = weights.shape
    of_values, of_levels, precisions = np.zeros(n), np.zeros(n), np.zeros(n)
    back = [_transposed(*move, steps.partner) for move in zip(steps.own, steps.other, strict=True)]
    gains, errors = states.gain / states.variance[:, None], states.error / states.variance
    # Gradient and negative Hessian, by the states of a row, of the log evidence of later values.
    slope, curvature = np.zeros(s), np.zeros((s, s))
    for t in range(n - 1, -1, -1):
        if np.isfinite(errors[t]):
            h, image = weights[t], curvature @ gains[t]
            error = errors[t] - gains[t] @ slope
            precision = 1.0 / states.variance[t] + max(gains[t] @ image, 0.0)
            of_values[t], precisions[t] = error / np.sqrt(precision), precision
            slope = slope + h * error
            # (I - h k.T) N (I - k h.T) + h h.T / S
            change = np.outer(h, 0.5 * precision * h - image)
            curvature = curvature + change + change.T
        if _AT_ENDS <= t <= n - _AT_ENDS and curvature[0, 0] > 0.0:
            of_levels[t] = slope[0] / np.sqrt(curvature[0, 0])
        F = back[steps.which[t]]
        slope, curvature = F @ slope, F @ curvature @ F.T
    return Breaks(of_values, of_levels, precisions)


def _transposed(own: Array, other: Array, partner: NDArray[np.int64]) -> Array:
    """Return the transpose (s, s) of a transition matrix, from its entries as in `Steps`."""
    # A state without a partner is stored as its own partner; its off-diagonal entry is zero.
    matrix = np.diag(np.where(partner == np.arange(len(own)), 0.0, other))[:, partner].T
    return matrix + np.diag(own)
