r"""Gaussian processes on very many rows: landmarks, and nearest neighbours for what they miss.

With features :math:`\phi(x) = R^{-1} k(L, x)`, :math:`R R^\top = k(L, L)`, of landmarks ``L``, a
function is :math:`f(x) = \phi(x) \cdot u + r(x)`, where :math:`u` is standard normal and :math:`r`
has the residual covariance :math:`k(x, y) - \phi(x) \cdot \phi(y)`. Residuals with their noise,
:math:`e_i = r(x_i) + \varepsilon_i`, have in any order the density
:math:`\prod_i p(e_i \mid e_1, \dots, e_{i-1})`. ObservedRows are only the near ones, :math:`e_N`:

.. math:: e_i \mid e_N \sim N(a_i^\top e_N, d_i), \quad a_i = S_{NN}^{-1} S_{Ni}, \quad
          d_i = S_{ii} - a_i^\top S_{Ni},

with the covariance :math:`S` of :math:`e`. The rows :math:`(\phi(x_i) - \Phi_N^\top a_i) /
\sqrt{d_i}` of a matrix :math:`U`, and the targets :math:`v` transformed in the same way, are then a
linear model with noise of variance one: :math:`u` has the posterior precision
:math:`I + U^\top U`. A function at a new row has mean and variance

.. math:: a^\top y_N + p \cdot \operatorname{E} u, \qquad
          k(x, x) - \|\phi(x)\|^2 - a^\top S_{Nx} + p^\top (I + U^\top U)^{-1} p,
          \qquad p = \phi(x) - \Phi_N^\top a .

Without neighbours this is the fully independent training conditional, without landmarks Vecchia's
approximation; with all rows as neighbours it is exact. The variance is never that of a function
with fewer degrees of freedom than rows. The expected log evidence is too low by at most
:math:`\tfrac12 \sum_i \log(d_i / d_i^*)`, where :math:`d_i^*` are the variances given all earlier
rows, because this is the Kullback-Leibler divergence of the residuals.

Sources: Snelson and Ghahramani, "Sparse Gaussian processes using pseudo-inputs", 2006; Vecchia,
"Estimation and model identification for continuous spatial processes", 1988; Gyger, Furrer and
Sigrist, "Vecchia-inducing-points full-scale approximations for Gaussian processes", 2025.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from bochner._base.arrays import Array, jittered_cholesky
from bochner._base.registry import register
from bochner.features.landmarks import greatest_pivots
from bochner.gaussian_process.covariance import Covariance, ObservedRows, rates, row_steps
from bochner.gaussian_process.residual_process import Residuals, nearest, nearest_earlier

_CANDIDATES = 8192
"""Rows among which landmarks are chosen: their factor with 256 landmarks takes 16 MiB."""

_EARLIER_SHARE = 4
"""A fit takes one of so many neighbours of a prediction. Coefficients hardly depend on more;
predictions do: in five inputs, errors were .88 of those with a quarter of 256."""


@register(shapes={"landmarks": "qd", "lower": "qq", "root": "qq", "coef": "qt", "rate": "d"})
@dataclass(frozen=True, slots=True, eq=False)
class FullScaleProcess:
    """The posterior of the landmarks' coefficients; the training rows are stored elsewhere."""

    landmarks: Array  # (q, d)
    lower: Array  # (q, q): R
    root: Array  # (q, q): Cholesky factor of the posterior precision
    coef: Array  # (q, t): Posterior mean
    rate: Array  # (d,): Factors of the columns in distances to neighbours
    n_neighbors: int
    log_likelihood: float  # Summed over targets
    log_likelihood_error: float  # Estimate of what it lacks

    @classmethod
    def of(
        cls, covariance: Covariance, given: ObservedRows, sizes: tuple[int, int], seed: int
    ) -> "FullScaleProcess":
        """Return the posterior, with numbers of landmarks and of neighbours of predictions."""
        n_landmarks, n_neighbors = sizes
        order_rng, rate_rng, check_rng = np.random.default_rng(seed).spawn(3)
        given = given.part(order_rng.permutation(len(given.X)))
        rate = rates(covariance, given.X, rate_rng)
        landmarks, lower = np.empty((0, given.X.shape[1])), np.empty((0, 0))
        candidates = given.X[:_CANDIDATES]
        if n_landmarks and covariance.diag(candidates).any():
            landmarks, lower = greatest_pivots(covariance, candidates, n_landmarks)
        residuals = Residuals(covariance, landmarks, lower)
        points = given.X * rate
        earlier = nearest_earlier(points, -(-n_neighbors // _EARLIER_SHARE))
        U, V, variance = residuals.whitened(given, earlier)
        root = jittered_cholesky(U.T @ U, 1.0) if U.size else lower
        half = solve_triangular(root, U.T @ V, lower=True)
        determinant = 2.0 * np.sum(np.log(np.diagonal(root))) + np.sum(np.log(variance))
        n, n_targets = given.Y.shape
        constant = n_targets * (n * np.log(2.0 * np.pi) + determinant)
        evidence = -0.5 * float(np.sum(V**2) - np.sum(half**2) + constant)
        error = residuals.divergence(points, given, variance, earlier, check_rng)
        coef = solve_triangular(root, half, lower=True, trans=1)
        return cls(landmarks, lower, root, coef, rate, n_neighbors, evidence, n_targets * error)

    def moments(self, covariance: Covariance, given: ObservedRows, X: Array) -> tuple[Array, Array]:
        """Return means (n, t) and variances (n,) of the function at rows (n, d)."""
        residuals = Residuals(covariance, self.landmarks, self.lower)
        near = nearest(given.X * self.rate, X * self.rate, self.n_neighbors)
        mean, variance = np.empty((len(X), given.Y.shape[1])), np.empty(len(X))
        for rows in row_steps(len(X), near.shape[1]):
            laws, mean[rows], p = residuals.conditionals(X[rows], near[rows], given)
            explained = solve_triangular(self.root, p.T, lower=True)
            mean[rows] += p @ self.coef
            variance[rows] = [law.variance for law in laws]
            variance[rows] += np.einsum("ij,ij->j", explained, explained)
        return mean, variance

    def joint(self, covariance: Covariance, given: ObservedRows, X: Array) -> tuple[Array, Array]:
        """Return means (n, t) and covariances (n, n) of the function at rows (n, d)."""
        residuals = Residuals(covariance, self.landmarks, self.lower)
        near = nearest(given.X * self.rate, X * self.rate, self.n_neighbors)
        laws, mean, p = residuals.conditionals(X, near, given)
        explained = solve_triangular(self.root, p.T, lower=True)
        cov = residuals.joint(X, laws, near, given) - p @ p.T + explained.T @ explained
        return mean + p @ self.coef, cov
