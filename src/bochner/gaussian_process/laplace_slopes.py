r"""Derivatives of Laplace's evidence by alpha, by parameters of a likelihood and by kernel values.

The mode depends on all of these. :math:`S_n = z_n^\top H^{-1} z_n` is the covariance of
:math:`z_n \cdot w`. With :math:`J_n = (I + \lambda_n W_n)^{-1}` that of a latent value, with its
residual, is :math:`T_n = J_n S_n J_n + \lambda_n J_n`, called ``spread``. :math:`W_n` and
:math:`s_n` are curvatures and slopes of the log density. The derivative of minus half the log
determinant by latent values is :math:`b_n = -\tfrac12 T_n W_n'`, called ``bend``. With
:math:`u = H^{-1} \sum_n J_n b_n z_n` changes :math:`\delta_n` of the slopes change the evidence by
:math:`\sum_n \delta_n \cdot J_n (z_n^\top u + \lambda_n b_n)` (Rasmussen and Williams, "Gaussian
Processes for Machine Learning", 2006, section 5.5.1, in terms of weights and residuals). The
derivatives by features of a row and by the variance of its residual are

.. math:: \frac{\partial \log p}{\partial z_n}
          &= (s_n + J_n b_n - W_n J_n\, z_n^\top u)\, \hat w + s_n u - W_n J_n H^{-1} z_n, \\
          \frac{\partial \log p}{\partial \lambda_n} &= \tfrac12 \left(s_n^\top s_n
          - \operatorname{tr} W_n J_n + \operatorname{tr} W_n J_n S_n J_n W_n\right)
          + s_n \cdot J_n (b_n - W_n\, z_n^\top u).

Features are :math:`\phi = R^{-1} k(L, x)` with :math:`R R^\top = k(L, L)`. The evidence does not
change if features are rotated, so that with derivatives :math:`G` (n, q) by features those by
:math:`k(L, x)` and :math:`k(L, L)` are :math:`R^{-\top} G^\top` and
:math:`-\tfrac12 R^{-\top} (G^\top \Phi) R^{-1}`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.linalg import solve_triangular

from bochner._base.arrays import Array, as_array
from bochner.features.landmarks import LandmarkFeatures
from bochner.gaussian_process.laplace import LatentCovariances, Mode
from bochner.gaussian_process.latent_rows import LatentRows
from bochner.gaussian_process.likelihood import Likelihood

DIFFERENCE = float(np.finfo(np.float64).eps ** (1.0 / 3.0))
"""Step of central differences, in units of the latent function or of the logarithm of a parameter.
The truncation error and the rounding error are both 4e-11 of the value. Newton steps in parameters
use the same step; its error would only be visible in a third step."""


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceSlopes:
    """Quantities at a mode from which all derivatives of the evidence are computed.

    Derivatives of curvatures and derivatives by parameters are central differences of the
    likelihood.
    """

    rows: LatentRows
    mode: Mode
    marginal: Array  # (g, L, L): Covariance S of z . w
    spread: Array  # (g, L, L)
    bend: Array  # (g, L)
    u: Array  # (P, L)

    @classmethod
    def of(cls, rows: LatentRows, mode: Mode) -> "EvidenceSlopes":
        """Return the derivatives at a mode, from two passes over the rows."""
        n, n_latent = mode.latent.shape
        marginal = np.empty((n, n_latent, n_latent))
        covariances = LatentCovariances.of(mode.whitener, n_latent)
        for part, Z in rows.blocks():
            marginal[part] = covariances(Z)
        J = mode.profile.shrinkage
        spread = J @ marginal @ J + mode.variance[:, None, None] * J
        bend = _bend(rows, mode, spread)
        v = rows.transposed(_products(J, bend)).T.ravel()
        u = (mode.whitener @ (mode.whitener.T @ v)).reshape(n_latent, -1).T
        return cls(rows, mode, marginal, spread, bend, u)

    def by_log_alpha(self) -> float:
        """Return the derivative by log alpha; the constant has a fixed precision."""
        mode, n_features = self.mode, self.rows.features.n_features
        n_latent, alpha = mode.weights.shape[1], float(mode.precision[0])
        weights = mode.weights[:n_features]
        whitener = mode.whitener.reshape(n_latent, -1, len(mode.whitener))[:, :n_features]
        degrees = n_features * n_latent - alpha * float(np.sum(whitener**2))
        explicit = 0.5 * (degrees - alpha * float(np.sum(weights**2)))
        by_weights = explicit - alpha * np.sum(self.u[:n_features] * weights)
        return float(by_weights - self.mode.variance @ self._by_variance())

    def _by_variance(self) -> Array:
        """Return the derivatives (g,) by the prior variances of the residuals."""
        mode = self.mode
        J, curvature = mode.profile.shrinkage, mode.profile.curvature
        slope = self.rows.slopes(mode.likelihood, mode.latent)
        explained = np.einsum("gij,gjk,gki->g", curvature, self.marginal, curvature)
        explicit = np.sum(slope**2, axis=1) - np.einsum("gii->g", curvature) + explained
        response = _products(J, self.bend) - _products(curvature, self.rows.product(self.u))
        return as_array(0.5 * explicit + np.sum(slope * response, axis=1))

    def by_parameters(self, names: tuple[str, ...]) -> Array:
        """Return the derivatives by the entries of the likelihood's parameter vector."""
        likelihood, latent, rows = self.mode.likelihood, self.mode.latent, self.rows
        response = rows.product(self.u) + self.mode.variance[:, None] * self.bend
        response = _products(self.mode.profile.shrinkage, response)
        vector = likelihood.vector(names)
        slopes = np.empty(len(vector))
        for k in range(len(vector)):
            shift = DIFFERENCE * (np.arange(len(vector)) == k)
            ends = [likelihood.with_vector(names, vector + sign * shift) for sign in (1.0, -1.0)]
            change = _difference(rows.log_densities, ends, latent).sum()
            change -= 0.5 * np.sum(self.spread * _difference(rows.curvatures, ends, latent))
            change += np.sum(response * _difference(rows.slopes, ends, latent))
            slopes[k] = change / (2.0 * DIFFERENCE)
        return slopes

    def by_kernel(self) -> "KernelSlopes":
        """Return the derivatives by values of the kernel, for features at landmarks."""
        features, rows, alpha = self.rows.features, self.rows, float(self.mode.precision[0])
        assert isinstance(features, LandmarkFeatures)
        q = features.n_features
        by_variance = self._by_variance() / alpha
        by_features, cross = np.zeros((q, q)), np.empty((q, len(by_variance)))
        for part, Z in rows.blocks():
            Z = Z[:, :q]
            G = self._by_features(part, Z) - 2.0 * by_variance[part, None] * Z
            by_features += G.T @ Z
            cross[:, part] = G.T
        cross = solve_triangular(features.lower, cross, lower=True, trans=1, overwrite_b=True)
        half = solve_triangular(features.lower, by_features, lower=True, trans=1)
        whole = solve_triangular(features.lower, half.T, lower=True, trans=1)
        return KernelSlopes(cross, -0.25 * (whole + whole.T), by_variance)

    def _by_features(self, part: slice, Z: Array) -> Array:
        """Return the derivatives (n, q) by the features ``Z`` of rows, without the constant."""
        mode, q = self.mode, Z.shape[1]
        n_latent = mode.latent.shape[1]
        weights, u = mode.weights[:q], self.u[:q]
        slope = self.rows.slopes(mode.likelihood, mode.latent)[part]
        J, curvature = mode.profile.shrinkage[part], mode.profile.curvature[part]
        constant = self.u[q:].sum(axis=0)
        pull = slope + _products(J, self.bend[part]) - _products(curvature, Z @ u + constant)
        by_features = pull @ weights.T + slope @ u.T
        whitener = mode.whitener.reshape(n_latent, self.rows.width, -1)
        ones = np.ones((len(Z), self.rows.width - q))
        for i, j in product(range(n_latent), repeat=2):
            # With the block (i, j) of the covariance of the weights
            Zj = np.hstack((Z, ones)) @ whitener[j] @ whitener[i, :q].T
            by_features -= curvature[:, i, j, None] * Zj
        return as_array(by_features)


@dataclass(frozen=True, slots=True, eq=False)
class KernelSlopes:
    """Derivatives by values of a kernel, as weights of changes of these values."""

    cross: Array  # (q, g): Between landmarks and rows
    landmarks: Array  # (q, q): Between landmarks
    diagonal: Array  # (g,): Of rows with themselves


def _bend(rows: LatentRows, mode: Mode, spread: Array) -> Array:
    """Return derivatives (g, L) of minus half the log determinant by latent values."""
    likelihood, latent = mode.likelihood, mode.latent
    # In closed form if the likelihood has one, else by central differences.
    exact = rows.curvature_slope(likelihood, latent, spread)
    if exact is not None:
        return -0.5 * exact
    n_latent = latent.shape[1]
    bend = np.empty_like(latent)
    step = DIFFERENCE * likelihood.unit
    for c in range(n_latent):
        shift = step * (np.arange(n_latent) == c)
        change = rows.curvatures(likelihood, latent + shift)
        change -= rows.curvatures(likelihood, latent - shift)
        bend[:, c] = -0.5 * np.sum(spread * change, axis=(1, 2)) / (2.0 * step)
    return bend


def _products(matrices: Array, vectors: Array) -> Array:
    """Return products (g, L) of matrices (g, L, L) and vectors (g, L)."""
    return as_array(np.einsum("gij,gj->gi", matrices, vectors))


def _difference(
    function: Callable[[Likelihood, Array], Array], ends: list[Likelihood], latent: Array
) -> Array:
    return as_array(function(ends[0], latent) - function(ends[1], latent))
