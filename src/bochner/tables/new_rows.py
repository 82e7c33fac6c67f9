r"""New rows of a table: unknown entries, their donors, and numbers out of range.

With the vector :math:`\delta` from the ends of the ranges to the row, the extrapolated change is
:math:`\Delta_k = (f(x_{end}) - f(x_{end} - t_k \delta)) / t_k`. Predictions take half of the mean
change by each number; their standard deviation grows with the distance to the largest change.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array, steps
from bochner._base.registry import register
from bochner.tables.donor_forests import N_DRAWS, DonorForest, fitted_forest
from bochner.tables.encoder import TableEncoder, column_blocks
from bochner.tables.encodings import KnownEntries, State, filled_values, has_codes, output_names
from bochner.tables.fit_plan import MOST_SCORED
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
        rows, columns = np.arange(len(self.rows)), list(self.features)
        inside = self._moved(self.encoded, rows, columns, np.zeros((len(rows), len(columns))))
        ends = inside, function(inside)
        joint, rest = self._changes(function, ends, columns), np.zeros(ends[1].shape)
        changes = np.zeros((*self.beyond.shape, *rest.shape[1:]))
        for j in columns:
            rows = np.flatnonzero(self.beyond[:, j])  # Few rows of each column of a wide table
            is_only = len(columns) == 1
            each = joint if is_only else self._changes(function, ends, [j])
            _, low, high = self._scale(j)
            most = _MOST_RANGES * (high - low)
            share = _CONTINUED * most / np.maximum(np.abs(self.beyond[rows, j]), most)
            changes[rows, j] = _times(share, each.mean(axis=0))
            largest = np.abs(each).max(axis=0) - np.abs(changes[rows, j])
            rest[rows] = np.maximum(rest[rows], largest)
        total = np.abs(changes.sum(axis=1))
        return changes, as_array(np.maximum(rest, np.abs(joint).max(axis=0) - total))

    def _changes(
        self, function: Callable[[Array], Array], ends: Sequence[Array], columns: list[int]
    ) -> Array:
        """Return changes (S, r', *t) of rows far in some columns, by slopes over S steps."""
        rows = np.flatnonzero(self.beyond[:, columns].any(axis=1))
        units, low, high = np.array([self._scale(j) for j in columns]).T
        beyond = self.beyond[rows][:, columns]
        size = np.abs(beyond)
        # In units of the distance; a step is at most the width of the range.
        apart = np.divide(high - low, size, out=np.full(size.shape, np.inf), where=size > 0.0)
        relative = np.maximum(np.max(size / units, axis=1), np.finfo(np.float64).tiny)
        changes = []
        for most in _STEPS:
            step = np.minimum(most / relative, apart.min(axis=1))
            moved = self._moved(ends[0][rows], rows, columns, step[:, None] * beyond)
            changes.append(_times(1.0 / step, ends[1][rows] - function(moved)))
        return np.stack(changes)

    def _moved(self, encoded: Array, rows: Chosen, columns: list[int], moves: Array) -> Array:
        """Return encoded rows (r', e), with far numbers of some columns at ends minus ``moves``."""
        moved = encoded.copy()
        for j, move in zip(columns, moves.T, strict=True):
            _, low, high = self._scale(j)
            beyond = self.beyond[rows, j]
            is_far = beyond != 0.0
            values = np.where(beyond > 0.0, high, low) - move
            for place, state in self.features[j]:
                moved[is_far, place] = np.interp(values[is_far], state["points"], state["scores"])
        return moved

    def _scale(self, column: int) -> tuple[float, float, float]:
        """Return the standard deviation of a column and the ends of its range."""
        _, state = self.features[column][0]
        points, scores, (low, high) = state["points"], state["scores"], state["ends"]
        return (points[-1] - points[0]) / (scores[-1] - scores[0]), low, high


def _times(factors: Array, values: Array) -> Array:
    """Multiply values (r, *t) by factors (r,)."""
    return as_array(values * factors.reshape(-1, *(1,) * (values.ndim - 1)))


_ROWS_OF_A_BLOCK = 200
"""Rows with gaps whose completions are predicted together: 4,000 encoded rows."""

_MARGINAL_ROWS = 200
"""Training rows in place of a row without known entries: quantiles err by 3.5 per cent in rank."""

_FEWEST_GAPS = 50
"""Fewest scored rows with a gap in a column from which a model learns errors of such rows: their
standard deviation has a standard error of a tenth of it."""


_FEWEST_LEVELS = 5
"""Fewest levels from which the variance of a new one is estimated; with fewer it is like others."""


@register(shapes={"values": "bd", "is_known": "bd", "n_levels": "d"})
@dataclass(frozen=True, eq=False)  # No slots: a cached property needs __dict__
class Donors:
    """Training rows that give their entries to rows with unknown entries."""

    values: Array  # (b, d): Numbers, or codes of levels
    is_known: NDArray[np.bool_]  # (b, d)
    n_levels: Chosen  # (d,): Number of levels of text columns; zero for numbers

    def __post_init__(self) -> None:
        """Raise ValueError for level codes, which are indices, beyond the number of levels."""
        codes, most = self.values[:, self.n_levels > 0], self.n_levels[self.n_levels > 0]
        if not ((codes >= 0.0) & (codes < most) & (codes == np.floor(codes))).all():
            raise ValueError("the rows that give entries to rows with gaps have unknown levels")

    def __getstate__(self) -> dict[str, object]:
        """Return the fields only, for pickles: forests are fitted again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def _forests(self) -> dict[int, DonorForest]:
        return {}

    @cached_property
    def _entries(self) -> Array:
        """The forests' inputs (b, d) of the rows."""
        return self._inputs(np.where(self.is_known, self.values, np.nan))

    def _inputs(self, values: Array) -> Array:
        """Return ranks of numbers (n, d) among the known entries, and codes; NaN where unknown.

        Forests ignore differences of less than 1e-7, and have single precision.
        """
        inputs = values.copy()
        for j in np.flatnonzero((self.n_levels == 0) & self.is_known.any(axis=0)):
            distinct = np.unique(self.values[self.is_known[:, j], j])
            inputs[:, j] = np.interp(values[:, j], distinct, np.arange(float(len(distinct))))
        return inputs

    @cached_property
    def _first(self) -> Chosen:
        """Index (b, d) of the first row with the same entry in each column."""
        firsts = [
            np.unique(column, return_index=True, return_inverse=True) for column in self.values.T
        ]
        return np.stack([first[place] for _, first, place in firsts], axis=1).astype(np.int64)

    def draws(
        self, values: Array, is_unknown: NDArray[np.bool_], is_new: NDArray[np.bool_]
    ) -> Chosen:
        """Return the donors (n, N_DRAWS, d) of the unknown entries of rows (n, d); -1 elsewhere."""
        n, dim = values.shape
        donors = np.full((n, N_DRAWS, dim), -1)
        inputs = self._inputs(np.where(is_unknown, np.nan, values))
        filled = np.repeat(inputs[:, None], N_DRAWS, axis=1)
        for column in np.flatnonzero(is_unknown.any(axis=0)):
            rows = np.flatnonzero(is_unknown[:, column] & is_new[:, column])
            if len(rows) and self.is_known[:, column].any():
                chosen = np.tile(self._of_levels(int(column)), (len(rows), 1))
                donors[rows, :, column] = chosen
                filled[rows, :, column] = self._entries[chosen, column]
            rows = np.flatnonzero(is_unknown[:, column] & ~is_new[:, column])
            forest = self._forest(int(column)) if len(rows) else None
            if forest is None:
                continue
            chosen = forest.donors(filled[rows])
            donors[rows, :, column] = self._first[chosen, column]
            filled[rows, :, column] = self._entries[chosen, column]
        return donors

    def _of_levels(self, column: int) -> Chosen:
        """Return rows (N_DRAWS,) in which the levels of a column are about equally frequent."""
        known = np.flatnonzero(self.is_known[:, column])
        codes = self.values[known, column]
        # The last code stands for all rare levels, each of which has few rows.
        is_first = np.isin(np.arange(len(known)), np.unique(codes, return_index=True)[1])
        firsts = known[is_first | (codes == self.n_levels[column] - 1)]
        rng = np.random.default_rng(column)
        places = (np.arange(N_DRAWS) + 0.5) / N_DRAWS * len(firsts)
        # In random order: draws of several columns are independent.
        return np.asarray(rng.permutation(rng.permutation(firsts)[places.astype(np.int64)]))

    def _forest(self, column: int) -> DonorForest | None:
        if column not in self._forests:
            known = np.flatnonzero(self.is_known[:, column])
            if not len(known):
                return None
            self._forests[column] = fitted_forest(self._entries, self.n_levels, column, known)
        return self._forests[column]


@register(shapes={"had_gaps": "d", "had_rare": "d", "is_bounded": "d", "time_signs": "d"})
@dataclass(frozen=True, slots=True, eq=False)
class RowKnowledge:
    """Rules of a fitted model for unknown entries and numbers out of range."""

    donors: Donors  # Entries of the background rows
    # Columns with enough gaps, or rare levels, to learn from; entries of others are replaced
    had_gaps: NDArray[np.bool_]  # (d,)
    had_rare: NDArray[np.bool_]  # (d,)
    # Left-out errors of later rows cover the range of columns that grow with the time of the rows
    is_bounded: NDArray[np.bool_]  # (d,)
    time_signs: Array  # (d,): 1 for dates and columns that grow in time, -1 if they fall, else 0

    @classmethod
    def of(
        cls, states: Sequence[State], known: KnownEntries, n_rows: int, trends: Mapping[str, float]
    ) -> "RowKnowledge":
        """Return the rules of a model of ``n_rows`` rows, of which some are ``known``."""
        share = min(1.0, MOST_SCORED / n_rows)
        n_levels = [len(s["levels"]) + 1 if has_codes(s) else 0 for s in states]
        n_gaps = [s.get("n_missing", 0) for s in states]
        # With target means, rare levels are stored, so that a new level differs from them. New text
        # has no part in common with the rare levels.
        n_rare = [0 if {"means", "parts"} & s.keys() else s.get("n_rare", 0) for s in states]
        values, n_levels_of = known.values, np.array(n_levels, dtype=np.int64)
        return cls(
            Donors(np.nan_to_num(values), ~np.isnan(values), n_levels_of),
            share * np.array(n_gaps) >= _FEWEST_GAPS,
            share * np.array(n_rare) >= _FEWEST_GAPS,
            np.array([s["name"] not in trends for s in states]),
            as_array([trends.get(s["name"], float(s["kind"] == "date")) for s in states]),
        )

    def unknown(self, known: KnownEntries) -> NDArray[np.bool_]:
        """Return a mask (n, d) of the entries that donors replace."""
        return (known.is_missing & ~self.had_gaps) | (known.is_new & ~self.had_rare)

    def unlike(self, known: KnownEntries) -> dict[str, NDArray[np.bool_]]:
        """Return masks (n, d) of entries unlike those of the training rows, by reason."""
        is_later = known.beyond * self.time_signs > 0.0
        return {
            "missing": known.is_missing & ~self.had_gaps,
            "new level": known.is_new,
            "beyond the range": (known.beyond != 0.0) & self.is_bounded & ~is_later,
            "later": is_later,
        }


@dataclass(frozen=True, eq=False)
class NewRows:
    """Encoded new rows of a table, with imputations of their unknown entries."""

    encoded: Array  # (n, e): With fill values in place of unknown entries
    background: Array  # (b, e)
    knowledge: RowKnowledge
    known: KnownEntries
    encoders: Sequence[TableEncoder]

    def __len__(self) -> int:
        return len(self.encoded)

    @cached_property
    def blocks(self) -> list[Chosen]:
        """The encoded columns of each column of the table."""
        return column_blocks(self.encoders)

    @cached_property
    def is_unknown(self) -> NDArray[np.bool_]:
        """Mask (n, d) of the entries that donors replace."""
        return self.knowledge.unknown(self.known)

    @cached_property
    def level_excess(self) -> Array:
        """Extra variance (n,) of rows with new levels, in units of the variance between levels."""
        n_levels = self.knowledge.donors.n_levels - 1
        excess = np.where(n_levels >= _FEWEST_LEVELS, 2.0 / np.maximum(n_levels - 1.0, 1.0), 0.0)
        return as_array(np.max(np.where(self.known.is_new, excess, 0.0), axis=1, initial=0.0))

    @cached_property
    def complete(self) -> Chosen:
        """Indices of the rows without unknown entries."""
        return np.flatnonzero(~self.is_unknown.any(axis=1))

    def completions(self) -> Iterator[tuple[Chosen, Array, Chosen]]:
        """Yield rows (r,) with unknown entries, completions (u, e), and their indices (r, D)."""
        if (rows := np.flatnonzero(self._is_empty)).size:
            some = self.background[:_MARGINAL_ROWS]
            yield rows, some, np.tile(np.arange(len(some)), (len(rows), 1))
        for rows in self._blocks_with_gaps():
            yield rows, *self._completed(rows, self._donors(rows))

    @cached_property
    def _is_empty(self) -> NDArray[np.bool_]:
        """Mask (n,) of rows without entries in columns with features, of which some are unknown."""
        has_features = np.array([len(block) > 0 for block in self.blocks])
        is_gap = (self.is_unknown | self.known.is_missing)[:, has_features]
        return np.asarray(is_gap.all(axis=1) & self.is_unknown.any(axis=1))

    def _blocks_with_gaps(self) -> Iterator[Chosen]:
        """Yield indices of rows that have known and unknown entries, in blocks."""
        rows = np.flatnonzero(self.is_unknown.any(axis=1) & ~self._is_empty)
        for part in steps(len(rows), _ROWS_OF_A_BLOCK):
            yield rows[part]

    def _donors(self, rows: Chosen) -> Chosen:
        """Return indices (r, D, d) of donors for the unknown entries of the chosen rows."""
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
        """Return values (n, ...) of a function, averaged over the completions of each row."""
        values = function(self.encoded)
        for rows, completed, index in self.completions():
            values[rows] = function(completed)[index].mean(axis=1)
        return values

    def distinct(self) -> tuple[Array, list[tuple[Chosen, Chosen]]]:
        """Return distinct completions (u, e), and rows (r,) with indices of completions (r, D)."""
        complete = self.complete
        parts = [(complete, self.encoded[complete], np.arange(len(complete))[:, None])]
        parts += self.completions()
        ends = np.cumsum([0] + [len(completed) for _, completed, _ in parts])
        places = [(rows, end + index) for (rows, _, index), end in zip(parts, ends, strict=False)]
        return np.concatenate([completed for _, completed, _ in parts]), places

    def completed_once(self) -> tuple[Array, Array]:
        """Return encoded rows (n, e) and values (n, d), completed by one donor per row.

        Equal rows have the same draws of donors, of which each takes another one.
        """
        encoded = self.encoded.copy()
        values = filled_values(self.encoders[0].columns_, self.known.values)
        for rows in self._blocks_with_gaps():
            donors = self._donors(rows)
            donors = donors[np.arange(len(rows)), rows % donors.shape[1]][:, None]
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
                # Rows without any known entry have more completions: take evenly spaced ones.
                place = draw * index.shape[1] // N_DRAWS
                encoded[rows] = completed[index[:, place]]
            yield encoded

    @cached_property
    def far(self) -> "FarRows | None":
        """Rows with numbers beyond the range of the fit; ``None`` if there are none."""
        beyond = np.where(self.knowledge.is_bounded, self.known.beyond, 0.0)
        return FarRows.of(self.encoders, self.encoded, beyond) if beyond.any() else None
