"""The Laplace approximation of a model on features, for any likelihood."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, lapack

from bochner._numerics import limits
from bochner._numerics.arrays import Array, InputRows, as_array, row_blocks
from bochner.features.chunks import Chunk
from bochner.frequencies import Frequencies
from bochner.learning.laplace.derivatives import check_derivatives, latent_argument, shaped
from bochner.likelihoods import Likelihood
from bochner.registry import register

CONSTANT_SPREAD = 10.0
"""Prior standard deviation of the constant, in units of the latent function. Rates and odds of e^10
times the mean are within one deviation, and the constant is finite if all targets are equal."""

_MOST_STEPS = 100
"""Largest number of Newton steps. A dozen are usual; likelihoods with outliers need more."""

_DECREMENT = 1e-18
"""Predicted gain of the log density in nats (Newton decrement) at which the search ends: weights
are then exact to 1e-9 of their posterior standard deviation."""

_LATE_DECREMENT = 1e-2
"""The same after a time limit: weights are exact to a tenth of their posterior deviation."""

_ROUNDINGS = 10.0
"""Number of rounding errors of the log density (but at least `NEGLIGIBLE`) below which a predicted
gain may be a rounding error. It counts as one if it no longer decreases: near the mode, gains
decrease quadratically."""

_STALLED = 0.1
"""Ratio of successive predicted gains above which they count as no longer decreasing."""

_SUFFICIENT = 1e-4
"""Share of the predicted gain that a step must reach (Armijo's rule, with any small share)."""

_LEAST_STEP = 1e-12
"""Smallest share of a Newton step in backtracking: smaller steps gain less than rounding errors."""


@dataclass(frozen=True, slots=True, eq=False)
class LatentRows:
    """Rows with targets, and their features followed by a constant, block by block.

    The latent function of zero weights is ``centre``, the prior mean of the constant, plus
    ``offset`` (n,), the logarithm of exposures. Features of up to 256 MiB are stored; larger ones
    are recomputed in every pass.
    """

    X: Any
    y: Array  # (n,)
    weight: Array  # (n,)
    offset: Array  # (n,)
    centre: float
    frequencies: Frequencies
    has_constant: bool
    _kept: list[tuple[slice, Array]]

    @classmethod
    def of(
        cls, rows: Chunk, offset: Array, centre: float, frequencies: Frequencies, has_constant: bool
    ) -> "LatentRows":
        """Return the rows of a chunk with numeric targets."""
        of_chunk = cls(rows.X, rows.y, rows.weights, offset, centre, frequencies, has_constant, [])
        if 8 * len(rows) * of_chunk.width <= limits.CACHED_FEATURES_BYTES:
            of_chunk._kept.extend(of_chunk._computed())
        return of_chunk

    @property
    def origin(self) -> Array:
        """Latent values (n, 1) for weights of zero."""
        return as_array(self.centre + self.offset)[:, None]

    @property
    def width(self) -> int:
        """Number of features, the constant included."""
        return 2 * self.frequencies.n_frequencies + self.has_constant

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows and their features in float64."""
        return iter(self._kept) if self._kept else self._computed()

    def latent(self, weights: Array) -> Array:
        """Return latent values (n, L) for weights (P, L)."""
        return self.product(weights) + self.origin

    def product(self, weights: Array) -> Array:
        """Return features times weights (P, L), of shape (n, L)."""
        products = np.empty((len(self.y), weights.shape[1]))
        for part, Z in self.blocks():
            products[part] = Z @ weights
        return products

    def transposed(self, columns: Array) -> Array:
        """Return the sums over rows of features times columns (n, L), of shape (P, L)."""
        total = np.zeros((self.width, columns.shape[1]))
        for part, Z in self.blocks():
            total += Z.T @ columns[part]
        return total

    def log_densities(self, likelihood: Likelihood, latent: Array) -> Array:
        """Return weighted log densities (n,) for latent values (n, L)."""
        values = likelihood.log_density(self.y, latent_argument(latent))
        return as_array(self.weight * shaped(likelihood, "log_density", values, self.y.shape))

    def slopes(self, likelihood: Likelihood, latent: Array) -> Array:
        """Return weighted slopes of the log density, of shape (n, L)."""
        f = latent_argument(latent)
        slope = shaped(likelihood, "slope", likelihood.slope(self.y, f), f.shape)
        return as_array(self.weight[:, None] * slope.reshape(latent.shape))

    def curvatures(self, likelihood: Likelihood, latent: Array) -> Array:
        """Return weighted curvatures of the log density, of shape (n, L, L)."""
        f, n_latent = latent_argument(latent), latent.shape[1]
        shape = (*f.shape, *f.shape[1:])
        curvature = shaped(likelihood, "curvature", likelihood.curvature(self.y, f), shape)
        return as_array(self.weight[:, None, None] * curvature.reshape(-1, n_latent, n_latent))

    def _computed(self) -> Iterator[tuple[slice, Array]]:
        step = 8 * self.width
        for part in row_blocks(len(self.y), step, block_bytes=limits.SUMS_BLOCK_BYTES):
            yield part, latent_features(self.frequencies, self.X[part], self.has_constant)


def latent_features(frequencies: Frequencies, X: InputRows, has_constant: bool) -> Array:
    """Return the features of rows in float64, followed by a constant if there is one."""
    Z = as_array(frequencies.features(X, np.float64))
    return np.hstack((Z, np.ones((len(Z), 1)))) if has_constant else Z


_FEW_FUNCTIONS = 4
"""Number of latent functions up to which products with the whitener are faster than the covariance,
whose time is cubic in the number of weights for any number of rows."""

_FEW_FEATURES = 128
"""Number of features up to which the products of all pairs of features of a block of rows are
stored in an array: the Hessian of many functions is then one product of matrices."""


@register(shapes={"coef": "pl", "whitener": "qq"})
@dataclass(frozen=True, slots=True, eq=False)
class LaplacePosterior:
    r"""The normal approximation of the weights of ``P`` features for each of ``L`` functions.

    Latent values are :math:`f = Z w + c`, with the ``centre`` ``c``. The mean of the weights is
    their posterior mode, and their covariance is the inverse of the negative Hessian there.
    """

    coef: Array  # (P, L): the mode
    whitener: Array  # (P L, P L): W with W W' the covariance, weights ordered by latent function
    centre: float
    alpha: float  # Precision of the weights, except for that of the constant
    log_evidence: float
    n_iter: int  # Newton steps, summed over all values of alpha and the parameters

    def latent(self, Z: Array) -> tuple[Array, Array]:
        """Return means (n, L) and covariances (n, L, L) of latent values for features (n, P)."""
        n_latent = self.coef.shape[1]
        mean = Z @ self.coef + self.centre
        covariance = np.empty((len(Z), n_latent, n_latent))
        of_rows = LatentCovariances.of(self.whitener, n_latent)
        for rows in row_blocks(len(Z), 8 * len(self.whitener) * n_latent):
            covariance[rows] = of_rows(Z[rows])
        return mean, covariance

    def draw(self, rng: np.random.Generator, n_draws: int) -> Array:
        """Return independent weights of shape (n_draws, P, L)."""
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
        """Return the function for weights with the given whitener."""
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
    """A root ``R`` of the inverse ``R R'`` of a symmetric matrix, with its log determinant."""

    matrix: Array
    log_determinant: float
    is_exact: bool  # False if the symmetric matrix was not positive definite


def inverse_root(symmetric: Array) -> InverseRoot:
    r"""Return the inverse root of a positive definite matrix, from its Cholesky factor.

    If the matrix is not positive definite, its eigenvalues are replaced by their absolute values,
    so that Newton's method leaves saddle points (Dauphin et al., "Identifying and attacking the
    saddle point problem", 2014).
    """
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
class Mode:
    """The mode of the weights for a likelihood and a prior, with quantities of the evidence."""

    likelihood: Likelihood
    precision: Array  # (P,): Prior precision
    weights: Array  # (P, L)
    latent: Array  # (n, L)
    root: InverseRoot  # Inverse root of the negative Hessian
    log_joint: float  # Log likelihood and log prior density, without its constant
    n_iter: int

    @property
    def whitener(self) -> Array:
        """A root (P L, P L) of the covariance of the weights."""
        return self.root.matrix

    @property
    def log_evidence(self) -> float:
        r"""Laplace's approximation of the log marginal likelihood.

        :math:`\log p(y \mid \hat w) - \hat w^\top A \hat w / 2 + (\log |A| - \log |H|) / 2` with
        the prior's precision ``A`` and the negative Hessian ``H``.
        """
        log_prior = self.weights.shape[1] * float(np.sum(np.log(self.precision)))
        return float(self.log_joint + 0.5 * (log_prior - self.root.log_determinant))


def find_mode(
    rows: LatentRows,
    likelihood: Likelihood,
    precision: Array,
    start: Array | None = None,
    deadline: float = np.inf,
) -> Mode:
    """Return the mode of the weights by Newton's method with backtracking.

    After ``deadline``, a time of ``perf_counter``, weights near the mode are enough.
    ``precision`` (P,) is the prior precision, ``start`` (P, L) are weights near the mode. Raises
    ``LinAlgError`` if no mode is found, and ``ValueError`` if wrong derivatives are the reason.
    """
    shape = rows.width, likelihood.n_latent
    weights = np.zeros(shape) if start is None else start
    latent = rows.latent(weights)
    value = _log_joint(rows, likelihood, precision, weights, latent)
    before = np.inf
    for n_iter in range(1, _MOST_STEPS + 1):
        slope, curvature = (f(likelihood, latent) for f in (rows.slopes, rows.curvatures))
        gradient = rows.transposed(slope) - precision[:, None] * weights
        root = inverse_root(_negative_hessian(rows, curvature, precision))
        forward = root.matrix.T @ gradient.T.ravel()
        decrement = 0.5 * float(forward @ forward)
        rounding = limits.FLOAT64_EPS * (1.0 + abs(value))
        is_small = decrement < max(limits.NEGLIGIBLE, _ROUNDINGS * rounding)
        is_rounding = is_small and decrement > _STALLED * before
        is_late = perf_counter() > deadline and decrement < _LATE_DECREMENT
        if root.is_exact and (decrement < _DECREMENT or is_rounding or is_late):
            return Mode(likelihood, precision, weights, latent, root, value, n_iter)
        step = (root.matrix @ forward).reshape(shape[::-1]).T
        # Latent values are linear in the weights: backtracking needs no pass over the rows.
        change = rows.product(step)
        # Full Newton steps first, halved until the gain suffices.
        share = 1.0
        while share > _LEAST_STEP:
            moved = weights + share * step, latent + share * change
            moved_value = _log_joint(rows, likelihood, precision, *moved)
            # Near the mode gains are smaller than the rounding errors of the values.
            least_gain = 2.0 * _SUFFICIENT * share * decrement - len(rows.y) * rounding
            if moved_value >= value + least_gain:
                break
            share *= 0.5
        weights, latent, value, before = *moved, moved_value, decrement
    check_derivatives(likelihood, rows.y, rows.origin)
    raise LinAlgError(
        f"Newton's method has not found the mode of the weights in {_MOST_STEPS} steps. "
        f"{likelihood!r} may not suit y: change the unit of y, the likelihood or its parameters, "
        f"or give a larger alpha."
    )


def _log_joint(
    rows: LatentRows, likelihood: Likelihood, precision: Array, weights: Array, latent: Array
) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # steps may be too long
        total = float(rows.log_densities(likelihood, latent).sum())
    value = total - 0.5 * float(np.sum(precision[:, None] * weights**2))
    return value if np.isfinite(value) else -np.inf


def _negative_hessian(rows: LatentRows, curvature: Array, precision: Array) -> Array:
    """Return the lower blocks of the negative Hessian (P L, P L) of the log density."""
    P, n_latent = rows.width, curvature.shape[1]
    hessian = np.zeros((n_latent * P, n_latent * P))
    pairs = np.tril_indices(n_latent)
    is_one_product = n_latent > _FEW_FUNCTIONS and P <= _FEW_FEATURES
    totals = np.zeros((len(pairs[0]), P * P)) if is_one_product else None
    for part, Z in rows.blocks():
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
    return hessian


def _weighted_products(Z: Array, weight: Array) -> Array:
    """Return products of features with weights (n, 1), in half the time if none is negative."""
    # A product of a matrix with its transpose takes half of the operations.
    if weight.min(initial=0.0) < 0.0:
        return as_array(Z.T @ (weight * Z))
    scaled = np.sqrt(weight) * Z
    return as_array(scaled.T @ scaled)
