"""What a chain's rows are made of: scaled inputs and the columns of a trend."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from bochner._numerics.arrays import Array

_TAILS = (0.005, 0.995)
_MOST_PAIRS = 5000
_DEPENDENT = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Inputs less their median, over a scale that gross outliers do not move.

    Parameters
    ----------
    centre : ndarray of shape (d,)
    scale : ndarray of shape (d,)
        Standard deviation of the values within their 0.5 and 99.5 per cent quantiles; one for
        inputs that are constant.
    """

    centre: Array
    scale: Array

    @classmethod
    def of(cls, X: Array) -> "Scaling":
        """Return the scaling of rows ``X`` (n, d)."""
        low, high = np.quantile(X, _TAILS, axis=0)
        spread = np.clip(X, low, high).std(axis=0)
        # Rare events: an input may vary in its tails alone.
        spread = np.where(spread > 0, spread, X.std(axis=0))
        return cls(np.median(X, axis=0), np.where(spread > 0, spread, 1.0))

    def apply(self, X: Array) -> Array:
        """Return scaled rows (n, d)."""
        scaled: Array = (X - self.centre) / self.scale
        return scaled


@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """A constant and powers of every input, orthonormal on the training rows.

    Parameters
    ----------
    degree : int
        0 for a constant, 1 for straight lines as well, 2 for squares as well; no products of
        different inputs.
    kept : ndarray of shape (q,)
        Which of the columns ``1, x_1, ..., x_d, x_1^2, ...`` do not depend on the others.
    transform : ndarray of shape (q, q)
        By which they are multiplied.
    """

    degree: int
    kept: Array
    transform: Array

    @classmethod
    def of(cls, X: Array, degree: int) -> "Trend":
        """Return the trend of scaled rows ``X`` (n, d)."""
        columns = _powers(X, degree)
        upper, order = qr(columns, mode="r", pivoting=True)[:2]
        diagonal = np.abs(np.diagonal(upper))
        rank = int(np.count_nonzero(diagonal > _DEPENDENT * diagonal[0]))
        kept = np.sort(order[:rank])
        factor = qr(columns[:, kept], mode="r")[0][:rank]
        inverse = solve_triangular(factor, np.eye(rank)) * np.sqrt(len(X))
        return cls(degree, kept.astype(np.float64), inverse)

    def columns(self, X: Array) -> Array:
        """Return the trend's columns at scaled rows, of shape (n, q)."""
        values: Array = _powers(X, self.degree)[:, self.kept.astype(np.intp)] @ self.transform
        return values


def frequency_scales(X: Array, rng: np.random.Generator) -> Array:
    """Return a typical angular frequency of each input, of shape (d,).

    The reciprocal of the median distance between distinct values, in pairs of rows.
    """
    n = len(X)
    i, j = rng.integers(n, size=(2, _MOST_PAIRS))
    scales = np.ones(X.shape[1])
    for column in range(X.shape[1]):
        distance = np.abs(X[i, column] - X[j, column])
        distance = distance[distance > 0]
        if len(distance):
            scales[column] = 1.0 / np.median(distance)
    return scales


def _powers(X: Array, degree: int) -> Array:
    parts = [np.ones((len(X), 1))]
    parts += [X**power for power in range(1, degree + 1)]
    return np.concatenate(parts, axis=1)
