r"""New rows of a table: what is known of their entries, completions, and ends of ranges.

Features of numbers are bounded, so that a prediction beyond the range is that at its end. How the
function goes on is unknown. With the vector :math:`\delta` from the ends of the ranges to the row,
slopes at the ends give the change of the function,

.. math:: \Delta_k = (f(x_{end}) - f(x_{end} - t_k \delta)) / t_k,

if it went on as over the distances :math:`t_k \delta` within the range. Predictions go half of
the mean change of each number, at most that over half of its range, and their deviation follows
from the distance to a function that goes on by the largest change.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array, steps
from bochner._base.registry import register
from bochner.tables.donors import N_DRAWS, Donors
from bochner.tables.encoder import TableEncoder, read_rows
from bochner.tables.encodings import (
    KnownEntries,
    State,
    filled_values,
    number_feature,
    output_names,
)
from bochner.tables.fit_plan import MOST_SCORED
from bochner.tables.observations import Chosen

_STEPS = (1.0, 2.0, np.inf)
"""Distances, in standard deviations of a column, over which slopes are measured; at most the range.
Slopes over shorter distances follow the noise and the pull to the mean at the ends."""

_CONTINUED = 0.5
"""Share of the change by which predictions go on: the middle of staying and going on."""

_MOST_RANGES = 0.5
"""Distance from the range, in ranges, up to which predictions go on: entries much farther out are
often mistakes."""


@dataclass(frozen=True, slots=True, eq=False)
class FarRows:
    """Rows with numbers beyond the range of a fit."""

    encoders: Sequence[TableEncoder]
    rows: Chosen  # (r,): Indices of the rows
    encoded: Array  # (r, e)
    beyond: Array  # (r, d): Distances from the range of each column, with signs

    @classmethod
    def of(
        cls, encoders: Sequence[TableEncoder], encoded: Array, beyond: Array
    ) -> "FarRows | None":
        """Return the rows with a distance (n, d) from the range, ``None`` if there are none."""
        rows = np.flatnonzero(beyond.any(axis=1))
        return cls(encoders, rows, encoded[rows], beyond[rows]) if len(rows) else None

    def shifted(self) -> Array:
        """Return features (r, e) that go on beyond the range, in standard deviations."""
        shifted = self.encoded.copy()
        for j, places in self._places():
            unit, _, _ = _scale(self.encoders[0].columns_[j])
            shifted[:, places] += (self.beyond[:, j] / unit)[:, None]
        return shifted

    def continued(self, function: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Return changes of a function by which predictions go on, and what they may lack.

        ``function`` maps rows (r, e) to values (r, *t). The changes (r, d, *t) are those of each
        column, and (r, *t) is the largest distance of their sum from a function that goes on.
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
        """Return changes (S, r, *t) of a function that goes on over distances (r, d)."""
        scales = [_scale(state) for state in self.encoders[0].columns_]
        units = np.array([unit for unit, _, _ in scales])
        ranges = np.array([high - low for _, low, high in scales])
        size = np.abs(beyond)
        # In units of the distance: steps end at the other end of a range.
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
        """Return features (r, e) of numbers at the ends of the ranges minus ``moves`` (r, d)."""
        features = self.encoded.copy()
        for j, places in self._places():
            _, low, high = _scale(self.encoders[0].columns_[j])
            is_far = self.beyond[:, j] != 0.0
            values = np.where(self.beyond[:, j] > 0.0, high, low) - moves[:, j]
            for encoder, place in zip(self._encoders_of(j), places, strict=True):
                feature = number_feature(encoder.columns_[j], values)
                assert feature is not None  # Other encoders have no place
                features[is_far, place] = feature[is_far]
        return features

    def _encoders_of(self, column: int) -> list[TableEncoder]:
        """Return the encoders with a feature of the numbers of a column."""
        probe = np.zeros(1)
        return [e for e in self.encoders if number_feature(e.columns_[column], probe) is not None]

    def _places(self) -> list[tuple[int, list[int]]]:
        """Return the columns with numbers out of range, and the places of their features."""
        places: dict[int, list[int]] = {int(j): [] for j in np.flatnonzero(self.beyond.any(axis=0))}
        place, probe = 0, np.zeros(1)
        for encoder in self.encoders:
            for j, state in enumerate(encoder.columns_):
                if j in places and number_feature(state, probe) is not None:
                    places[j].append(place)
                place += len(output_names(state))
        return list(places.items())


def _scale(state: State) -> tuple[float, float, float]:
    """Return the standard deviation and the ends of a column; one and zeros for other columns."""
    if (state["kind"] != "numeric" and state["kind"] != "date") or not state["points"]:
        return 1.0, 0.0, 0.0
    points, scores, (low, high) = state["points"], state["scores"], state["ends"]
    return (points[-1] - points[0]) / (scores[-1] - scores[0]), low, high


def _times(factors: Array, values: Array) -> Array:
    """Return values (r, *t) times factors (r,)."""
    return as_array(values * factors.reshape(-1, *(1,) * (values.ndim - 1)))


_ROWS_OF_A_BLOCK = 200
"""Rows with gaps whose completions are predicted together: 4,000 encoded rows."""

_MARGINAL_ROWS = 200
"""Training rows that stand for a row of which nothing is known: the standard error of a quantile of
their distribution is at most 3.5 per cent in rank."""

_FEWEST_GAPS = 50
"""Fewest scored rows with a gap in a column from which a model learns errors of such rows: their
standard deviation has a standard error of a tenth of it. With 24 of 120 rows, intervals of 90 %
contain 84 % of such rows, and with donors 88 %."""


_FEWEST_LEVELS = 5
"""Fewest levels whose effects tell how much a new one may exceed them. A new level among fewer is
taken for one of them, such as one that is spelled differently."""


@register(shapes={"had_gaps": "d", "had_rare": "d", "is_bounded": "d", "time_signs": "d"})
@dataclass(frozen=True, slots=True, eq=False)
class RowKnowledge:
    """How a fitted model of a table treats unknown entries and numbers out of range.

    ``donors`` have the entries of the background rows. ``had_gaps`` (d,) marks columns with enough
    missing entries at the fit, and ``had_rare`` (d,) columns with enough rare levels: the model has
    learned predictions and widths of such rows. Other unknown entries take those of donors.
    ``is_bounded`` (d,) marks columns whose range matters: columns that grow with the time of the
    rows have left-out errors of later rows instead. ``time_signs`` (d,) are 1 for dates and for
    columns that grow with the time of the rows, -1 for those that fall, and 0 for other columns.
    """

    donors: Donors
    had_gaps: NDArray[np.bool_]
    had_rare: NDArray[np.bool_]
    is_bounded: NDArray[np.bool_]
    time_signs: Array

    @classmethod
    def of(
        cls,
        states: Sequence[State],
        known: KnownEntries,
        n_rows: int,
        trends: Mapping[str, float],
    ) -> "RowKnowledge":
        """Return the knowledge of a fit to ``n_rows`` rows, some of which are ``known``.

        ``trends`` are the signs of columns that grow or fall with the time of the rows, by name.
        """
        share = min(1.0, MOST_SCORED / n_rows)
        n_levels = [len(s["levels"]) + 1 if s["kind"] == "text" else 0 for s in states]
        n_gaps = [
            s["n_missing"]
            if s["kind"] == "text" or s["kind"] == "numeric" or s["kind"] == "date"
            else 0
            for s in states
        ]
        # Rare levels with means of the target are known, and a new one is not like them.
        n_rare = [s["n_rare"] if s["kind"] == "text" and "means" not in s else 0 for s in states]
        return cls(
            Donors(
                np.nan_to_num(known.values),
                ~np.isnan(known.values),
                np.array(n_levels, dtype=np.int64),
            ),
            share * np.array(n_gaps) >= _FEWEST_GAPS,
            share * np.array(n_rare) >= _FEWEST_GAPS,
            np.array([s["name"] not in trends for s in states]),
            as_array([trends.get(s["name"], float(s["kind"] == "date")) for s in states]),
        )

    def unknown(self, known: KnownEntries) -> NDArray[np.bool_]:
        """Return which entries (n, d) take the entries of donors."""
        return (known.is_missing & ~self.had_gaps) | (known.is_new & ~self.had_rare)

    def unlike(self, known: KnownEntries) -> dict[str, NDArray[np.bool_]]:
        """Return which entries (n, d) are unlike those of the fit, by reason."""
        is_later = known.beyond * self.time_signs > 0.0
        return {
            "missing": known.is_missing & ~self.had_gaps,
            "new level": known.is_new,
            "beyond the range": (known.beyond != 0.0) & self.is_bounded & ~is_later,
            "later": is_later,
        }


@dataclass(frozen=True, eq=False)
class NewRows:
    """New rows of a table, encoded, with completions of those that have unknown entries.

    Rows without unknown entries are their only completion. Rows of which nothing is known have the
    background rows as completions.
    """

    encoded: Array  # (n, e): With fill values in place of unknown entries
    background: Array  # (b, e)
    knowledge: RowKnowledge
    known: KnownEntries
    encoders: Sequence[TableEncoder]

    @classmethod
    def of(
        cls,
        encoders: Sequence[TableEncoder],
        background: Array,
        knowledge: RowKnowledge,
        X: object,
    ) -> "NewRows":
        """Return the rows of a table that has the columns of the encoders."""
        encoded, known = read_rows(encoders, X)
        return cls(encoded, background, knowledge, known, encoders)

    def __len__(self) -> int:
        return len(self.encoded)

    @cached_property
    def blocks(self) -> list[Chosen]:
        """The encoded columns of each column of the table."""
        states = [state for encoder in self.encoders for state in encoder.columns_]
        sources = np.array([state["name"] for state in states for _ in output_names(state)])
        return [np.flatnonzero(sources == state["name"]) for state in self.encoders[0].columns_]

    @cached_property
    def is_unknown(self) -> NDArray[np.bool_]:
        """Which entries (n, d) take the entries of donors."""
        return self.knowledge.unknown(self.known)

    @cached_property
    def level_excess(self) -> Array:
        """By how much a new level varies more (n,) than the levels of its column, as a share.

        The variance of a further effect, given L effects, is (L + 1) / (L - 1) times their variance
        about their mean.
        """
        n_levels = self.knowledge.donors.n_levels - 1
        excess = np.where(n_levels >= _FEWEST_LEVELS, 2.0 / np.maximum(n_levels - 1.0, 1.0), 0.0)
        return as_array(np.max(np.where(self.known.is_new, excess, 0.0), axis=1, initial=0.0))

    @cached_property
    def complete(self) -> Chosen:
        """Indices of the rows without unknown entries."""
        return np.flatnonzero(~self.is_unknown.any(axis=1))

    def completions(self) -> Iterator[tuple[Chosen, Array, Chosen]]:
        """Yield completions of rows with unknown entries, in blocks.

        Yields indices of rows (r,), distinct completions (u, e), and the completion (r, D) of each
        row and draw.
        """
        if (rows := np.flatnonzero(self._is_empty)).size:
            some = self.background[:_MARGINAL_ROWS]
            yield rows, some, np.tile(np.arange(len(some)), (len(rows), 1))
        for rows in self._blocks_with_gaps():
            yield rows, *self._completed(rows, self._donors(rows))

    @cached_property
    def _is_empty(self) -> NDArray[np.bool_]:
        """Whether nothing is known of the columns of a row that have features."""
        has_features = np.array([len(block) > 0 for block in self.blocks])
        return np.asarray(self.is_unknown[:, has_features].all(axis=1))

    def _blocks_with_gaps(self) -> Iterator[Chosen]:
        """Yield indices of rows that have known and unknown entries, in blocks."""
        rows = np.flatnonzero(self.is_unknown.any(axis=1) & ~self._is_empty)
        for part in steps(len(rows), _ROWS_OF_A_BLOCK):
            yield rows[part]

    def _donors(self, rows: Chosen) -> Chosen:
        """Return the donors (r, D, d) of the unknown entries of some rows."""
        known = self.known
        return self.knowledge.donors.draws(
            known.values[rows], self.is_unknown[rows], known.is_new[rows]
        )

    def _completed(self, rows: Chosen, donors: Chosen) -> tuple[Array, Chosen]:
        """Return distinct completions (u, e) by donors (r, D, d), and their indices (r, D)."""
        shape = donors.shape[:2]
        keys = np.column_stack([np.repeat(rows, shape[1]), donors.reshape(-1, donors.shape[2])])
        keys, index = np.unique(keys, axis=0, return_inverse=True)
        completed = self.encoded[keys[:, 0]]
        for donor, block in zip(keys.T[1:], self.blocks, strict=True):
            taken = np.flatnonzero(donor >= 0)
            completed[np.ix_(taken, block)] = self.background[np.ix_(donor[taken], block)]
        return completed, index.reshape(shape)

    def averaged(self, function: Callable[[Array], Array]) -> Array:
        """Return a function (n, ...) of encoded rows, averaged over the completions of each row."""
        values = function(self.encoded)
        for rows, completed, index in self.completions():
            values[rows] = function(completed)[index].mean(axis=1)
        return values

    def distinct(self) -> tuple[Array, list[tuple[Chosen, Chosen]]]:
        """Return all distinct completions (u, e), and indices of rows (r,) with theirs (r, D)."""
        complete = self.complete
        parts = [(complete, self.encoded[complete], np.arange(len(complete))[:, None])]
        parts += self.completions()
        ends = np.cumsum([0] + [len(completed) for _, completed, _ in parts])
        places = [(rows, end + index) for (rows, _, index), end in zip(parts, ends, strict=False)]
        return np.concatenate([completed for _, completed, _ in parts]), places

    def completed_once(self) -> tuple[Array, Array]:
        """Return encoded rows (n, e) and values (n, d) with the entries of a donor of each row."""
        encoded = self.encoded.copy()
        values = filled_values(self.encoders[0].columns_, self.known.values)
        for rows in self._blocks_with_gaps():
            donors = self._donors(rows)[:, :1]
            completed, index = self._completed(rows, donors)
            encoded[rows] = completed[index[:, 0]]
            taken = np.take_along_axis(self.knowledge.donors.values, np.maximum(donors[:, 0], 0), 0)
            values[rows] = np.where(donors[:, 0] >= 0, taken, values[rows])
        return encoded, values

    def drawn(self) -> Iterator[Array]:
        """Yield encoded rows (n, e) for each draw of the unknown entries; once if all are known."""
        draws = [(rows, completed, index) for rows, completed, index in self.completions()]
        for draw in range(N_DRAWS if draws else 1):
            encoded = self.encoded.copy()
            for rows, completed, index in draws:
                # Rows of which nothing is known have more completions, evenly taken.
                place = draw * index.shape[1] // N_DRAWS
                encoded[rows] = completed[index[:, place]]
            yield encoded

    @cached_property
    def far(self) -> "FarRows | None":
        """Rows with numbers beyond the range of the fit; ``None`` if there are none."""
        return FarRows.of(
            self.encoders,
            self.encoded,
            np.where(self.knowledge.is_bounded, self.known.beyond, 0.0),
        )
