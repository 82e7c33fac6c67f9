"""Boosted symmetric trees as arrays of splits, and their inputs from encoded columns."""

from dataclasses import dataclass, field, replace

import numpy as np

from bochner._base.arrays import Array
from bochner._base.compiling import compiled
from bochner._base.registry import register
from bochner.tables.observations import Chosen

_SAME_PHASE = 1e-9
"""Rounding error of phases, relative to their cycle."""

_ROWS_OF_A_BLOCK = 64
"""Rows whose leaves are found together: a hundred columns of them fit the L2 cache."""


def none() -> Chosen:
    """Return an empty array of column indices."""
    return np.empty(0, dtype=np.int64)


@register(shapes={"columns": "c", "starts": "b", "widths": "b", "cycles": "p"})
@dataclass(frozen=True, slots=True, eq=False)
class TreeInputs:
    """The inputs of trees: levels of one-hot columns, numeric columns, and phases of cycles."""

    starts: Chosen  # (b,): First column of each block of one-hot columns
    widths: Chosen  # (b,): Number of its columns
    columns: Chosen  # (c,): Other columns
    cycles: Chosen = field(default_factory=none)  # (p,): Cosine of each cycle, before its sine

    @classmethod
    def of(
        cls,
        columns: Chosen,
        shared: Chosen | None,
        cycles: Chosen | None = None,
        *,
        has_waves: bool = False,
    ) -> "TreeInputs":
        """Return the inputs; columns with one index in ``shared`` are one input, as are cycles."""
        if cycles is not None and len(cycles):
            waves = np.concatenate([first + np.arange(width) for first, width in cycles])
            inputs = cls.of(columns if has_waves else np.setdiff1d(columns, waves), shared)
            return replace(inputs, cycles=cycles[np.isin(cycles[:, 0], columns), 0])
        numbers = np.arange(len(columns)) if shared is None else shared[columns]
        edges = np.flatnonzero(np.diff(numbers)) + 1
        runs = np.split(np.arange(len(columns)), edges)
        blocks = [columns[run] for run in runs if len(run) > 1 and numbers[run[0]] >= 0]
        return cls(
            np.array([run[0] for run in blocks], dtype=np.int64),
            np.array([len(run) for run in blocks], dtype=np.int64),
            columns[~np.isin(columns, np.concatenate([none(), *blocks]))].astype(np.int64),
        )

    def __call__(self, X: Array) -> Array:
        """Return the inputs (n, b + c + p) of encoded rows (n, d); level codes come first."""
        pairs = zip(self.starts.tolist(), self.widths.tolist(), strict=True)
        levels = [X[:, first : first + width].argmax(axis=1) for first, width in pairs]
        turns = np.arctan2(X[:, self.cycles + 1], X[:, self.cycles]) / (2.0 * np.pi)
        # Rounding must not move the beginning of a cycle to its end.
        phases = np.where(turns < -_SAME_PHASE, turns + 1.0, np.maximum(turns, 0.0))
        return np.column_stack([*levels, X[:, self.columns], phases]).astype(np.float64)

    def __len__(self) -> int:
        return len(self.starts) + len(self.columns) + len(self.cycles)

    @property
    def used(self) -> Chosen:
        """The encoded columns (d',) of the inputs, sorted."""
        pairs = zip(self.starts, self.widths, strict=True)
        blocks = [np.arange(first, first + width) for first, width in pairs]
        return np.unique(np.concatenate([*blocks, self.columns, self.cycles, self.cycles + 1]))


@register(
    shapes={"feature": "rd", "threshold": "rd", "value": "rmt", "baseline": "t", "levels": "bl"}
)
@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """Boosted symmetric trees, whose values add up to outputs: a level of nodes has one split."""

    feature: Chosen  # (r, d)
    threshold: Array  # (r, d): Inputs above the threshold go right
    value: Array  # (r, 2^d, t)
    baseline: Array  # (t,)
    levels: Array  # (b, l): Scores of the levels of the first inputs; the last is that of others

    def __post_init__(self) -> None:
        """Raise ValueError for leaves or inputs that do not fit together."""
        has_leaves = self.value.shape[1] == 1 << self.feature.shape[1]
        has_scores = self.levels.shape[1] or not len(self.levels)
        if not has_leaves or not has_scores or self.feature.min(initial=0) < 0:
            raise ValueError("splits, levels and leaves of trees do not fit together")

    def part(self, first: int, last: int) -> "Trees":
        """Return some of the trees, from ``first`` up to, without, ``last``."""
        feature, threshold = self.feature[first:last], self.threshold[first:last]
        return replace(self, feature=feature, threshold=threshold, value=self.value[first:last])

    def __call__(self, inputs: Array) -> Array:
        """Return the outputs (n, t) of inputs (n, k)."""
        outputs = np.tile(self.baseline, (len(inputs), 1))
        columns = np.ascontiguousarray(with_scores(inputs, self.levels).T)
        _add_values(columns, self.feature, self.threshold, self.value, outputs)
        return outputs


def with_scores(inputs: Array, levels: Array) -> Array:
    """Return inputs (n, k) with scores in place of the levels of the first ones."""
    if not len(levels):
        return inputs
    codes = np.clip(inputs[:, : len(levels)], 0, levels.shape[1] - 1).astype(np.intp)
    return np.hstack([levels[np.arange(len(levels)), codes], inputs[:, len(levels) :]])


@compiled()
def _add_values(
    columns: Array, feature: Chosen, threshold: Array, value: Array, outputs: Array
) -> None:
    """Add the values of trees at ``columns`` (k, n) to ``outputs`` (n, t)."""
    leaf = np.empty(_ROWS_OF_A_BLOCK, dtype=np.int64)
    for start in range(0, outputs.shape[0], _ROWS_OF_A_BLOCK):
        size = min(_ROWS_OF_A_BLOCK, outputs.shape[0] - start)
        for tree in range(feature.shape[0]):
            leaf[:] = 0
            for level in range(feature.shape[1]):
                # Adjacent entries of a column are compared at once.
                entries, above = columns[feature[tree, level], start:], threshold[tree, level]
                for i in range(size):
                    leaf[i] = 2 * leaf[i] + (entries[i] > above)
            for i in range(size):
                for output in range(value.shape[2]):
                    outputs[start + i, output] += value[tree, leaf[i], output]
