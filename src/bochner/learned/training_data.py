"""Training rows in memory or elsewhere; chains access them only by sums over parts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Floats, Index, row_blocks
from bochner._base.threads import in_order
from bochner.learned.basis import PLAIN, Basis

Terms = TypeVar("Terms")

Columns = Any
"""Values of rows, one or several each. For rows in memory it is an array whose last axis is the
rows; for rows elsewhere it is a handle of such arrays."""

Along = Sequence[Columns | None]


class SummedRows(ABC):
    """Rows of a regression on features, of which a chain uses only sums.

    The terms of a sum are new arrays, returned by ``function(part, *along, *args)`` for a part of
    the rows, a ``TrainingData``, and the part's share of the columns ``along``. Functions must be
    defined in modules, so that they can be pickled and sent to workers.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def basis(self) -> Basis:
        """Map from the unknowns of a chain to its features."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of rows, ``n``."""

    @property
    @abstractmethod
    def n_fixed(self) -> int:
        """Number of fixed columns, ``q``."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Type of the inputs and of the features."""

    @property
    @abstractmethod
    def n_observations(self) -> float:
        """Number of observations: the sum of the ``repeats``, or else of the weights."""

    @property
    @abstractmethod
    def total_square(self) -> float:
        r""":math:`\sum w y^2`."""

    @abstractmethod
    def total(
        self,
        function: Callable[..., Sequence[object]],
        *args: object,
        along: Along = (),
        n_features: int,
    ) -> list[Array]:
        """Return the sums over parts of the arrays that ``function`` returns, in float64.

        The function needs ``n_features`` numbers per row, which determines the size of a part.
        """

    @abstractmethod
    def each(
        self, function: Callable[..., Array], *args: object, along: Along = (), n_features: int = 1
    ) -> Columns:
        """Return the columns that ``function(part, *along, *args)`` returns for each part."""

    @abstractmethod
    def drawn(
        self, rng: Generator, function: Callable[..., Array], *, along: Sequence[Columns] = ()
    ) -> Columns:
        """Return a random column: ``function(part, *along, rng)``."""

    @abstractmethod
    def reweighted(
        self, function: Callable[..., tuple[Array, Array]], *, along: Sequence[Columns] = ()
    ) -> "SummedRows":
        """Return the rows with weights ``w`` and pseudo-targets ``w y`` that a function returns."""

    @abstractmethod
    def room(self, n_features: int) -> Floats | None:
        """Return an empty array (n_features, n) for features; ``None`` if none can be kept."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData(SummedRows):
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
    # (2, n): Targets of a likelihood with latent variables, and offsets of the function
    observed: Array | None = None
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
        observed: Array | None = None,
        repeats: Array | None = None,
    ) -> "TrainingData":
        """Return the rows of ``X`` (n, d) with targets ``y`` and fixed columns (n, q)."""
        columns = np.empty((0, len(y))) if fixed is None else np.ascontiguousarray(fixed.T)
        target = y if weight is None else weight * y
        inputs = np.ascontiguousarray(X.T)
        return cls(inputs, target, columns, weight, n_threads, basis, observed, repeats)

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
    def precisions(self) -> Array | None:
        """Weight of each observation of the rows (n,); ``None`` for ones."""
        if self.weight is None or self.repeats is None:
            return None
        return self.weight / self.repeats

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

    def drawn(
        self, rng: Generator, function: Callable[..., Array], *, along: Sequence[Columns] = ()
    ) -> Array:
        # Not in parallel blocks: the result must not depend on the order in which blocks draw.
        return function(self, *along, rng)

    def reweighted(
        self, function: Callable[..., tuple[Array, Array]], *, along: Sequence[Columns] = ()
    ) -> "TrainingData":
        weight, target = function(self, *along)
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
            observed=None if self.observed is None else self.observed[:, chosen],
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
    elsewhere: SummedRows | None = None  # All rows outside memory, of which X is a sample
    basis: Basis = PLAIN
    observed: Array | None = None  # (2, n): see TrainingData; chains start from ``y``
    repeats: Array | None = None  # (n,): see TrainingData

    @property
    def n_samples(self) -> int:
        """Number of rows of the final stage of chains."""
        return len(self.y) if self.elsewhere is None else self.elsewhere.n_samples

    @property
    def target_factor(self) -> float:
        """Factor of the targets: one half turns labels of plus and minus one into y - 1/2."""
        return 0.5 if self.is_binary else 1.0

    def rows(self, n_threads: int = 1) -> TrainingData:
        """Return the rows in memory as training data of a chain."""
        target = self.target_factor * self.y
        settings = n_threads, self.basis, self.observed, self.repeats
        return TrainingData.of(self.X, target, self.fixed, self.weight, *settings)

    def subset(self, index: Index) -> "ScaledData":
        """Return the rows ``index`` of those in memory."""
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
            elsewhere=None,
            observed=None if self.observed is None else self.observed[:, index],
        )
