"""Prepares the rows of a chain: distinct rows, scaled inputs and columns of a trend."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.linalg import qr, solve_triangular

from bochner._base.arrays import Array, Index, as_array
from bochner._base.registry import register
from bochner.features.weight_meaning import Units

# Share of the values at each end that do not influence the scale of an input.
_TAILS = 0.005
# Number of pairs of rows with a median distance, whose error is one or two per cent in rank.
_MOST_PAIRS = 5000
# Pivot below which a column of unit length is linearly dependent, near the root of rounding.
_DEPENDENT = 1e-7
# Mean number of repetitions of a row up to which repeated rows are stored, without weights.
_FEW_REPEATED = 1.25


@register(shapes={"centre": "d", "scale": "d"})
@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Inputs minus their median, divided by a scale that is robust to gross outliers."""

    centre: Array  # (d,)
    # (d,): Standard deviation of values clipped to their 0.5 and 99.5 per cent quantiles, or one
    scale: Array

    @classmethod
    def of(cls, X: Array) -> "Scaling":
        """Return the scaling of rows ``X`` (n, d)."""
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
        """Return scaled rows (n, d)."""
        return (X - self.centre) / self.scale


@register(shapes={"kept": "q", "transform": "qq"})
@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """A constant and powers of every input, orthonormal on the training rows."""

    degree: int  # 0 for a constant, 1 for straight lines as well, 2 for squares as well
    kept: Array  # (q,): Indices of linearly independent columns of 1, x_1, ..., x_d, x_1^2, ...
    transform: Array  # (q, q): Maps these columns to orthonormal ones

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
        """Return coefficients of ``x_i, x_i^2, ...`` (s, degree, d) from the columns' (s, q)."""
        powers = np.zeros((len(coef), 1 + self.degree * dim))
        powers[:, self.kept.astype(np.intp)] = coef @ self.transform.T
        return powers[:, 1:].reshape(len(coef), self.degree, dim)


def frequency_scales(X: Array, rng: Generator) -> Array:
    """Return reciprocals of median distances of each input's distinct values, of shape (d,)."""
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
    """Return sorted rows and targets without repetitions, with the units of their observations.

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
    """Return indices of linearly independent columns, including the first, constant column."""
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
