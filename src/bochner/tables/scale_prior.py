"""Expected length scales of a kernel, from a ridge regression of the same rows."""

from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner.tables.observations import Rows

_RIDGE = 0.1
"""Penalty of the regression per row, times the root of the number of rows, for columns of variance
one: with three times as much, expected scales are slightly worse."""

_LEAST_ERROR = 0.02
"""Lower bound of the relative squared error of the regression: a tenth or a quarter of it, or five
times as much, explains less of the length scales."""

_LEAST_SHARE = 0.3
"""Number over the root of the number of length scales that is added to shares: a column without a
linear effect may have another effect, and of two columns shares tell less than of twenty."""


@dataclass(frozen=True, slots=True)
class ScalePrior:
    """Coefficients of the expected logarithms of length scales of standardised columns.

    Almost linear targets have long length scales, and columns with a large share in the regression
    have shorter length scales than other columns. ``tools/scale_priors.py`` learns the coefficients
    from public tables.
    """

    constant: float
    by_error: float  # Per logarithm of the regression's error
    by_share: float  # Per logarithm of the column's share in the regression

    def log_scales(self, rows: Rows) -> Array:
        """Return the expected logarithms (d,) of length scales."""
        log_error, log_shares = ridge_summary(rows)
        return self.constant + self.by_error * log_error + self.by_share * log_shares


ROUGH_SCALES = ScalePrior(0.95, -0.94, -1.29)
"""Learned for Laplacian kernels."""

SMOOTH_SCALES = ScalePrior(0.46, -0.79, -0.87)
"""Learned for Matérn-5/2 kernels."""

TURNED_SCALES = ScalePrior(1.45, -1.13, -1.01)
"""Learned for exponential kernels."""


def ridge_summary(rows: Rows) -> tuple[float, Array]:
    """Return logarithms of the leave-one-out error of a ridge regression and of shares (d,).

    The squared error is relative to the variance of the targets. The share of a column is that of
    the variances of all effects; columns that share a length scale have one effect.
    """
    weights, owners = rows.weights / rows.weights.sum(), rows.length_scales()
    (n_rows, dim), root = rows.X.shape, np.sqrt(weights)[:, None]
    deviations, targets = rows.X - weights @ rows.X, root * (rows.Y - weights @ rows.Y)
    sizes = np.bincount(owners, weights @ deviations**2)
    Z = root * deviations / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))[owners]
    ridge = _RIDGE / np.sqrt(rows.n_observations)
    # Both forms of this matrix (d, n) are equal; the smaller system of equations is cheaper.
    if dim <= n_rows:
        solver = np.linalg.solve(Z.T @ Z + ridge * np.eye(dim), Z.T)
    else:
        solver = np.linalg.solve(Z @ Z.T + ridge * np.eye(n_rows), Z).T
    coef = solver @ targets
    # The regression has a mean, too.
    remainder = 1.0 - np.einsum("ij,ji->i", Z, solver) - weights
    residuals = (targets - Z @ coef) / np.maximum(remainder, ridge)[:, None]
    total = float(np.sum(targets**2))
    if not total > 0.0:
        return 0.0, np.zeros(dim)
    error = float(np.clip(np.sum(residuals**2) / total, _LEAST_ERROR, 1.0))
    variances = np.bincount(owners, np.sum(Z**2, axis=0) * np.sum(coef**2, axis=1))
    for scale in np.flatnonzero(np.bincount(owners) > 1):
        columns = owners == scale
        variances[scale] = np.sum((Z[:, columns] @ coef[columns]) ** 2)
    shares = variances / max(float(variances.sum()), np.finfo(np.float64).tiny)
    return float(np.log(error)), as_array(
        np.log(shares + _LEAST_SHARE / np.sqrt(len(shares)))[owners]
    )
