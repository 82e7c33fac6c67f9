"""Numbers in units of their spread, and free of their last digits."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from bochner._base.arrays import Array, as_array

_CONSTANT = 1e-8
"""Deviation relative to the mean up to which a column is constant: the root of the rounding."""


def spreads(X: Any, weights: Array, of_constant: float = 1.0) -> Array:
    """Return standard deviations (d,) of columns (n, d), dense or CSR, or that of a constant."""
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0, weights=weights)
    else:
        mean = np.average(X, axis=0, weights=weights)
        variance = np.average((X - mean) ** 2, axis=0, weights=weights)
    deviation = np.sqrt(as_array(variance))
    return np.where(deviation > _CONSTANT * np.abs(mean), deviation, of_constant)
