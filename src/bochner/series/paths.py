"""Draws of future values of a series."""

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.series.series_model import ScaledSeries, SeriesModel
from bochner.series.state_loops import Steps


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
