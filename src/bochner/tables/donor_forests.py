"""Imputation of unknown entries of rows by draws from training rows.

A training row that gives its entry to a row with a gap is a *donor*: a row of the same leaf of a
random forest, which predicts a column from the other columns (Meinshausen, "Quantile regression
forests", 2006). Several unknown columns are drawn one after another.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from bochner._base.arrays import Array, as_array
from bochner.tables.observations import Chosen

N_DRAWS = 30
"""Donors per row, and trees: a mean's standard error is below a fifth of the donors' spread."""

_LEAVES = (2, 5, 15)
"""Candidate minimum leaf sizes: small if other columns nearly determine an entry, else large."""

_N_CHOOSING = 10
"""Trees that choose the leaf size: energy scores are those of thirty within a per cent."""

_FEWEST_CHOOSING = 40
"""Fewest known entries for a choice of the leaf size; with fewer, the middle size is used."""

_HIDDEN_SHARES = (0.0, 0.25, 0.5)
"""Shares of entries hidden in copies of the rows, so that forests learn from missing entries."""

_FEW_LEVELS = 8
"""Largest number of levels that a forest predicts by indicators; more levels by random signs."""

_PRIOR_ROWS = 10.0
"""Prior rows with the overall mean, which shrink the mean that replaces a level code."""


@dataclass(frozen=True, slots=True, eq=False)
class DonorForest:
    """A forest that predicts a column from the other columns, with training rows in its leaves."""

    column: int
    level_means: dict[int, Array]  # Mean outputs that replace level codes, by column
    trees: list[Any]
    members: list[tuple[Chosen, Chosen]]  # By tree: rows sorted by leaf (m,), leaf starts
    ranks: Array  # (N_DRAWS,): Relative position in the leaf, by draw

    @classmethod
    def of(
        cls,
        values: Array,
        n_levels: Chosen,
        column: int,
        known: Chosen,
        outputs: Array,
        least_rows: int,
        n_trees: int = N_DRAWS,
    ) -> "DonorForest":
        """Fit a forest to ``outputs`` (m, k) of rows ``known``, with ``least_rows`` in a leaf."""
        rng = np.random.default_rng(column)
        means = {
            j: _level_means(values[known, j], int(n), outputs[:, 0])
            for j, n in enumerate(n_levels)
            if n and j != column
        }
        inputs = _inputs(values[known], column, means)
        hidden = [rng.random(inputs.shape) < share for share in _HIDDEN_SHARES]
        copies = [np.where(is_hidden, np.nan, inputs) for is_hidden in hidden]
        stacked, n_copies = np.concatenate(copies), len(copies)
        forest = RandomForestRegressor(
            n_trees,
            min_samples_leaf=min(least_rows * n_copies, max(1, len(known) // 2)),
            max_features=0.5,
            random_state=column,
        )
        targets = np.tile(outputs, (n_copies, 1))
        forest.fit(stacked, targets if targets.shape[1] > 1 else targets[:, 0])
        order = np.argsort(outputs[:, 0], kind="stable")
        leaves = forest.apply(np.concatenate([copy[order] for copy in copies]))
        rows = np.tile(known[order], n_copies)
        members = []
        for leaf in leaves.T:
            # Rows of a leaf are in order of their entries, so that ranks are quantiles.
            place = np.lexsort((np.tile(np.arange(len(known)), n_copies), leaf))
            firsts = np.searchsorted(leaf[place], np.arange(leaf.max() + 2))
            members.append((rows[place], firsts.astype(np.int64)))
        ranks = (rng.permutation(n_trees) + 0.5) / n_trees
        return cls(column, means, list(forest.estimators_), members, ranks)

    def donors(self, filled: Array) -> Chosen:
        """Return indices (n, N_DRAWS) of donors for rows (n, N_DRAWS, d) with earlier draws."""
        result = np.empty(filled.shape[:2], dtype=np.int64)
        for draw, (tree, (rows, firsts)) in enumerate(zip(self.trees, self.members, strict=True)):
            inputs = _inputs(filled[:, draw], self.column, self.level_means).astype(np.float32)
            leaf = tree.tree_.apply(inputs)  # Without checks, which take ten times as long
            sizes = firsts[leaf + 1] - firsts[leaf]
            result[:, draw] = rows[firsts[leaf] + (self.ranks[draw] * sizes).astype(np.int64)]
        return result


def _energy_score(draws: Array, outputs: Array) -> float:
    """Return the mean energy score, a proper score, of draws (n, D, k) for outputs (n, k)."""
    error = np.linalg.norm(draws - outputs[:, None], axis=-1).mean()
    # Distances to the next draw suffice, because draws are independent.
    between = np.linalg.norm(draws - np.roll(draws, 1, axis=1), axis=-1).mean()
    return float(error - 0.5 * between)


def _outputs(entries: Array, n_levels: int, rng: np.random.Generator) -> Array:
    """Return targets (n, k) for a forest that predicts entries (n,): ranks, or codes of levels."""
    if not n_levels:
        # Ranks, so that a long tail does not decide the splits.
        _, place = np.unique(entries, return_inverse=True)
        counts = np.bincount(place)
        return as_array((np.cumsum(counts) - 0.5 * counts)[place] / len(entries))[:, None]
    codes = entries.astype(np.intp)
    if n_levels <= _FEW_LEVELS:
        return np.eye(n_levels)[codes]
    return rng.choice([-1.0, 1.0], (n_levels, _FEW_LEVELS))[codes]


def _level_means(codes: Array, n_levels: int, output: Array) -> Array:
    """Return shrunken means (n_levels,) of an output, one per level of a column."""
    is_known = ~np.isnan(codes)
    places, mean = codes[is_known].astype(np.intp), float(output.mean())
    sums = np.bincount(places, output[is_known] - mean, n_levels)
    counts = np.bincount(places, minlength=n_levels)
    return as_array(mean + sums / (counts + _PRIOR_ROWS))


def _inputs(values: Array, column: int, level_means: dict[int, Array]) -> Array:
    """Return forest inputs (n, d): columns except ``column``, with mean outputs for levels."""
    inputs = values.copy()
    inputs[:, column] = 0.0
    for j, means in level_means.items():
        codes = values[:, j]
        is_known = ~np.isnan(codes)
        inputs[is_known, j] = means[codes[is_known].astype(np.intp)]
    return inputs


def fitted_forest(entries: Array, n_levels: Chosen, column: int, known: Chosen) -> DonorForest:
    """Return the forest of a column whose draws have the least energy score on held-out rows."""
    fitted, rng = partial(DonorForest.of, entries, n_levels, column), np.random.default_rng(column)
    outputs = _outputs(entries[known, column], int(n_levels[column]), rng)
    if len(known) < _FEWEST_CHOOSING:
        return fitted(known, outputs, _LEAVES[1])
    half = np.arange(len(known)) % 2 == 0
    held_out = np.repeat(entries[known[~half]][:, None], _N_CHOOSING, axis=1)
    scores = [
        _energy_score(outputs[np.searchsorted(known, forest.donors(held_out))], outputs[~half])
        for forest in (fitted(known[half], outputs[half], leaf, _N_CHOOSING) for leaf in _LEAVES)
    ]
    return fitted(known, outputs, _LEAVES[int(np.argmin(scores))])
