"""Compiled derivatives of the evidence of `bochner.series.regular_recursion`.

The loops go back through the recursion (reverse-mode differentiation).
"""

from functools import partial

import numpy as np

from bochner._base.arrays import Array
from bochner._base.compiling import inner
from bochner.series.coefficient_loops import Coefficients, add_slope_of_inputs
from bochner.series.process_loops import Entries
from bochner.series.regular_recursion import FASTER, History, RegularRows

_inner = partial(inner, fastmath=FASTER, error_model="numpy")


@_inner()
def backward(
    rows: RegularRows,
    entries: Entries,
    history: History,
    coefficients: Coefficients,
    slopes: Entries,
) -> None:
    """Add derivatives by the entries to ``slopes``, by going back through `forward`."""
    h, own, other, n = rows.weight, entries.own, entries.other, rows.values.shape[1]
    gain, states, middle = history.gain, history.rows, history.middle
    u, variance, error = history.product, history.variance, history.error
    pairs, rank, n_rows, s = rows.n_pairs, u.shape[1], states.shape[1], h.size
    d_own, d_other = slopes.own, slopes.other
    mean, cov, starts = coefficients.mean, coefficients.cov, rows.starts
    add_slope_of_inputs(coefficients, rows.kinds, entries.scales, slopes.scales)
    # Derivatives by the quantities of the time after t, which become those of time t.
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
                        # Symmetric, as the matrix is.
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
