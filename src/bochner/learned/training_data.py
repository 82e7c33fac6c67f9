"""Training rows of chains, which access them by sums over blocks of rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from bochner._base.arrays import Array, Floats, Index, row_blocks
from bochner._base.threads import in_order
from bochner.learned.basis import PLAIN, Basis

Terms = TypeVar("Terms")

Along = Sequence[Array | Floats | None]
"""Arrays whose last axis is the rows, of which a function of a block of rows gets its share."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    r"""Rows to regress on the features of :math:`m` waves and on :math:`q` fixed columns.

    Features (p, n) come first, :math:`m^{-1/2} \cos(\omega_j \cdot x)` and
    :math:`m^{-1/2} \sin(\omega_j \cdot x)` for a wave ``j`` of constant amplitude.
    """

    inputs: Floats  # (d, n): Features have the same type; sums are in float64
    target: Array  # (n,): Targets, or pseudo-targets w y if rows have weights
    fixed: Array  # (q, n): Columns of a trend
    weight: Array | None  # (n,): Weights w of the rows; None means one
    n_threads: int = 1  # Threads that share the blocks of rows; each has one BLAS thread
    basis: Basis = PLAIN
    # (n,): Numbers of observations, if weights are precisions; None: weights are counts
    repeats: Array | None = None

    @classmethod
    def of(
        cls,
        X: Floats,
        y: Array,
        fixed: Array | None = None,
        weight: Array | None = None,
        n_threads: int = 1,
        basis: Basis = PLAIN,
        repeats: Array | None = None,
    ) -> "TrainingData":
        """Return the rows of ``X`` (n, d) with targets ``y`` and fixed columns (n, q)."""
        columns = np.empty((0, len(y))) if fixed is None else np.ascontiguousarray(fixed.T)
        target = y if weight is None else weight * y
        inputs = np.ascontiguousarray(X.T)
        return cls(inputs, target, columns, weight, n_threads, basis, repeats)

    @property
    def n_samples(self) -> int:
        return len(self.target)

    @property
    def n_observations(self) -> float:
        counts = self.counts
        return float(self.n_samples if counts is None else np.sum(counts))

    @property
    def counts(self) -> Array | None:
        """Numbers of observations of the rows (n,); ``None`` for ones."""
        return self.weight if self.repeats is None else self.repeats

    @property
    def n_fixed(self) -> int:
        return len(self.fixed)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.inputs.dtype

    @property
    def total_square(self) -> float:
        if self.weight is None:
            return float(self.target @ self.target)
        # Pseudo-targets of rows without weight are zero: 0 / 0 would be NaN.
        present = self.weight > 0
        return float(np.sum(self.target[present] ** 2 / self.weight[present]))

    def total(
        self, function: Callable[..., Sequence[Any]], *args: Any, along: Along = (), n_features: int
    ) -> list[Array]:
        sums: list[Array] = []
        for terms in self._parts(function, args, along, n_features):
            if not sums:
                sums = [np.array(term, dtype=np.float64) for term in terms]
                continue
            for total, term in zip(sums, terms, strict=True):
                np.add(total, term, out=total)
        return sums

    def each(
        self, function: Callable[..., Array], *args: object, along: Along = (), n_features: int = 1
    ) -> Array:
        return np.concatenate(list(self._parts(function, args, along, n_features)), axis=-1)

    def reweighted(self, weight: Array, target: Array) -> "TrainingData":
        """Return the rows with weights ``w`` and pseudo-targets ``w y``, both (n,)."""
        return replace(self, target=target, weight=weight)

    def room(self, n_features: int) -> Floats:
        return np.empty((n_features, self.n_samples), dtype=self.dtype)

    def features(self, omega: Array, stored: Floats | None = None) -> Floats:
        """Return features and fixed columns (p, n) of all rows: ``stored`` ones, else computed."""
        if stored is not None:
            return stored
        waves = self.basis.waves(omega)
        m = len(waves)
        out = self.room(2 * m + self.n_fixed)
        waves.features(self.inputs, 1.0 / np.sqrt(m), out[: 2 * m])
        out[2 * m :] = self.fixed
        return out

    def part(self, chosen: slice) -> "TrainingData":
        """Return a slice of the rows."""
        weight = None if self.weight is None else self.weight[chosen]
        return replace(
            self,
            inputs=self.inputs[:, chosen],
            target=self.target[chosen],
            fixed=self.fixed[:, chosen],
            weight=weight,
            repeats=None if self.repeats is None else self.repeats[chosen],
        )

    def blocks(self, n_features: int) -> Iterator[slice]:
        """Yield slices of the rows such that a block of ``n_features`` takes some 8 MiB."""
        # At least one block, so that sums over no rows are zeros of the right shape.
        return row_blocks(max(self.n_samples, 1), 8 * n_features, least=256)

    def _parts(
        self, function: Callable[..., Terms], args: Sequence[object], along: Along, n_features: int
    ) -> Iterator[Terms]:
        """Yield the result of ``function`` for each block of rows, in order."""

        def made(chosen: slice) -> Terms:
            cut = [None if column is None else column[..., chosen] for column in along]
            return function(self.part(chosen), *cut, *args)

        blocks = list(self.blocks(n_features))
        return (value for _, value in in_order(made, blocks, self.n_threads))


@dataclass(frozen=True, slots=True, eq=False)
class ScaledData:
    """Scaled inputs, targets and fixed columns of the training rows."""

    X: Floats  # (n, d): float32 or float64, the type of the features
    y: Array  # (n,): Targets of unit variance; plus and minus one for a classification
    fixed: Array  # (n, q)
    weight: Array | None  # (n,) or None
    is_binary: bool  # Whether the likelihood is logistic
    basis: Basis = PLAIN
    repeats: Array | None = None  # (n,): see TrainingData

    @property
    def n_samples(self) -> int:
        """Number of rows, ``n``."""
        return len(self.y)

    @property
    def target_factor(self) -> float:
        """Factor of the targets: one half turns labels of plus and minus one into y - 1/2."""
        return 0.5 if self.is_binary else 1.0

    def rows(self, n_threads: int = 1) -> TrainingData:
        """Return the training data of a chain."""
        target = self.target_factor * self.y
        settings = n_threads, self.basis, self.repeats
        return TrainingData.of(self.X, target, self.fixed, self.weight, *settings)

    def subset(self, index: Index) -> "ScaledData":
        """Return the rows ``index``."""
        weight = None if self.weight is None else self.weight[index]
        return self.weighted_subset(index, weight, None)

    def weighted_subset(
        self, index: Index, weight: Array | None, counts: Array | None
    ) -> "ScaledData":
        """Return the rows ``index`` with new weights and numbers of observations."""
        repeats = self.repeats
        if repeats is not None:
            repeats = repeats[index] if counts is None else counts
        return replace(
            self,
            X=self.X[index],
            y=self.y[index],
            fixed=self.fixed[index],
            weight=weight,
            repeats=repeats,
        )
