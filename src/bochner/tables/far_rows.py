r"""Predictions for rows with numbers beyond the range of a fit.

Features of numbers are bounded, so that without a correction a prediction beyond the range equals
the prediction at its end. The function beyond the range is unknown. With the vector :math:`\delta`
from the ends of the ranges to the row, slopes at the ends give the extrapolated change of the
function,

.. math:: \Delta_k = (f(x_{end}) - f(x_{end} - t_k \delta)) / t_k,

with the slopes over the distances :math:`t_k \delta` within the range. Predictions take half of the
mean change by each number, at most the change over half of its range. Their standard deviation
grows with the distance to the largest extrapolated change.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import State, number_feature, output_names
from bochner.tables.observations import Chosen

_STEPS = (1.0, 2.0, np.inf)
"""Distances, in standard deviations of a column, over which slopes are measured; at most the range.
Slopes over shorter distances follow the noise and the pull to the mean at the ends."""

_CONTINUED = 0.5
"""Share of the extrapolated change that predictions take: halfway between constant and linear."""

_MOST_RANGES = 0.5
"""Distance from the range, in widths of the range, up to which predictions are extrapolated:
entries much farther out are often mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class FarRows:
    """Rows with numbers outside the range of the training rows."""

    encoders: Sequence[TableEncoder]
    rows: Chosen  # (r,): Indices of the rows
    encoded: Array  # (r, e)
    beyond: Array  # (r, d): Distances from the range of each column, with signs

    @classmethod
    def of(cls, encoders: Sequence[TableEncoder], encoded: Array, beyond: Array) -> "FarRows":
        """Return the rows that have a nonzero distance ``beyond`` (n, d) from the range."""
        rows = np.flatnonzero(beyond.any(axis=1))
        return cls(encoders, rows, encoded[rows], beyond[rows])

    def shifted(self) -> Array:
        """Return features (r, e) that grow linearly beyond the range, in standard deviations."""
        shifted = self.encoded.copy()
        for j, places in self._places():
            unit, _, _ = _scale(self.encoders[0].columns_[j])
            shifted[:, places] += (self.beyond[:, j] / unit)[:, None]
        return shifted

    def continued(self, function: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Return changes of predictions (r, d, *t) beyond the range, by column, and errors (r, *t).

        ``function`` maps rows (r, e) to predictions (r, *t). An error is the largest difference
        between an extrapolated prediction and the prediction with the returned changes.
        """
        at_ends = function(self._inside(np.zeros(self.beyond.shape)))
        columns = np.flatnonzero(self.beyond.any(axis=0))
        changes = np.zeros((*self.beyond.shape, *at_ends.shape[1:]))
        joint = self._changes(function, at_ends, self.beyond)
        rest = np.zeros(at_ends.shape)
        for j in columns:
            of_column = np.zeros(self.beyond.shape)
            of_column[:, j] = self.beyond[:, j]
            each = joint if len(columns) == 1 else self._changes(function, at_ends, of_column)
            _, low, high = _scale(self.encoders[0].columns_[j])
            most = _MOST_RANGES * (high - low)
            distance = np.maximum(np.abs(self.beyond[:, j]), most)
            share = np.full(len(distance), _CONTINUED)
            np.divide(share * most, distance, out=share, where=distance > most)
            changes[:, j] = _times(share, each.mean(axis=0))
            rest = np.maximum(rest, np.abs(each).max(axis=0) - np.abs(changes[:, j]))
        total = np.abs(changes.sum(axis=1))
        return changes, as_array(np.maximum(rest, np.abs(joint).max(axis=0) - total))

    def _changes(self, function: Callable[[Array], Array], at_ends: Array, beyond: Array) -> Array:
        """Return changes (S, r, *t) over distances (r, d), extrapolated by slopes over S steps."""
        scales = [_scale(state) for state in self.encoders[0].columns_]
        units = np.array([unit for unit, _, _ in scales])
        ranges = np.array([high - low for _, low, high in scales])
        size = np.abs(beyond)
        # In units of the distance; a step is at most the width of the range.
        apart = np.divide(ranges, size, out=np.full(size.shape, np.inf), where=size > 0.0)
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
        features = self.encoded.copy()
        for j, places in self._places():
            _, low, high = _scale(self.encoders[0].columns_[j])
            is_far = self.beyond[:, j] != 0.0
            values = np.where(self.beyond[:, j] > 0.0, high, low) - moves[:, j]
            for encoder, place in zip(self._encoders_of(j), places, strict=True):
                feature = number_feature(encoder.columns_[j], values)
                assert feature is not None  # `_places` excludes other encoders
                features[is_far, place] = feature[is_far]
        return features

    def _encoders_of(self, column: int) -> list[TableEncoder]:
        """Return the encoders that have a numeric feature for a column."""
        probe = np.zeros(1)
        return [e for e in self.encoders if number_feature(e.columns_[column], probe) is not None]

    def _places(self) -> list[tuple[int, list[int]]]:
        """Return the columns with numbers out of range, and the indices of their features."""
        places: dict[int, list[int]] = {int(j): [] for j in np.flatnonzero(self.beyond.any(axis=0))}
        place, probe = 0, np.zeros(1)
        for encoder in self.encoders:
            for j, state in enumerate(encoder.columns_):
                if j in places and number_feature(state, probe) is not None:
                    places[j].append(place)
                place += len(output_names(state))
        return list(places.items())


def _scale(state: State) -> tuple[float, float, float]:
    """Return a numeric column's standard deviation and the ends of its range, else 1, 0, 0."""
    if (state["kind"] != "numeric" and state["kind"] != "date") or not state["points"]:
        return 1.0, 0.0, 0.0
    points, scores, (low, high) = state["points"], state["scores"], state["ends"]
    return (points[-1] - points[0]) / (scores[-1] - scores[0]), low, high


def _times(factors: Array, values: Array) -> Array:
    """Multiply values (r, *t) by factors (r,)."""
    return as_array(values * factors.reshape(-1, *(1,) * (values.ndim - 1)))
