"""Series with regular times and few unknown values, whose evidence takes fewer steps to compute."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, Index
from bochner.series.coefficient_loops import INPUT, LINE_SLOPE, SHIFT, UNKNOWN
from bochner.series.components import SeriesProcess
from bochner.series.process_loops import INPUTS, LINE, SHIFTS, SLOPE, WALK, Form
from bochner.series.regular_loops import last_states, log_evidence, log_evidence_and_slopes
from bochner.series.regular_recursion import RegularRows

_LINE_STATE = 2  # Of a line, whose weight changes with time: after level and slope

_RANK = 3
"""Rank of changes of the covariance with a trend that does not begin in its stationary law."""

_PER_STATE, _MOST_UNKNOWN = 5, 64
"""Most unknown values for each state, and in all, with which columns take less time than
covariances of the states."""

_ROUNDING = 1e-4
"""Largest distance of a time from a regular one, in steps: times have nine digits of the range."""


@dataclass(frozen=True, slots=True, eq=False)
class RegularSeries:
    """Values at regular times and the form of a model, for compiled loops.

    ``used`` are the places of the loops' states among those of the model, in the model's order, and
    ``effects`` the places of those that are coefficients, which are the first columns.
    """

    rows: RegularRows
    form: Form
    used: Index
    effects: Index

    def log_evidence(self, thetas: Array) -> Array:
        """Return log evidences (m,) at parameters (m, k); NaN where rounding errors are large."""
        return log_evidence(self.rows, self.form, thetas)

    def log_evidence_and_slopes(self, thetas: Array) -> tuple[Array, Array]:
        """Return log evidences (m,) at parameters (m, k), and their gradients (m, k)."""
        return log_evidence_and_slopes(self.rows, self.form, thetas)

    def last_states(self, thetas: Array) -> tuple[Array, Array] | None:
        """Return means (m, s) and covariances (m, s, s) of the states at the final row.

        None where rounding errors are large.
        """
        values, states = last_states(self.rows, self.form, thetas)
        if not np.isfinite(values).all():
            return None
        order, n_states = self.form.order, len(self.used) + len(self.effects)
        n_columns = states.coefficients.shape[1]
        # States move by these numbers (m, s, L) with each coefficient; effects are coefficients.
        moved = np.zeros((len(thetas), n_states, n_columns))
        moved[:, self.used] = -states.mean[:, 1:, order].swapaxes(1, 2)
        moved[:, self.effects, np.arange(len(self.effects))] = 1.0
        mean, cov = np.zeros((len(thetas), n_states)), np.zeros((len(thetas), n_states, n_states))
        mean[:, self.used] = states.mean[:, 0, order]
        mean += np.einsum("msl,ml->ms", moved, states.coefficients)
        cov[:, self.used[:, None], self.used] = states.cov[:, order[:, None], order]
        return mean, cov + moved @ states.spread @ moved.swapaxes(1, 2)


class _Grid(NamedTuple):
    """Regular times: their number, the places (n,) of the rows among them, and their distance."""

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
    """Return values (n,) with the model of the parts, or None if the loops do not apply.

    ``weights`` (n, s) are those of the states, ``steps`` the distinct lengths (u,) of steps and the
    one (n,) before each row. Where a step is a multiple of the shortest, values are unknown.
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
    """Return the regular times that have all rows, or None without such times."""
    multiples = np.rint(lengths / lengths.min())
    if np.abs(lengths / lengths.min() - multiples).max() > _ROUNDING:
        return None
    places = np.cumsum(multiples.astype(np.int64)[which])
    places -= places[0]
    return _Grid(int(places[-1]) + 1, places, float(lengths.min()))


def _columns(weights: Array, is_known: NDArray[np.bool_], grid: _Grid) -> tuple[Array, Index]:
    """Return columns (L, c) at all c regular times, and the first time (L,) of each.

    The first columns are those of the effects' weights (n, e), the others those of unknown values.
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
