"""Widens forecast intervals by the errors of forecasts from past origins (backtesting)."""

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.series.model import ScaledSeries, SeriesModel

Places = NDArray[np.intp]

_N_HORIZONS = 8
"""Number of calibrated horizons, in equal ratios; factors between them are interpolated."""

_SHARE = 3
"""Origins begin after a third of the rows, so that the state at the first origin rests on data.
Horizons end at a third of the rows, because longer ones have too few errors that do not overlap."""

_PRIOR_ERRORS = 5.0
"""Number of independent errors, as large as the model expects, that are averaged with the errors
from past origins."""

_REGULAR = 0.01
"""Relative deviation of a step from the median step up to which the step counts as regular."""

_FEWEST = 0.5
"""Smallest share of regular steps for which horizons are counted in steps."""


def horizon_factors(
    model: SeriesModel, theta: Array, rows: ScaledSeries, step: float
) -> tuple[Array, Array]:
    """Return horizons (q,) in ranges, and factors (q,) of standard deviations, at least one.

    A factor is the root mean square of errors, divided by their predicted standard deviations, over
    all origins in the last two thirds of the rows. Forecasts use the parameters of all rows: a fit
    for each origin would be too slow. Series with irregular steps have no factors.
    """
    n = len(rows)
    regular = np.abs(np.diff(rows.times) - step) <= _REGULAR * step
    longest = n // _SHARE
    if longest < 1 or regular.mean() < _FEWEST:
        return np.zeros(0), np.zeros(0)
    # One pass of the filter gives the states at all origins.
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
        # Errors of one horizon overlap: about one in ``horizon`` of them is independent.
        independent = len(squares) / horizon
        total = _PRIOR_ERRORS + float(squares.sum()) / horizon
        factors.append(np.sqrt(max(1.0, total / (_PRIOR_ERRORS + independent))))
    return np.multiply(horizons, step, dtype=np.float64), np.array(factors)


def _pairs(rows: ScaledSeries, ahead: float, step: float) -> tuple[Places, Places]:
    """Return origins, and the known rows one horizon after them, up to half a step."""
    origins = np.arange(len(rows) // _SHARE, len(rows) - 1)
    wanted = rows.times[origins] + ahead
    later = np.searchsorted(rows.times, wanted - 0.5 * step)
    inside = later < len(rows)
    origins, wanted, later = origins[inside], wanted[inside], later[inside]
    near = (np.abs(rows.times[later] - wanted) <= 0.5 * step) & rows.known[later]
    return origins[near], later[near]
