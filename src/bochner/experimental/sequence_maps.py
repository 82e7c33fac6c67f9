r"""Features of sequences, from the frequencies of a kernel of their windows or points.

The mathematics page on sequences has the derivations.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._numerics import limits
from bochner._numerics.arrays import Array, as_count, frozen_array, row_blocks, steps
from bochner.experimental.sequences import Sequences
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel
from bochner.registry import register

_LEAST_STEPS = 8
"""Points of a sequence whose waves are computed together. Blocks overlap in one point, so one point
in eight is computed twice."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class WindowMeans:
    """Means of the features of a sequence's windows, each ``window`` points side by side."""

    kernel: Kernel
    frequencies: Frequencies
    window: int

    def __post_init__(self) -> None:
        if as_count("window", self.window) * self.width != self.frequencies.dim:
            raise ValueError(
                f"frequencies have {self.frequencies.dim} inputs, no multiple of window="
                f"{self.window}."
            )

    @property
    def width(self) -> int:
        """Number of columns of a point."""
        return self.frequencies.dim // self.window

    @property
    def n_features(self) -> int:
        """Number of features, two for each frequency."""
        return self.frequencies.n_features

    def features(self, sequences: Sequences) -> Array:
        """Return the features (n, 2m), in blocks of windows."""
        owner, begins, counts = windows_of(sequences, self.window)
        means = np.zeros((len(sequences), self.n_features))
        row_bytes = 8 * (self.n_features + self.window * sequences.width)
        for rows in row_blocks(len(owner), row_bytes):
            sequence = owner[rows]
            inputs = windows_at(sequences, begins[rows], self.window)
            self.kernel.check_inputs(inputs)
            Z = self.frequencies.features(inputs)
            first = np.flatnonzero(np.diff(sequence, prepend=-1))
            means[sequence[first]] += np.add.reduceat(Z, first, axis=0)
        means /= counts[:, None]
        return means

    def kernel_rows(self, sequences: Sequences) -> Array:
        """Return all windows, of which the kernel is."""
        return windows_at(sequences, windows_of(sequences, self.window)[1], self.window)


def windows_of(
    sequences: Sequences, window: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the sequence and the first place of every window, and their number by sequence."""
    counts = sequences.lengths - window + 1
    owner = np.repeat(np.arange(len(sequences)), counts)
    shift = sequences.starts - (np.cumsum(counts) - counts)
    return owner, np.arange(len(owner)) + shift[owner], counts


def some_windows(
    sequences: Sequences, window: int, size: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the first places of at most ``size`` random windows."""
    begins = windows_of(sequences, window)[1]
    chosen: NDArray[np.intp] = rng.permutation(begins)[:size]
    return chosen


def windows_at(sequences: Sequences, begin: NDArray[np.intp], window: int) -> Array:
    """Return the windows (q, window * d) that begin at places (q,)."""
    points = sequences.at(begin[:, None] + np.arange(window))
    return points.reshape(len(begin), window * sequences.width)


@register
@dataclass(frozen=True, slots=True, eq=False)
class SignatureLevels:
    r"""Iterated sums of the increments of random waves along a sequence.

    Factor ``k`` has ``m`` separate frequencies, in the order ``orders[k]``, and increments
    :math:`\delta_k(t)` of its cosine and sine. For every frequency, level ``l`` has the features

    .. math:: \sqrt{w_l m^{l - 1}} \sum_{t_1 < \dots < t_l}
              \delta_1(t_1) \otimes \dots \otimes \delta_l(t_l),

    :math:`2^l` of them, with the weight :math:`w_l` of the level. Orders are drawn at random: that
    makes the estimate unbiased also if frequencies of one factor depend on one another.
    """

    kernel: Kernel
    frequencies: tuple[Frequencies, ...]
    orders: NDArray[np.int64]
    weights: Array

    def __post_init__(self) -> None:
        sizes = {(draw.n_frequencies, draw.dim) for draw in self.frequencies}
        depth = len(self.frequencies)
        if len(sizes) != 1 or not np.array_equal(
            np.sort(self.orders, axis=1), np.tile(np.arange(min(sizes)[0]), (depth, 1))
        ):
            raise ValueError("frequencies must be as many for each factor, and orders of them.")
        weights = frozen_array("weights", self.weights, (depth + 1,))
        if (weights < 0.0).any():
            raise ValueError(f"weights must not be negative, got {self.weights}.")
        object.__setattr__(self, "weights", weights)

    @property
    def width(self) -> int:
        """Number of columns of a point."""
        return self.frequencies[0].dim

    @property
    def n_features(self) -> int:
        """Number of features of all levels, with the constant of level zero."""
        return self.edges[-1]

    @property
    def edges(self) -> list[int]:
        """First column of each level, followed by the number of columns."""
        m = self.orders.shape[1]
        return [0, *(1 + m * (2 ** (k + 1) - 2) for k in range(len(self.frequencies) + 1))]

    def features(self, sequences: Sequences) -> Array:
        """Return the features (n, p): level zero, level one and so on, in blocks of sequences."""
        values = np.empty((len(sequences), self.n_features))
        # Blocks of similar lengths: shorter ones repeat their last point, which adds zero.
        order = np.argsort(sequences.lengths, kind="stable")
        for rows in row_blocks(len(order), 8 * _LEAST_STEPS * self.n_features):
            values[order[rows]] = self._block(sequences, order[rows])
        return values

    def kernel_rows(self, sequences: Sequences) -> Array:
        """Return all points, of which the kernel is."""
        return windows_at(sequences, np.arange(len(sequences.points)), 1)

    def level_norms(self, sequences: Sequences) -> Array:
        """Return the mean squared norm of the features of each level, of shape (depth + 1,)."""
        squares = np.mean(self.features(sequences) ** 2, axis=0)
        return np.add.reduceat(squares, self.edges[:-1])

    def _block(self, sequences: Sequences, rows: NDArray[np.intp]) -> Array:
        depth, m = self.orders.shape
        starts, ends = sequences.starts[rows], sequences.lengths[rows] - 1
        levels = [np.zeros((len(rows), 2 ** (k + 1), m)) for k in range(depth)]
        step = max(_LEAST_STEPS, limits.BLOCK_BYTES // (8 * len(rows) * self.n_features))
        for span in steps(int(ends.max()), step):
            times = np.arange(span.start, span.stop + 1)
            places = starts[:, None] + np.minimum(times, ends[:, None])
            points = sequences.at(places).reshape(-1, sequences.width)
            before = np.ones((len(rows), 1, 1, m))  # The level below, before each increment
            for k in range(depth):
                waves = self._increments(k, points, len(rows))
                added = before[:, :, :, None] * waves[:, :, None]
                added = added.reshape(len(rows), -1, 2 ** (k + 1), m)
                sums = np.cumsum(added, axis=1)
                before = levels[k][:, None] + (sums - added)
                levels[k] += sums[:, -1]
        values = np.full((len(rows), self.n_features), np.sqrt(self.weights[0]))
        for k, level in enumerate(levels):
            scale = np.sqrt(self.weights[k + 1] * float(m) ** k)
            values[:, self.edges[k + 1] : self.edges[k + 2]] = scale * level.reshape(len(rows), -1)
        return values

    def _increments(self, k: int, points: Array, n: int) -> Array:
        """Return the increments (n, T - 1, 2, m) of the k-th waves of points (n * T, d)."""
        m = self.orders.shape[1]
        self.kernel.check_inputs(points)
        waves = self.frequencies[k].features(points).reshape(n, -1, 2, m)
        return np.diff(waves[..., self.orders[k]], axis=1)


def drawn_orders(depth: int, m: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return ``depth`` independent random orders of ``m`` frequencies."""
    return rng.permuted(np.tile(np.arange(m, dtype=np.int64), (depth, 1)), axis=1)
