r"""Reconciled forecasts of series of which some are sums of others.

Every series has a law of its values at a time. The laws are joined by a Gaussian copula, whose
correlations are those of the one-step errors. Draws of all series are then projected to sums that
add up, with the smallest total variance of the errors (minimum trace, [1]_):
:math:`G = (S^T W^{-1} S)^{-1} S^T W^{-1}` maps forecasts of all series to those of the parts, and
:math:`S` adds these up. For Gaussian laws the result is the joint law conditioned on the sums.

.. [1] Wickramasuriya, Athanasopoulos and Hyndman (2019), "Optimal forecast reconciliation for
   hierarchical and grouped time series through trace minimization", JASA 114, 804-819.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from bochner._numerics.arrays import Array
from bochner._numerics.threads import in_a_thread
from bochner.learning.series.mixture import PredictiveMixture
from bochner.learning.series.transformations import TRANSFORMATIONS
from bochner.registry import register

_N_POINTS = 2048
"""Number of points at which laws of sums are computed, a power of two for a Sobol sequence. Ends of
90 % intervals then vary by about a hundredth of a standard deviation."""

_SEED = 0
"""Seed of the scrambled points: the same for all forecasts, which so do not vary between calls."""

_N_KNOTS, _FARTHEST = 161, 6.0
"""Values at which the normal scores of a law are computed, and their largest distance from the
mean in standard deviations. Scores of a Gaussian are linear, so that interpolation is exact."""

_FEWEST_COMMON = 8
"""Smallest number of common times from which the correlation of two series is estimated."""

_ROUNDING = 1e-6
"""Deviation of correlations in a model file from those of a correlation matrix, by rounding."""


@register(shapes={"summing": "nl", "parts": "l", "correlation": "nn", "has_floor": "l"})
@dataclass(frozen=True, eq=False)
class Reconciliation:
    """Sums of series, and correlations of the errors of their one-step forecasts.

    ``summing`` (n, l) has one row for each of the n series, with ones at the parts it contains.
    ``parts`` (l,) are the positions of the parts among the series. Parts with ``has_floor`` are
    never negative. ``shrinkage`` of the correlations by the weights of the projection is that of
    Schäfer and Strimmer.
    """

    names: list[str]
    summing: Array  # (n, l)
    parts: NDArray[np.int64]  # (l,)
    correlation: Array  # (n, n)
    shrinkage: float
    has_floor: NDArray[np.bool_]  # (l,)

    def __post_init__(self) -> None:
        """Raise ValueError for arrays that are not those of sums, as in a damaged file."""
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
        if not 0.0 <= self.shrinkage <= 1.0:
            raise ValueError("the shrinkage must be between zero and one")

    @cached_property
    def root(self) -> Array:
        """The symmetric root (n, n) of the correlations.

        Of all roots it changes independent scores least, so that sample paths of a series keep
        their shape.
        """
        values, vectors = np.linalg.eigh(self.correlation)
        root: Array = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return root / np.linalg.norm(root, axis=1)[:, None]

    def projection(self, std: Array) -> Array:
        """Return the matrix G (l, n) from forecasts of all series to those of the parts.

        ``std`` (n,) are the standard deviations of the errors.
        """
        shrunk = (1.0 - self.shrinkage) * self.correlation + self.shrinkage * np.eye(len(std))
        cov = std[:, None] * shrunk * std
        n, parts = len(std), self.parts
        sums = np.setdiff1d(np.arange(n), parts)
        # Gaps between the forecast of each sum and that of its parts.
        gaps = np.eye(n)[sums]
        gaps[:, parts] -= self.summing[sums]
        joint = cov @ gaps.T
        between = gaps @ joint
        # Units of the sums, so that eigenvalues of small ones are no rounding errors.
        unit = np.sqrt(np.diagonal(between))
        unit = np.where(unit > 0.0, unit, 1.0)
        inverse = pinvh(between / unit[:, None] / unit) / unit[:, None] / unit
        projection: Array = np.eye(n)[parts] - joint[parts] @ inverse @ gaps
        return projection

    def add_up(self, draws: Array) -> Array:
        """Return draws (N, n) of all series that add up, from draws (N, n) that do not."""
        of_parts = draws @ self.projection(draws.std(axis=0)).T
        of_parts = np.where(self.has_floor, np.maximum(of_parts, 0.0), of_parts)
        together: Array = of_parts @ self.summing.T
        return together

    def forecast(self, laws: Sequence["ScoredLaw"]) -> Iterator["DrawnForecast"]:
        """Yield the forecast of each series, from its law without the sums."""
        n = len(laws)
        points = in_a_thread(qmc.Sobol, n, rng=np.random.default_rng(_SEED)).random(_N_POINTS)
        tiny = np.finfo(np.float64).eps
        scores = ndtri(np.clip(points, tiny, 1.0 - tiny)) @ self.root.T
        for column in np.moveaxis(self._added_up(laws, lambda _: scores), 2, 0):
            yield DrawnForecast(column)

    def sample(self, laws: Sequence["ScoredLaw"], paths: Sequence[Array]) -> Iterator[Array]:
        """Yield paths (N, h) of each series that add up, from independent ones of transforms."""
        scores = np.stack(
            [law.scores_of(path) for law, path in zip(laws, paths, strict=True)], axis=2
        )
        yield from np.moveaxis(
            self._added_up(laws, lambda time: scores[:, time] @ self.root.T), 2, 0
        )

    def _added_up(self, laws: Sequence["ScoredLaw"], scores) -> Array:
        """Return draws (N, h, n) at all times, whose normal scores (N, n) a function returns."""
        n_times = laws[0].values.shape[1]
        together = []
        for time in range(n_times):
            columns = zip(laws, scores(time).T, strict=True)
            draws = np.column_stack([law.values_of(column, time) for law, column in columns])
            together.append(self.add_up(draws))
        return np.stack(together, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredLaw:
    """Laws of a value at h times as functions of a normal score, linear between K knots.

    ``values`` (K, h) are transformed values, and ``scores`` (K, h) normal quantiles of their
    probabilities.
    """

    values: Array
    scores: Array
    transformation: str

    @classmethod
    def of(cls, mixture: PredictiveMixture) -> "ScoredLaw":
        """Return the laws of a mixture."""
        weights, std = mixture.weights, np.sqrt(mixture.variances)
        mean = weights @ mixture.means
        spread = np.sqrt(weights @ (mixture.variances + (mixture.means - mean) ** 2))
        values = mean + np.linspace(-_FARTHEST, _FARTHEST, _N_KNOTS)[:, None] * spread
        gaps = (values[:, None] - mixture.means) / std
        tiny = np.finfo(np.float64).tiny
        # Both tails, because a probability near one has no digits of its distance to one.
        below, above = (
            ndtri(np.maximum(np.tensordot(ndtr(part), weights, (1, 0)), tiny))
            for part in (gaps, -gaps)
        )
        return cls(values, np.where(below < 0.0, below, -above), mixture.transformation)

    def values_of(self, scores: Array, time: int) -> Array:
        """Return values (N,) with some normal scores (N,) at one of the times."""
        transformed = np.interp(scores, self.scores[:, time], self.values[:, time])
        return TRANSFORMATIONS[self.transformation].back(transformed)

    def scores_of(self, paths: Array) -> Array:
        """Return the normal scores (N, h) of paths (N, h) of transformed values."""
        columns = zip(paths.T, self.values.T, self.scores.T, strict=True)
        return np.column_stack([np.interp(*column) for column in columns])


@dataclass(frozen=True, slots=True, eq=False)
class DrawnForecast:
    """Equally likely values (N, h) at h times."""

    draws: Array

    def centre(self) -> Array:
        """Return the means (h,)."""
        return self.draws.mean(axis=0)

    def std(self) -> Array:
        """Return the standard deviations (h,)."""
        return self.draws.std(axis=0)

    def quantiles(self, levels: Array) -> Array:
        """Return quantiles (h, q) at levels (q,) strictly between zero and one."""
        quantiles: Array = np.quantile(self.draws, levels, axis=0).T
        return quantiles


def error_correlation(errors: Array) -> tuple[Array, float]:
    r"""Return correlations (n, n) of errors (T, n) with NaN, and their shrinkage to zero.

    The shrinkage is :math:`\sum \operatorname{Var}(r_{ij}) / \sum r_{ij}^2` over pairs (Schäfer and
    Strimmer 2005). Each pair has the times at which both errors are known.
    """
    is_known = np.isfinite(errors)
    filled = np.where(is_known, errors, 0.0)
    scale = np.sqrt(np.sum(filled**2, axis=0) / np.maximum(is_known.sum(axis=0), 1))
    filled = filled / np.where(scale > 0.0, scale, 1.0)
    counts = is_known.astype(np.float64).T @ is_known
    enough = np.maximum(counts, _FEWEST_COMMON)
    means = np.where(counts < _FEWEST_COMMON, 0.0, filled.T @ filled / enough)
    # Products of the errors of two series have these means and variances.
    variances = np.maximum((filled**2).T @ filled**2 / enough - means**2, 0.0) / (enough - 1.0)
    pairs = ~np.eye(errors.shape[1], dtype=bool)
    squares = float(np.sum(means[pairs] ** 2))
    shrinkage = 1.0 if not squares else min(1.0, float(np.sum(variances[pairs])) / squares)
    return _nearest_correlation(means), shrinkage


def _nearest_correlation(matrix: Array) -> Array:
    """Return a positive semi-definite matrix with a diagonal of ones, near a symmetric one."""
    values, vectors = np.linalg.eigh(matrix)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    scale = np.sqrt(np.diagonal(clipped))
    scale = np.where(scale > 0.0, scale, 1.0)
    nearest = clipped / scale[:, None] / scale
    np.fill_diagonal(nearest, 1.0)
    return nearest
