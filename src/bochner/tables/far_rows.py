r"""Predictions for rows with numbers beyond the range of a fit.

With the vector :math:`\delta` from the ends of the ranges to the row, the extrapolated change is
:math:`\Delta_k = (f(x_{end}) - f(x_{end} - t_k \delta)) / t_k`. Predictions take half of the mean
change by each number; their standard deviation grows with the distance to the largest change.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import State, output_names
from bochner.tables.observations import Chosen

_STEPS = (1.0, 2.0, np.inf)
"""Distances, in standard deviations of a column, over which slopes are measured; at most the range.
Slopes over shorter distances follow the noise and the pull to the mean at the ends."""

_CONTINUED = 0.5
"""Share of the extrapolated change that predictions take: halfway between constant and linear."""

_MOST_RANGES = 0.5
"""Distance in widths of the range up to which predictions go on: farther entries are mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class FarRows:
    """Rows with numbers outside the range of the training rows."""

    rows: Chosen  # (r,): Indices of the rows
    encoded: Array  # (r, e)
    beyond: Array  # (r, d): Distances from the range of each column, with signs
    features: dict[int, list[tuple[int, State]]]  # Places and encodings, by column out of range

    @classmethod
    def of(cls, encoders: Sequence[TableEncoder], encoded: Array, beyond: Array) -> "FarRows":
        """Return the rows that have a nonzero distance ``beyond`` (n, d) from the range."""
        rows, place = np.flatnonzero(beyond.any(axis=1)), 0
        far = np.flatnonzero(beyond.any(axis=0)).tolist()
        features: dict[int, list[tuple[int, State]]] = {j: [] for j in far}
        for encoder in encoders:
            for j, state in enumerate(encoder.columns_):
                if j in features and state.get("points"):
                    features[j].append((place, state))
                place += len(output_names(state))
        return cls(rows, encoded[rows], beyond[rows], features)

    def shifted(self) -> Array:
        """Return features (r, e) that grow linearly beyond the range, in standard deviations."""
        shifted = self.encoded.copy()
        for j, features in self.features.items():
            places = [place for place, _ in features]
            shifted[:, places] += (self.beyond[:, j] / self._scale(j)[0])[:, None]
        return shifted

    def continued(self, function: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Return changes of predictions (r, d, *t) beyond the range, and errors (r, *t)."""
        at_ends = function(self._inside(np.zeros(self.beyond.shape)))
        changes = np.zeros((*self.beyond.shape, *at_ends.shape[1:]))
        joint = self._changes(function, at_ends, self.beyond)
        rest = np.zeros(at_ends.shape)
        for j in self.features:
            of_column = np.zeros(self.beyond.shape)
            of_column[:, j] = self.beyond[:, j]
            is_only = len(self.features) == 1
            each = joint if is_only else self._changes(function, at_ends, of_column)
            _, low, high = self._scale(j)
            most = _MOST_RANGES * (high - low)
            share = _CONTINUED * most / np.maximum(np.abs(self.beyond[:, j]), most)
            changes[:, j] = _times(share, each.mean(axis=0))
            rest = np.maximum(rest, np.abs(each).max(axis=0) - np.abs(changes[:, j]))
        total = np.abs(changes.sum(axis=1))
        return changes, as_array(np.maximum(rest, np.abs(joint).max(axis=0) - total))

    def _changes(self, function: Callable[[Array], Array], at_ends: Array, beyond: Array) -> Array:
        """Return changes (S, r, *t) over distances (r, d), extrapolated by slopes over S steps."""
        units, low, high = np.array([self._scale(j) for j in self.features]).T
        size = np.abs(beyond[:, list(self.features)])
        # In units of the distance; a step is at most the width of the range.
        apart = np.divide(high - low, size, out=np.full(size.shape, np.inf), where=size > 0.0)
        relative = np.max(size / units, axis=1)
        is_moved = relative > 0.0
        relative = np.where(is_moved, relative, 1.0)
        steps = [np.minimum(step / relative, apart.min(axis=1)) for step in _STEPS]
        changes = np.zeros((len(_STEPS), *at_ends.shape))
        for change, step in zip(changes, steps, strict=True):
            inside = self._inside(np.where(is_moved, step, 0.0)[:, None] * beyond)
            apart_from_ends = at_ends[is_moved] - function(inside[is_moved])
            change[is_moved] = _times(1.0 / step[is_moved], apart_from_ends)
        return changes

    def _inside(self, moves: Array) -> Array:
        """Return features (r, e) with far numbers at the ends of ranges, minus ``moves`` (r, d)."""
        inside = self.encoded.copy()
        for j, features in self.features.items():
            _, low, high = self._scale(j)
            is_far = self.beyond[:, j] != 0.0
            values = np.where(self.beyond[:, j] > 0.0, high, low) - moves[:, j]
            for place, state in features:
                inside[is_far, place] = np.interp(values[is_far], state["points"], state["scores"])
        return inside

    def _scale(self, column: int) -> tuple[float, float, float]:
        """Return the standard deviation of a column and the ends of its range."""
        _, state = self.features[column][0]
        points, scores, (low, high) = state["points"], state["scores"], state["ends"]
        return (points[-1] - points[0]) / (scores[-1] - scores[0]), low, high


def _times(factors: Array, values: Array) -> Array:
    """Multiply values (r, *t) by factors (r,)."""
    return as_array(values * factors.reshape(-1, *(1,) * (values.ndim - 1)))
