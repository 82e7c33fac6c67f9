"""The features of pairs of rows, in blocks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics import limits
from bochner._numerics.arrays import Array, row_blocks
from bochner.frequencies import Frequencies

Block = tuple[slice, Array, Array]
"""Which pairs, their left features and their right features."""


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """The features of the left and the right row of every pair, in blocks of pairs.

    Parameters
    ----------
    frequencies : Frequencies
    X : ndarray or CSR matrix of shape (n, d)
    Y : ndarray or CSR matrix of shape (n, d2)
    held : tuple of blocks or None
        ``None`` makes the features anew whenever they are asked for.
    """

    frequencies: Frequencies
    X: Any
    Y: Any
    held: tuple[Block, ...] | None = None

    @classmethod
    def of(cls, frequencies: Frequencies, X: Any, Y: Any) -> "PairFeatures":
        """Return the features of pairs, held in memory if they take at most 256 MiB."""
        made = cls(frequencies, X, Y)
        if 32 * frequencies.n_frequencies * X.shape[0] > limits.CACHED_FEATURES_BYTES:
            return made
        return cls(frequencies, X, Y, tuple(made.blocks()))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def signature(self) -> Array:
        """Signs of the features, of shape (p,)."""
        return self.frequencies.signature

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks, in order."""
        if self.held is not None:
            yield from self.held
            return
        for rows in row_blocks(len(self), 16 * self.frequencies.n_frequencies):
            yield rows, *self.at(rows)

    def at(self, rows: Any) -> tuple[Array, Array]:
        """Return the left and the right features of some of the pairs, in float64."""
        left = self.frequencies.features(self.X[rows]).astype(np.float64, copy=False)
        right = self.frequencies.features_right(self.Y[rows]).astype(np.float64, copy=False)
        return left, right
