"""Rows of a table that are equal in all of their entries."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from bochner._base.keys import Keys, bits, mixed
from bochner.files.columns import Column


def row_keys(columns: Sequence[Column], target: NDArray[np.float64]) -> Keys:
    """Return a number for each row, equal for rows of equal entries and of equal targets (n, t).

    The number depends only on entries and targets. Among n rows, the probability that two different
    rows share a number is about ``n**2 / 4e19``.
    """
    keys = np.zeros(len(target), dtype=np.uint64)
    for entries in (*(_numbers(column) for column in columns), *map(bits, target.T)):
        keys = mixed(keys + entries)
    return keys


def entry_order(columns: Sequence[Column], target: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return an order (n,) of rows by their entries, then by their targets (n, t).

    The sorted rows do not depend on the given order of rows, nor on the units of numbers.
    """
    codes = [_ranks(column) for column in columns]
    return np.lexsort((*target.T[::-1], *codes[::-1]))


def _ranks(column: Column) -> NDArray[np.intp]:
    """Return ranks of entries: of numbers by size, of texts by the alphabet, missing ones first."""
    if column.values.dtype.kind == "f":
        return np.unique(column.values, return_inverse=True)[1]
    entries = zip(column.raw.tolist(), column.present.tolist(), strict=True)
    texts = [f"1{entry}" if there else "" for entry, there in entries]
    return np.unique(texts, return_inverse=True)[1]


def _numbers(column: Column) -> Keys:
    """Return a number for each entry: its bits, or a digest of its text."""
    if column.values.dtype.kind == "f":
        return bits(column.values)
    entries = zip(column.raw.tolist(), column.present.tolist(), strict=True)
    texts = [f"{type(entry).__name__} {entry}" if there else "" for entry, there in entries]
    digests = {
        text: int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
        for text in set(texts)
    }
    return np.array([digests[text] for text in texts], dtype=np.uint64)
