"""Errors of forecasts from past origins, by which intervals are widened."""

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.series.model import ScaledSeries, SeriesModel

Places = NDArray[np.intp]

_N_HORIZONS = 8
"""Horizons, evenly by ratio, that are calibrated; factors in between are interpolated."""

_SHARE = 3
"""Origins begin after a third of the rows, and horizons end at a third: the state at the first
origin then rests on data, and longer horizons have too few errors that do not overlap."""

_PRIOR_ERRORS = 5.0
"""Independent errors, as large as the model says, that those of past origins are averaged with."""

_REGULAR = 0.01
"""Departure of steps from their median, relative to it, up to which rows count as regular."""

_FEWEST = 0.5
"""Share of the steps that must be regular for horizons to be counted in steps."""


def horizon_factors(
    model: SeriesModel, theta: Array, rows: ScaledSeries, step: float
) -> tuple[Array, Array]:
    """Return horizons (q,) in ranges, and factors (q,) of standard deviations, at least one.

    A factor is the root mean square of errors relative to the deviations that were expected of
    them, over all origins in the latter two thirds of the rows. Parameters are those of all rows.
    Irregular rows have no factors.
    """
    n = len(rows)
    regular = np.abs(np.diff(rows.times) - step) <= _REGULAR * step
    longest = n // _SHARE
    if longest < 1 or regular.mean() < _FEWEST:
        return np.zeros(0), np.zeros(0)
    _, states = model.filtered(theta, rows)
    horizons = np.unique(np.rint(np.geomspace(1, longest, _N_HORIZONS)).astype(np.int64))
    factors = []
    for horizon in horizons.tolist():
        origins, later = _pairs(rows, horizon * step, step)
        at = rows.part(later)
        mean, variance = model.carried(
            theta, states.mean[origins], states.cov[origins], horizon * step, at
        )
        squares = (at.values - mean) ** 2 / variance
        independent = len(squares) / horizon
        total = _PRIOR_ERRORS + float(squares.sum()) / horizon
        factors.append(np.sqrt(max(1.0, total / (_PRIOR_ERRORS + independent))))
    return np.multiply(horizons, step, dtype=np.float64), np.array(factors)


def _pairs(rows: ScaledSeries, ahead: float, step: float) -> tuple[Places, Places]:
    """Return origins and the known rows that lie a horizon after them, to half a step."""
    origins = np.arange(len(rows) // _SHARE, len(rows) - 1)
    wanted = rows.times[origins] + ahead
    later = np.searchsorted(rows.times, wanted - 0.5 * step)
    inside = later < len(rows)
    origins, wanted, later = origins[inside], wanted[inside], later[inside]
    near = (np.abs(rows.times[later] - wanted) <= 0.5 * step) & rows.known[later]
    return origins[near], later[near]
