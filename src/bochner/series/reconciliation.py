r"""Reconciled forecasts of series, some of which are sums of other series.

Forecasts of all n series are projected so that sums add up, by weighted least squares with the
variances of the forecasts at each time: :math:`G = (S^T D^{-2} S)^{-1} S^T D^{-2}` maps forecasts
of all series to forecasts of the parts, and :math:`S` sums the parts [1]_. If errors are
independent, this is the mean of the joint law conditioned on the sums. Intervals and sample paths
come from projected draws. Before projection, a Gaussian copula with the correlations of the
one-step errors makes the draws dependent across series.

.. [1] Wickramasuriya, Athanasopoulos and Hyndman (2019), "Optimal forecast reconciliation for
   hierarchical and grouped time series through trace minimization", JASA 114, 804-819.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.series.value_transformations import TRANSFORMATIONS, PredictiveMixture

_N_POINTS = 2048  # Number of joint draws of the forecasts, a power of two for a Sobol sequence
_SEED = 0  # Seed of the scrambled Sobol sequence, fixed so that forecasts do not vary between calls

_N_KNOTS, _FARTHEST = 81, 6.0
"""Number of knots for normal scores of a predictive law, and their largest distance from the mean
in standard deviations. Interpolation is exact for a Gaussian, whose scores are linear."""

_FEWEST_COMMON = 8
"""Smallest number of common times from which the correlation of two series is estimated."""

_ROUNDING = 1e-6  # Tolerance for symmetry and unit diagonal of the correlations in a model file


@register(shapes={"summing": "nl", "parts": "l", "correlation": "nn", "has_floor": "l"})
@dataclass(frozen=True, eq=False)
class Reconciliation:
    """Sum constraints between series, and the correlations of their one-step forecast errors.

    ``summing`` (n, l) has one row for each of the n series, with ones at the parts it contains.
    ``parts`` (l,) are the positions of the parts among the series. Parts with ``has_floor`` are
    never negative.
    """

    names: list[str]
    summing: Array  # (n, l)
    parts: NDArray[np.int64]  # (l,)
    correlation: Array  # (n, n)
    has_floor: NDArray[np.bool_]  # (l,)

    def __post_init__(self) -> None:
        """Raise ValueError for inconsistent arrays, as in a damaged file."""
        n_parts = len(self.parts)
        if len(self.names) != len(self.summing) or not n_parts:
            raise ValueError("the summing matrix must have a row for every series")
        if not np.isin(self.summing, (0.0, 1.0)).all():
            raise ValueError("the summing matrix must have zeros and ones")
        are_places = self.parts.min() >= 0 and self.parts.max() < len(self.names)
        if not are_places or (self.summing[self.parts] != np.eye(n_parts)).any():
            raise ValueError("every part must be the sum of itself")
        is_far = np.abs(np.diagonal(self.correlation) - 1.0).max() > _ROUNDING
        if is_far or np.abs(self.correlation - self.correlation.T).max() > _ROUNDING:
            raise ValueError("correlations must be symmetric, with a diagonal of ones")

    @cached_property
    def root(self) -> Array:
        """The symmetric square root (n, n) of the correlation matrix."""
        values, vectors = np.linalg.eigh(self.correlation)
        root: Array = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        root /= np.linalg.norm(root, axis=1)[:, None]
        return root

    def projection(self, std: Array) -> Array:
        """Return the matrix G (l, n) from forecasts of all series to forecasts of the parts.

        ``std`` (n,) are the standard deviations of the forecasts. Series with a deviation of zero
        are unchanged unless their sums contradict each other.
        """
        n, parts = len(std), self.parts
        sums = np.setdiff1d(np.arange(n), parts)
        # Each row gives the forecast of a sum minus the summed forecasts of its parts.
        gaps = np.eye(n)[sums]
        gaps[:, parts] -= self.summing[sums]
        # Relative deviations, because squares of huge deviations overflow.
        relative = np.minimum(std, np.finfo(np.float64).max)
        relative = relative / max(relative.max(), np.finfo(np.float64).tiny)
        joint = (relative**2)[:, None] * gaps.T
        between = gaps @ joint
        # Scale the gaps, so that small sums are not lost to rounding in the pseudo-inverse.
        unit = np.sqrt(np.diagonal(between))
        unit = np.where(unit > 0.0, unit, 1.0)
        inverse = pinvh(between / unit[:, None] / unit) / unit[:, None] / unit
        projection: Array = np.eye(n)[parts] - joint[parts] @ inverse @ gaps
        return projection

    def forecast(self, laws: Sequence["ScoredLaw"]) -> list["DrawnForecast"]:
        """Return reconciled forecasts from the separate predictive law of each series."""
        points = qmc.Sobol(len(laws), rng=np.random.default_rng(_SEED))
        tiny = np.finfo(np.float64).eps
        scores = ndtri(np.clip(points.random(_N_POINTS), tiny, 1.0 - tiny)) @ self.root.T
        centres = np.column_stack([law.centre for law in laws])
        projections = self._projections(laws)
        together = np.array(
            [self._added_up(c, G) for c, G in zip(centres, projections, strict=True)]
        )
        draws = self._draws(laws, projections, lambda time: scores)
        return [DrawnForecast(*both) for both in zip(together.T, draws, strict=True)]

    def sample(self, laws: Sequence["ScoredLaw"], paths: Sequence[Array]) -> Array:
        """Return reconciled paths (n, N, h) from independent paths (N, h) of transformed values."""
        pairs = zip(laws, paths, strict=True)
        scores = np.stack([law.scores_of(path) for law, path in pairs], axis=2)
        return self._draws(laws, self._projections(laws), lambda t: scores[:, t] @ self.root.T)

    def _projections(self, laws: Sequence["ScoredLaw"]) -> list[Array]:
        """Return the projection matrix for each of the h times."""
        return [self.projection(std) for std in np.column_stack([law.std for law in laws])]

    def _added_up(self, values: Array, projection: Array) -> Array:
        """Return reconciled values (..., n) of all series from unreconciled values (..., n)."""
        parts = values @ projection.T
        parts = np.where(self.has_floor, np.maximum(parts, 0.0), parts)
        together: Array = parts @ self.summing.T
        return together

    def _draws(
        self,
        laws: Sequence["ScoredLaw"],
        projections: Sequence[Array],
        scores: Callable[[int], Array],
    ) -> Array:
        """Return reconciled draws (n, N, h), given the function from a time to scores (N, n)."""
        draws = []
        for time, projection in enumerate(projections):
            columns = zip(laws, scores(time).T, strict=True)
            values = np.column_stack([law.values_of(column, time) for law, column in columns])
            draws.append(self._added_up(values, projection))
        return np.stack(draws, axis=-1).swapaxes(0, 1)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredLaw:
    """Predictive quantile functions at h times, linear in the normal score between K knots.

    ``values`` (K, h) are transformed values, and ``scores`` (K, h) normal quantiles of their
    probabilities. ``centre`` (h,) and ``std`` (h,) belong to the untransformed values.
    """

    centre: Array
    std: Array
    values: Array
    scores: Array
    transformation: str

    @classmethod
    def of(cls, mixture: PredictiveMixture) -> "ScoredLaw":
        """Return the quantile functions of a predictive mixture."""
        weights, std = mixture.weights, np.sqrt(mixture.variances)
        mean = weights @ mixture.means
        spread = np.sqrt(weights @ (mixture.variances + (mixture.means - mean) ** 2))
        values = mean + np.linspace(-_FARTHEST, _FARTHEST, _N_KNOTS)[:, None] * spread
        gaps = (values[:, None] - mixture.means) / std
        tiny = np.finfo(np.float64).tiny
        # Compute both tails, because one minus a probability near one loses all digits.
        below, above = (
            ndtri(np.maximum(np.tensordot(ndtr(part), weights, (1, 0)), tiny))
            for part in (gaps, -gaps)
        )
        scores = np.where(below < 0.0, below, -above)
        return cls(mixture.centre(), mixture.std(), values, scores, mixture.transformation)

    def values_of(self, scores: Array, time: int) -> Array:
        """Return the values (N,) at normal scores (N,) for one time."""
        transformed = np.interp(scores, self.scores[:, time], self.values[:, time])
        return TRANSFORMATIONS[self.transformation].back(transformed)

    def scores_of(self, paths: Array) -> Array:
        """Return the normal scores (N, h) of paths (N, h) of transformed values."""
        columns = zip(paths.T, self.values.T, self.scores.T, strict=True)
        return np.column_stack([np.interp(*column) for column in columns])


@dataclass(frozen=True, slots=True, eq=False)
class DrawnForecast:
    """Point forecasts (h,) and equally likely values (N, h) at h times."""

    point: Array
    draws: Array

    def centre(self) -> Array:
        """Return the point forecasts (h,)."""
        return self.point

    def std(self) -> Array:
        """Return half of the width (h,) of the central 68.3 % intervals."""
        lower, upper = self.quantiles(ndtr(np.array([-1.0, 1.0]))).T
        half: Array = 0.5 * (upper - lower)
        return half

    def variance(self) -> Array:
        """Return the variances (h,) of the values."""
        variance: Array = self.draws.var(axis=0)
        return variance

    def quantiles(self, levels: Array) -> Array:
        """Return quantiles (h, q) at levels (q,) strictly between zero and one."""
        quantiles: Array = np.quantile(self.draws, levels, axis=0).T
        return quantiles


def error_correlation(errors: Array) -> Array:
    """Return correlations (n, n) of errors (T, n) with mean zero, NaN if unknown."""
    is_known = np.isfinite(errors)
    filled = np.where(is_known, errors, 0.0)
    counts = is_known.astype(np.float64).T @ is_known
    squares = (filled**2).T @ is_known  # Over rows where both are known
    scale = np.sqrt(squares * squares.T)
    is_usable = (counts >= _FEWEST_COMMON) & (scale > 0.0)
    correlation = np.where(is_usable, filled.T @ filled / np.where(is_usable, scale, 1.0), 0.0)
    np.fill_diagonal(correlation, 1.0)
    return _nearest_correlation(correlation)


def _nearest_correlation(matrix: Array) -> Array:
    """Return a correlation matrix close to a symmetric matrix (positive semi-definite)."""
    values, vectors = np.linalg.eigh(matrix)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    scale = np.sqrt(np.diagonal(clipped))  # At least one after clipping
    nearest: Array = clipped / scale[:, None] / scale
    np.fill_diagonal(nearest, 1.0)
    return nearest
