r"""Ridge regression with an asymmetric kernel, from sums over rows.

With rows ``x_i`` of weight ``w_i`` (one by default) and an asymmetric kernel ``k``, the model is
:math:`f(x) = \sum_i w_i \beta_i k(x, x_i)`. It minimises

.. math:: \sum_i w_i (y_i - f(x_i))^2 + \alpha n \sum_i w_i \beta_i^2, \qquad n = \sum_i w_i.

With unit weights its values on the rows are :math:`K K^\top (K K^\top + \alpha n I)^{-1} y`. These
are the values of kernel ridge regression with the composed kernel

.. math:: \kappa(x, x') = \frac 1 n \sum_i w_i k(x, x_i)\, k(x', x_i),

which is symmetric and positive definite for every ``k``. It is a mean over rows and does not grow
with their number. Therefore the scale of ``alpha``, the ratio of the noise variance to the prior
variance if :math:`\kappa(x, x) = 1`, does not depend on the number of rows either.

On features, :math:`k(x, x') = z(x)^\top S\, z'(x')` with left features ``z``, right features ``z'``
and the signs ``S``. Then

.. math:: \kappa(x, x') = z(x)^\top B\, z(x'), \qquad
          B = \frac 1 n S \Big( \sum_i w_i z'(x_i) z'(x_i)^\top \Big) S = L L^\top,

so that the model is ridge regression on the features :math:`L^\top z(x)`. Their sums over rows are
linear functions of the sums of ``z``.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from bochner._base.arrays import Array, InputRows, row_blocks
from bochner.features.stats import FeatureSums
from bochner.linear.ridge_posterior import RidgePosterior, best_alpha, fit_ridge
from bochner.spectral.frequencies import Frequencies


def right_gram(frequencies: Frequencies, X: InputRows, weight: Array | None = None) -> Array:
    r"""Return :math:`\sum_i w_i z'(x_i) z'(x_i)^\top` (p, p) of the right features."""
    p = 2 * frequencies.n_frequencies
    gram = np.zeros((p, p))
    for rows in row_blocks(X.shape[0], 8 * p):
        Z = frequencies.features_right(X[rows]).astype(np.float64, copy=False)
        gram += Z.T @ Z if weight is None else (Z * weight[rows, None]).T @ Z
    return gram


def composition(gram: Array, signature: Array, weight: float) -> Array:
    r"""Return ``L`` of shape (p, p) with :math:`L L^\top = S G S / n`, ``n`` the total weight."""
    # A Cholesky factor would fail for the singular Gram matrix of few rows.
    values, vectors = eigh(gram)
    roots: Array = np.sqrt(np.maximum(values, 0.0) / weight)
    return signature[:, None] * vectors * roots


def fit_composed(
    sums: FeatureSums,
    gram: Array,
    signature: Array,
    alpha: float | None,
    *,
    fit_intercept: bool = False,
) -> RidgePosterior:
    r"""Return the posterior of a regression with an asymmetric kernel, for its left features.

    ``sums`` are the sums over rows of left features and targets. ``gram`` (p, p) is
    :func:`right_gram` of the same rows with the same weights, and ``signature`` (p,) the signs of
    the features. ``alpha=None`` maximises the evidence; an intercept has a flat prior. Coefficients
    and whitener belong to the left features ``z``, not to :math:`L^\top z`: the covariance of the
    coefficients is :math:`\sigma^2 W W^\top`.
    """
    factor = composition(gram, signature, sums.weight)
    composed = replace(
        sums,
        gram=factor.T @ sums.gram @ factor,
        cross=factor.T @ sums.cross,
        features=factor.T @ sums.features,
    )
    if alpha is None:
        alpha = best_alpha(composed, fit_intercept=fit_intercept)[0]
    posterior = fit_ridge(composed, alpha, fit_intercept=fit_intercept)
    return replace(
        posterior,
        coef=factor @ posterior.coef,
        whitener=factor @ posterior.whitener,
        centre=sums.features / sums.weight if fit_intercept else np.zeros(len(factor)),
    )
