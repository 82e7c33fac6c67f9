r"""Finds outliers, level shifts and days with spikes; fits intervals to errors from past origins.

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

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit, logit

from bochner._base.arrays import Array
from bochner.series.calendar_patterns import CalendarPattern, CalendarSearch
from bochner.series.components import SHIFT_STD, LevelShifts
from bochner.series.parameter_posterior import Fit, SeriesStructure
from bochner.series.series_model import TINY, ScaledSeries, SeriesModel
from bochner.series.state_loops import Steps

_COST = np.log(20.0)
"""Prior log odds against an outlier or a shift: one series in twenty has an outlier or shift."""

_MOST_SHARE = 0.05
"""Largest share of rows with outliers or shifts; with more of them, no break is reported."""

NEW_BREAKS = 0.2  # Weight, in forecasts, of the model without breaks, because new breaks may follow
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


Places = NDArray[np.intp]

_N_HORIZONS = 8
"""Number of calibrated horizons on a logarithmic grid; factors between them are interpolated."""

_SHARE = 3
"""Origins begin after a third of the rows, so that the state at the first origin rests on data.
Horizons end at a third of the rows, because longer ones have too few errors that do not overlap."""

_PRIOR_ERRORS = 5.0
"""Prior pseudo-errors, as large as expected, averaged with the errors from past origins."""

LARGE = 3.0  # Ratio of the standard deviation of large errors to that of ordinary errors
_LARGE_PRIOR = (2.0, 20.0)
"""Prior counts of large and ordinary errors: nine per cent, as six to eight in the M3 series."""

_MOST_STEPS = 50  # Largest number of expectation-maximisation steps for the share of large errors
_SETTLED = 1e-4  # Convergence tolerance: change of the share, and relative change of the variances
_REGULAR = 0.01  # Largest relative deviation of a regular step from the median step
_FEWEST = 0.5  # Smallest share of regular steps for which horizons are counted in steps


class Calibration(NamedTuple):
    """Ratios of errors of forecasts from past origins to the errors that the model expects.

    At ``horizons`` (q,), in ranges of the rows, ``factors`` (q,) multiply the model's standard
    deviations. A share ``large`` of forecasts has deviations that are `LARGE` times as large.
    """

    horizons: Array
    factors: Array
    large: float


def calibrated(
    model: SeriesModel, theta: Array, rows: ScaledSeries, step: float, n_outliers: int = 0
) -> Calibration:
    """Return the calibration by errors of forecasts from origins in the last two thirds of rows."""
    n = len(rows)
    regular = np.abs(np.diff(rows.times) - step) <= _REGULAR * step
    longest = n // _SHARE
    if longest < 1 or regular.mean() < _FEWEST:
        return Calibration(np.zeros(0), np.zeros(0), 0.0)
    # One pass of the filter gives the states at all origins.
    _, states = model.filtered(theta, rows)
    horizons = np.unique(np.rint(np.geomspace(1, longest, _N_HORIZONS)).astype(np.int64))
    squares = []
    for horizon in horizons.tolist():
        origins, later = _pairs(rows, horizon * step, step)
        at = rows.part(later)
        mean, variance = model.carried(
            theta, states.mean[origins], states.cov[origins], horizon * step, at
        )
        squares.append((at.values - mean) ** 2 / variance)
    variances, large = scales(squares, horizons.tolist(), n_outliers)
    return Calibration(np.multiply(horizons, step, dtype=np.float64), np.sqrt(variances), large)


def scales(
    squares: Sequence[Array], horizons: Sequence[int], n_outliers: int = 0
) -> tuple[Array, float]:
    r"""Return variances v (q,) of standardised errors at q horizons, and the share s of large ones.

    They are fitted to ``squares`` of errors, by horizon, with the density
    :math:`(1 - s) N(e; 0, v) + s N(e; 0, 9 v)` of an error e. Outliers count as large errors. The
    variance of this mixture, :math:`v (1 + 8 s)`, is at least one.
    """
    prior_large, prior_others = _LARGE_PRIOR
    prior_large += n_outliers
    variances, share = np.ones(len(horizons)), prior_large / (prior_large + prior_others)
    weight = 1.0 / np.asarray(horizons, dtype=np.float64)
    independent = weight * [len(of_horizon) for of_horizon in squares]
    for _ in range(_MOST_STEPS):
        before, sums = (variances, share), []
        for v, of_horizon in zip(variances, squares, strict=True):
            # Posterior probability of a large error.
            log_odds = logit(share) - np.log(LARGE) + 0.5 * (1.0 - LARGE**-2) * of_horizon / v
            probability = expit(log_odds)
            total = np.sum(of_horizon * (1.0 - (1.0 - LARGE**-2) * probability))
            sums.append((total, probability.sum()))
        totals, n_large = weight * np.array(sums).T
        variances = (_PRIOR_ERRORS + totals) / (_PRIOR_ERRORS + independent)
        share = (prior_large + n_large.sum()) / (prior_large + prior_others + independent.sum())
        change = np.abs(variances / before[0] - 1.0).max()
        if max(change, abs(share - before[1])) < _SETTLED:
            break
    # The parameters were fitted to these rows, so small errors do not prove too wide intervals.
    least = 1.0 / (1.0 + (LARGE**2 - 1.0) * share)
    return np.maximum(variances, least), float(share)


def _pairs(rows: ScaledSeries, ahead: float, step: float) -> tuple[Places, Places]:
    """Return the pairs of known rows (origin, target) that are one horizon apart."""
    origins = np.arange(len(rows) // _SHARE, len(rows) - 1)
    origins = origins[rows.known[origins]]
    wanted = rows.times[origins] + ahead
    later = np.searchsorted(rows.times, wanted - 0.5 * step)
    inside = later < len(rows)
    origins, wanted, later = origins[inside], wanted[inside], later[inside]
    near = (np.abs(rows.times[later] - wanted) <= 0.5 * step) & rows.known[later]
    return origins[near], later[near]


def paths(
    model: SeriesModel,
    theta: Array,
    state: tuple[Array, Array],
    rows: ScaledSeries,
    factors: Array,
    widths: Array,
    rng: Generator,
) -> Array:
    """Return joint draws (m, h) of noisy values at all rows after ``rows[0]``.

    ``state`` has the mean (s,) and covariance (s, s) of the states at ``rows[0]``. Deviations
    from the mean are multiplied by ``factors`` (h,) of the rows and ``widths`` (m,) of the draws.
    """
    steps, weights, count = model.steps(theta, rows.times), model.weights(rows), len(widths)
    # Draws start from the uncertain states at the last training row.
    states = _normal(*state, count, rng)
    noise = np.sqrt(model.noise(theta))
    centre, values = state[0], np.empty((count, len(rows) - 1))
    for t in range(1, len(rows)):
        k = int(steps.which[t])
        centre = _carried(centre, steps, k)
        states = _carried(states, steps, k) + _disturbances(steps, k, count, rng)
        # Deviations from the mean path are scaled by the calibration.
        gaps = (states - centre) @ weights[t] + noise * rng.normal(size=count)
        values[:, t - 1] = centre @ weights[t] + factors[t - 1] * widths * gaps
    return values


def _carried(states: Array, steps: Steps, k: int) -> Array:
    """Return the states (..., s) after step ``k``, without noise."""
    states_after: Array = states * steps.own[k] + states[..., steps.partner] * steps.other[k]
    return states_after


def _normal(mean: Array, cov: Array, count: int, rng: Generator) -> Array:
    """Return draws (count, s) of a normal law, whose covariance may be singular."""
    # Eigenvalues, because a singular covariance has no Cholesky factor.
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws: Array = mean + rng.normal(size=(count, len(mean))) @ root.T
    return draws


def _disturbances(steps: Steps, k: int, count: int, rng: Generator) -> Array:
    """Return draws (count, s) of the noise that step ``k`` adds to the states."""
    variance, partner = steps.variance[k], steps.partner
    drawn = rng.normal(size=(count, len(variance)))
    noise: Array = drawn * np.sqrt(variance)
    # The noise of a state is correlated with the noise of its partner.
    for i in np.flatnonzero((partner > np.arange(len(partner))) & (steps.covariance[k] != 0.0)):
        p = int(partner[i])
        share = steps.covariance[k, i] / np.sqrt(variance[i])
        rest = np.sqrt(max(variance[p] - share**2, 0.0))
        noise[:, p] = share * drawn[:, i] + rest * drawn[:, p]
    return noise
