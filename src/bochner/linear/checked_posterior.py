r"""Posteriors that contain the error of random features, estimated by check features.

Predictions on features ``Z`` (n, p) of the rows are linear in the targets,
:math:`m(x) = z(x)^\top A^{-1} Z^\top y` with :math:`A = Z^\top Z + \alpha I`. Under the exact
process, of covariance :math:`s^2 k`, and noise of variance :math:`\sigma^2`, their error
:math:`f(x) - m(x)` has the covariance of

.. math:: f(x) - z(x)^\top A^{-1} Z^\top f(X) - z(x)^\top A^{-1} Z^\top \varepsilon.

A second draw of features :math:`\tilde z`, independent of ``Z``, has the mean kernel :math:`k`, and
:math:`f = s\, \tilde z \cdot \omega` with normal weights :math:`\omega` estimates this covariance
without bias, for any kernel, rows and distance from the rows:

.. math:: \tilde z(x) - S^\top z(x), \quad S = A^{-1} Z^\top \tilde Z, \qquad
          \text{and} \quad A^{-1} Z^\top Z A^{-1}.

With :math:`\tilde z = z` it is :math:`\sigma^2 z^\top A^{-1} z`, the posterior variance of a
process whose kernel is that of the features, which does not contain what the features miss.

The variances follow from quadratic forms of the targets. With :math:`G = I - Z A^{-1} Z^\top`,
:math:`y^\top G y` and :math:`y^\top G^2 y` have the means :math:`\sigma^2 \operatorname{tr} G +
s^2 \operatorname{tr} G K` and :math:`\sigma^2 \operatorname{tr} G^2 + s^2 \operatorname{tr} G K G`.
With :math:`K = Z Z^\top` these are the equations of maximum likelihood. Where they do not
separate noise and function, because the kernel is nearly diagonal at the rows, the share of the
function is between zero and one with equal probability.
"""

from dataclasses import replace

import numpy as np
from scipy.stats import truncnorm

from bochner._base import limits
from bochner._base.arrays import Array, as_array
from bochner._base.linalg import pivoted_cholesky
from bochner.features.residual import CheckedMap
from bochner.features.stats import FeatureSums
from bochner.linear.ridge_posterior import (
    FunctionLaw,
    RidgePosterior,
    centred_sums,
    fit_ridge,
    origin,
)

_UNKNOWN = 1e3
"""Standard deviation of a share from which on it counts as unknown, between zero and one."""
_FAR = 8.0
"""Standard deviations beyond zero or one to which estimates of shares are clipped: the mean is then
within a seventh of a standard deviation of the end, and exact in floating point."""


def fit_checked(
    sums: FeatureSums,
    features: CheckedMap,
    alpha: float,
    *,
    fit_intercept: bool = False,
    is_ratio: bool = True,
) -> RidgePosterior:
    """Return the posterior given sums of features with check features.

    ``is_ratio`` tells whether ``alpha`` is the ratio of the noise variance to the prior variance.
    Otherwise both variances are estimated, because ``alpha`` counts errors of features as noise.
    """
    main, check = features.main_columns, features.check_columns
    centred, degrees = centred_sums(sums, fit_intercept)
    ridge = fit_ridge(sums.at(main), alpha, fit_intercept=fit_intercept)
    whitener = ridge.whitener
    cross = centred.gram[np.ix_(main, check)]
    projection = whitener @ (whitener.T @ cross)
    noise, prior = _variances(ridge, centred, cross, projection, features, degrees, is_ratio)
    n_features = len(sums.gram)
    # A pivoted factor has no rounding errors below zero, such as removed rows leave in sums.
    half, _ = pivoted_cholesky(centred.gram[np.ix_(main, main)])
    noise_root = np.zeros((n_features, half.shape[1]))
    noise_root[main] = whitener @ (whitener.T @ half)
    prior_root = np.zeros((n_features, len(check)))
    prior_root[main] = -projection
    prior_root[check] += np.eye(len(check))
    coef = np.zeros((n_features, ridge.coef.shape[1]))
    coef[main] = ridge.coef
    centre, _ = origin(sums, centred)
    variances = noise, prior, ridge.intercept_variance
    law = FunctionLaw(coef, ridge.intercept, centre, noise_root, prior_root, *variances)
    return replace(ridge, noise_variance=noise, checked=law)


def _variances(
    ridge: RidgePosterior,
    centred: FeatureSums,
    cross: Array,
    projection: Array,
    features: CheckedMap,
    degrees: float,
    is_ratio: bool,
) -> tuple[Array, Array]:
    """Return the variances (t,) of the noise and of the prior."""
    alpha, check, p = ridge.alpha, features.check_columns, len(ridge.coef)
    square = float(np.trace(centred.gram[np.ix_(check, check)]))
    explained = float(np.sum(cross * projection))
    rounding = limits.NEGLIGIBLE * square + np.finfo(np.float64).tiny
    # Traces of G and G K, and of their products with G.
    of_noise = max(degrees - p + alpha * float(np.sum(ridge.whitener**2)), rounding)
    of_prior = max(square - explained, rounding)
    form = ridge.noise_variance * degrees
    if is_ratio:
        prior = form / (alpha * of_noise + of_prior)
        return alpha * prior, prior
    root = alpha * (ridge.whitener.T @ ridge.whitener)
    of_noise_squared = degrees - p + float(np.sum(root**2))
    of_prior_squared = of_prior - alpha * float(np.sum(projection**2))
    residual = form - alpha * np.sum(ridge.coef**2, axis=0)
    # The share of the prior in the first form, and its standard deviation: with the variance
    # form / degrees of residuals the covariances of the forms are traces of powers of G.
    determinant = of_noise * of_prior_squared - of_prior * of_noise_squared
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = of_prior * (of_noise * residual / form - of_noise_squared) / determinant
        spread = 2.0 * of_noise_squared * (of_noise_squared * degrees - of_noise**2)
        deviation = of_prior * np.sqrt(max(spread, 0.0)) / (degrees * abs(determinant))
    share = _mean_share(share, deviation)
    return as_array((1.0 - share) * form / of_noise), as_array(share * form / of_prior)


def _mean_share(estimate: Array, deviation: float) -> Array:
    """Return the means of shares given normal estimates (t,), with a flat prior on [0, 1]."""
    if not deviation < _UNKNOWN:
        return np.full_like(estimate, 0.5)
    deviation = max(deviation, limits.NEGLIGIBLE)
    estimate = np.clip(estimate, -_FAR * deviation, 1.0 + _FAR * deviation)
    low, high = -estimate / deviation, (1.0 - estimate) / deviation
    return as_array(truncnorm.mean(low, high, loc=estimate, scale=deviation))
