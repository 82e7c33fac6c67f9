"""Fast evidence of series with regular times and few unknown values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, Index
from bochner._base.compiling import compiled, inner
from bochner._base.vector_loops import FASTER
from bochner.series.components import SeriesProcess
from bochner.series.process_loops import (
    INPUT,
    INPUTS,
    LINE,
    LINE_SLOPE,
    SHIFT,
    SHIFTS,
    SLOPE,
    UNKNOWN,
    WALK,
    Coefficients,
    Entries,
    Form,
    add_chain_rule,
    no_coefficients,
    write_entries,
)
from bochner.series.regular_recursion import History, RegularRows, backward, forward

_LINE_STATE = 2  # State index of the slope of a line, after level and slope

_RANK = 3
"""Rank of changes of the covariance with a trend that does not begin in its stationary law."""

_PER_STATE, _MOST_UNKNOWN = 5, 64
"""Most unknown values per state, and in total, for which these loops are faster than a filter."""

_ROUNDING = 1e-4
"""Largest deviation of a time from the regular grid, in steps: times have nine digits."""


@dataclass(frozen=True, slots=True, eq=False)
class RegularSeries:
    """Values at regular times and the form of a model, as inputs of the compiled loops."""

    rows: RegularRows
    form: Form
    used: Index
    effects: Index

    def log_evidence(self, thetas: Array) -> Array:
        """Return log evidences (m,) at parameters (m, k); NaN where rounding errors are large."""
        return self._filled(thetas)

    def log_evidence_and_slopes(self, thetas: Array) -> tuple[Array, Array]:
        """Return log evidences (m,) at parameters (m, k), and their gradients (m, k)."""
        gradients = np.zeros(thetas.shape)
        return self._filled(thetas, gradients), gradients

    def last_states(self, thetas: Array) -> tuple[Array, Array] | None:
        """Return means (m, s) and covariances (m, s, s) of the states at the final row."""
        order, n_columns = self.form.order, len(self.rows.kinds)
        states = _zero_states(len(thetas), n_columns, len(order))
        if not np.isfinite(self._filled(thetas, states=states)).all():
            return None
        n_states = len(self.used) + len(self.effects)
        # Derivatives (m, s, L) of the states by each coefficient; effect states are coefficients.
        moved = np.zeros((len(thetas), n_states, n_columns))
        moved[:, self.used] = -states.mean[:, 1:, order].swapaxes(1, 2)
        moved[:, self.effects, np.arange(len(self.effects))] = 1.0
        mean, cov = np.zeros((len(thetas), n_states)), np.zeros((len(thetas), n_states, n_states))
        mean[:, self.used] = states.mean[:, 0, order]
        mean += np.einsum("msl,ml->ms", moved, states.coefficients)
        cov[:, self.used[:, None], self.used] = states.cov[:, order[:, None], order]
        return mean, cov + moved @ states.spread @ moved.swapaxes(1, 2)

    def _filled(
        self, thetas: Array, gradients: Array | None = None, states: "LastStates | None" = None
    ) -> Array:
        """Return log evidences; raise ValueError unless arrays have the sizes the loop reads."""
        rows, form, s = self.rows, self.form, len(self.rows.weight)
        is_sound = (
            rows.values.shape[1] > 0
            and len(rows.values) == 1 + len(rows.kinds) == 1 + len(rows.starts)
            and set(rows.kinds.tolist()) <= {UNKNOWN, LINE_SLOPE, INPUT, SHIFT}
            and 0 <= 2 * rows.n_pairs <= s
            and (form.rank == 1 or rows.n_pairs > 0)
            and sorted(form.order.tolist()) == list(range(s))
            and form.states[-1] == s
            and thetas.shape[1] == form.parameters[-1]
        )
        if not is_sound:
            raise ValueError(f"{rows.values.shape} values and {s} weights do not fit the processes")
        evidence = np.empty(len(thetas))
        gradients = np.empty((0, 0)) if gradients is None else gradients
        _fill(rows, form, thetas, evidence, gradients, states or _zero_states(0, 0, 0))
        return evidence


class _Grid(NamedTuple):
    """A regular time grid: its length, the grid positions (n,) of the rows, and its step."""

    n_times: int
    places: Index
    step: float


def regular_series(
    parts: Sequence[SeriesProcess],
    partners: NDArray[np.int64],
    weights: Array,
    values: Array,
    steps: tuple[Array, NDArray[np.int64]],
) -> RegularSeries | None:
    """Return the inputs of the compiled loops, or None if the loops do not apply.

    ``weights`` (n, s) are the states' weights in the values (n,), ``steps`` the distinct lengths
    (u,) of steps and the index (n,) of the step before each row. Skipped times are unknown values.
    """
    grid = _grid(*steps)
    known_forms = [part.form for part in parts]
    forms = [form for form in known_forms if form is not None]
    if grid is None or len(forms) < len(parts):
        return None
    kinds = np.array([kind for kind, _ in forms])
    is_moving = np.isin(kinds, (SLOPE, LINE, WALK))
    places = np.arange(len(partners))
    part_of = np.repeat(np.arange(len(parts)), [len(part.partners) for part in parts])
    is_line = (kinds[0] == LINE) & (places == _LINE_STATE)
    is_effect = is_line | np.isin(kinds[part_of], (INPUTS, SHIFTS))
    used, effects = places[~is_effect], places[is_effect]
    is_known = np.isfinite(values)
    n_unknown = grid.n_times - int(is_known.sum())
    is_few = n_unknown <= min(_PER_STATE * len(used), _MOST_UNKNOWN)
    is_suitable = is_known.any() and is_few and not is_moving[1:].any()
    if not is_suitable or (weights[:, used] != weights[0, used]).any():
        return None
    partner = np.searchsorted(used, partners[used])
    places = np.arange(len(used))
    firsts = places[partner > places]
    chosen = np.concatenate((firsts, partner[firsts], places[partner == places]))
    form = Form(
        kinds,
        np.array([constants for _, constants in forms]),
        np.cumsum([0, *(len(part.priors) for part in parts)]),
        np.cumsum([0, *np.bincount(part_of[used], minlength=len(parts)).tolist()]),
        np.argsort(chosen),
        grid.step,
        _RANK if is_moving[0] else 1,
    )
    columns, starts = _columns(weights[:, effects], is_known, grid)
    of_column = np.where(kinds[part_of[effects]] == SHIFTS, SHIFT, INPUT)
    all_times = np.arange(float(grid.n_times))
    filled = np.interp(all_times, grid.places[is_known].astype(np.float64), values[is_known])
    rows = RegularRows(
        np.vstack((filled, columns)),
        weights[0, used[chosen]].copy(),
        len(firsts),
        np.concatenate(
            (np.where(is_line[effects], LINE_SLOPE, of_column), np.full(n_unknown, UNKNOWN))
        ),
        starts,
    )
    return RegularSeries(rows, form, used, effects)


def _grid(lengths: Array, which: NDArray[np.int64]) -> _Grid | None:
    """Return the regular grid that contains all times, or None without such a grid."""
    if lengths.max() > (_MOST_UNKNOWN + 2) * lengths.min():
        return None
    multiples = np.rint(lengths / lengths.min())
    if np.abs(lengths / lengths.min() - multiples).max() > _ROUNDING:
        return None
    places = np.cumsum(multiples.astype(np.int64)[which])
    places -= places[0]
    return _Grid(int(places[-1]) + 1, places, float(lengths.min()))


def _columns(weights: Array, is_known: NDArray[np.bool_], grid: _Grid) -> tuple[Array, Index]:
    """Return columns (L, c) of L coefficients at c grid times, and each column's first time (L,).

    The first columns are the weights (n, e) of effects; unknown values have indicator columns.
    """
    is_unknown = np.ones(grid.n_times, dtype=np.bool_)
    is_unknown[grid.places[is_known]] = False
    times = np.flatnonzero(is_unknown)
    of_effects = np.zeros((weights.shape[1], grid.n_times))
    of_effects[:, grid.places] = weights.T
    of_values = np.zeros((len(times), grid.n_times))
    of_values[np.arange(len(times)), times] = 1.0
    starts = np.concatenate((np.zeros(len(of_effects), dtype=np.int64), times))
    return np.concatenate((of_effects, of_values)), starts


_loop = partial(compiled, fastmath=FASTER, error_model="numpy")
_inner = partial(inner, fastmath=FASTER, error_model="numpy")


class LastStates(NamedTuple):
    """States at the final time, given all values and the L coefficients, for m parameter vectors.

    Means of the states are ``mean[:, 0]`` minus the coefficients times ``mean[:, 1:]``, the
    filtered means (m, 1 + L, s) for the values and for each column.
    """

    mean: Array
    cov: Array  # (m, s, s)
    coefficients: Array  # (m, L): Posterior means
    spread: Array  # (m, L, L): Posterior covariance of the coefficients


def _zero_states(m: int, n_columns: int, s: int) -> LastStates:
    return LastStates(
        np.zeros((m, 1 + n_columns, s)),
        np.zeros((m, s, s)),
        np.zeros((m, n_columns)),
        np.zeros((m, n_columns, n_columns)),
    )


@_inner()
def _no_entries(s: int) -> Entries:
    return Entries(np.zeros(s), np.zeros(s), np.zeros(s), np.zeros(3), np.zeros(4))


# One loop for all three results, because each separate loop would take seconds to compile.
@_loop()
def _fill(
    rows: RegularRows, form: Form, theta: Array, values: Array, gradients: Array, states: LastStates
) -> None:
    """Write log evidences (m,), and gradients (m, k) and states (m, ...) unless these are empty."""
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
            add_chain_rule(form, theta[place], entries, slopes, gradients[place])
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
    """Write the final states; their covariance is the initial covariance plus all changes."""
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
