"""Leave-one-out predictions of linear models on features, in closed form."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import lu_factor, lu_solve, solve_triangular

from bochner._base import limits
from bochner._base.arrays import Array, as_array, row_blocks
from bochner._base.linalg import jittered_cholesky
from bochner.features.chunks import Chunk, RowSample
from bochner.features.residual import FeatureMap
from bochner.features.stats import FeatureSums
from bochner.features.targets import Targets
from bochner.linear.iterative import IterativeSolution
from bochner.linear.krein import KreinSolution
from bochner.linear.ridge_posterior import RidgePosterior, centred_sums, origin

_FARTHEST = 3.0
"""Largest size of a leave-one-out prediction, three times that of an indicator. A fit without a row
may be close to a pole of a Krein space, where predictions are unbounded and a single row would
dominate the score."""

Leverage = Callable[[Array], Array]
"""Takes features (n, p) of rows; returns the derivatives (n,) of predictions at rows of unit weight
by their targets."""


def left_out_indicators(
    sample: RowSample,
    features: FeatureMap,
    targets: Targets,
    solution: RidgePosterior | KreinSolution | IterativeSolution,
    sums: FeatureSums | None,
    signature: Array,
    *,
    fit_intercept: bool,
) -> Array:
    r"""Return leave-one-out predictions (s, t) at sampled rows.

    The leave-one-out residual is :math:`r_i / (1 - h_i)`, where :math:`r_i` is the residual of a
    row and :math:`h_i` its diagonal entry of the hat matrix. One observation of a row is left out,
    see ``Units``: one of ``w`` equal rows if weights are counts, else
    the row. The solution and ``sums`` belong to the fit to all rows. Conjugate gradients do not
    form sums. Without sums the hat matrix is computed from the sample, with all signs positive; it
    is exact for positive kernels if the sample contains all rows.
    """
    rows = sample.rows
    if isinstance(solution, RidgePosterior):
        # The posterior has the inverse root already; other solutions factorise the sums here.
        leverage = _of_posterior(solution)
    elif sums is not None:
        leverage = _of_sums(sums, signature, solution.alpha, fit_intercept)
    else:
        leverage = _of_sample(sample, features, solution.alpha, fit_intercept)
    values = np.empty((len(rows), targets.n_targets))
    weights = sample.unit_weights
    row_bytes = 8 * features.n_features
    for part in row_blocks(len(rows), row_bytes, block_bytes=limits.SUMS_BLOCK_BYTES):
        Z, y = _features(features, rows[part]), targets(rows.y[part])
        remaining = 1.0 - weights[part] * leverage(Z)
        remaining[np.abs(remaining) < limits.NEGLIGIBLE] = limits.NEGLIGIBLE
        values[part] = y - (y - solution.mean(Z)) / remaining[:, None]
    return np.clip(values, -_FARTHEST, _FARTHEST)


def _features(features: FeatureMap, rows: Chunk) -> Array:
    return as_array(features.features(rows.X))


def _of_posterior(posterior: RidgePosterior) -> Leverage:
    def leverage(Z: Array) -> Array:
        # The quadratic form of the inverse matrix, by its root.
        spread = np.sum(((Z - posterior.centre) @ posterior.whitener) ** 2, axis=1)
        return as_array(spread + posterior.intercept_variance)

    return leverage


def _of_sums(sums: FeatureSums, signature: Array, alpha: float, fit_intercept: bool) -> Leverage:
    centred, _ = centred_sums(sums, fit_intercept)
    centre, _ = origin(sums, centred)
    factors = lu_factor(centred.gram + alpha * np.diag(signature), overwrite_a=True)
    constant = 1.0 / sums.weight if fit_intercept else 0.0

    def leverage(Z: Array) -> Array:
        Z = Z - centre
        return as_array(np.sum(Z * lu_solve(factors, Z.T).T, axis=1) + constant)

    return leverage


def _of_sample(
    sample: RowSample, features: FeatureMap, alpha: float, fit_intercept: bool
) -> Leverage:
    """Return the leverage of the sample's ridge regression, by Woodbury's identity."""
    share = sample.shares
    Z = _features(features, sample.rows)
    centre = share @ Z / share.sum() if fit_intercept else np.zeros(Z.shape[1])
    constant = 1.0 / share.sum() if fit_intercept else 0.0
    B = (Z - centre) * np.sqrt(share)[:, None]
    lower = jittered_cholesky(B @ B.T, alpha)

    def leverage(Z: Array) -> Array:
        Z = Z - centre
        explained = np.sum(solve_triangular(lower, B @ Z.T, lower=True) ** 2, axis=0)
        return as_array((np.sum(Z**2, axis=1) - explained) / alpha + constant)

    return leverage
