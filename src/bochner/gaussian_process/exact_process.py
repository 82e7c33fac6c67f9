"""Exact Gaussian processes whose covariance is computed, and factored, in its own memory."""

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, lapack

from bochner._base.arrays import Array, as_array
from bochner._base.linalg import upper_triangle
from bochner.gaussian_process.covariance import Covariance, row_steps
from bochner.gaussian_process.residual_process import ObservedRows

MOST_EXACT = 16_500
"""Rows up to which a process is exact, as for tables: the factor takes 2.2 GB and some 20 s."""

_OF_EXACT = 9.0
"""Bytes of an exact process per square of its rows: the covariance, which its factor replaces."""


def exact_rows(memory_limit: int | None) -> int:
    """Return the number of rows up to which a process is exact, with a limit in bytes."""
    if memory_limit is None:
        return MOST_EXACT
    return min(MOST_EXACT, int(np.sqrt(memory_limit / _OF_EXACT)))


def covariance_factor(covariance: Covariance, X: Array, noise: Array) -> Array:
    """Return the Cholesky factor (n, n) of the covariance of observations, zeros above.

    Raises ``LinAlgError`` if it is not positive definite.
    """

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
    """Return the coefficients (n, t) of the mean, and the log evidence summed over targets."""
    coef = cho_solve((lower, True), given.Y)
    n, n_targets = given.Y.shape
    constant = np.sum(np.log(np.diagonal(lower))) + 0.5 * n * np.log(2.0 * np.pi)
    return coef, -0.5 * float(np.sum(given.Y * coef)) - n_targets * float(constant)
