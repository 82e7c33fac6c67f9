"""Laws of draws of functions: those of one call have the mean and covariance that they promise."""

import numpy as np
from scipy import stats

FAMILY_ALPHA = 1e-6
TINY = 1e-9  # Variances of sums below this share of their terms' are rounding


def assert_normal_draws(values, mean, cov):
    """Values (n, s) of ``s`` functions are normal with a mean (n,) and a covariance (n, n).

    Sums and differences of the standardised values at two rows have sums of squares that follow a
    chi-square law of ``s`` degrees of freedom, whatever ``s`` is.
    """
    n_rows, count = values.shape
    std = np.sqrt(np.diagonal(cov))
    first, second = np.triu_indices(n_rows)
    level = FAMILY_ALPHA / (2 * n_rows + 4 * len(first))
    z = (values.mean(axis=1) - mean) / std * np.sqrt(count)
    assert np.abs(z).max() < stats.norm.isf(level), "mean"
    units = (values - mean[:, None]) / std[:, None]
    products, correlation = units @ units.T, cov / np.outer(std, std)
    for sign in (1.0, -1.0):
        found = 2.0 * sign * products + np.add.outer(np.diagonal(products), np.diagonal(products))
        expected = (2.0 + 2.0 * sign * correlation)[first, second]
        used = expected > TINY
        squares = found[first, second][used] / expected[used]
        least, greatest = stats.chi2.ppf([level, 1.0 - level], count)
        assert squares.min() > least, "covariance"
        assert squares.max() < greatest, "covariance"


def assert_draws(values, mean, cov):
    """Values (n, s) of functions, of any law, have a mean (n,) and a covariance (n, n)."""
    bound = stats.norm.isf(FAMILY_ALPHA / (2 * (len(mean) + len(mean) ** 2)))
    deviation = values - mean[:, None]
    products = deviation[:, None] * deviation[None]
    for found, expected in ((values, mean), (products, cov)):
        error = found.std(axis=-1) / np.sqrt(values.shape[1])
        assert (np.abs(found.mean(axis=-1) - expected) < bound * error).all()
