"""Copies of rows: rows that are equal in all columns more often than by chance."""

from collections.abc import Sequence

import numpy as np

from bochner._base.arrays import Index
from bochner.tables.observations import Keys, mixed

_LEAST_RATIO = 5.0
"""Pairs of equal rows, relative to their number by chance, from which equal rows are copies. In 172
public tables with equal rows, the ratio is mostly between 0.5 and 2 if entries are coarse."""

_FEWEST_DIFFERENT = 20
"""Fewest different rows of a table with copies: fewer may be levels of a design. If each of them is
there an even number of times, say, the table was written twice: that is improbable by chance."""

_MOST_ROWS = 100_000
"""Rows, drawn at random, whose pairs are counted: more take time and hardly change the ratio."""


def originals(columns: Sequence[Keys]) -> Index:
    """Return the index (n,) of the first row of which a row is a copy; its own index without.

    ``columns`` has hashes (n,) of the entries of each column, with the target. Rows may be equal by
    chance if entries are coarse. Their number is estimated from the pairs of rows that differ in
    one column only, and from how often two entries of this column are equal.

    >>> number, level = np.arange(40) % 30, np.arange(40) % 2
    >>> hashes = [np.asarray(each, dtype=np.uint64) for each in (number, 7 * number, level)]
    >>> originals(hashes)[28:33].tolist(), originals(hashes[2:])[:4].tolist()
    ([28, 29, 0, 1, 2], [0, 1, 2, 3])
    """
    n = len(columns[0])
    salts = mixed(np.arange(1, len(columns) + 1, dtype=np.uint64))
    hashes = [mixed(column + salt) for column, salt in zip(columns, salts, strict=True)]
    keys: Keys = np.stack(hashes).sum(axis=0, dtype=np.uint64)
    _, first, row, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    if not _FEWEST_DIFFERENT <= len(counts) < n:
        return np.arange(n)
    if (n_written := int(np.gcd.reduce(counts))) > 1:
        return _written_again(row, counts // n_written)
    some = np.random.default_rng(0).permutation(n)[:_MOST_ROWS]
    n_pairs = _pairs(keys[some])
    by_chance = max(_by_chance(keys[some], each[some], n_pairs) for each in hashes)
    return first[row] if n_pairs > _LEAST_RATIO * by_chance else np.arange(n)


def _written_again(row: Index, n_originals: Index) -> Index:
    """Return the first row (n,) of each original; equal rows may have several originals."""
    order = np.argsort(row, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(row)) - np.searchsorted(row[order], row[order])
    original = row * int(n_originals.max()) + place % n_originals[row]
    _, first, number = np.unique(original, return_index=True, return_inverse=True)
    return first[number]


def _pairs(keys: Keys) -> float:
    """Return the number of pairs of equal keys."""
    counts = np.unique(keys, return_counts=True)[1].astype(np.float64)
    return float(np.sum(counts * (counts - 1.0))) / 2.0


def _by_chance(keys: Keys, column: Keys, n_pairs: float) -> float:
    """Return the expected number of equal rows, from the pairs that differ in one column only."""
    n = len(keys)
    is_equal = _pairs(column) / (0.5 * n * (n - 1))
    return (
        (_pairs(keys - column) - n_pairs) * is_equal / (1.0 - is_equal) if is_equal < 1.0 else 0.0
    )
