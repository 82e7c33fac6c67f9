r"""Ridge regression by conjugate gradients, without the Gram matrix of the features.

The weights solve :math:`(Z^\top W Z + \alpha J) w = Z^\top W y`. Forming :math:`Z^\top W Z` costs
:math:`n p^2` operations; a product with it costs :math:`4 n p`, in one pass over the rows. With a
good preconditioner some ten passes are enough, whatever the number of features.

The preconditioner is an estimate of the same matrix from ``s`` rows drawn by weight (see
:class:`~bochner.features.chunks.RowSample`), with a plus sign in place of every sign of ``J``:

.. math:: P = Z_s^\top \hat W_s Z_s + \alpha I,

a Nyström approximation of :math:`Z Z^\top` from these rows (Rudi, Carratino and Rosasco, 2017).
Its inverse comes from a Cholesky factor of ``s`` by ``s``, by Woodbury's identity. Preconditioned,
eigenvalues lie near one, and near minus one where a negative sign prevails, so that conjugate
gradients (``J = I``) and the minimal residual method take few steps.

References
----------
A. Rudi, L. Carratino and L. Rosasco, "FALKON: An optimal large scale kernel method", 2017.

Z. Frangella, J. A. Tropp and M. Udell, "Randomized Nyström preconditioning", 2023.

H. C. Elman, D. J. Silvester and A. J. Wathen, "Finite elements and fast iterative solvers", 2014.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, blas, lapack
from sklearn.exceptions import ConvergenceWarning

from bochner._numerics.arrays import Array
from bochner._numerics.namespaces import to_numpy
from bochner._numerics.warn import warn_user
from bochner.features.chunks import RowChunks, RowSample, sample_rows
from bochner.features.targets import Targets
from bochner.learning.ridge import noise_variance
from bochner.learning.row_products import (
    FeatureMap,
    kept_features,
    normal_products,
    target_products,
)
from bochner.registry import register

MOST_STEPS = 200

Product = Callable[[Array], Array]


@register(shapes={"coef": "pt", "intercept": "t"})
@dataclass(frozen=True, slots=True, eq=False)
class IterativeSolution:
    """The solution on ``p`` features, for ``t`` targets, without a covariance.

    Parameters
    ----------
    coef : ndarray of shape (p, t)
    intercept : ndarray of shape (t,)
    alpha : float
    noise : ndarray of shape (t,) or None
        Maximum-likelihood variance of the noise; ``None`` in a Krein space.
    n_iter : int
        Products with the matrix of the system that the solution took.
    """

    coef: Array
    intercept: Array
    alpha: float
    noise: Array | None
    n_iter: int

    def mean(self, Z: Array) -> Array:
        """Return predictions of shape (n, t) for features ``Z`` (n, p)."""
        return Z @ self.coef + self.intercept

    @property
    def noise_variance(self) -> Array:
        """Variances of shape (t,).

        Raises
        ------
        AttributeError
            In a Krein space.
        """
        if self.noise is None:
            raise AttributeError("An indefinite kernel has no noise variance.")
        return self.noise

    def std(self, Z: Array) -> NoReturn:
        """Raise ``ValueError``: there is no covariance of the weights."""
        raise ValueError(_not_known("predictive standard deviations"))

    @property
    def log_evidence(self) -> NoReturn:
        """Raise ``AttributeError``: there is no determinant."""
        raise AttributeError(_not_known("evidence"))


def _in_double(weight_rms: float) -> type[np.float64]:
    return np.float64


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
    dtype: Callable[[float], Any] = _in_double,
    n_landmarks: int = 1024,
    keep: bool = False,
) -> IterativeSolution:
    r"""Return the ridge solution from some passes over the rows.

    Parameters
    ----------
    rows : RowChunks
        That can be met more than once.
    features : Frequencies
    targets : Targets
    signature : ndarray of shape (p,)
        The diagonal of ``J``, of plus and minus ones.
    alpha : float
    rng : numpy.random.Generator
        Chooses the rows of the preconditioner.
    fit_intercept : bool, default=False
    tol : float, default=1e-4
        Steps end when the residual, in the norm of :math:`P^{-1}`, is this share of what it was
        with all weights zero. With a good preconditioner this is about the relative error of the
        predictions on the training rows, in root mean square; near a pole that may be more.
    dtype : callable, default=float64 for all weights
        Type of features and of products with them, given the root mean square of the rows'
        weights; sums over blocks of rows are in float64.
    n_landmarks : int, default=1024
        ``s``, rows that make the preconditioner.
    keep : bool, default=False
        Whether the features of all rows are kept, or made again in every pass.

    Returns
    -------
    solution : IterativeSolution

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached in 200 steps: near a pole of a Krein space, above all.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import Frequencies
    >>> from bochner.features.chunks import ArrayChunks, Chunk
    >>> from bochner.features.targets import Numbers
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(500, 1)), rng.normal(size=500)
    >>> f = Frequencies(omega=[[0.5], [1.0], [3.0]], weight=[1.0, 0.4, 0.4])
    >>> rows = ArrayChunks(Chunk(X, y))
    >>> targets = Numbers(np.zeros(1))
    >>> solution = fit_iteratively(rows, f, targets, f.signature, 0.1, rng, tol=1e-10)
    >>> Z = f.features(X)
    >>> direct = np.linalg.solve(Z.T @ Z + 0.1 * np.eye(6), Z.T @ y)
    >>> bool(np.allclose(solution.coef[:, 0], direct))
    True
    """
    sample = rows.total(sample_rows, n_landmarks, rng)
    if not len(sample.rows):
        raise ValueError("There are no rows to sum over, or none that has weight.")
    made = dtype(sample.weight_rms)
    Z = to_numpy(features.features(sample.rows.X, made))
    if keep:
        rows, features = kept_features(rows, features, made)
    moments = _Moments.of(rows.total(target_products, features, made, targets), Z.shape[1])
    mean_z, mean_y = moments.means if fit_intercept else moments.origin
    inverse = Preconditioner.of(Z - mean_z.astype(made), sample, moments.weight, alpha)

    def product(V: Array) -> Array:
        products = rows.total(normal_products, features, made, V, mean_z @ V)
        return products + alpha * signature[:, None] * V

    cross = moments.cross - moments.weight * np.outer(mean_z, mean_y)
    solve = _conjugate_gradients if (signature > 0).all() else _minimal_residuals
    coef, n_iter, converged = solve(product, cross, inverse.apply, tol)
    if not converged:
        warn_user(
            f"The weights have not converged to a tolerance of {tol:g} in {n_iter} steps. Use a "
            f"greater alpha, a greater tol, or solver='cholesky'.",
            ConvergenceWarning,
        )
    return IterativeSolution(
        coef=coef,
        intercept=mean_y - mean_z @ coef,
        alpha=float(alpha),
        noise=moments.noise(cross, coef, fit_intercept) if (signature > 0).all() else None,
        n_iter=n_iter,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    r"""What the first pass finds: :math:`Z^\top W Y` and sums of features, targets and squares."""

    cross: Array
    features: Array
    targets: Array
    square: Array
    weight: float

    @classmethod
    def of(cls, products: Array, p: int) -> "_Moments":
        r"""Read them off :math:`[Z, Y, 1]^\top W [Y, 1]`."""
        t = products.shape[1] - 1
        return cls(
            cross=products[:p, :t],
            features=products[:p, t],
            targets=products[p + t, :t],
            square=np.diagonal(products[p : p + t, :t]),
            weight=float(products[p + t, t]),
        )

    @property
    def means(self) -> tuple[Array, Array]:
        return self.features / self.weight, self.targets / self.weight

    @property
    def origin(self) -> tuple[Array, Array]:
        return np.zeros_like(self.features), np.zeros_like(self.targets)

    def noise(self, cross: Array, coef: Array, fit_intercept: bool) -> Array:
        """Return the maximum-likelihood variance of the noise, given centred cross products."""
        square, degrees = self.square, self.weight
        if fit_intercept:
            square = np.maximum(square - self.targets**2 / self.weight, 0.0)
            degrees = max(degrees - 1.0, 1.0)
        return noise_variance(square, np.sum(cross * coef, axis=0), degrees)


@dataclass(frozen=True, slots=True, eq=False)
class Preconditioner:
    r"""The inverse of :math:`P = B^\top B + \alpha I`, by Woodbury's identity.

    Parameters
    ----------
    landmarks : ndarray of shape (s, p)
        ``B``, features of some rows.
    lower : ndarray of shape (s, s)
        Cholesky factor of :math:`B B^\top + \alpha I`.
    alpha : float
    """

    landmarks: NDArray[Any]
    lower: NDArray[Any]
    alpha: float

    @classmethod
    def of(
        cls, Z: NDArray[Any], sample: RowSample, weight: float, alpha: float
    ) -> "Preconditioner":
        """Return that of features ``Z`` (s, p) of the sample, scaled up to a total ``weight``."""
        share = sample.shares
        Z *= np.sqrt(share * (weight / share.sum())).astype(Z.dtype)[:, None]
        rank_k = blas.ssyrk if Z.dtype == np.float32 else blas.dsyrk
        factorise = lapack.spotrf if Z.dtype == np.float32 else lapack.dpotrf
        # Rounding in the products must not leave the matrix indefinite: P may be anything.
        least = 10.0 * np.finfo(Z.dtype).eps * float(np.einsum("ij,ij->", Z, Z))
        alpha = max(alpha, least)
        gram = rank_k(1.0, Z.T, trans=1, lower=1)
        gram[np.diag_indices(len(gram))] += alpha
        lower, info = factorise(gram, lower=1, overwrite_a=1)
        if info:
            raise LinAlgError("The preconditioner is not positive definite.")
        return cls(Z, lower, alpha)

    def apply(self, V: Array) -> Array:
        r"""Return :math:`P^{-1} V` of shape (p, t)."""
        B = self.landmarks
        solve = lapack.spotrs if B.dtype == np.float32 else lapack.dpotrs
        inner, _ = solve(self.lower, B @ V.astype(B.dtype), lower=1)
        applied: Array = (V - B.T @ inner) / self.alpha
        return applied


def _not_known(quantity: str) -> str:
    return (
        f"Conjugate gradients find the weights alone, and no {quantity}. Use solver='cholesky', "
        f"which takes time in n p^2 and memory in p^2."
    )


def _conjugate_gradients(
    product: Product, b: Array, inverse: Product, tol: float
) -> tuple[Array, int, bool]:
    """Solve for all columns of ``b`` (p, t) in the same passes; return steps and success, too."""
    x, r = np.zeros_like(b), b.copy()
    z = inverse(r)
    direction = z.copy()
    norm = np.sum(r * z, axis=0)
    goal = tol**2 * norm
    for step in range(MOST_STEPS):
        if (norm <= goal).all():
            return x, step, True
        made = product(direction)
        length = _ratio(norm, np.sum(direction * made, axis=0))
        x += length * direction
        r -= length * made
        z = inverse(r)
        norm, last = np.sum(r * z, axis=0), norm
        direction = z + _ratio(norm, last) * direction
    return x, MOST_STEPS, bool((norm <= goal).all())


def _minimal_residuals(
    product: Product, b: Array, inverse: Product, tol: float
) -> tuple[Array, int, bool]:
    """Solve for all columns of ``b`` (p, t) in the same passes; return steps and success, too.

    Algorithm 4.1 of Elman, Silvester and Wathen, with ``eta`` the norm of the residual.
    """
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
        made = product(z)
        delta = np.sum(made * z, axis=0)
        new_v = made - _ratio(delta, gamma) * v - _ratio(gamma, last_gamma) * last_v
        new_z = inverse(new_v)
        new_gamma = np.sqrt(np.maximum(np.sum(new_z * new_v, axis=0), 0.0))
        diagonal = c * delta - last_c * s * gamma
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
    """Return the ratio, zero where the denominator is: a column that is solved stays as it is."""
    found = np.zeros_like(denominator)
    return np.divide(numerator, denominator, out=found, where=denominator > 0.0)
