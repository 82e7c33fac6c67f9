"""Boosting of symmetric trees, whose nodes of one level share a split of binned inputs."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array, rounded
from bochner._base.compiling import compiled, inner
from bochner.tables.observations import Chosen
from bochner.tables.trees import Trees, with_scores

_MOST_BINS, _FEW_BINS, _ROWS_OF_A_BIN = 250, 64, 16
"""Most bins of a numeric input for many and for few rows, and the least average rows of more bins:
with 64 bins of 4,000 rows, errors of targets that jump are ten per cent greater."""

_PRIOR_ROWS = 10.0
"""Observations of zero slope added to each level, so that rare levels are near unknown ones."""

_LEAST_CURVATURE = 1e-6
"""Least second derivative of a loss, at probabilities close to zero or one."""

Codes = NDArray[np.uint8]
Loss = Callable[[Array, Array], tuple[Array, Array]]
"""First and second derivatives (n, t) of a loss by the outputs (n, t) for targets (n, t)."""


def squared(outputs: Array, targets: Array) -> tuple[Array, Array]:
    """Half the squared error."""
    return outputs - targets, np.ones_like(outputs)


def logistic(outputs: Array, targets: Array) -> tuple[Array, Array]:
    """Log loss of log odds for targets zero and one."""
    shares = 1.0 / (1.0 + np.exp(-outputs))
    return shares - targets, np.maximum(shares * (1.0 - shares), _LEAST_CURVATURE)


def softmax(outputs: Array, targets: Array) -> tuple[Array, Array]:
    """Log loss of centred log probabilities for class indicators."""
    shares = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares - targets, np.maximum(shares * (1.0 - shares), _LEAST_CURVATURE)


def gamma(outputs: Array, targets: Array) -> tuple[Array, Array]:
    """Negative log likelihood of gamma distributions with logarithms of means as outputs."""
    ratios = targets * np.exp(-outputs)
    return 1.0 - ratios, np.maximum(ratios, _LEAST_CURVATURE)


@dataclass(frozen=True, slots=True)
class TreeSizes:
    """Sizes of boosted trees."""

    rate: float  # Factor of each tree
    depth: int
    share: float = 0.5  # Share of the inputs that each level of a tree may split
    penalty: float = 1.0  # Added to the total curvature of a leaf


def boosted(
    inputs: Array,
    n_blocks: int,
    loss: Loss,
    targets: Array,
    weights: Array,
    baseline: Array,
    outputs: Array,
    sizes: TreeSizes,
    n_trees: int,
    seed: int,
    until: float = np.inf,
) -> Trees:
    """Return trees that are fitted to targets (n, t), and add to ``outputs`` (n, t).

    The first ``n_blocks`` of the inputs (n, k) are levels. There are fewer than ``n_trees`` if the
    next one is expected to end after ``until`` by the performance counter.
    """
    rng, (n, n_inputs), n_outputs = np.random.default_rng(seed), inputs.shape, len(baseline)
    slopes = weights[:, None] * loss(outputs, targets)[0]
    levels = _level_scores(inputs[:, :n_blocks].astype(np.int64), slopes, weights)
    columns = with_scores(inputs, levels).T
    most_bins = int(np.clip(n // _ROWS_OF_A_BIN, _FEW_BINS, _MOST_BINS))
    edges = [_edges(most_bins, *np.unique(column, return_counts=True)) for column in columns]
    pairs = zip(edges, columns, strict=True)
    in_bytes = [np.searchsorted(*pair).astype(np.uint8) for pair in pairs]
    codes = np.array(in_bytes, dtype=np.uint8).reshape(-1, n)
    n_bins = np.array([len(of_column) + 1 for of_column in edges])
    n_tried = max(1, round(sizes.share * n_inputs))
    n_leaves, node = 1 << sizes.depth, np.empty(n, dtype=np.uint8)
    derivatives = np.empty((n, n_outputs + 1))
    memory = np.empty((most_bins * n_leaves // 2, n_outputs + 1)), np.empty(most_bins)
    split = np.empty((n_trees, 2, sizes.depth), dtype=np.int64)
    value = np.empty((n_trees, n_leaves, n_outputs))
    began = perf_counter()
    for number in range(n_trees):
        now = perf_counter()
        if now + (now - began) / max(number, 1) > until:
            split, value = split[:number], value[:number]
            break
        slopes, curvatures = (weights[:, None] * part for part in loss(outputs, targets))
        derivatives[:, :-1], derivatives[:, -1] = slopes, curvatures.mean(axis=1)
        keys = rng.random((sizes.depth, n_inputs))
        is_tried = keys <= np.partition(keys, n_tried - 1, axis=1)[:, n_tried - 1 : n_tried]
        _grow(codes, n_bins, derivatives, is_tried, sizes.penalty, node, *memory, split[number])
        for output in range(n_outputs):
            sums = (np.bincount(node, part[:, output], n_leaves) for part in (slopes, curvatures))
            value[number, :, output] = -sizes.rate * next(sums) / (next(sums) + sizes.penalty)
        outputs = outputs + value[number][node]
    feature, place = split[:, 0], split[:, 1]
    # A split after the last bin sends all rows to the left; files have no infinite numbers.
    padded = np.full((n_inputs, most_bins), np.finfo(np.float64).max)
    for row, of_column in zip(padded, edges, strict=True):
        row[: len(of_column)] = of_column
    return Trees(feature, padded[feature, place], value, baseline, levels)


def _level_scores(levels: Chosen, slopes: Array, weights: Array) -> Array:
    """Return a score of each level (b, l) by its average slopes; the last score is zero."""
    scores = np.zeros((levels.shape[1], levels.max(initial=-1) + 2))
    for of_block, codes in zip(scores, levels.T, strict=True):
        totals = np.array([np.bincount(codes, part, len(of_block)) for part in slopes.T])
        size = np.bincount(codes, weights, len(of_block))
        means = totals / (size + _PRIOR_ROWS)
        # Of several outputs, the direction in which the levels differ most.
        direction = np.linalg.svd(means * np.sqrt(size), full_matrices=False)[0][:, 0]
        of_block[:] = direction @ means
    return as_array(rounded(scores))


def _edges(most_bins: int, entries: Array, counts: Chosen) -> Array:
    """Return thresholds halfway between some adjacent entries, with as many rows in each bin."""
    place = np.arange(len(entries) - 1)
    if len(entries) > most_bins:
        goals = np.arange(1, most_bins) * (counts.sum() / most_bins)
        place = np.unique(np.searchsorted(np.cumsum(counts)[:-1], goals))
        place = place[place < len(entries) - 1]
    left, right = entries[place], entries[place + 1]
    return as_array(np.minimum(left + 0.5 * (right - left), np.nextafter(right, -np.inf)))


@compiled()
def _grow(
    codes: Codes,
    n_bins: Chosen,
    derivatives: Array,
    is_tried: NDArray[np.bool_],
    penalty: float,
    node: Codes,
    totals: Array,
    gains: Array,
    split: Chosen,
) -> None:
    """Write the ``split`` (2, depth) of each level of a tree, and the leaf of each row (n,).

    ``derivatives`` (n, t + 1) are gradients and, last, second derivatives.
    """
    node[:] = 0
    for level in range(split.shape[1]):
        # Without a gain, all rows go left.
        split[0, level], split[1, level], best = 0, n_bins[0] - 1, 0.0
        for column in range(codes.shape[0]):
            if is_tried[level, column]:
                n_codes = n_bins[column]
                part = totals[: n_codes << level]
                _add_to_bins(codes[column], node, derivatives, n_codes, part)
                _add_gains(part, n_codes, penalty, gains)
                for last in range(n_codes - 1):
                    if gains[last] > best:
                        split[0, level], split[1, level], best = column, last, gains[last]
        column, last = split[0, level], split[1, level]
        for row in range(node.size):
            node[row] = 2 * node[row] + (codes[column, row] > last)


@inner()
def _add_to_bins(
    codes: Codes, node: Codes, derivatives: Array, n_codes: int, totals: Array
) -> None:
    """Write the totals of derivatives in each bin of each node, those of a node adjacent."""
    totals[:] = 0.0
    is_one = derivatives.shape[1] == 2  # Two sums without a loop take half the time
    for row in range(node.size):
        place = np.uint32(node[row]) * np.uint32(n_codes) + np.uint32(codes[row])
        if is_one:
            totals[place, 0] += derivatives[row, 0]
            totals[place, 1] += derivatives[row, 1]
        else:
            for output in range(derivatives.shape[1]):
                totals[place, output] += derivatives[row, output]


@inner()
def _add_gains(totals: Array, n_codes: int, penalty: float, gains: Array) -> None:
    """Write the gain of a split after each bin, summed over nodes and outputs."""
    gains[:] = 0.0
    t = totals.shape[1] - 1
    for first in range(0, len(totals), n_codes):
        for place in range(first + 1, first + n_codes):
            for output in range(t + 1):
                totals[place, output] += totals[place - 1, output]
        end = totals[first + n_codes - 1]
        if end[t] > 0.0:
            for bin_ in range(n_codes - 1):
                left = totals[first + bin_]
                of_left, of_right, of_both = 0.0, 0.0, 0.0
                for output in range(t):
                    of_left += left[output] ** 2
                    of_right += (end[output] - left[output]) ** 2
                    of_both += end[output] ** 2
                gains[bin_] += (
                    of_left / (left[t] + penalty)
                    + of_right / (end[t] - left[t] + penalty)
                    - of_both / (end[t] + penalty)
                )
