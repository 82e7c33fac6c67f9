r"""Compiled recursion for the evidence of series with regular times and few unknown values.

States and values are those of `bochner.series.state_loops`, and ``F``, ``Q``, ``h`` and ``r`` do
not change with time. Most processes begin in their stationary law, so that the covariance of the
states before the first value, :math:`P_0`, and the covariance after a step without any value,
:math:`F P_0 F^\top + Q`, differ only in the first two states, those of the trend. The covariances
:math:`P_t` of the states given the values before time t then change by a matrix of rank
:math:`\rho \le 3`,

.. math:: P_{t+1} - P_t = Y_t^\top M_t Y_t,

and a step costs :math:`O(\rho s)` instead of :math:`O(s^2)` operations (Chandrasekhar recursions).
With :math:`c = F P_t h / S_t`, :math:`z = Y_t h` and :math:`u = M_t z`, and the variance
:math:`S_t` of the value,

.. math:: S_{t+1} = S_t + z^\top u, \quad Y_{t+1} = Y_t F^\top - z c^\top, \quad
          M_{t+1} = M_t - u u^\top / S_{t+1}, \quad
          c_{t+1} = c_t + Y_{t+1}^\top u / S_{t+1}.

Means of the states follow the recursion of a row of Y, with the error of the predicted value
instead of :math:`-z`. Once changes of the covariance are as small as rounding errors, the gain c
is kept constant.

A line, known inputs and unknown values are columns with coefficients that are integrated out
(`bochner.series.process_loops`). States are reordered: the first states of all pairs of partners,
the second states of all pairs, and the states without partners.

References
----------
Morf, Sidhu and Kailath, "Some new algorithms for recursive estimation in constant, linear,
discrete-time systems", IEEE Transactions on Automatic Control, 1974. De Jong, "The diffuse Kalman
filter", The Annals of Statistics, 1991.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.compiling import inner
from bochner._base.vector_loops import FASTER
from bochner.series.process_loops import Coefficients, Entries, add_slope_of_inputs, posterior

_LOG_TWO_PI = 1.8378770664093453  # log(2 pi), of normal densities

_SETTLED = 1e-14  # Relative change of the variance of a value below which the gain is kept constant
_OFTEN = 8  # Number of steps between two tests of that change

_inner = partial(inner, fastmath=FASTER, error_model="numpy")


class History(NamedTuple):
    """State of the recursion at each of ``d`` times, in the symbols of the module's docstring.

    ``rows`` (d, R, s) are first the rows of Y, then the means of the states predicted from the
    values and from each column. ``error`` (d, R) has first -z, then the errors of the predicted
    values. ``settled`` (1,) is the time from which the gain is constant.
    """

    gain: Array  # (d, s): c
    rows: Array
    middle: Array  # (d, rank, rank): M
    product: Array  # (d, rank): u
    variance: Array  # (d,): S
    error: Array
    settled: NDArray[np.int64]


class RegularRows(NamedTuple):
    """Array ``values`` (1 + L, n) of the values and the columns of L coefficients.

    ``weight`` (s,) is ``h``, and ``n_pairs`` the number of state pairs. Columns are zero before the
    times ``starts`` (L,); ``kinds`` (L,) are constants such as `INPUT` in `process_loops`.
    """

    values: Array
    weight: Array
    n_pairs: int
    kinds: NDArray[np.int64]
    starts: NDArray[np.int64]


@_inner()
def _begin(rows: RegularRows, entries: Entries, history: History) -> None:
    """Write the state of the recursion at the first time."""
    own, other, w, q = entries.own, entries.other, entries.initial, entries.trend
    h, rank, s, pairs = rows.weight, history.product.shape[1], rows.weight.size, rows.n_pairs
    total = entries.scales[0]
    middle, first = history.middle, history.rows
    for j in range(first.shape[1]):
        for i in range(s):
            first[0, j, i] = 0.0
    for j in range(rank):
        for i in range(rank):
            middle[0, j, i] = 0.0
    for i in range(s):
        total += h[i] * h[i] * w[i]
        first[0, 0, i] = own[i] * h[i] * w[i]
    for i in range(pairs):
        p = pairs + i
        first[0, 0, i] += other[i] * h[p] * w[p]
        first[0, 0, p] += other[p] * h[i] * w[i]
    middle[0, 0, 0] = -1.0 / total
    history.variance[0] = total
    for i in range(s):
        history.gain[0, i] = first[0, 0, i] / total
    if rank > 1:
        # F P F.T + Q - P of the trend, written without cancellation.
        p = pairs
        first[0, 1, 0] = first[0, 2, p] = 1.0
        middle[0, 1, 1] = (own[0] - 1.0) * (own[0] + 1.0) * w[0] + other[0] ** 2 * w[p] + q[0]
        middle[0, 2, 2] = (own[p] - 1.0) * (own[p] + 1.0) * w[p] + other[p] ** 2 * w[0] + q[1]
        middle[0, 1, 2] = own[0] * other[p] * w[0] + other[0] * own[p] * w[p] + q[2]
        middle[0, 2, 1] = middle[0, 1, 2]


@_inner()
def _change(history: History, now: int, h: Array) -> float:
    """Return an upper bound of the next change of the predictive variance."""
    factor, middle, rank = history.rows, history.middle, history.product.shape[1]
    total = 0.0
    for j in range(rank):
        largest = 0.0
        for i in range(h.size):
            largest = max(largest, abs(factor[now, j, i]))
        for k in range(rank):
            total += abs(middle[now, j, k]) * largest * largest
    return total * h.size


@_inner()
def forward(
    rows: RegularRows, entries: Entries, history: History, coefficients: Coefficients
) -> float:
    """Return the log evidence, and write the history and the posterior of the coefficients."""
    h, own, other, y = rows.weight, entries.own, entries.other, rows.values
    gain, states, middle = history.gain, history.rows, history.middle
    u, variance, error = history.product, history.variance, history.error
    n, s, pairs, depth, rank = y.shape[1], h.size, rows.n_pairs, variance.size, u.shape[1]
    n_rows = states.shape[1]
    _begin(rows, entries, history)
    evidence, settled, starts = 0.0, n, rows.starts
    for a in range(starts.size):
        coefficients.product[a] = 0.0
        for b in range(starts.size):
            coefficients.inner[a, b] = 0.0
    for t in range(n):
        now, later = t % depth, (t + 1) % depth
        total = variance[now]
        if t < settled and t % _OFTEN == 0 and _change(history, now, h) < _SETTLED * total:
            settled = t
        begin = 0 if t < settled else rank
        for j in range(begin, n_rows):
            if j > rank and t < starts[j - rank - 1]:
                error[now, j] = 0.0
                continue
            predicted = 0.0
            for i in range(s):
                predicted += h[i] * states[now, j, i]
            error[now, j] = -predicted if j < rank else y[j - rank, t] - predicted
        v = error[now, rank]
        evidence -= 0.5 * (np.log(total) + v * v / total + _LOG_TWO_PI)
        for a in range(starts.size):
            if t >= starts[a]:
                share = error[now, rank + 1 + a] / total
                coefficients.product[a] += share * v
                for b in range(starts.size):
                    coefficients.inner[a, b] += share * error[now, rank + 1 + b]
        if t == n - 1:
            break
        for j in range(begin, n_rows):
            if j > rank and t < starts[j - rank - 1]:
                for i in range(s):
                    states[later, j, i] = 0.0
                continue
            e = error[now, j]
            for i in range(pairs):
                a, b = states[now, j, i], states[now, j, pairs + i]
                states[later, j, i] = own[i] * a + other[i] * b + e * gain[now, i]
                states[later, j, pairs + i] = (
                    own[pairs + i] * b + other[pairs + i] * a + e * gain[now, pairs + i]
                )
            for i in range(2 * pairs, s):
                states[later, j, i] = own[i] * states[now, j, i] + e * gain[now, i]
        for i in range(s):
            gain[later, i] = gain[now, i]
        variance[later] = total
        if t >= settled:
            continue
        following = total
        for j in range(rank):
            u[now, j] = 0.0
            for i in range(rank):
                u[now, j] -= middle[now, j, i] * error[now, i]
            following -= error[now, j] * u[now, j]
        if not following > 0.0:  # Changes are rounding errors
            return np.nan
        variance[later] = following
        for j in range(rank):
            share = u[now, j] / following
            for i in range(s):
                gain[later, i] += share * states[later, j, i]
            for i in range(rank):
                middle[later, j, i] = middle[now, j, i] - share * u[now, i]
    history.settled[0] = settled
    return evidence + posterior(coefficients, rows.kinds, entries.scales)


@_inner()
def backward(
    rows: RegularRows,
    entries: Entries,
    history: History,
    coefficients: Coefficients,
    slopes: Entries,
) -> None:
    """Add derivatives of the log evidence by the model entries to ``slopes``, in reverse mode."""
    h, own, other, n = rows.weight, entries.own, entries.other, rows.values.shape[1]
    gain, states, middle = history.gain, history.rows, history.middle
    u, variance, error = history.product, history.variance, history.error
    pairs, rank, n_rows, s = rows.n_pairs, u.shape[1], states.shape[1], h.size
    d_own, d_other = slopes.own, slopes.other
    mean, cov, starts = coefficients.mean, coefficients.cov, rows.starts
    add_slope_of_inputs(coefficients, rows.kinds, entries.scales, slopes.scales)
    # Adjoints (derivatives by the state of the recursion) at time t + 1, then at time t.
    d_gain, d_total, d_states = np.zeros(s), 0.0, np.zeros((n_rows, s))
    d_middle, d_u, d_error = np.zeros((rank, rank)), np.zeros(rank), np.zeros(n_rows)
    for t in range(n - 1, -1, -1):
        total, v = variance[t], error[t, rank]
        begin = 0 if t < history.settled[0] else rank
        for j in range(begin, n_rows):
            d_error[j] = 0.0
        if t < n - 1:
            if begin == 0:
                following = variance[t + 1]
                for j in range(rank):
                    product = 0.0
                    for i in range(s):
                        product += states[t + 1, j, i] * d_gain[i]
                        d_states[j, i] += u[t, j] / following * d_gain[i]
                    d_u[j] = product / following
                    d_total -= d_u[j] * u[t, j] / following
                for j in range(rank):
                    image = 0.0
                    for i in range(rank):
                        image += d_middle[j, i] * u[t, i]
                    d_u[j] -= 2.0 * image / following
                    d_total += u[t, j] * image / following**2
                for j in range(rank):
                    d_u[j] -= d_total * error[t, j]
                for j in range(rank):
                    d_error[j] = -d_total * u[t, j]
                    for i in range(rank):
                        d_error[j] -= middle[t, j, i] * d_u[i]
                for j in range(rank):
                    for i in range(rank):
                        # Symmetric, like the matrix M.
                        d_middle[j, i] -= 0.5 * (d_u[j] * error[t, i] + d_u[i] * error[t, j])
            for j in range(begin, n_rows):
                if j > rank and t < starts[j - rank - 1]:
                    continue
                e, along = error[t, j], 0.0
                for i in range(s):
                    along += gain[t, i] * d_states[j, i]
                    d_gain[i] += e * d_states[j, i]
                    d_own[i] += d_states[j, i] * states[t, j, i]
                d_error[j] += along
                for i in range(pairs):
                    p = pairs + i
                    a, b = d_states[j, i], d_states[j, p]
                    d_other[i] += a * states[t, j, p]
                    d_other[p] += b * states[t, j, i]
                    d_states[j, i] = own[i] * a + other[p] * b
                    d_states[j, p] = own[p] * b + other[i] * a
                for i in range(2 * pairs, s):
                    d_states[j, i] = own[i] * d_states[j, i]
        d_error[rank] -= v / total
        d_total += 0.5 * (v * v / total - 1.0) / total
        # Derivatives of the evidence of coefficients: ``mean`` by their products with the values,
        # and ``-(mean mean.T + cov) / 2`` by their inner products.
        explained = 0.0
        for a in range(starts.size):
            if t >= starts[a]:
                explained += mean[a] * error[t, rank + 1 + a]
        d_error[rank] += explained / total
        for a in range(starts.size):
            if t < starts[a]:
                continue
            spread, e = 0.0, error[t, rank + 1 + a]
            for b in range(starts.size):
                spread += cov[a, b] * error[t, rank + 1 + b]
            d_error[rank + 1 + a] += (mean[a] * (v - explained) - spread) / total
            d_total -= (mean[a] * (v - 0.5 * explained) - 0.5 * spread) * e / total**2
        for j in range(begin, n_rows):
            if j > rank and t < starts[j - rank - 1]:
                continue
            for i in range(s):
                d_states[j, i] -= d_error[j] * h[i]
    _back_through_begin(rows, entries, history, (d_gain, d_states, d_middle), d_total, slopes)


@_inner()
def _back_through_begin(
    rows: RegularRows,
    entries: Entries,
    history: History,
    slopes_of_first: tuple[Array, Array, Array],
    d_total: float,
    slopes: Entries,
) -> None:
    d_gain, d_states, d_middle = slopes_of_first
    own, other, w, h, pairs = entries.own, entries.other, entries.initial, rows.weight, rows.n_pairs
    total = history.variance[0]
    d_total += d_middle[0, 0] / total**2
    for i in range(h.size):
        d_total -= d_gain[i] * history.gain[0, i] / total
    for i in range(h.size):
        slope = d_states[0, i] + d_gain[i] / total
        slopes.own[i] += slope * h[i] * w[i]
        slopes.initial[i] += slope * own[i] * h[i] + d_total * h[i] * h[i]
        if i < 2 * pairs:
            p = i + pairs if i < pairs else i - pairs
            slopes.other[i] += slope * h[p] * w[p]
            slopes.initial[p] += slope * other[i] * h[p]
    slopes.scales[0] += d_total
    if d_middle.shape[0] > 1:
        a, b, c, p = d_middle[1, 1], d_middle[2, 2], 2.0 * d_middle[1, 2], pairs
        slopes.trend[0] += a
        slopes.trend[1] += b
        slopes.trend[2] += c
        slopes.own[0] += 2.0 * a * own[0] * w[0] + c * other[p] * w[0]
        slopes.own[p] += 2.0 * b * own[p] * w[p] + c * other[0] * w[p]
        slopes.other[0] += 2.0 * a * other[0] * w[p] + c * own[p] * w[p]
        slopes.other[p] += 2.0 * b * other[p] * w[0] + c * own[0] * w[0]
        slopes.initial[0] += a * (own[0] ** 2 - 1.0) + b * other[p] ** 2 + c * own[0] * other[p]
        slopes.initial[p] += a * other[0] ** 2 + b * (own[p] ** 2 - 1.0) + c * other[0] * own[p]
