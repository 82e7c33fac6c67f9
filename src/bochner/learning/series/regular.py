"""Series with regular times and no unknown values, whose evidence takes fewer steps to compute."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner._numerics.process_loops import LINE, SLOPE, WALK, Form
from bochner._numerics.regular_loops import last_states, log_evidence, log_evidence_and_slopes
from bochner._numerics.regular_recursion import RegularRows
from bochner.learning.series.parts import SeriesProcess

_LINE_STATE = 2  # Of a line, whose weight changes with time: after level and slope

_RANK = 3
"""Rank of changes of the covariance with a trend that does not begin in its stationary law."""


@dataclass(frozen=True, slots=True, eq=False)
class RegularSeries:
    """Values at regular times and the form of a model, for compiled loops."""

    rows: RegularRows
    form: Form

    def log_evidence(self, thetas: Array) -> Array:
        """Return log evidences (m,) at parameters (m, k); NaN where rounding errors are large."""
        return log_evidence(self.rows, self.form, thetas)

    def log_evidence_and_slopes(self, thetas: Array) -> tuple[Array, Array]:
        """Return log evidences (m,) at parameters (m, k), and their gradients (m, k)."""
        return log_evidence_and_slopes(self.rows, self.form, thetas)

    def last_states(self, thetas: Array) -> tuple[Array, Array] | None:
        """Return means (m, s) and covariances (m, s, s) of the states at the last of the rows.

        None where rounding errors are large.
        """
        values, states = last_states(self.rows, self.form, thetas)
        if not np.isfinite(values).all():
            return None
        order = self.form.order
        (known_mean, along), cov = states.mean[:, :, order].swapaxes(0, 1), states.cov
        cov = cov[:, order[:, None], order]
        if len(self.rows.values) == 1:
            return known_mean, cov
        slope, variance = states.slope.T
        mean = np.insert(known_mean - slope[:, None] * along, _LINE_STATE, slope, axis=1)
        # With the state of the line, whose covariance with the others is by their means.
        moved = np.insert(-along, _LINE_STATE, 1.0, axis=1)
        cov = np.insert(np.insert(cov, _LINE_STATE, 0.0, axis=1), _LINE_STATE, 0.0, axis=2)
        return mean, cov + variance[:, None, None] * moved[:, :, None] * moved[:, None]


def regular_series(
    parts: Sequence[SeriesProcess],
    partners: NDArray[np.int64],
    weights: Array,
    values: Array,
    lengths: Array,
) -> RegularSeries | None:
    """Return values (n,) with the model of the parts, or None if the loops do not apply.

    ``weights`` (n, s) are those of the states, ``lengths`` (u,) the distinct lengths of steps.
    """
    if len(lengths) > 1 or not np.isfinite(values).all():
        return None
    known_forms = [part.form for part in parts]
    forms = [form for form in known_forms if form is not None]
    if len(forms) < len(parts):
        return None
    kinds = [kind for kind, _ in forms]
    is_moving = [kind in (SLOPE, LINE, WALK) for kind in kinds]
    has_line = kinds[0] == LINE
    used = np.arange(len(partners))
    if has_line:
        used = np.delete(used, _LINE_STATE)
    if any(is_moving[1:]) or (weights[:, used] != weights[0, used]).any():
        return None
    sizes = [len(part.partners) for part in parts]
    sizes[0] -= has_line
    partner = np.searchsorted(used, partners[used])
    places = np.arange(len(used))
    firsts, seconds = places[partner > places], partner[partner > places]
    chosen = np.concatenate((firsts, seconds, places[partner == places]))
    form = Form(
        np.array(kinds, dtype=np.int64),
        np.array([constants for _, constants in forms]),
        np.cumsum([0, *(len(part.priors) for part in parts)]),
        np.cumsum([0, *sizes]),
        np.argsort(chosen),
        float(lengths[0]),
        _RANK if is_moving[0] else 1,
    )
    rows = RegularRows(
        np.vstack((values, weights[:, _LINE_STATE])) if has_line else values[None].copy(),
        weights[0, used[chosen]].copy(),
        len(firsts),
    )
    return RegularSeries(rows, form)
