"""Numbers in units of their spread, and free of their last digits."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from bochner._base.arrays import Array, as_array

_CONSTANT = 1e-8
"""Deviation relative to the mean up to which a column is constant: the root of the rounding."""

_DECIMALS = 8
"""Decimals of numbers in units of their deviations: half of the digits of float64, which no other
rounding reaches."""


def spreads(X: Any, weights: Array, of_constant: float = 1.0) -> Array:
    """Return standard deviations (d,) of columns (n, d), dense or CSR, or that of a constant."""
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0, weights=weights)
    else:
        mean = np.average(X, axis=0, weights=weights)
        variance = np.average((X - mean) ** 2, axis=0, weights=weights)
    deviation = np.sqrt(as_array(variance))
    return np.where(deviation > _CONSTANT * np.abs(mean), deviation, of_constant)


def rounded(values: Any) -> Any:
    """Return numbers of order one, dense or CSR, to half of their digits."""
    if isinstance(values, np.ndarray):
        return rounded_to(values, np.empty(values.shape))
    values = sparse.csr_array(values)
    values.data = np.round(values.data, _DECIMALS) + 0.0
    return values


def rounded_to(values: Array, out: Array) -> Array:
    """Write :func:`rounded` numbers to an array of their shape, and return it."""
    np.round(values, _DECIMALS, out=out)
    out += 0.0  # No negative zeros
    return out
