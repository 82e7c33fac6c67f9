r"""Compiled loops over the rows of a series whose hidden states form a Markov chain.

States :math:`x_t` (s,) and values :math:`y_t` obey

.. math:: x_t = F_t x_{t-1} + \eta_t, \quad \eta_t \sim N(0, Q_t), \qquad
          y_t = h_t^\top x_t + \varepsilon_t, \quad \varepsilon_t \sim N(0, r).

A state depends on itself and at most one other state, its partner: row i of ``F`` has ``own`` on
the diagonal and ``other`` in the partner's column, and ``Q`` has ``variance`` and ``covariance`` in
these places. A step therefore costs :math:`O(s^2)`. Steps of equal length share a row of these
arrays (u, s), and ``which`` (n,) is the row index of the step to each time. NaN values are unknown.

Compiled functions called from Python fill output arrays and return numbers or nothing, because
Numba does not check for Ctrl-C while it returns an array or a named tuple, and would crash.

References
----------
Kalman, "A new approach to linear filtering and prediction problems", 1960. De Jong, "Smoothing and
interpolation with the state-space model", Journal of the American Statistical Association, 1989.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.compiling import compiled, inner
from bochner._base.vector_loops import FASTER, add, copy, dot

_LOG_TWO_PI = 1.8378770664093453  # log(2 pi), of normal densities

_TINY = 1e-200  # Absolute value below which decaying quantities are set to zero
_FLUSHED = 64
"""Steps between flushes to zero, too few for halved quantities to become denormal."""


class Steps(NamedTuple):
    """State transitions: arrays (u, s) and ``which`` (n,) of the module's docstring."""

    which: NDArray[np.int64]
    own: Array
    other: Array
    variance: Array
    covariance: Array
    partner: NDArray[np.int64]


def _check(weights: Array, steps: Steps, initial: Array, *means: Array) -> None:
    """Raise ValueError for array shapes that the loops cannot read, as in a damaged model file.

    ``weights`` are (n, s), ``initial`` is (s, s), and ``means`` are (s,) each.
    """
    n, s = weights.shape
    u = len(steps.own)
    moves = (steps.own, steps.other, steps.variance, steps.covariance)
    is_sound = (
        len(steps.which) >= n
        and all(part.shape == (u, s) for part in moves)
        and steps.partner.shape == (s,)
        and initial.shape == (s, s)
        and all(mean.shape == (s,) for mean in means)
        and 0 <= steps.which.min(initial=0) <= steps.which.max(initial=-1) < u
        and 0 <= steps.partner.min(initial=0) <= steps.partner.max(initial=-1) < s
    )
    if not is_sound:
        raise ValueError(f"states of {n} times and {s} weights do not fit their transitions")


def _check_groups(groups: NDArray[np.int64], n_groups: int, n_states: int) -> None:
    if groups.shape != (n_states,) or not 0 <= groups.min() <= groups.max() < n_groups:
        raise ValueError(f"{len(groups)} groups do not fit {n_states} states")


class Filtered(NamedTuple):
    """Moments of the states given the values up to each time, and one-step prediction errors.

    ``mean`` (n, s) and ``cov`` (n, s, s) are the moments of the states. ``error`` (n,) and
    ``variance`` (n,) belong to the prediction of a value from earlier values, NaN if the value is
    unknown. ``gain`` (n, s) is the covariance of the states and the value.
    """

    mean: Array
    cov: Array
    gain: Array
    error: Array
    variance: Array


class Slopes(NamedTuple):
    """Derivatives of the log evidence by the arrays of `Steps`, the initial covariance and r."""

    own: Array
    other: Array
    variance: Array
    covariance: Array
    initial: Array
    noise: float


@inner(fastmath=FASTER)
def _sum(factor: float, left: Array, factor_right: float, right: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] = factor * left[i] + factor_right * right[i]


@inner(fastmath=FASTER)
def _products(left: Array, by: Array, right: Array, by_right: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] = left[i] * by[i] + right[i] * by_right[i]


@inner(fastmath=FASTER)
def _taken(values: Array, places: NDArray[np.int64], out: Array) -> None:
    for i in range(out.size):
        out[i] = values[places[i]]


@inner(fastmath=FASTER)
def _carried(
    mean: Array, cov: Array, diagonal: Array, other: Array, partner: NDArray[np.int64], work: Array
) -> None:
    """Replace a mean m (s,) and a covariance P (s, s), in place, by ``F m`` and ``F P F.T``."""
    s = mean.size
    buffer = work[s]
    for i in range(s):
        p = partner[i]
        _sum(diagonal[i], cov[i], other[i], cov[p], work[i])
    for i in range(s):
        _taken(work[i], partner, buffer)
        _products(diagonal, work[i], other, buffer, cov[i])
    _taken(mean, partner, buffer)
    _products(diagonal, mean, other, buffer, mean)


def filtered(
    y: Array, weights: Array, steps: Steps, first: Array, initial: Array, noise: float
) -> tuple[float, Filtered]:
    """Return the log evidence of values (n,) with weights ``h`` (n, s), and the filtered states.

    States have mean ``first`` (s,) and covariance ``initial`` (s, s) before the first value, at its
    time; ``noise`` is ``r``.
    """
    n, s = weights.shape
    _check(weights, steps, initial, first)
    if y.shape != (n,):
        raise ValueError(f"{len(y)} values do not fit {n} times")
    states = Filtered(
        mean=np.empty((n, s)),
        cov=np.empty((n, s, s)),
        gain=np.zeros((n, s)),
        error=np.full(n, np.nan),
        variance=np.full(n, np.nan),
    )
    mean, cov, work = first.copy(), initial.copy(), np.empty((s + 1, s))
    return _filter(y, weights, steps, mean, cov, noise, states, work), states


@inner(fastmath=FASTER)
def _flush(values: Array) -> None:
    for i in range(values.size):
        if abs(values[i]) < _TINY:
            values[i] = 0.0


def moments_ahead(
    weights: Array,
    steps: Steps,
    first: Array,
    initial: Array,
    groups: NDArray[np.int64],
    n_groups: int,
) -> tuple[Array, Array]:
    """Return means and variances like `component_moments`, at times without known values.

    States have mean ``first`` (s,) and covariance ``initial`` (s, s) at the first time. Covariances
    are not stored for each time: memory is O(s) per time.
    """
    _check(weights, steps, initial, first)
    _check_groups(groups, n_groups, weights.shape[1])
    mean, variance = np.zeros((2, len(weights), n_groups + 1))
    n_states = weights.shape[1]
    work, part = np.empty((n_states + 1, n_states)), np.zeros((n_groups, n_states))
    _fill_ahead(weights, steps, first.copy(), initial.copy(), groups, mean, variance, work, part)
    return mean, variance


@compiled(fastmath=FASTER)
def _fill_ahead(
    weights: Array,
    steps: Steps,
    state: Array,
    cov: Array,
    groups: NDArray[np.int64],
    mean: Array,
    variance: Array,
    work: Array,
    part: Array,
) -> None:
    n, s = weights.shape
    n_groups = mean.shape[1] - 1
    for t in range(n):
        if t > 0:
            _moved(state, cov, steps, steps.which[t], work)
        if t % _FLUSHED == 0:
            _flush(state)
            for i in range(s):
                _flush(cov[i])
        weight = weights[t]
        for i in range(s):
            part[groups[i], i] = weight[i]
        for i in range(s):
            g = groups[i]
            mean[t, g] += weight[i] * state[i]
            mean[t, n_groups] += weight[i] * state[i]
            variance[t, g] += weight[i] * dot(cov[i], part[g])
            variance[t, n_groups] += weight[i] * dot(cov[i], weight)


@inner(fastmath=FASTER)
def _moved(mean: Array, cov: Array, steps: Steps, k: int, work: Array) -> None:
    """Replace mean and covariance of the states, in place, by the moments after a step."""
    _carried(mean, cov, steps.own[k], steps.other[k], steps.partner, work)
    for i in range(mean.size):
        p = steps.partner[i]
        cov[i, i] += steps.variance[k, i]
        if p != i:
            cov[i, p] += steps.covariance[k, i]


@compiled(fastmath=FASTER)
def _filter(
    y: Array,
    weights: Array,
    steps: Steps,
    mean: Array,
    cov: Array,
    noise: float,
    states: Filtered,
    work: Array,
) -> float:
    n, s = weights.shape
    evidence = 0.0
    for t in range(n):
        if t > 0:
            _moved(mean, cov, steps, steps.which[t], work)
        if not math.isnan(y[t]):
            weight, g = weights[t], states.gain[t]
            for i in range(s):
                g[i] = dot(cov[i], weight)
            total = noise + dot(g, weight)
            v = y[t] - dot(mean, weight)
            states.error[t], states.variance[t] = v, total
            evidence -= 0.5 * (math.log(total) + v * v / total + _LOG_TWO_PI)
            add(v / total, g, mean)
            for i in range(s):
                add(-g[i] / total, g, cov[i])
        copy(mean, states.mean[t])
        for i in range(s):
            copy(cov[i], states.cov[t, i])
    return evidence


@inner(fastmath=FASTER)
def _back_through_value(
    d_mean: Array, d_cov: Array, weight: Array, states: Filtered, t: int, d_gain: Array
) -> float:
    """Back-propagate through the update by a value, in place; return the derivative by ``r``."""
    v, total, gain = states.error[t], states.variance[t], states.gain[t]
    for i in range(d_gain.size):
        d_gain[i] = dot(d_cov[i], gain)
    along, twice = dot(d_mean, gain), dot(d_gain, gain)
    d_total = (twice - along * v + 0.5 * v * v) / total**2 - 0.5 / total
    _sum(v / total, d_mean, -2.0 / total, d_gain, d_gain)
    add(d_total, weight, d_gain)
    add((v - along) / total, weight, d_mean)
    for i in range(d_gain.size):
        add(0.5 * d_gain[i], weight, d_cov[i])
        add(0.5 * weight[i], d_gain, d_cov[i])
    return float(d_total)


def slopes(weights: Array, steps: Steps, states: Filtered) -> Slopes:
    """Return derivatives of the log evidence by reverse-mode differentiation of `filtered`."""
    s = weights.shape[1]
    _check(weights, steps, states.cov[0], states.mean[0])
    d_own, d_other, d_variance, d_covariance = np.zeros((4, *steps.own.shape))
    derivatives = Slopes(
        d_own, d_other, d_variance, d_covariance, initial=np.zeros((s, s)), noise=0.0
    )
    return derivatives._replace(noise=_add_slopes(weights, steps, states, derivatives))


@compiled(fastmath=FASTER)
def _add_slopes(weights: Array, steps: Steps, states: Filtered, derivatives: Slopes) -> float:
    n, s = weights.shape
    partner = steps.partner
    back = _transposed(steps)
    d_noise = 0.0
    # Derivatives by mean and covariance of the states, starting after the last row.
    d_mean, d_cov = np.zeros(s), derivatives.initial
    work, before, buffer = np.empty((s + 1, s)), np.empty((s, s)), np.empty(s)
    for t in range(n - 1, -1, -1):
        if not math.isnan(states.error[t]):
            d_noise += _back_through_value(d_mean, d_cov, weights[t], states, t, buffer)
        if t == 0:
            break
        k = steps.which[t]
        own, other, earlier = steps.own[k], steps.other[k], states.cov[t - 1]
        for i in range(s):  # Rows of P F.T, the covariance before the step
            _taken(earlier[i], partner, buffer)
            _products(own, earlier[i], other, buffer, before[i])
        for i in range(s):
            p = partner[i]
            derivatives.own[k, i] += d_mean[i] * states.mean[t - 1, i] + 2.0 * dot(
                d_cov[i], before[i]
            )
            derivatives.variance[k, i] += d_cov[i, i]
            if p != i:
                derivatives.other[k, i] += d_mean[i] * states.mean[t - 1, p] + 2.0 * dot(
                    d_cov[i], before[p]
                )
                derivatives.covariance[k, i] += d_cov[i, p]
        _carried(d_mean, d_cov, own, back[k], partner, work)
    return d_noise


@inner()
def _transposed(steps: Steps) -> Array:
    """Return the entries ``other`` of the transposed transition matrices."""
    back = np.empty_like(steps.other)
    for k in range(back.shape[0]):
        _taken(steps.other[k], steps.partner, back[k])
    return back


def component_moments(
    weights: Array, steps: Steps, states: Filtered, groups: NDArray[np.int64], n_groups: int
) -> tuple[Array, Array]:
    r"""Return means and variances (n, J + 1) of sums of states, given all values.

    The sums are :math:`\sum_{i \in j} h_{ti} x_{ti}` over the states of each group ``j``, and last
    over all states. The recursion goes from the last row to the first; the last states are the
    filtered states.
    """
    _check(weights, steps, states.cov[0], states.mean[0])
    _check_groups(groups, n_groups, weights.shape[1])
    mean, variance = np.zeros((2, len(weights), n_groups + 1))
    _fill_moments(weights, steps, states, groups, mean, variance)
    return mean, variance


@compiled(fastmath=FASTER)
def _fill_moments(
    weights: Array,
    steps: Steps,
    states: Filtered,
    groups: NDArray[np.int64],
    mean: Array,
    variance: Array,
) -> None:
    n, s = weights.shape
    n_groups = mean.shape[1] - 1
    back = _transposed(steps)
    # Information of later values: a vector and a matrix that correct the filtered moments.
    later, spread = np.zeros(s), np.zeros((s, s))
    work, buffer = np.empty((s + 1, s)), np.empty(s)
    part, image = np.empty((n_groups + 1, s)), np.empty(s)
    for t in range(n - 1, -1, -1):
        cov, weight = states.cov[t], weights[t]
        part[:] = 0.0
        for i in range(s):
            value = weight[i] * (states.mean[t, i] + dot(cov[i], later))
            for g in (groups[i], n_groups):
                part[g, i] = weight[i]
                mean[t, g] += value
        for g in range(n_groups + 1):
            for i in range(s):
                image[i] = dot(cov[i], part[g])
            total = dot(part[g], image)
            for i in range(s):
                total -= image[i] * dot(spread[i], image)
            variance[t, g] = total
        if t == 0:
            break
        if not math.isnan(states.error[t]):
            _learn_value(later, spread, weight, states, t, buffer)
        k = steps.which[t]
        _carried(later, spread, steps.own[k], back[k], steps.partner, work)


@inner(fastmath=FASTER)
def _learn_value(
    later: Array, spread: Array, weight: Array, states: Filtered, t: int, image: Array
) -> None:
    """Add the information in the value of row ``t`` to the information of later rows, in place."""
    total, gain = states.variance[t], states.gain[t]
    for i in range(image.size):
        image[i] = dot(spread[i], gain) / total
    twice = (1.0 + dot(image, gain)) / total
    add((states.error[t] - dot(later, gain)) / total, weight, later)
    for i in range(image.size):
        add(weight[i] * twice - image[i], weight, spread[i])
        add(-weight[i], image, spread[i])
