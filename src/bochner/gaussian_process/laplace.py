r"""The Laplace approximation of a model on features, for any likelihood.

The latent value of a row is :math:`z \cdot w + r`, with a residual :math:`r` of variance
:math:`\lambda`. Residuals are eliminated row by row: with the curvature :math:`W` of the log
density, the weights have the curvature :math:`(I + \lambda W)^{-1} W`, and the log determinant of
the negative Hessian gains :math:`\log |I + \lambda W|`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, lapack

from bochner._base import limits
from bochner._base.arrays import Array, as_array, row_blocks
from bochner._base.registry import register
from bochner.gaussian_process.latent_rows import LatentRows
from bochner.gaussian_process.likelihood import Likelihood

CONSTANT_SPREAD = 10.0
"""Prior standard deviation of the constant, in units of the latent function."""

_MOST_STEPS = 100
"""Largest number of Newton steps. A dozen are usual; likelihoods with outliers need more."""

_DECREMENT = 1e-18
"""Predicted gain of the log density in nats (Newton decrement) at which the search ends: weights
are then exact to 1e-9 of their posterior standard deviation."""

_ROUNDINGS = 10.0
"""Number of rounding errors of the log density (but at least `NEGLIGIBLE`) below which a predicted
gain may be a rounding error. It counts as a rounding error if it no longer decreases: near the
mode, gains decrease quadratically."""

_STALLED = 0.1  # Ratio of successive predicted gains above which they count as no longer decreasing
_NEARLY_QUADRATIC = 1e-8
"""Predicted gain below which full steps are taken without a comparison: the mode is within 1e-4
posterior deviations, and gains may be rounding errors of large terms of the log density."""

_SUFFICIENT = 1e-4
"""Share of the predicted gain that a step must reach (Armijo's rule, with any small share)."""

_LEAST_STEP = 1e-12
"""Smallest share of a Newton step in backtracking: smaller steps gain less than rounding errors."""


_FEW_FUNCTIONS = 4
"""Number of latent functions up to which products with the whitener are faster than the covariance,
whose time is cubic in the number of weights for any number of rows."""

_FEW_FEATURES = 128
"""Number of features up to which the products of all pairs of features of a block of rows are
stored in an array: the Hessian of many functions is then one product of matrices."""


@register(shapes={"coef": "pl", "whitener": "qq"})
@dataclass(frozen=True, slots=True, eq=False)
class LaplacePosterior:
    """The normal approximation of the weights of ``P`` features for each of ``L`` functions.

    Latent values are :math:`f = Z w + c + r`, with the ``centre`` ``c`` and residuals ``r``.
    """

    coef: Array  # (P, L): the mode
    whitener: Array  # (P L, P L): W with W W' the covariance, weights ordered by latent function
    centre: float
    alpha: float  # Precision of the weights, except for the constant
    log_evidence: float
    n_iter: int  # Newton steps, summed over all values of alpha and the parameters

    def latent(self, Z: Array, residual: Array) -> tuple[Array, Array]:
        """Return means (n, L) and covariances (n, L, L) at features (n, P), ``residual`` (n,)."""
        n_latent = self.coef.shape[1]
        mean = Z @ self.coef + self.centre
        covariance = np.empty((len(Z), n_latent, n_latent))
        of_rows = LatentCovariances.of(self.whitener, n_latent)
        for rows in row_blocks(len(Z), 8 * len(self.whitener) * n_latent):
            covariance[rows] = of_rows(Z[rows])
        covariance += (residual / self.alpha)[:, None, None] * np.eye(n_latent)
        return mean, covariance

    def draw(self, rng: np.random.Generator, n_draws: int) -> Array:
        """Return independent draws of the weights, of shape (n_draws, P, L)."""
        P, n_latent = self.coef.shape
        noise = rng.normal(size=(n_draws, P * n_latent)) @ self.whitener.T
        return as_array(self.coef + noise.reshape(n_draws, n_latent, P).swapaxes(1, 2))


@dataclass(frozen=True, slots=True, eq=False)
class LatentCovariances:
    """Covariances of latent values as a function of features."""

    whitener: Array  # (P L, P L)
    n_latent: int
    blocks: Array | None  # (L, P, L, P): Covariance of the weights; None for few functions

    @classmethod
    def of(cls, whitener: Array, n_latent: int) -> "LatentCovariances":
        """Return the function from features to covariances, for weights with this whitener."""
        if n_latent <= _FEW_FUNCTIONS:
            return cls(whitener, n_latent, None)
        n_features = len(whitener) // n_latent
        covariance = whitener @ whitener.T
        return cls(whitener, n_latent, covariance.reshape(2 * (n_latent, n_features)))

    def __call__(self, Z: Array) -> Array:
        """Return covariances (n, L, L) for features (n, P)."""
        n_latent, n_features = self.n_latent, Z.shape[1]
        covariances = np.empty((len(Z), n_latent, n_latent))
        if self.blocks is None:
            whiteners = self.whitener.reshape(n_latent, n_features, -1)
            spread = [Z @ whitener for whitener in whiteners]
            for i in range(n_latent):
                for j in range(i + 1):
                    products = np.einsum("nq,nq->n", spread[i], spread[j])
                    covariances[:, i, j] = covariances[:, j, i] = products
            return covariances
        for i in range(n_latent):
            block = np.ascontiguousarray(self.blocks[i, :, : i + 1])
            # One large product instead of a small one for each pair of functions.
            half = (Z @ block.reshape(n_features, -1)).reshape(len(Z), i + 1, n_features)
            products = np.matmul(half, Z[:, :, None])[:, :, 0]
            covariances[:, i, : i + 1] = covariances[:, : i + 1, i] = products
        variances = np.einsum("nii->ni", covariances)
        np.maximum(variances, 0.0, out=variances)
        return covariances


@dataclass(frozen=True, slots=True, eq=False)
class InverseRoot:
    """A symmetric matrix, by a root ``R`` of its inverse ``R R'`` and its log determinant."""

    matrix: Array
    log_determinant: float
    is_exact: bool  # False if the symmetric matrix was not positive definite


def inverse_root(symmetric: Array) -> InverseRoot:
    """Return the inverse root of a symmetric matrix, whose negative eigenvalues change sign."""
    try:
        lower = cholesky(symmetric, lower=True)
    except LinAlgError:
        values, vectors = eigh(symmetric)
        values = np.abs(values)
        values = np.maximum(values, limits.FLOAT64_EPS * values.max())
        return InverseRoot(vectors / np.sqrt(values), float(np.sum(np.log(values))), False)
    inverse, _ = lapack.dtrtri(lower, lower=1)
    log_determinant = 2.0 * float(np.sum(np.log(np.diagonal(lower))))
    return InverseRoot(np.ascontiguousarray(inverse.T), log_determinant, True)


@dataclass(frozen=True, slots=True, eq=False)
class ProfileCurvature:
    """Curvature of the log density in ``z . w``, with residuals at their conditional mode."""

    shrinkage: Array  # (g, L, L): J = (I + lambda W)^{-1}
    curvature: Array  # (g, L, L): W J
    log_determinant: float  # Log determinant of all I + lambda W
    is_exact: bool  # False if some I + lambda W was not positive definite

    @classmethod
    def of(cls, curvature: Array, variance: Array) -> "ProfileCurvature":
        """Return it from curvatures ``W`` (g, L, L) and residual variances ``lambda`` (g,)."""
        n_latent = curvature.shape[1]
        if not variance.any():
            return cls(np.broadcast_to(np.eye(n_latent), curvature.shape), curvature, 0.0, True)
        if n_latent == 1:
            values, vectors = curvature[:, 0], np.ones_like(curvature)
        else:
            values, vectors = np.linalg.eigh(curvature)
        signed = 1.0 + variance[:, None] * values
        growth = np.maximum(np.abs(signed), limits.FLOAT64_EPS)
        is_negative = signed <= 0.0
        if is_negative.any():
            positive = np.where(variance > 0.0, variance, 1.0)[:, None]
            values = np.where(is_negative, (growth - 1.0) / positive, values)
        scaled = vectors / growth[:, None, :]
        transposed = vectors.swapaxes(1, 2)
        shrinkage, profile = scaled @ transposed, (scaled * values[:, None, :]) @ transposed
        return cls(shrinkage, profile, float(np.log(growth).sum()), not is_negative.any())


@dataclass(frozen=True, slots=True, eq=False)
class LatentPoint:
    """Weights of the features, and residuals of the rows."""

    weights: Array  # (P, L)
    residuals: Array  # (g, L)


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """The mode of weights and residuals for a likelihood and a prior, with the evidence."""

    likelihood: Likelihood
    precision: Array  # (P,): Prior precision of the weights
    variance: Array  # (g,): Prior variance of the residuals
    point: LatentPoint
    latent: Array  # (g, L): Differences from the latent values of zero weights
    root: InverseRoot  # Inverse root of the negative Hessian of the weights
    profile: ProfileCurvature
    log_joint: float  # Log likelihood and log prior density, without its constant
    n_iter: int

    @property
    def weights(self) -> Array:
        """Weights (P, L)."""
        return self.point.weights

    @property
    def whitener(self) -> Array:
        """A root (P L, P L) of the covariance of the weights."""
        return self.root.matrix

    @property
    def log_evidence(self) -> float:
        r"""Laplace's approximation of the log marginal likelihood.

        With the prior's precision ``A`` and the negative Hessian ``H`` of the weights, it is
        :math:`\log p(y \mid \hat w, \hat r) - (\hat w^\top A \hat w + \hat r^\top \Lambda^{-1}
        \hat r - \log |A| + \log |H| + \sum_n \log |I + \lambda_n W_n|) / 2`.
        """
        log_prior = self.weights.shape[1] * float(np.sum(np.log(self.precision)))
        log_determinant = self.root.log_determinant + self.profile.log_determinant
        return float(self.log_joint + 0.5 * (log_prior - log_determinant))


def find_mode(
    rows: LatentRows, likelihood: Likelihood, precision: Array, start: LatentPoint | None = None
) -> Mode:
    """Return the mode of weights and residuals by Newton's method with backtracking.

    ``precision`` (P,) is the prior precision of the weights, the first also that of residuals.
    """
    n_latent, variance = likelihood.n_latent, rows.residual / precision[0]
    if start is None:
        shapes = (rows.width, n_latent), (len(variance), n_latent)
        start = LatentPoint(*map(np.zeros, shapes))
    weights = start.weights
    latent = rows.product(weights) + start.residuals
    # Residuals in units of their variances, which may be zero
    pulls = start.residuals / np.where(variance > 0.0, variance, 1.0)[:, None]

    def log_joint(weights: Array, pulls: Array, latent: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):  # steps may be too long
            total = float(rows.log_densities(likelihood, latent).sum())
        value = total - 0.5 * float(np.sum(precision[:, None] * weights**2))
        value -= 0.5 * float(variance @ np.sum(pulls**2, axis=1))
        return value if np.isfinite(value) else -np.inf

    value, before = log_joint(weights, pulls, latent), np.inf
    for n_iter in range(1, _MOST_STEPS + 1):
        slope, curvature = (f(likelihood, latent) for f in (rows.slopes, rows.curvatures))
        profile = ProfileCurvature.of(curvature, variance)
        lag = as_array(np.einsum("gij,gj->gi", profile.shrinkage, slope - pulls))
        # The gradient at the best residuals of a quadratic log density
        hessian, gradient = _derivatives(rows, profile.curvature, pulls + lag, precision)
        gradient -= precision[:, None] * weights
        root = inverse_root(hessian)
        forward = root.matrix.T @ gradient.T.ravel()
        decrement = 0.5 * float(forward @ forward)
        decrement += 0.5 * float(variance @ np.sum((slope - pulls) * lag, axis=1))
        rounding = limits.FLOAT64_EPS * (1.0 + abs(value))
        is_small = decrement < max(limits.NEGLIGIBLE, _ROUNDINGS * rounding)
        is_rounding = is_small and decrement > _STALLED * before
        is_exact = root.is_exact and profile.is_exact
        if is_exact and (decrement < _DECREMENT or is_rounding):
            point = LatentPoint(weights, variance[:, None] * pulls)
            return Mode(
                likelihood, precision, variance, point, latent, root, profile, value, n_iter
            )
        step = (root.matrix @ forward).reshape(n_latent, -1).T
        # Latent values are linear in the weights: backtracking needs no pass over the rows.
        change = rows.product(step)
        pull = lag - np.einsum("gij,gj->gi", profile.curvature, change)
        change += variance[:, None] * pull
        # Full Newton steps first, halved until the gain suffices.
        share = 1.0
        while share > _LEAST_STEP:
            moved = weights + share * step, pulls + share * pull, latent + share * change
            moved_value = log_joint(*moved)
            # Near the mode gains are smaller than the rounding errors of the values.
            least_gain = 2.0 * _SUFFICIENT * share * decrement - len(rows.y) * rounding
            is_enough = moved_value >= value + least_gain
            if is_enough or (is_exact and decrement < _NEARLY_QUADRATIC):
                break
            share *= 0.5
        weights, pulls, latent, value, before = *moved, moved_value, decrement
    raise LinAlgError(
        f"Newton's method has not found the mode of the weights in {_MOST_STEPS} steps. "
        f"{likelihood!r} may not suit y: change the unit of y, the likelihood or its parameters, "
        f"or give a larger alpha. Compare slope and curvature of a likelihood of your own with "
        f"differences of its log_density."
    )


def _derivatives(
    rows: LatentRows, curvature: Array, slope: Array, precision: Array
) -> tuple[Array, Array]:
    """Return the negative Hessian (P L, P L) by the weights, lower blocks, and gradient (P, L)."""
    P, n_latent = rows.width, curvature.shape[1]
    gradient = np.zeros((P, n_latent))
    hessian = np.zeros((n_latent * P, n_latent * P))
    pairs = np.tril_indices(n_latent)
    is_one_product = n_latent > _FEW_FUNCTIONS and P <= _FEW_FEATURES
    totals = np.zeros((len(pairs[0]), P * P)) if is_one_product else None
    for part, Z in rows.blocks():
        gradient += Z.T @ slope[part]
        if totals is not None:
            for block_rows in row_blocks(len(Z), 8 * (P * P + len(pairs[0]))):
                products = (Z[block_rows, :, None] * Z[block_rows, None, :]).reshape(-1, P * P)
                totals += curvature[part][block_rows][:, *pairs].T @ products
            continue
        for i, j in zip(*pairs, strict=True):
            block = hessian[i * P : (i + 1) * P, j * P : (j + 1) * P]
            block += _weighted_products(Z, curvature[part, i, j, None])
    if totals is not None:
        hessian.reshape(n_latent, P, n_latent, P).swapaxes(1, 2)[pairs] = totals.reshape(-1, P, P)
    hessian[np.diag_indices_from(hessian)] += np.tile(precision, n_latent)
    return hessian, gradient


def _weighted_products(Z: Array, weight: Array) -> Array:
    """Return ``Z' diag(weight) Z`` for weights (n, 1), in half the time if none is negative."""
    # A product of a matrix with its transpose takes half of the operations.
    if weight.min(initial=0.0) < 0.0:
        return as_array(Z.T @ (weight * Z))
    scaled = np.sqrt(weight) * Z
    return as_array(scaled.T @ scaled)
