r"""Finds outliers and shifts of the level of a series.

A value that the others contradict is an outlier. Given the filter's errors :math:`e_t`, their
variances :math:`S_t` and the gains, a recursion from the last row to the first gives, for every
row, the difference between the value and its prediction from all other rows, and the shift of the
level from this row on that the values support most; both in their standard deviations.

The strongest of both kinds is tried: without the value, or with the shift, the parameters are
fitted again. It is kept if the evidence rises by more than its prior odds, and the next one is
looked for.

References
----------
De Jong and Penzer, "Diagnosing shocks in time series", Journal of the American Statistical
Association, 1998. Chen and Liu, "Joint estimation of model parameters and outlier effects in time
series", Journal of the American Statistical Association, 1993.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.series.model import ScaledSeries, SeriesModel
from bochner.learning.series.parts import SHIFT_STD, LevelShifts
from bochner.learning.series.search import Fit, SeriesStructure

_COST = np.log(20.0)
"""Prior log odds against an outlier, and against a shift: one series in twenty has one."""

_MOST_ROWS = 10_000
"""Most rows of a series in which breaks are looked for: a search takes a second for 1,000 rows."""

_MOST_SHARE = 0.05
"""Largest share of rows with outliers or shifts: where there are more, they are not exceptions."""

NEW_BREAKS = 0.2
"""Weight, in forecasts, of the model without breaks: new ones may follow, and it varies by them."""

_AT_ENDS = 3
"""Rows at both ends without a shift: fewer values than that do not show a new level."""


class Breaks(NamedTuple):
    """Standardised deviations (n,) of values from all others, and of shifts of the level."""

    of_values: Array
    of_levels: Array


def find_breaks(
    rows: ScaledSeries,
    fit: Fit,
    fitted: Callable[[ScaledSeries, SeriesStructure, Fit], Fit],
) -> tuple[ScaledSeries, Fit, NDArray[np.intp]]:
    """Return rows without outliers, the fit to them with shifts of the level, and the outliers.

    ``fitted`` returns the fit of a structure, searched from the parameters of another fit.
    """
    outliers: list[int] = []
    n_known = int(rows.known.sum())
    if len(rows) > _MOST_ROWS:
        return rows, fit, np.array(outliers, dtype=np.intp)
    # Any of the rows might have the break, so that each is improbable.
    cost = float(np.log(n_known)) + _COST
    for _ in range(int(_MOST_SHARE * n_known)):
        breaks = standardised(fit.mode.model, fit.mode.theta, rows)
        value, level = (int(np.argmax(np.abs(each))) for each in breaks)
        options = []
        # Squares that do not raise the evidence enough even if parameters are fitted anew are rare.
        if 0.5 * breaks.of_values[value] ** 2 > cost:
            values = rows.values.copy()
            values[value] = np.nan
            without = ScaledSeries(rows.times, values, rows.inputs, rows.clock)
            # The outlier itself has a wide density in place of that of the model.
            density = -np.log(SHIFT_STD * np.sqrt(2.0 * np.pi))
            options.append((without, fitted(without, fit.structure, fit), density, [value]))
        if 0.5 * breaks.of_levels[level] ** 2 > cost:
            structure = _with_shift(fit.structure, float(rows.times[level]))
            options.append((rows, fitted(rows, structure, fit), 0.0, []))
        gains = [option[1].score + option[2] - fit.score - cost for option in options]
        if max(gains, default=0.0) <= 0.0:
            break
        rows, fit, _, new = options[int(np.argmax(gains))]
        outliers += new
    return rows, fit, np.sort(np.array(outliers, dtype=np.intp))


def _with_shift(structure: SeriesStructure, time: float) -> SeriesStructure:
    earlier = () if structure.shifts is None else structure.shifts.times
    return replace(structure, shifts=LevelShifts(tuple(sorted({*earlier, time}))))


def standardised(model: SeriesModel, theta: Array, rows: ScaledSeries) -> Breaks:
    """Return how far each value is from all others, and each level from the one before.

    Zero for unknown values and for rows at the ends.
    """
    steps, weights = model.steps(theta, rows.times), model.weights(rows)
    _, states = model.filtered(theta, rows)
    n, s = weights.shape
    of_values, of_levels = np.zeros(n), np.zeros(n)
    # What the values after a row tell of its states: the slope and curvature of their evidence.
    slope, curvature = np.zeros(s), np.zeros((s, s))
    for t in range(n - 1, -1, -1):
        h = weights[t]
        if np.isfinite(states.error[t]):
            total, gain = states.variance[t], states.gain[t] / states.variance[t]
            image = curvature @ gain
            error = states.error[t] / total - gain @ slope
            precision = 1.0 / total + gain @ image
            of_values[t] = error / np.sqrt(precision)
            slope = slope + h * error
            # (I - h k.T) N (I - k h.T) + h h.T / S
            curvature = curvature - np.outer(h, image) - np.outer(image, h)
            curvature += precision * np.outer(h, h)
        if _AT_ENDS <= t <= n - _AT_ENDS and curvature[0, 0] > 0.0:
            of_levels[t] = slope[0] / np.sqrt(curvature[0, 0])
        k = int(steps.which[t])
        slope = _back(steps.own[k], steps.other[k], steps.partner, slope)
        curvature = _back(steps.own[k], steps.other[k], steps.partner, curvature)
        curvature = _back(steps.own[k], steps.other[k], steps.partner, curvature.T)
    return Breaks(of_values, of_levels)


def _back(own: Array, other: Array, partner: NDArray[np.int64], values: Array) -> Array:
    """Return the product of the transposed transition and values (s,) or (s, m)."""
    # Partners are each other's; a state without one is its own, with an entry of zero.
    from_other = np.where(partner == np.arange(len(own)), 0.0, other)
    product: Array = (own * values.T + (from_other * values.T)[..., partner]).T
    return product
