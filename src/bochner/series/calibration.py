"""Intervals fitted to the errors of forecasts from past origins (backtesting), and draws."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit, logit

from bochner._base.arrays import Array
from bochner.series.series_model import ScaledSeries, SeriesModel
from bochner.series.state_loops import Steps

Places = NDArray[np.intp]

_N_HORIZONS = 8
"""Number of calibrated horizons on a logarithmic grid; factors between them are interpolated."""

_SHARE = 3
"""Origins begin after a third of the rows, so that the state at the first origin rests on data.
Horizons end at a third of the rows, because longer ones have too few errors that do not overlap."""

_PRIOR_ERRORS = 5.0
"""Number of prior pseudo-errors, as large as the model expects, that are averaged with the errors
from past origins."""

LARGE = 3.0
"""Ratio of the standard deviation of large errors to that of ordinary errors."""

_LARGE_PRIOR = (2.0, 20.0)
"""Prior counts of large and ordinary errors, a prior share of nine per cent; held-out series of the
M3 competition had a share of six to eight per cent."""

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
