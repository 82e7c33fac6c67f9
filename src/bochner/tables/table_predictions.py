"""Predictions of fitted heads in the units of a table's targets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner.features.chunks import Indicators
from bochner.tables.new_rows import NewRows
from bochner.tables.observations import Chosen
from bochner.tables.predictive import LEAST_STD, Pair, Predictive, ScoreLaw
from bochner.tables.weighted_sum import SumOfLaws

TRANSFORMATIONS = ("none", "log", "sqrt", "rank")
"""Names of transformations; ``"auto"`` chooses one of them."""

_MOST_KNOTS, _TARGETS_PER_KNOT = 100, 20
"""Most knots of ranks, and fewest targets between two: slopes have errors of a quarter."""

_OUTER = 0.1
"""Share of the knots at each end that determine the slope beyond the end."""

_LARGEST = 700.0
"""Largest logarithm that is transformed back: exponentials of larger ones overflow."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class Transformation:
    """An increasing function of a target: its logarithm, its root, or a curve by its ranks."""

    name: str
    curve: tuple[Array, Array] | None = None  # Increasing targets (k,) and images; "rank" only

    def __post_init__(self) -> None:
        if self.name not in TRANSFORMATIONS or (self.curve is None) == (self.name == "rank"):
            raise ValueError(
                f"There is no transformation {self.name!r} with curve={self.curve}: choose one of "
                f"{TRANSFORMATIONS}; only 'rank' has a curve."
            )
        if self.curve is not None:
            knots, images = self.curve
            if knots.shape != images.shape or knots.ndim != 1 or len(knots) < 2:
                raise ValueError("A curve of ranks needs two or more knots, and an image of each.")
            if not ((np.diff(knots) > 0.0).all() and (np.diff(images) > 0.0).all()):
                raise ValueError("Knots and images of a curve of ranks must increase.")

    @classmethod
    def of(cls, name: str, y: Array) -> "Transformation":
        """Return the transformation of a name; a curve of ranks is fitted to the targets (n,)."""
        if name == "log" and not np.min(y) > 0.0:
            raise ValueError(
                f"transformation='log' needs positive targets y, got {np.min(y):g}: use 'sqrt' "
                "for targets that may be zero, or 'rank' for any."
            )
        if name == "sqrt" and not np.min(y) >= 0.0:
            raise ValueError(
                f"transformation='sqrt' needs non-negative targets y, got {np.min(y):g}: "
                "use 'rank' for any."
            )
        return cls(name, _curve(y)) if name == "rank" else cls(name)

    def __call__(self, y: Array) -> Array:
        """Return transformed targets, of any shape."""
        if self.name == "log":
            return as_array(np.log(y))
        if self.name == "sqrt":
            return as_array(np.sqrt(y))
        if self.curve is not None:
            return _along(y, *self.curve)
        return y

    def inverse(self, z: Array) -> Array:
        """Return targets from transformed targets; negative square roots are clipped to zero."""
        if self.name == "log":
            return as_array(np.exp(np.minimum(z, _LARGEST)))
        if self.name == "sqrt":
            return as_array(np.square(np.maximum(z, 0.0)))
        if self.curve is not None:
            return _along(z, *self.curve[::-1])
        return z

    @property
    def n_knots(self) -> int:
        """Number of knots, which are parameters fitted to the targets."""
        return 0 if self.curve is None else len(self.curve[0])

    def log_slope(self, y: Array) -> Array:
        """Return logarithms of the derivative, which log densities of transformed targets gain."""
        if self.name == "log":
            return as_array(-np.log(y))
        if self.name == "sqrt":
            return as_array(-np.log(2.0 * np.sqrt(np.maximum(y, np.finfo(np.float64).tiny))))
        if self.curve is not None:
            knots, images = self.curve
            slopes = np.diff(images) / np.diff(knots)
            place = np.searchsorted(knots, y, side="right") - 1
            return as_array(np.log(slopes[np.clip(place, 0, len(slopes) - 1)]))
        return np.zeros(np.shape(y))


def _curve(y: Array) -> tuple[Array, Array]:
    """Return knots and normal quantiles of their ranks; a line if all targets are equal."""
    values, counts = np.unique(y, return_counts=True)
    if len(values) == 1:
        return values + np.array([-0.5, 0.5]), np.array([-0.5, 0.5])
    # Middle ranks of equal targets.
    middle = np.cumsum(counts) - 0.5 * counts
    count = min(_MOST_KNOTS, max(3, len(y) // _TARGETS_PER_KNOT))
    # Even ranks, not even values: a long tail would get most of the knots.
    places = np.linspace(0.0, len(y), count)
    some = np.unique(np.clip(np.searchsorted(middle, places), 0, len(values) - 1))
    some = np.unique(np.concatenate(([0], some, [len(values) - 1])))
    return values[some], as_array(ndtri(middle[some] / len(y)))


def _along(x: Array, knots: Array, images: Array) -> Array:
    """Return values of a piecewise linear curve, extrapolated by the slopes of its outer tenths."""
    values = np.interp(x, knots, images)
    count = max(1, int(_OUTER * len(knots)))
    for end, inner, side in ((0, count, x < knots[0]), (-1, -1 - count, x > knots[-1])):
        slope = (images[end] - images[inner]) / (knots[end] - knots[inner])
        values = np.where(side, images[end] + slope * (x - knots[end]), values)
    return as_array(values)


def most_likely(densities: Array) -> int:
    """Return the index of the best column of log densities (n, c), or 0 if it is hardly better."""
    best = int(np.argmax(densities.mean(axis=0)))
    # Paired differences have a smaller variance than differences of means.
    gains = densities[:, best] - densities[:, 0]
    is_better = np.mean(gains) > 2.0 * np.std(gains) / np.sqrt(len(gains))
    return best if is_better else 0


_FEWEST_AT_FLOOR = 8
"""Fewest targets at zero, or above twice the median, that make zero a floor: 2^-8 by chance."""

_NO_FLOOR = float(np.finfo(np.float64).min)
"""Floor of a target that has no floor, among several targets: model files hold finite numbers."""

_WITHIN = 0.4
"""Probability of the interval around a prediction beyond the range that reaches to the linear
extrapolation: less than a half, as slopes at the ends are estimated too small."""


@dataclass(frozen=True, slots=True, eq=False)
class ScaledTargets:
    """Map of targets (n,) or (n, t) to standard deviations away from the mean, and back."""

    mean: Any  # () or (t,)
    scale: Any  # () or (t,)
    transformation: Transformation | None = None
    floor: Any = None  # () or (t,)

    @classmethod
    def of(
        cls, y: NDArray[Any], weights: Array | None, transformation: Transformation | None = None
    ) -> "ScaledTargets":
        """Return the map fitted to targets (n,) or (n, t) with weights (n,), by default ones."""
        floors = np.apply_along_axis(floor_of, 0, y)
        floor = plain(floors) if (floors > _NO_FLOOR).any() else None
        y = y if transformation is None else transformation(y)
        mean = plain(np.average(y, axis=0, weights=weights))
        scale = np.sqrt(np.average((y - mean) ** 2, axis=0, weights=weights))
        return cls(mean, plain(np.where(scale > 0.0, scale, 1.0)), transformation, floor)

    @property
    def slope(self) -> Any:
        """Slopes () or (t,) of :meth:`inverse` if it is linear, else ``None``."""
        is_line = self.transformation is None and self.floor is None
        return self.scale if is_line else None

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the scaled targets as a matrix (n, t), to which base models are fitted."""
        return self.scaled(y).reshape(len(y), -1)

    def scaled(self, y: NDArray[Any]) -> Array:
        """Return the scaled targets in the shape (n,) or (n, t) of the targets."""
        if self.transformation is not None:
            y = self.transformation(y)
        return as_array((y - self.mean) / self.scale)

    def inverse(self, values: Array) -> Array:
        """Return targets (n, *t) or (n, *t, q) from scaled targets."""
        mean, scale = self.mean, self.scale
        if np.ndim(values) > 1 + np.ndim(mean):
            mean, scale = np.expand_dims(mean, -1), np.expand_dims(scale, -1)
        targets = as_array(mean + scale * values)
        if self.transformation is not None:
            targets = self.transformation.inverse(targets)
        return targets if self.floor is None else at_least(targets, self.floor)


def at_least(targets: Array, floor: Any) -> Array:
    """Raise targets (n, *t) or (n, *t, q) below a floor (*t) to that floor."""
    if np.ndim(targets) > 1 + np.ndim(floor):
        floor = np.expand_dims(floor, -1)
    return as_array(np.maximum(targets, floor))


def centred_indicators(
    y: NDArray[np.integer], weights: Array | None
) -> Callable[[NDArray[Any]], Array]:
    """Return the map of class indices (n,) to indicators (n, t) minus their means in the sample."""
    indicators = Indicators(np.unique(y))
    return partial(_centred, indicators, np.average(indicators(y), axis=0, weights=weights))


def _centred(indicators: Indicators, centre: Array, y: NDArray[Any]) -> Array:
    return indicators(y) - centre


def floor_of(y: NDArray[Any]) -> float:
    """Return zero as floor if targets (n,) are non-negative and come near zero, else no floor."""
    if not np.min(y) >= 0.0:
        return _NO_FLOOR
    n_expected = max(np.sum(y == 0.0), np.sum(y > 2.0 * np.median(y)))
    return 0.0 if n_expected >= _FEWEST_AT_FLOOR else _NO_FLOOR


def plain(value: Any) -> float | Array:
    """Return an array (t,) unchanged, and a scalar as a float."""
    return as_array(value) if np.ndim(value) else float(value)


@dataclass(frozen=True, slots=True, eq=False)
class NumberPredictor:
    """Predicts numbers of shape (n, *t) from encoded rows (n, d)."""

    head: SumOfLaws
    targets: ScaledTargets

    def outputs(self, X: Array) -> Array:
        """Return scaled means as targets (n, *t), without the effect of the spread on means."""
        return self.targets.inverse(as_array(self.head.predict(X, are_similar=True)))

    def predictive(self, rows: NewRows, weight: Array | None = None) -> "RowDistributions":
        """Return the distributions of new targets with weights (n,), by default one."""
        law, targets, parts = self.head.law, self.targets, []
        change, variance = self._far(rows)

        def add(places: Chosen, completed: Array, index: Chosen) -> None:
            of_rows, n_draws = None, index.shape[1]
            if weight is not None:
                # A completion has the weight of its row.
                completed = completed[index.ravel()]
                index = np.arange(len(completed), dtype=np.int64).reshape(-1, n_draws)
                of_rows = np.repeat(weight[places], n_draws)
            mean, std = (part[index] for part in self.head.components(completed, of_rows))
            between = np.var(mean, axis=1, keepdims=True)
            excess = rows.level_excess[places].reshape(-1, *(1,) * (mean.ndim - 1)) * between
            mean = _spread(mean) + change[places][:, None]
            # Of means, the spread beyond ranges is at most that of the scaled targets, one.
            spreads = variance[places][:, None], np.minimum(variance[places], law.std**-2)[:, None]
            std, near = (np.sqrt(std**2 + each + excess / law.std**2) for each in spreads)
            shares = np.full(index.shape, 1.0 / n_draws)
            of_means = near if np.any(near < std) else None
            part = Predictive(mean, std, shares, law, targets.inverse, targets.slope, of_means)
            parts.append((places, part))

        if len(rows.complete):
            add(rows.complete, rows.encoded[rows.complete], np.arange(len(rows.complete))[:, None])
        for completions in rows.completions():
            add(*completions)
        return RowDistributions(len(rows), parts)

    def _means(self, X: Array) -> Array:
        return as_array(self.head.predict(X))

    def _far(self, rows: NewRows) -> Pair:
        """Return changes of scaled means and variances for rows beyond the range of the fit."""
        shape = (len(rows), *np.shape(self.targets.mean))
        change, variance = np.zeros(shape), np.zeros(shape)
        if (far := rows.far) is not None:
            changes, rest = far.continued(self._means)
            ends = self.head.law.quantiles(np.array([0.5 - _WITHIN / 2, 0.5 + _WITHIN / 2]))
            half = np.maximum(0.5 * np.diff(ends)[..., 0], LEAST_STD)
            growth = self.head.growth(far.encoded, far.shifted())
            change[far.rows] = changes.sum(axis=1)
            variance[far.rows] = np.maximum(growth, (rest / half) ** 2)
        return change, variance

    def changes_by_column(self, rows: NewRows) -> Array:
        """Return changes (n, d, k) of outputs due to each column's numbers beyond its range."""
        n_outputs = np.size(self.targets.mean)
        changes = np.zeros((len(rows), len(rows.blocks), n_outputs))
        if (far := rows.far) is not None:
            scaled, _ = far.continued(self._means)
            mean = self._means(far.encoded)
            total = scaled.sum(axis=1)
            added = self.targets.inverse(mean + total) - self.targets.inverse(mean)
            # In proportion to the changes of the scaled mean, where these do not cancel.
            ratio = np.divide(added, total, out=np.zeros(total.shape), where=total != 0.0)
            of_rows = scaled * ratio[:, None]
            changes[far.rows] = of_rows.reshape(len(far.rows), len(rows.blocks), n_outputs)
        return changes

    def mean(self, rows: NewRows, weight: Array | None = None) -> Array:
        """Return predictive means (n, *t)."""
        if self.targets.slope is None or weight is not None:
            return self.predictive(rows, weight).mean_and_std()[0]
        # Computed from means only: variances take longer.
        mean = rows.averaged(self._means)
        if (far := rows.far) is not None:
            mean[far.rows] += far.continued(self._means)[0].sum(axis=1)
        return self.targets.inverse(mean)

    def covariances(self, rows: NewRows, weight: Array | None = None) -> Pair:
        """Return predictive means (n, *t) and covariances (n, n, *t)."""
        if self.targets.transformation is not None:
            raise ValueError(
                "return_cov=True needs untransformed targets, and these are transformed "
                f"({self.targets.transformation.name!r}): take return_std=True, or "
                "transformation='none'."
            )
        draws = [
            cast(Pair, self.head.predict(X, return_cov=True, sample_weight=weight))
            for X in rows.drawn()
        ]
        scaled_mean = np.mean([mean for mean, _ in draws], axis=0)
        scaled_cov = np.mean([cov for _, cov in draws], axis=0)
        diagonal = np.einsum("ii...->i...", scaled_cov)
        # Unknown entries of different rows are independent.
        diagonal += np.var(_spread(np.stack([mean for mean, _ in draws], axis=1)), axis=1)
        change, variance = self._far(rows)
        scaled_mean = scaled_mean + change
        diagonal += variance * as_array(self.head.law.std) ** 2
        if self.targets.slope is not None:
            return self.targets.inverse(scaled_mean), self.targets.slope**2 * scaled_cov
        # A floor reduces deviations; correlations are computed without it.
        mean, std = self.predictive(rows, weight).mean_and_std()
        ratio = std / np.maximum(np.sqrt(diagonal), np.finfo(np.float64).tiny)
        return mean, scaled_cov * ratio * ratio[:, None]


def _spread(means: Array) -> Array:
    """Return means (n, D, *t) of D draws, moved apart to have the variance of a new draw."""
    n_draws = means.shape[1]
    if n_draws == 1:
        return means
    centre = means.mean(axis=1, keepdims=True)
    return as_array(centre + np.sqrt((n_draws + 1) / (n_draws - 1)) * (means - centre))


@dataclass(frozen=True, slots=True, eq=False)
class RowDistributions:
    """Predictive distributions of rows with different numbers of components."""

    n_rows: int
    parts: list[tuple[Chosen, Predictive]]  # Indices of rows, with their distributions

    def mean_and_std(self) -> Pair:
        """Return means and standard deviations (n, *t) of new targets."""
        means, stds = zip(*(part.mean_and_std() for _, part in self.parts), strict=True)
        return self._joined(means), self._joined(stds)

    def interval(self, level: float) -> Pair:
        """Return lower and upper ends (n, *t) of central intervals of probability ``level``."""
        ends = self.quantiles(np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level]))
        return ends[..., 0], ends[..., 1]

    def quantiles(self, levels: Array) -> Array:
        """Return quantiles (n, *t, q) at levels (q,)."""
        return self._joined([part.quantiles(levels) for _, part in self.parts])

    def sample(self, count: int, rng: Generator) -> Array:
        """Return independent draws (n, *t, count) of new targets."""
        return self._joined([part.sample(count, rng) for _, part in self.parts])

    def _joined(self, values: Sequence[Array]) -> Array:
        joined = np.empty((self.n_rows, *values[0].shape[1:]))
        for (rows, _), of_rows in zip(self.parts, values, strict=True):
            joined[rows] = of_rows
        return joined


def joined(tables: Sequence[RowDistributions]) -> RowDistributions:
    """Return the distributions of the rows of several tables."""
    starts = np.cumsum([0, *(table.n_rows for table in tables)])
    pairs = zip(starts, tables, strict=False)
    parts = [(first + rows, law) for first, table in pairs for rows, law in table.parts]
    return RowDistributions(int(starts[-1]), parts)


def expected_error(
    targets: ScaledTargets, law: ScoreLaw, left_out: Pair, y: Array, weights: Array
) -> float | Array:
    """Return root mean square errors (*t) of left-out means and factors (s, *t) for targets."""
    expected, _ = Predictive.of_rows(*left_out, law, targets.inverse).mean_and_std()
    squares = (y - expected) ** 2
    return plain(np.sqrt(np.mean((squares.T * weights).T, axis=0)))
