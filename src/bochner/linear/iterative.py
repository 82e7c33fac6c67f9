r"""Ridge regression by conjugate gradients, without the Gram matrix of the features.

The weights solve :math:`(Z^\top W Z + \alpha J) w = Z^\top W y`. A product with the matrix costs
:math:`4 n p`, in one pass over the rows; with a good preconditioner some ten passes are enough.
The preconditioner is a Nyström approximation from ``s`` rows drawn by weight, with a plus sign in
place of every sign of ``J``:

.. math:: P = Z_s^\top \hat W_s Z_s + \alpha I.

Sources: Rudi, Carratino and Rosasco, "FALKON: An optimal large scale kernel method", 2017.
Frangella, Tropp and Udell, "Randomized Nyström preconditioning", 2023. Elman, Silvester and Wathen,
"Finite elements and fast iterative solvers", 2014.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import LinAlgError, blas, lapack
from sklearn.exceptions import ConvergenceWarning

from bochner._base import limits
from bochner._base.arrays import Array, Floats, Scratch, as_array, steps
from bochner._base.registry import register
from bochner._base.threads import in_order, single_threaded_blas
from bochner._base.warn import warn_user
from bochner.features.chunks import ArrayChunks, Chunk, RowChunks, RowSample, Targets, sample_rows
from bochner.features.landmarks import ResidualFeatures
from bochner.linear.krein import NO_LIKELIHOOD
from bochner.linear.ridge_posterior import LinearFunction, PointSolution, degrees_of, noise_variance
from bochner.spectral.frequencies import Frequencies


@dataclass(frozen=True, slots=True)
class PrecomputedFeatures:
    """The identity feature map, for rows that are precomputed features."""

    n_features: int

    def features(self, X: Any, dtype: Any = None, out: Floats | None = None) -> Floats:
        """Return the rows unchanged: they already are features."""
        rows: Floats = X
        return rows


FeatureMap = Frequencies | ResidualFeatures | PrecomputedFeatures
"""A map from rows to features."""


def target_products(
    chunks: Iterable[Chunk], features: FeatureMap, dtype: DTypeLike, targets: Targets
) -> Array:
    r"""Return sums of products with targets, :math:`[Z, Y, 1]^\top W [Y, 1]` (p + t + 1, t + 1)."""

    def products(Z: Floats, rows: Chunk) -> Floats:
        columns = np.column_stack((targets(rows.y), np.ones(len(rows))))
        weighted = columns if rows.weight is None else columns * rows.weight[:, None]
        return np.vstack((Z.T @ weighted.astype(Z.dtype, copy=False), columns.T @ weighted))

    return _summed(chunks, features, dtype, products)


def normal_products(
    chunks: Iterable[Chunk], features: FeatureMap, dtype: DTypeLike, V: Array, shift: Array
) -> Array:
    r"""Return the product :math:`Z^\top W (Z V - 1 s^\top)` (p, t) of the normal matrix."""
    narrow, origin = V.astype(dtype), shift.astype(dtype)

    def products(Z: Floats, rows: Chunk) -> Floats:
        fit = Z @ narrow
        fit -= origin
        if rows.weight is not None:
            fit *= rows.weight[:, None].astype(fit.dtype, copy=False)
        product: Floats = Z.T @ fit
        return product

    return _summed(chunks, features, dtype, products)


def _summed(
    chunks: Iterable[Chunk],
    features: FeatureMap,
    dtype: Any,
    function: Callable[[Floats, Chunk], Floats],
) -> Array:
    """Return the sum of ``function(features, rows)`` over all blocks of rows, in float64."""
    p = features.n_features
    scratch = Scratch()
    total: Array | None = None
    with single_threaded_blas() as n_threads:
        for chunk in chunks:

            def block(rows: slice, chunk: Chunk = chunk) -> Floats:
                part = chunk[rows]
                out = scratch.block(len(part), p, dtype)
                return function(features.features(part.X, dtype, out), part)

            step = max(16, limits.CACHE_BLOCK_BYTES // (p * np.dtype(dtype).itemsize))
            for _, part in in_order(block, list(steps(len(chunk), step)), n_threads):
                total = part.astype(np.float64) if total is None else np.add(total, part, out=total)
    if total is None:
        raise ValueError("There are no rows to sum over.")
    return total


MOST_STEPS = 200
"""Largest number of steps. 200 passes cost 800 n p operations, as much as the Gram matrix of 800
features: a problem that needs more steps is better solved by the Gram matrix."""
REFRESH_STEPS = 10
"""Number of steps between exact residuals, as in lineax, which take a tenth more products. Fewer
steps need more products; with more steps rounding errors accumulate."""

Product = Callable[[Array], Array]


@register(shapes={"coef": "pt", "intercept": "t"})
@dataclass(frozen=True, slots=True, eq=False)
class IterativeSolution(LinearFunction, PointSolution):
    """Weights (p, t) and intercepts (t,) from ``n_iter`` products with the system matrix."""

    coef: Array
    intercept: Array
    alpha: float
    noise: Array | None  # (t,): Maximum-likelihood variance, None in a Krein space
    n_iter: int

    @property
    def noise_variance(self) -> Array | None:
        return self.noise

    @property
    def limitation(self) -> str:
        if self.noise is None:
            return NO_LIKELIHOOD
        return (
            "Conjugate gradients compute the weights without their covariance. Use "
            "solver='cholesky', which takes time in n p^2 and memory in p^2."
        )


def fit_iteratively(
    rows: RowChunks,
    features: FeatureMap,
    targets: Targets,
    signature: Array,
    alpha: float,
    rng: np.random.Generator,
    *,
    fit_intercept: bool = False,
    tol: float = 1e-4,
    dtype: Callable[[float], Any] = lambda weight_rms: np.float64,
    n_landmarks: int = 1024,
    keep: bool = False,
) -> IterativeSolution:
    """Return the ridge solution by conjugate gradients, in several passes over the rows.

    ``signature`` (p,) is the diagonal of ``J``, and ``rng`` draws the ``n_landmarks`` rows of the
    preconditioner. Steps end at a residual of ``tol``, relative to that of zero weights.
    """
    sample = rows.total(sample_rows, n_landmarks, rng)
    if not len(sample.rows):
        raise ValueError("There are no rows, or no rows of positive weight.")
    feature_type = dtype(sample.weight_rms)
    Z = features.features(sample.rows.X, feature_type)
    # If all features fit into memory, passes read them instead of the rows.
    if keep:
        head = rows.head
        rows = ArrayChunks(Chunk(features.features(head.X, feature_type), head.y, head.weight))
        features = PrecomputedFeatures(features.n_features)
    moments = rows.total(target_products, features, feature_type, targets)
    p, t = Z.shape[1], targets.n_targets
    cross, sums, weight = moments[:p, :t], moments[:, t], float(moments[-1, t])
    means = sums[:-1] / weight if fit_intercept else np.zeros(p + t)
    mean_z, mean_y = means[:p], means[p:]
    # Products are centred afterwards, so that one pass per product suffices.
    cross = cross - weight * np.outer(mean_z, mean_y)
    inverse = preconditioner(Z - mean_z.astype(Z.dtype), sample, weight, alpha)

    def product(V: Array) -> Array:
        products = rows.total(normal_products, features, feature_type, V, mean_z @ V)
        return products + alpha * signature[:, None] * V

    is_positive = bool((signature > 0).all())
    solve = _conjugate_gradients if is_positive else _minimal_residuals
    coef, n_iter, converged = solve(product, cross, inverse, tol)
    if not converged:
        warn_user(
            f"The weights have not converged to a tolerance of {tol:g} in {MOST_STEPS} steps. Use "
            f"a greater alpha, a greater tol, or solver='cholesky'.",
            ConvergenceWarning,
        )
    noise = None
    if is_positive:
        square = np.diagonal(moments[p : p + t, :t])
        if fit_intercept:
            square = np.maximum(square - sums[p:-1] ** 2 / weight, 0.0)
        degrees = degrees_of(sample.n_present if sample.n_fractional else weight, fit_intercept)
        noise = noise_variance(as_array(square), np.sum(cross * coef, axis=0), degrees)
    return IterativeSolution(coef, mean_y - mean_z @ coef, float(alpha), noise, n_iter)


def preconditioner(B: NDArray[Any], sample: RowSample, weight: float, alpha: float) -> Product:
    r"""Return ``V -> P^{-1} V`` for :math:`P = B^\top B + \alpha I` of features ``B`` (s, p)."""
    share = sample.shares
    B *= np.sqrt(share * (weight / share.sum()))[:, None].astype(B.dtype)
    is_single = B.dtype == np.float32
    rank_k = blas.ssyrk if is_single else blas.dsyrk
    gram: NDArray[Any] = rank_k(1.0, B.T, trans=1, lower=1)  # The lower triangle, Fortran order
    factorise = lapack.spotrf if is_single else lapack.dpotrf
    solve = lapack.spotrs if is_single else lapack.dpotrs
    # Rounding errors of the products must not make the matrix indefinite. A greater alpha is valid,
    # because P may be any positive definite matrix.
    alpha = max(alpha, 10.0 * np.finfo(gram.dtype).eps * float(np.trace(gram)))
    gram[np.diag_indices(len(gram))] += alpha
    lower, info = factorise(gram, lower=1, overwrite_a=1)
    if info:
        raise LinAlgError("The preconditioner is not positive definite.")

    def inverse(V: Array) -> Array:
        inner, _ = solve(lower, B @ V.astype(B.dtype, copy=False), lower=1)
        applied: Array = (V - B.T @ inner.astype(B.dtype, copy=False)) / alpha
        return applied

    return inverse


def _conjugate_gradients(
    product: Product, b: Array, inverse: Product, tol: float
) -> tuple[Array, int, bool]:
    """Return the solution for columns of ``b`` (p, t), number of products, and convergence."""
    x, r = np.zeros_like(b), b.copy()
    z = inverse(r)
    direction = z.copy()
    norm = np.sum(r * z, axis=0)
    goal, n_products = tol**2 * norm, 0
    for step in range(1, MOST_STEPS + 1):
        if (norm <= goal).all():
            break
        image = product(direction)
        length = _ratio(norm, np.sum(direction * image, axis=0))
        x += length * direction
        r -= length * image
        n_products += 1
        if step % REFRESH_STEPS == 0:
            r = b - product(x)
            n_products += 1
        z = inverse(r)
        # Norms per target: all targets share the passes over the rows.
        norm, last = np.sum(r * z, axis=0), norm
        direction = z + _ratio(norm, last) * direction
    return x, n_products, bool((norm <= goal).all())


def _minimal_residuals(
    product: Product, b: Array, inverse: Product, tol: float
) -> tuple[Array, int, bool]:
    """Return the results of `_conjugate_gradients` for an indefinite system, by MINRES."""
    x = np.zeros_like(b)
    last_v, v = np.zeros_like(b), b
    z = inverse(v)
    last_gamma, gamma = np.ones(b.shape[1]), np.sqrt(np.sum(z * v, axis=0))
    last_w, w = np.zeros_like(b), np.zeros_like(b)
    last_c, c = np.ones_like(gamma), np.ones_like(gamma)
    last_s, s = np.zeros_like(gamma), np.zeros_like(gamma)
    eta, goal = gamma, tol * gamma
    for step in range(MOST_STEPS):
        if (np.abs(eta) <= goal).all():
            return x, step, True
        z = z * _ratio(1.0, gamma)
        image = product(z)
        delta = np.sum(image * z, axis=0)
        new_v = image - _ratio(delta, gamma) * v - _ratio(gamma, last_gamma) * last_v
        new_z = inverse(new_v)
        new_gamma = np.sqrt(np.maximum(np.sum(new_z * new_v, axis=0), 0.0))
        diagonal = c * delta - last_c * s * gamma
        # Givens rotations of the Lanczos tridiagonal matrix.
        length = np.hypot(diagonal, new_gamma)
        new_w = z - last_s * gamma * last_w - (s * delta + last_c * c * gamma) * w
        new_w *= _ratio(1.0, length)
        last_c, c, last_s, s = c, _ratio(diagonal, length), s, _ratio(new_gamma, length)
        x += c * eta * new_w
        eta = -s * eta
        last_v, v, z, last_w, w = v, new_v, new_z, w, new_w
        last_gamma, gamma = gamma, new_gamma
    return x, MOST_STEPS, bool((np.abs(eta) <= goal).all())


def _ratio(numerator: Array | float, denominator: Array) -> Array:
    """Divide elementwise; the ratio is zero for a zero denominator, so that solved columns stay."""
    ratio = np.zeros_like(denominator)
    return np.divide(numerator, denominator, out=ratio, where=denominator > 0.0)
