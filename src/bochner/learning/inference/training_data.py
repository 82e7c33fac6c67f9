"""The data of a regression on trigonometric features, in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics import limits
from bochner._numerics.arrays import Array
from bochner._numerics.threads import in_order
from bochner.learning.inference.basis import PLAIN, Basis
from bochner.learning.inference.summed import Columns, SummedRows

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData(SummedRows):
    r"""Rows to regress on the features of :math:`m` waves and on :math:`q` fixed columns.

    Data lie with one row per variable, so that a feature of all samples is contiguous. The
    features of wave ``j`` are, with a constant amplitude,

    .. math:: \phi_{2j} = m^{-1/2} \cos(\omega_j \cdot x), \quad
              \phi_{2j+1} = m^{-1/2} \sin(\omega_j \cdot x),

    and the fixed columns follow them.
    """

    # (d, n) float32: Its type is that of the features; sums over rows are in float64
    inputs: NDArray[Any]
    target: Array  # (n,): The pseudo-targets w y, where rows have weights
    fixed: Array  # (q, n): Columns of a trend
    weight: Array | None  # (n,) or None: Weights w of the rows; None means one
    square: float  # sum of w y^2
    # That share the blocks of rows; linear algebra itself should have one thread then. Results do
    # not depend on it
    n_threads: int = 1
    basis: Basis = PLAIN

    @classmethod
    def of(
        cls,
        X: NDArray[Any],
        y: Array,
        fixed: Array | None = None,
        weight: Array | None = None,
        n_threads: int = 1,
        basis: Basis = PLAIN,
    ) -> "TrainingData":
        """Return the rows of ``X`` (n, d) with targets ``y`` and fixed columns (n, q)."""
        columns = np.empty((0, len(y))) if fixed is None else np.ascontiguousarray(fixed.T)
        weighted = y if weight is None else weight * y
        square = float(weighted @ y)
        return cls(np.ascontiguousarray(X.T), weighted, columns, weight, square, n_threads, basis)

    @property
    def n_samples(self) -> int:
        return len(self.target)

    @property
    def total_weight(self) -> float:
        return float(self.n_samples if self.weight is None else np.sum(self.weight))

    @property
    def n_fixed(self) -> int:
        return len(self.fixed)

    @property
    def dim(self) -> int:
        """Number of inputs, ``d``."""
        return len(self.inputs)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.inputs.dtype

    @property
    def total_square(self) -> float:
        return self.square

    def total(
        self,
        function: Callable[..., Sequence[Any]],
        *args: Any,
        along: Sequence[Columns | None] = (),
        n_features: int,
    ) -> list[Array]:
        sums: list[Array] = []
        for _, terms in self.mapped(self._applied(function, args, along), n_features):
            if not sums:
                sums = [np.array(term, dtype=np.float64) for term in terms]
                continue
            for whole, term in zip(sums, terms, strict=True):
                np.add(whole, term, out=whole)
        return sums

    def each(
        self,
        function: Callable[..., Array],
        *args: Any,
        along: Sequence[Columns | None] = (),
        n_features: int = 1,
    ) -> Array:
        parts = self.mapped(self._applied(function, args, along), n_features)
        return np.concatenate([values for _, values in parts], axis=-1)

    def drawn(
        self, rng: Generator, function: Callable[..., Array], *, along: Sequence[Columns] = ()
    ) -> Array:
        # All at once: variates come one after another.
        return function(self, *along, rng)

    def reweighted(
        self, function: Callable[..., tuple[Array, Array]], *, along: Sequence[Columns] = ()
    ) -> "TrainingData":
        weight, target = function(self, *along)
        return replace(self, target=target, weight=weight, square=float(np.sum(target**2 / weight)))

    def room(self, n_features: int) -> NDArray[Any]:
        return np.empty((n_features, self.n_samples), dtype=self.dtype)

    def features(self, omega: Array) -> NDArray[Any]:
        """Return features and fixed columns of all rows, of shape (p, n)."""
        waves = self.basis.waves(omega)
        m = len(waves)
        out = self.room(2 * m + self.n_fixed)
        waves.features(self.inputs, 1.0 / np.sqrt(m), out[: 2 * m])
        out[2 * m :] = self.fixed
        return out

    def part(self, chosen: slice) -> "TrainingData":
        """Return a slice of the rows; its ``square`` is the part's own."""
        target = self.target[chosen]
        weight = None if self.weight is None else self.weight[chosen]
        square = float(target @ target)
        if weight is not None:
            present = weight > 0
            square = float(np.sum(target[present] ** 2 / weight[present]))
        return replace(
            self,
            inputs=self.inputs[:, chosen],
            target=target,
            fixed=self.fixed[:, chosen],
            weight=weight,
            square=square,
        )

    def blocks(self, n_features: int) -> Iterator[slice]:
        """Yield slices of the rows such that a block of ``n_features`` takes some 8 MiB."""
        step = max(256, limits.BLOCK_BYTES // (8 * max(1, n_features)))
        # Of no rows there is one block, so that sums over them are zeros of the right shape.
        for start in range(0, max(self.n_samples, 1), step):
            yield slice(start, min(start + step, self.n_samples))

    def mapped(
        self, function: Callable[[slice], Part], n_features: int
    ) -> Iterator[tuple[slice, Part]]:
        """Yield the blocks with what ``function`` makes of each, in order.

        See :func:`~bochner._numerics.threads.in_order`.
        """
        return in_order(function, list(self.blocks(n_features)), self.n_threads)

    def _applied(
        self, function: Callable[..., Part], args: Sequence[Any], along: Sequence[Columns | None]
    ) -> Callable[[slice], Part]:
        def block(chosen: slice) -> Part:
            cut = [None if column is None else column[..., chosen] for column in along]
            return function(self.part(chosen), *cut, *args)

        return block


@dataclass(frozen=True, slots=True, eq=False)
class ScaledData:
    """Scaled inputs, targets and fixed columns of the rows to learn from."""

    X: Any  # (n, d): float32 or float64, the type of the features
    y: Array  # (n,): Targets of unit variance; plus and minus one for a classification
    fixed: Array  # (n, q)
    weight: Array | None  # (n,) or None
    is_binary: bool  # Whether the likelihood is logistic
    # The rows that chains end with, where these are a sample of them; None means these
    elsewhere: SummedRows | None = None
    basis: Basis = PLAIN  # Basis of the features

    @property
    def n_samples(self) -> int:
        """Number of rows that chains end with."""
        return len(self.y) if self.elsewhere is None else self.elsewhere.n_samples

    @property
    def target_factor(self) -> float:
        """Factor of the targets: one half of plus and minus one makes y - 1/2."""
        return 0.5 if self.is_binary else 1.0

    def rows(self, n_threads: int = 1) -> TrainingData:
        """Return the rows in memory as training data of a chain."""
        target = self.target_factor * self.y
        return TrainingData.of(self.X, target, self.fixed, self.weight, n_threads, self.basis)

    def subset(self, index: Any) -> "ScaledData":
        """Return some of the rows in memory."""
        weight = None if self.weight is None else self.weight[index]
        X, y, fixed = self.X[index], self.y[index], self.fixed[index]
        return replace(self, X=X, y=y, fixed=fixed, weight=weight, elsewhere=None)
