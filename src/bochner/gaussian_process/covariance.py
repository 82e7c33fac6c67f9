"""Covariances from scikit-learn kernels, and exact processes by one Cholesky factor."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, lapack

from bochner._base.arrays import Array, as_array, steps, upper_triangle

_SQUARE_ROWS = 64
"""Rows of a square block whose diagonal is taken: 64 values are computed per value in use,
and a call of a kernel takes as long as some thousand values."""

_BLOCK_VALUES = 2**24
"""Largest number of kernel values of a block: 128 MiB, of which kernels need several copies."""

_PROBED_ROWS = 64
"""Rows whose entries are replaced to find how far a kernel reaches along a column."""

_FLAT = 1e-3
"""Loss of correlation along a column below which the column does not matter for neighbours."""

_WINDOW = 32
"""Number of lags whose losses are averaged, half of `_PROBED_ROWS`: losses differ among rows."""


class ObservedRows(NamedTuple):
    """Training rows (n, d), their targets (n, t), and the variance (n,) of their noise."""

    X: Array
    Y: Array
    noise: Array

    def part(self, places: NDArray[np.intp]) -> "ObservedRows":
        """Return the rows at ``places``."""
        return ObservedRows(*(values[places] for values in self))


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The covariance of a function by a scikit-learn kernel, and the kernel's white noise."""

    kernel: Any  # Kernel of scikit-learn on numeric rows

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Return covariances (n, n2) of the function."""
        return as_array(self.kernel(X, X if Y is None else Y))

    def diag(self, X: Array) -> Array:
        """Return variances (n,) of the function."""
        blocks = steps(len(X), _SQUARE_ROWS)
        return np.concatenate([np.diagonal(self(X[rows])) for rows in blocks])

    def noise(self, X: Array) -> Array:
        """Return variances (n,) of the kernel's white noise."""
        return np.maximum(as_array(self.kernel.diag(X)) - self.diag(X), 0.0)

    def __repr__(self) -> str:
        return repr(self.kernel)


def row_steps(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Return slices of ``n_rows`` rows such that a slice times ``n_columns`` fits into a block."""
    return iter(steps(n_rows, max(1, _BLOCK_VALUES // max(n_columns, 1))))


def rates(covariance: Covariance, X: Array, rng: np.random.Generator) -> Array:
    """Return for each column one over the distance that halves the correlation, of shape (d,)."""
    n = len(X)
    few = rng.permutation(n)[:_PROBED_ROWS]
    rows = X[few]
    variances = covariance.diag(rows)
    gaps = np.unique(np.geomspace(1, max(n - 1, 1), 16).astype(np.intp))
    inverse_reaches = np.empty(X.shape[1])
    for column in range(X.shape[1]):
        entries = np.sort(X[:, column])
        rank = np.searchsorted(entries, rows[:, column])
        moved = np.repeat(rows, len(gaps), axis=0)
        places = np.minimum(rank[:, None] + gaps, n - 1)
        moved[:, column] = entries[places].ravel()
        loss = _losses(covariance, rows, variances, moved, len(gaps))
        lag = np.abs(moved[:, column] - np.repeat(rows[:, column], len(gaps)))
        inverse_reaches[column] = 1.0 / _half_loss(lag, loss)
    return inverse_reaches


def _losses(
    covariance: Covariance, rows: Array, variances: Array, moved: Array, count: int
) -> Array:
    """Return one minus the correlation of each row with each of its ``count`` moved rows."""
    values = np.empty(len(moved))
    for i, row in enumerate(rows):
        of_row = slice(i * count, (i + 1) * count)
        values[of_row] = covariance(row[None], moved[of_row])[0]
    scale = np.sqrt(np.repeat(variances, count) * covariance.diag(moved))
    return as_array(1.0 - np.divide(values, scale, out=np.ones_like(values), where=scale > 0.0))


def _half_loss(lag: Array, loss: Array) -> float:
    """Return the least lag at which the smoothed loss reaches half of its maximum."""
    moved = lag > 0.0
    if not moved.any() or loss[moved].max() < _FLAT:
        return np.inf
    order = np.argsort(lag[moved])
    lag, loss = lag[moved][order], loss[moved][order]
    window = min(len(loss), _WINDOW)
    mean = np.convolve(loss, np.full(window, 1.0 / window), "valid")
    return float(lag[np.argmax(mean >= 0.5 * mean.max()) + window // 2])


MOST_EXACT = 16_500
"""Largest number of rows of an exact process: the factor takes 2.2 GB and about 20 s."""


def covariance_factor(covariance: Covariance, X: Array, noise: Array) -> Array:
    """Return the Cholesky factor (n, n) of the covariance of observations, lower triangular."""

    def values(block: slice) -> Array:
        return covariance(X[block], X[block.start :])

    matrix = upper_triangle(values, list(row_steps(len(X), len(X))), np.float64)
    matrix[np.diag_indices(len(X))] += noise
    lower, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
    if failed:
        raise LinAlgError(
            f"The kernel, {covariance!r}, is not returning a positive definite matrix. Try "
            f"gradually increasing the 'alpha' parameter of your GaussianProcessRegressor "
            f"estimator."
        )
    return as_array(lower)


def exact_solution(lower: Array, given: ObservedRows) -> tuple[Array, float]:
    """Return the posterior mean's coefficients (n, t), and log evidence summed over targets."""
    coef = cho_solve((lower, True), given.Y)
    n, n_targets = given.Y.shape
    constant = np.sum(np.log(np.diagonal(lower))) + 0.5 * n * np.log(2.0 * np.pi)
    return coef, -0.5 * float(np.sum(given.Y * coef)) - n_targets * float(constant)
