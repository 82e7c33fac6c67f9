"""Laplace's evidence: its gradient, and the precision and parameters of greatest evidence."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular

from bochner._base.arrays import Array, as_array
from bochner._base.descent import minimised
from bochner.features.chunks import Chunk
from bochner.features.landmarks import LandmarkFeatures, LatentFeatures
from bochner.gaussian_process.laplace import (
    CONSTANT_SPREAD,
    LaplacePosterior,
    LatentCovariances,
    LatentPoint,
    Mode,
    find_mode,
)
from bochner.gaussian_process.latent_rows import LatentRows
from bochner.gaussian_process.likelihood import Likelihood

DIFFERENCE = float(np.finfo(np.float64).eps ** (1.0 / 3.0))
"""Step of central differences, in units of the latent function or of the logarithm of a parameter.
The truncation error and the rounding error are both 4e-11 of the value. Newton steps in parameters
use the same step; its error would only be visible in a third step."""


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceSlopes:
    """Quantities at a mode from which all derivatives of the evidence are computed."""

    rows: LatentRows
    mode: Mode
    marginal: Array  # (g, L, L): Covariance S of z . w
    spread: Array  # (g, L, L)
    bend: Array  # (g, L)
    u: Array  # (P, L)

    @classmethod
    def of(cls, rows: LatentRows, mode: Mode) -> "EvidenceSlopes":
        """Return the quantities at a mode, from two passes over the rows."""
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
        """Return the derivative of the log evidence by log alpha; the constant keeps its prior."""
        mode, n_features = self.mode, self.rows.features.n_features
        n_latent, alpha = mode.weights.shape[1], float(mode.precision[0])
        weights = mode.weights[:n_features]
        whitener = mode.whitener.reshape(n_latent, -1, len(mode.whitener))[:, :n_features]
        degrees = n_features * n_latent - alpha * float(np.sum(whitener**2))
        explicit = 0.5 * (degrees - alpha * float(np.sum(weights**2)))
        by_weights = explicit - alpha * np.sum(self.u[:n_features] * weights)
        return float(by_weights - self.mode.variance @ self._by_variance())

    def _by_variance(self) -> Array:
        """Return the derivatives (g,) of the log evidence by the residuals' prior variances."""
        mode = self.mode
        J, curvature = mode.profile.shrinkage, mode.profile.curvature
        slope = self.rows.slopes(mode.likelihood, mode.latent)
        explained = np.einsum("gij,gjk,gki->g", curvature, self.marginal, curvature)
        explicit = np.sum(slope**2, axis=1) - np.einsum("gii->g", curvature) + explained
        response = _products(J, self.bend) - _products(curvature, self.rows.product(self.u))
        return as_array(0.5 * explicit + np.sum(slope * response, axis=1))

    def by_parameters(self, names: tuple[str, ...]) -> Array:
        """Return derivatives of the log evidence by the likelihood's unconstrained parameters."""
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
        """Return the derivatives of the log evidence by kernel values, for landmark features."""
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
        by_gram = solve_triangular(features.lower, half.T, lower=True, trans=1)
        return KernelSlopes(cross, -0.25 * (by_gram + by_gram.T), by_variance)

    def _by_features(self, part: slice, Z: Array) -> Array:
        """Return the derivatives (n, q) of the log evidence by landmark features ``Z`` of rows."""
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
    """Derivatives of the evidence with respect to values of a kernel."""

    cross: Array  # (q, g): Between landmarks and rows
    landmarks: Array  # (q, q): Between landmarks
    diagonal: Array  # (g,): Of rows with themselves


def _bend(rows: LatentRows, mode: Mode, spread: Array) -> Array:
    """Return derivatives (g, L) by latent values of minus half the Hessian's log determinant."""
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


_LOG_ALPHA = (np.log(1e-6), np.log(1e6))
"""Range of log alpha, for latent functions in their unit. The standard deviation of a unit kernel
is between a thousand units, more than a smooth function needs, and a thousandth, which is almost a
constant."""

_TOLERANCE = 1e-4
"""Largest derivative of the evidence at the end of L-BFGS, in nats per unit of a logarithm:
parameters are then exact to a hundredth of their posterior standard deviation, even if the evidence
is flat."""

_N_POLISHING = 2  # Number of final Newton steps, each of which doubles the number of digits
_MOST_STEPS = 100  # Largest number of L-BFGS steps; twenty are usual
_NEAR = 0.1  # Largest Newton step in logarithms: a longer step may lead to another maximum
_SUBSAMPLE = 1000  # Number of rows of a subsample on which the search starts
_MANY = 4
"""Least ratio of the number of rows to `_SUBSAMPLE` at which the search starts on a subsample."""


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceProblem:
    """Rows, a likelihood and a prior; features are arguments of the methods."""

    rows: Chunk  # With numeric targets and positive weights
    offset: Array  # (n,): Logarithms of exposures
    centre: float  # Prior mean of the constant
    likelihood: Likelihood  # With known or initial values of all parameters
    names: tuple[str, ...]  # Names of the learned parameters of the likelihood
    alpha: float | None  # Precision of the weights; None to learn it
    has_constant: bool

    def solved(self, features: LatentFeatures) -> tuple[Likelihood, LaplacePosterior]:
        """Return the likelihood with its parameters learned, and the posterior of the weights."""
        # The same features for all values: only alpha and parameters of the likelihood change.
        search = self.search(features)
        step = len(self.rows) // _SUBSAMPLE
        start = np.zeros(len(search.first))
        # Evenly spaced rows: no generator, so that results are reproducible.
        if start.size and step >= _MANY:
            some = replace(self, rows=self.rows[::step], offset=self.offset[::step])
            start = some.search(features).best(start)
        mode = search.mode(search.polished(search.best(start)))
        posterior = LaplacePosterior(
            coef=mode.weights,
            whitener=mode.whitener,
            centre=self.centre,
            alpha=float(mode.precision[0]),
            log_evidence=mode.log_evidence,
            n_iter=search.n_iter,
        )
        return mode.likelihood, posterior

    def search(self, features: LatentFeatures) -> "LaplaceSearch":
        """Return the search for the parameters, on the given features."""
        rows = LatentRows.of(self.rows, self.offset, self.centre, features, self.has_constant)
        return LaplaceSearch(rows, self.likelihood, self.alpha, self.names)


@dataclass(slots=True, eq=False)
class LaplaceSearch:
    """The negative log evidence per row, and its gradient, by changes of initial values."""

    rows: LatentRows
    likelihood: Likelihood
    alpha: float | None
    names: tuple[str, ...]
    first: Array = field(init=False)
    bounds: Array = field(init=False)  # (k, 2)
    size: float = field(init=False)
    n_iter: int = 0
    _point: LatentPoint | None = None  # The latest mode, where the next search starts

    def __post_init__(self) -> None:
        log_alpha = [] if self.alpha is not None else [-2.0 * np.log(self.likelihood.unit)]
        self.first = np.append(log_alpha, self.likelihood.vector(self.names))
        bounds = self.likelihood.bounds(self.names) - self.likelihood.vector(self.names)[:, None]
        self.bounds = bounds if self.alpha is not None else np.vstack((_LOG_ALPHA, bounds))
        self.size = max(float(self.rows.weight.sum()), 1.0)

    def mode(self, x: Array) -> Mode:
        """Return the mode of the weights at arguments ``x`` (k,)."""
        values = self.first + x
        log_alpha, vector = (values[0], values[1:]) if self.alpha is None else (None, values)
        alpha = self.alpha if log_alpha is None else np.exp(log_alpha)
        precision = np.full(self.rows.width, alpha)
        if self.rows.has_constant:
            precision[-1] = (CONSTANT_SPREAD * self.likelihood.unit) ** -2
        likelihood = self.likelihood.with_vector(self.names, vector)
        # The last mode is close: Newton's method needs few steps from it.
        mode = find_mode(self.rows, likelihood, precision, self._point)
        self._point, self.n_iter = mode.point, self.n_iter + mode.n_iter
        return mode

    def penalty(self, x: Array) -> tuple[float, Array]:
        r"""Return :math:`\log(1 + 1 / (\alpha s^2))` and its gradient by log alpha.

        It is the negative log of a half-Cauchy prior of scale ``s`` (Gelman, 2006).
        """
        slope, scale = np.zeros(len(x)), self.likelihood.signal_scale
        if self.alpha is not None or scale is None:
            return 0.0, slope
        ratio = float(np.exp(-x[0])) / scale**2
        slope[0] = -ratio / (1.0 + ratio)
        return float(np.log1p(ratio)), slope

    def slopes(self, x: Array) -> tuple[Mode, EvidenceSlopes]:
        """Return the mode at arguments ``x`` (k,), and the derivatives of the log evidence."""
        mode = self.mode(x)
        return mode, EvidenceSlopes.of(self.rows, mode)

    def by_numbers(self, slopes: EvidenceSlopes) -> Array:
        """Return the derivatives of the log evidence by the arguments of the loss."""
        by_alpha = [] if self.alpha is not None else [slopes.by_log_alpha()]
        return np.append(by_alpha, slopes.by_parameters(self.names))

    def value_and_slope(self, x: Array) -> tuple[float, Array]:
        """Return the loss per row and its gradient (k,)."""
        mode, slopes = self.slopes(x)
        penalty, slope = self.penalty(x)
        slope -= self.by_numbers(slopes)
        return (penalty - mode.log_evidence) / self.size, slope / self.size

    def best(self, x: Array) -> Array:
        """Return the arguments (k,) of the local minimum of the loss near ``x``."""
        if not x.size:
            return x
        return minimised(
            self.value_and_slope,
            x,
            n_steps=_MOST_STEPS,
            bounds=self.bounds,
            decrease=0.0,
            slope=_TOLERANCE / self.size,
        ).point

    def polished(self, x: Array) -> Array:
        """Return ``x`` after Newton steps towards a zero gradient; arguments at bounds are kept."""
        free = (x > self.bounds[:, 0]) & (x < self.bounds[:, 1])
        for _ in range(_N_POLISHING if free.any() else 0):
            slope = self.value_and_slope(x)[1][free]
            moved = x + DIFFERENCE * np.eye(len(x))[free]
            changes = np.array([self.value_and_slope(end)[1][free] for end in moved]) - slope
            with suppress(LinAlgError):
                step = np.linalg.solve(changes.T / DIFFERENCE, slope)
                if np.abs(step).max() < _NEAR:
                    x = x.copy()
                    x[free] -= step
        return np.clip(x, *self.bounds.T)
