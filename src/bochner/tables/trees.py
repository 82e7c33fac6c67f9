"""Boosted trees of scikit-learn as arrays of nodes, and their inputs from encoded columns."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.compiling import compiled, inner
from bochner._base.registry import register
from bochner.tables.observations import Chosen

_MOST_LEVELS = 255
"""Most levels of a categorical input of scikit-learn's trees; an input with more is numeric."""

_SAME_PHASE = 1e-9
"""Rounding error of phases, relative to their cycle."""

_ROWS_OF_A_BLOCK = 64
"""Rows that descend a tree in lockstep: a hundred columns of them fit the L2 cache."""


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


_OF_NODES = ("feature", "threshold", "left", "right", "value", "is_leaf", "level_set")
_OF_OTHERS = {"level_sets": "sl", "roots": "r", "output": "r", "baseline": "t"}


@register(shapes=dict.fromkeys(_OF_NODES, "m") | _OF_OTHERS)
@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """Boosted trees as arrays of nodes, whose values add up to outputs."""

    feature: Chosen  # (m,)
    threshold: Array  # (m,): Numbers up to the threshold go left
    left: Chosen  # (m,): Nodes
    right: Chosen
    value: Array  # (m,)
    is_leaf: NDArray[np.bool_]  # (m,)
    level_set: Chosen  # (m,): Row of level_sets; minus one for splits of numbers
    level_sets: NDArray[np.bool_]  # (s, l): Whether a level goes left
    roots: Chosen  # (r,): First node of each tree
    output: Chosen  # (r,): Output to which each tree adds
    baseline: Array  # (t,)

    def __post_init__(self) -> None:
        """Raise ValueError for indices beyond the nodes, sets or outputs."""
        is_inner, node = ~self.is_leaf, np.arange(len(self.left))
        children = np.stack([self.left, self.right])[:, is_inner]
        is_sound = (
            (children > node[is_inner]).all()
            and children.max(initial=0) < max(len(node), 1)
            and self.feature.min(initial=0) >= 0
            and self.level_set.max(initial=-1) < len(self.level_sets)
            and bool(self.level_sets.shape[1] or not len(self.level_sets))
            and self.roots[:1].tolist() == [0][: len(node)]  # Every node belongs to a tree
            and self.roots.max(initial=-1) < len(node)
            and (np.diff(self.roots) > 0).all()
            and self.output.min(initial=0) >= 0
            and self.output.max(initial=-1) < len(self.baseline)
        )
        if not is_sound:
            raise ValueError("nodes, level sets and outputs of trees do not fit together")

    @classmethod
    def of(cls, models: list[Any], codes: list[Array]) -> "Trees":
        """Return the trees of models with categories of some ``codes``; outputs are joined."""
        parts: list[NDArray[Any]] = []
        level_sets: list[NDArray[np.bool_]] = []
        roots, output = [0], list[int]()
        baselines: list[float] = []
        width = max((int(c.max()) + 1 for c in codes if len(c)), default=1)
        for model in models:
            first_output = len(baselines)
            baselines += np.ravel(model._baseline_prediction).tolist()
            for iteration in model._predictors:
                for place, tree in enumerate(iteration):
                    nodes = tree.nodes.copy()
                    # Nodes of all trees are concatenated, so that indices are shifted.
                    nodes["left"] += roots[-1]
                    nodes["right"] += roots[-1]
                    for node in np.flatnonzero(nodes["is_categorical"]):
                        ranks = _ranks(tree.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
                        of_input = codes[nodes["feature_idx"][node]]
                        goes_left = np.zeros(width, dtype=bool)
                        goes_left[:] = bool(nodes["missing_go_to_left"][node])
                        goes_left[of_input.astype(np.intp)] = ranks[: len(of_input)]
                        nodes["bitset_idx"][node] = len(level_sets)
                        level_sets.append(goes_left)
                    parts.append(nodes)
                    roots.append(roots[-1] + len(nodes))
                    output.append(first_output + place)
        nodes = np.concatenate(parts)
        is_set = nodes["is_categorical"].astype(bool)
        sets = np.array(level_sets) if level_sets else np.zeros((1, width), dtype=bool)
        return cls(
            nodes["feature_idx"].astype(np.int64),
            np.where(is_set, 0.0, np.where(nodes["is_leaf"], 0.0, nodes["num_threshold"])),
            nodes["left"].astype(np.int64),
            nodes["right"].astype(np.int64),
            nodes["value"].astype(np.float64),
            nodes["is_leaf"].astype(bool),
            np.where(is_set, nodes["bitset_idx"].astype(np.int64), -1),
            sets,
            np.array(roots[:-1], dtype=np.int64),
            np.array(output, dtype=np.int64),
            np.array(baselines),
        )

    @classmethod
    def fitted(
        cls, models: list[tuple[Any, NDArray[Any]]], inputs: Array, n_blocks: int, weights: Array
    ) -> "Trees":
        """Return the trees of models, each fitted to its targets; levels are the first inputs."""
        inputs = inputs.copy() if n_blocks else inputs
        codes = [np.unique(inputs[:, block]) for block in range(n_blocks)]
        is_category = np.zeros(inputs.shape[1], dtype=bool)
        for block, levels in enumerate(codes):
            # scikit-learn needs categories from zero on; the levels of the fit are compressed.
            if len(levels) <= _MOST_LEVELS:
                inputs[:, block] = np.searchsorted(levels, inputs[:, block])
                is_category[block] = True
        categories = np.flatnonzero(is_category)
        # scikit-learn numbers categorical features first, independent of their positions.
        order = np.concatenate((categories, np.flatnonzero(~is_category)))
        # With weights scikit-learn's binning takes as long as the trees: omit equal weights.
        sample_weight = weights if np.ptp(weights) else None
        fits = [
            model.set_params(categorical_features=categories).fit(inputs, y, sample_weight)
            for model, y in models
        ]
        trees = cls.of(fits, [codes[block] for block in categories])
        feature = order[trees.feature]
        threshold = _between(
            inputs, feature, trees.threshold, trees.is_leaf | (trees.level_set >= 0)
        )
        return replace(trees, feature=feature, threshold=threshold)

    def __call__(self, inputs: Array) -> Array:
        """Return the outputs (n, t) of inputs (n, k)."""
        outputs = np.tile(self.baseline, (len(inputs), 1))
        _add_values(inputs, tuple(getattr(self, each.name) for each in fields(self)), outputs)
        return outputs


@compiled()
def _add_values(inputs: Array, trees: Any, outputs: Array) -> None:
    """Add the values of the fields of :class:`Trees` to ``outputs`` (n, t)."""
    feature, threshold, left, right, value, is_leaf, level_set, level_sets, roots, output, _ = trees
    # Rows of a block descend in lockstep, and a leaf is its own child. No step waits for another
    # row or for a branch that the processor mispredicts.
    children, depth = _children(left, right, is_leaf, roots)
    inner = feature.astype(np.uint32)  # Indices without a sign need no check
    places = np.empty(_ROWS_OF_A_BLOCK, dtype=np.uint32)
    for start in range(0, inputs.shape[0], _ROWS_OF_A_BLOCK):
        block = inputs[start : start + _ROWS_OF_A_BLOCK]
        for tree in range(roots.size):
            last = roots[tree + 1] if tree + 1 < roots.size else feature.size
            has_sets = False
            for node in range(roots[tree], last):
                has_sets |= level_set[node] >= 0
            for i in range(len(block)):
                places[i] = np.uint32(roots[tree])
            for _ in range(depth[tree]):
                for i in range(len(block)):
                    node = places[i]
                    entry = block[i, inner[node]]
                    goes_right = entry > threshold[node]
                    if has_sets and level_set[node] >= 0:
                        level = max(0, min(int(entry), level_sets.shape[1] - 1))
                        goes_right = not level_sets[level_set[node], level]
                    places[i] = children[np.uint32(2) * node + np.uint32(goes_right)]
            for i in range(len(block)):
                outputs[start + i, output[tree]] += value[places[i]]


@inner()
def _children(
    left: Chosen, right: Chosen, is_leaf: NDArray[np.bool_], roots: Chosen
) -> tuple[NDArray[np.uint32], Chosen]:
    """Return both children (2 m,) of nodes, a leaf its own child, and depths (r,) of trees."""
    children = np.empty(2 * left.size, dtype=np.uint32)
    of_node, depth = np.zeros(left.size, dtype=np.int64), np.zeros(roots.size, dtype=np.int64)
    tree = -1
    for node in range(left.size):
        if tree + 1 < roots.size and roots[tree + 1] == node:
            tree += 1
        children[2 * node] = node if is_leaf[node] else left[node]
        children[2 * node + 1] = node if is_leaf[node] else right[node]
        depth[tree] = max(depth[tree], of_node[node])
        if not is_leaf[node]:
            of_node[left[node]] = of_node[right[node]] = of_node[node] + 1
    return children, depth


def _between(
    inputs: Array, feature: Chosen, threshold: Array, has_none: NDArray[np.bool_]
) -> Array:
    """Move each threshold (m,) halfway between the adjacent entries (n, k) that it separates."""
    moved = threshold.copy()
    for column in np.unique(feature[~has_none]):
        nodes = np.flatnonzero((feature == column) & ~has_none)
        entries = np.unique(inputs[:, column])
        place = np.searchsorted(entries, threshold[nodes], side="right")
        # Nodes that separate missing entries have infinite thresholds.
        is_inner = (place > 0) & (place < len(entries))
        place = place[is_inner]
        middles = entries[place - 1] + 0.5 * (entries[place] - entries[place - 1])
        moved[nodes[is_inner]] = np.minimum(middles, np.nextafter(entries[place], -np.inf))
    return moved


def _ranks(bits: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return a mask (256,) of the bits that are set in eight 32-bit words."""
    words = bits.astype(np.uint32)[:, None] >> np.arange(32, dtype=np.uint32)
    return np.asarray((words & 1).ravel(), dtype=bool)
