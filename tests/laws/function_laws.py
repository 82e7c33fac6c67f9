"""Laws of draws of functions: those of one call have the mean and covariance that they promise."""

import numpy as np
from scipy import stats

FAMILY_ALPHA = 1e-6


def assert_draws(values, mean, cov):
    """Values (n, s) of functions, of any law, have a mean (n,) and a covariance (n, n)."""
    bound = stats.norm.isf(FAMILY_ALPHA / (2 * (len(mean) + len(mean) ** 2)))
    deviation = values - mean[:, None]
    products = deviation[:, None] * deviation[None]
    for found, expected in ((values, mean), (products, cov)):
        error = found.std(axis=-1) / np.sqrt(values.shape[1])
        assert (np.abs(found.mean(axis=-1) - expected) < bound * error).all()
