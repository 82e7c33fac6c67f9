"""Training rows of chains: distinct rows, their scaling and trend, and sums over blocks of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from scipy.linalg import qr, solve_triangular

from bochner._base.arrays import Array, Floats, Index, as_array, row_blocks
from bochner._base.registry import register
from bochner._base.threads import in_order
from bochner.features.chunks import Units
from bochner.learned.basis import PLAIN, Basis

# Share of the values at each end that do not influence the scale of an input.
_TAILS = 0.005
# Number of row pairs for a median distance, whose rank is exact to one or two per cent.
_MOST_PAIRS = 5000
# Pivot below which a unit-length column is linearly dependent, near the root of epsilon.
_DEPENDENT = 1e-7
# Mean number of repetitions of a row up to which repeated rows are stored, without weights.
_FEW_REPEATED = 1.25


@register(shapes={"centre": "d", "scale": "d"})
@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Map from inputs to inputs minus medians, divided by scales robust to gross outliers."""

    centre: Array  # (d,)
    # (d,): Standard deviation of values clipped to their 0.5 and 99.5 per cent quantiles, or one
    scale: Array

    @classmethod
    def of(cls, X: Array) -> "Scaling":
        """Return the scaling fitted to rows ``X`` (n, d)."""
        centre = np.median(X, axis=0)
        deviation = X - centre
        # Divided by the largest size, so that squares neither overflow nor underflow.
        size = np.abs(deviation).max(axis=0)
        size = np.where(size > 0, size, 1.0)
        deviation /= size
        # Order statistics, because an interpolated quantile would depend on an outlier in part.
        low = np.quantile(deviation, _TAILS, axis=0, method="higher")
        high = np.quantile(deviation, 1.0 - _TAILS, axis=0, method="lower")
        spread = np.clip(deviation, low, high).std(axis=0)
        # Indicators of rare events vary in the tails only: they keep their standard deviation.
        spread = size * np.where(spread > 0, spread, deviation.std(axis=0))
        return cls(centre, np.where(spread > 0, spread, 1.0))

    def apply(self, X: Array) -> Array:
        """Return rows ``X`` (n, d) scaled."""
        return (X - self.centre) / self.scale


@register(shapes={"kept": "q", "transform": "qq"})
@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """Columns of a trend: a constant and powers of inputs, orthonormal on the training rows."""

    degree: int  # 0 for a constant, 1 for straight lines as well, 2 for squares as well
    kept: Array  # (q,): Indices of linearly independent columns of 1, x_1, ..., x_d, x_1^2, ...
    transform: Array  # (q, q): Maps these columns to orthonormal columns

    @classmethod
    def of(cls, X: Array, degree: int) -> "Trend":
        """Return the trend of scaled rows ``X`` (n, d); there must be more rows than columns."""
        columns = _powers(X, degree)
        independent = _independent(columns)
        if degree and len(independent) >= len(X):
            raise ValueError(
                f"trend={degree} has {len(independent)} columns, which leave nothing to learn from "
                f"{len(X)} different rows; use a smaller trend, or more rows than columns."
            )
        factor = as_array(qr(columns[:, independent], mode="r")[0])[: len(independent)]
        inverse: Array = solve_triangular(factor, np.eye(len(independent))) * np.sqrt(len(X))
        return cls(degree, independent.astype(np.float64), inverse)

    def columns(self, X: Array) -> Array:
        """Return the trend's columns at scaled rows, of shape (n, q)."""
        return _powers(X, self.degree)[:, self.kept.astype(np.intp)] @ self.transform

    def polynomial(self, coef: Array, dim: int) -> Array:
        """Return coefficients (s, degree, d) of ``x_i, x_i^2, ...``, given those of columns."""
        powers = np.zeros((len(coef), 1 + self.degree * dim))
        powers[:, self.kept.astype(np.intp)] = coef @ self.transform.T
        return powers[:, 1:].reshape(len(coef), self.degree, dim)


def frequency_scales(X: Array, rng: Generator) -> Array:
    """Return typical angular frequencies (d,): inverse median distances of distinct values."""
    n = len(X)
    i, j = rng.integers(n, size=(2, _MOST_PAIRS))
    scales = np.ones(X.shape[1])
    for column in range(X.shape[1]):
        distance = np.abs(X[i, column] - X[j, column])
        distance = distance[distance > 0]
        if len(distance):
            scales[column] = 1.0 / np.median(distance)
    return scales


def distinct_rows(X: Array, y: Array, units: Units) -> tuple[Array, Array, Units]:
    """Return the sorted distinct pairs of row and target, and the observations they stand for.

    The result, and so a fit, does not depend on the order of rows, nor on whether repetitions are
    rows or counts. Rows with different weights are not equal. If there are few repetitions they
    remain rows, because sums are faster without weights.
    """
    weights, counts = units.weights, units.counts
    order = np.lexsort((weights, y, *X.T[::-1]))
    X, y, weights = X[order], y[order], weights[order]
    is_new = np.ones(len(y), dtype=np.bool_)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1]) | (weights[1:] != weights[:-1])
    # The first of each run of equal rows.
    first = np.flatnonzero(is_new)
    total: Array = np.add.reduceat(counts[order], first)
    X, y, weights = X[first], y[first], weights[first]
    if total.sum() <= _FEW_REPEATED * len(total):
        times = total.astype(np.intp)
        X, y, weights = (np.repeat(each, times, axis=0) for each in (X, y, weights))
        return X, y, Units(weights, np.ones(len(y)))
    return X, y, Units(weights, total)


def _independent(columns: Array) -> Index:
    """Return the indices of linearly independent columns, of which the constant is the first."""
    norms = np.linalg.norm(columns, axis=0)
    # Columns are scaled to length one: the square of an outlier would make all others negligible.
    rest = (columns / np.where(norms > 0, norms, 1.0))[:, 1:]
    if not rest.shape[1]:
        return np.zeros(1, dtype=np.intp)
    upper, order = qr(rest - rest.mean(axis=0), mode="r", pivoting=True)[:2]
    rank = int(np.count_nonzero(np.abs(np.diagonal(upper)) > _DEPENDENT))
    return np.concatenate(([0], 1 + np.sort(order[:rank]))).astype(np.intp)


def _powers(X: Array, degree: int) -> Array:
    powers = [X**power for power in range(1, degree + 1)]
    return np.concatenate([np.ones((len(X), 1)), *powers], axis=1)


Terms = TypeVar("Terms")

Along = Sequence[Array | Floats | None]
"""Arrays whose last axis is rows; a function of a block of rows gets the slices of the block."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    r"""Training rows of a regression on :math:`m` waves and :math:`q` fixed columns.

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
        """Return the training data of rows ``X`` (n, d), targets (n,) and fixed columns (n, q)."""
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
        """Numbers of observations (n,) of the rows; ``None`` if all are one."""
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
        """Return the same rows with weights ``w`` and pseudo-targets ``w y``, both (n,)."""
        return replace(self, target=target, weight=weight)

    def room(self, n_features: int) -> Floats:
        return np.empty((n_features, self.n_samples), dtype=self.dtype)

    def features(self, omega: Array, stored: Floats | None = None) -> Floats:
        """Return features and fixed columns (p, n) of all rows, ``stored`` or newly computed."""
        if stored is not None:
            return stored
        waves = self.basis.waves(omega)
        m = len(waves)
        out = self.room(2 * m + self.n_fixed)
        waves.features(self.inputs, 1.0 / np.sqrt(m), out[: 2 * m])
        out[2 * m :] = self.fixed
        return out

    def part(self, chosen: slice) -> "TrainingData":
        """Return the training data of the slice ``chosen`` of rows."""
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
        """Yield slices of rows such that a slice's ``n_features`` features take about 8 MiB."""
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
    """The scaled training rows of one problem: inputs, targets and fixed columns."""

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

    def rows(self, n_threads: int = 1) -> TrainingData:
        """Return the training data of a chain."""
        # Labels of plus and minus one become y - 1/2.
        target = 0.5 * self.y if self.is_binary else self.y
        settings = n_threads, self.basis, self.repeats
        return TrainingData.of(self.X, target, self.fixed, self.weight, *settings)

    def subset(self, index: Index) -> "ScaledData":
        """Return the data of the rows ``index``."""
        weight = None if self.weight is None else self.weight[index]
        return self.weighted_subset(index, weight, None)

    def weighted_subset(
        self, index: Index, weight: Array | None, counts: Array | None
    ) -> "ScaledData":
        """Return the data of the rows ``index`` with new weights and numbers of observations."""
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
