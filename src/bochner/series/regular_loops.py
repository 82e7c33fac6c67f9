"""Compiled evidence, gradients and last states of series with regular times, at many parameters.

`bochner.series.regular_recursion` describes the recursion.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from bochner._base.arrays import Array
from bochner._base.compiling import compiled, inner
from bochner.series.coefficient_loops import (
    INPUT,
    LINE_SLOPE,
    SHIFT,
    UNKNOWN,
    Coefficients,
    no_coefficients,
)
from bochner.series.process_loops import Entries, Form, add_chain_rule, write_entries
from bochner.series.regular_recursion import FASTER, History, RegularRows, forward
from bochner.series.regular_slopes import backward

_loop = partial(compiled, fastmath=FASTER, error_model="numpy")
_inner = partial(inner, fastmath=FASTER, error_model="numpy")


class LastStates(NamedTuple):
    """States at the final time given all values, for known values of the L coefficients.

    Their means are those of ``mean`` (m, 1 + L, s) from the values, less the coefficients times
    those from the columns.
    """

    mean: Array
    cov: Array  # (m, s, s)
    coefficients: Array  # (m, L): Means
    spread: Array  # (m, L, L): Their covariance


def log_evidence(rows: RegularRows, form: Form, theta: Array) -> Array:
    """Return log evidences (m,) at parameters (m, k); NaN where rounding errors are too large."""
    return _filled(rows, form, theta, np.empty((0, theta.shape[1])), _no_states())


def log_evidence_and_slopes(rows: RegularRows, form: Form, theta: Array) -> tuple[Array, Array]:
    """Return log evidences (m,) at parameters (m, k), and their gradients (m, k)."""
    gradients = np.zeros(theta.shape)
    return _filled(rows, form, theta, gradients, _no_states()), gradients


def last_states(rows: RegularRows, form: Form, theta: Array) -> tuple[Array, LastStates]:
    """Return log evidences (m,) at parameters (m, k), and the states at the final time."""
    m, s, count = len(theta), len(rows.weight), len(rows.kinds)
    states = LastStates(
        np.zeros((m, 1 + count, s)),
        np.zeros((m, s, s)),
        np.zeros((m, count)),
        np.zeros((m, count, count)),
    )
    return _filled(rows, form, theta, np.empty((0, theta.shape[1])), states), states


def _no_states() -> LastStates:
    cube = np.empty((0, 0, 0))
    return LastStates(cube, cube, np.empty((0, 0)), cube)


def _filled(
    rows: RegularRows, form: Form, theta: Array, gradients: Array, states: LastStates
) -> Array:
    """Return log evidences; raise ValueError unless arrays have the sizes that the loop reads."""
    s = len(rows.weight)
    is_sound = (
        rows.values.shape[1] > 0
        and len(rows.values) == 1 + len(rows.kinds) == 1 + len(rows.starts)
        and set(rows.kinds.tolist()) <= {UNKNOWN, LINE_SLOPE, INPUT, SHIFT}
        and 0 <= 2 * rows.n_pairs <= s
        and (form.rank == 1 or rows.n_pairs > 0)
        and sorted(form.order.tolist()) == list(range(s))
        and form.n_states == s
        and theta.shape[1] == form.n_parameters
    )
    if not is_sound:
        raise ValueError(f"{rows.values.shape} values and {s} weights do not fit their processes")
    evidence = np.empty(len(theta))
    _fill(rows, form, theta, evidence, gradients, states)
    return evidence


@_inner()
def _no_entries(s: int) -> Entries:
    return Entries(np.zeros(s), np.zeros(s), np.zeros(s), np.zeros(3), np.zeros(4))


# One loop for all: each of several would take seconds to compile.
@_loop()
def _fill(
    rows: RegularRows,
    form: Form,
    theta: Array,
    values: Array,
    gradients: Array,
    states: LastStates,
) -> None:
    """Write log evidences (m,), gradients (m, k) and states (m, ...), unless there are none (0)."""
    s, has_slopes, has_states = rows.weight.size, gradients.shape[0] > 0, states.cov.shape[0] > 0
    depth, rank = rows.values.shape[1] if has_slopes or has_states else 2, form.rank
    history = History(
        np.zeros((depth, s)),
        np.zeros((depth, rank + rows.values.shape[0], s)),
        np.zeros((depth, rank, rank)),
        np.zeros((depth, rank)),
        np.zeros(depth),
        np.zeros((depth, rank + rows.values.shape[0])),
        np.zeros(1, np.int64),
    )
    entries, coefficients = _no_entries(s), no_coefficients(rows.kinds.size)
    for place in range(theta.shape[0]):
        write_entries(form, theta[place], entries)
        values[place] = forward(rows, entries, history, coefficients)
        if has_slopes and np.isfinite(values[place]):
            slopes = _no_entries(s)
            backward(rows, entries, history, coefficients, slopes)
            add_chain_rule(form, theta[place], slopes, gradients[place])
        if has_states:
            _end(rows, entries, history, coefficients, states, place)


@_inner()
def _end(
    rows: RegularRows,
    entries: Entries,
    history: History,
    coefficients: Coefficients,
    states: LastStates,
    place: int,
) -> None:
    """Write the states at the final time: the first covariance, and the sum of its changes."""
    n, rank, s = rows.values.shape[1], history.product.shape[1], rows.weight.size
    factor, middle, cov, h = history.rows, history.middle, states.cov, rows.weight
    gain, last = np.zeros(s), n - 1
    for i in range(s):
        cov[place, i, i] = entries.initial[i]
    for t in range(min(n - 1, history.settled[0])):
        for j in range(rank):
            for i in range(s):
                image = 0.0
                for k in range(rank):
                    image += middle[t, j, k] * factor[t, k, i]
                for k in range(s):
                    cov[place, i, k] += image * factor[t, j, k]
    for i in range(s):
        for k in range(s):
            gain[i] += cov[place, i, k] * h[k]
    for i in range(s):
        for k in range(s):
            cov[place, i, k] -= gain[i] * gain[k] / history.variance[last]
        for j in range(rows.values.shape[0]):
            update = gain[i] * history.error[last, rank + j] / history.variance[last]
            states.mean[place, j, i] = history.rows[last, rank + j, i] + update
    for a in range(rows.kinds.size):
        states.coefficients[place, a] = coefficients.mean[a]
        for b in range(rows.kinds.size):
            states.spread[place, a, b] = coefficients.cov[a, b]
