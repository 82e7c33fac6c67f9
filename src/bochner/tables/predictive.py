r"""The predictive distribution of new targets, from which all predictions of numbers are computed.

A new target is :math:`h(m + s\,Q(U))` with the mean :math:`m` and standard deviation :math:`s` of
its row, quantiles :math:`Q` of errors, and an increasing map :math:`h`, or a mixture of these.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from bochner._base.arrays import Array, as_array
from bochner._base.warn import warn_user

Pair = tuple[Array, Array]
"""Two arrays of the same shape (n, *t)."""

_TAIL_SHARE = 0.5
"""Scores of each tail, in square roots of their number: their share vanishes with more scores."""

_FEWEST_FOR_TAILS = 4
"""Fewest scores for tails: each tail needs two scores and both medians stay in the middle."""

_TAIL_KNOTS = 24
"""Knots of each tail: lines between them deviate by a hundredth of a standard deviation."""

_LAST = 1e-4
"""Smallest probability in a tail, beyond which quantiles are constant: exponentials have means."""

_BODY_CELLS, _TAIL_CELLS = 98, 24
"""Cells of probability for integrals: moments of exponentials have errors below a hundredth."""

_TAIL_CELL, _LEAST_CELL = 0.01, 1e-6
"""Largest and smallest probability beyond the cells of a tail for integrals."""

_BISECTIONS = 60
"""Number of bisections of a mixture's quantile: 2 to this power is the precision of a number."""

_MOST_VALUES = 1 << 22
"""Largest number of values of one block of rows, so that each array has at most 32 MB."""

_SAME_RANK = 1e-6
"""Tolerance for the rounding of ranks, such as 0.9 times the number of scores."""


LEAST_STD = 1e-150
"""Standard deviation of errors that are all zero, as of equal targets: its square is positive."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreLaw:
    r"""The distribution of a new standardised error, estimated from left-out errors (scores).

    The quantile at the level :math:`k / (s + 1)` is the k-th smallest of :math:`s` scores. The
    outermost :math:`\sqrt s / 2` scores on each side are replaced by the tail of a normal law with
    the same mean excess. All quantiles are shifted so that the mean is zero.
    """

    levels: Array  # (k,): Increasing, from 0 to 1
    values: Array  # (*t, k): Quantiles at the levels
    ranks: NDArray[np.intp]  # (s, *t): Ranks of the scores of each target, from 0

    @classmethod
    def of(cls, scores: Array) -> "ScoreLaw":
        """Estimate the error distribution of each target from scores (s, *t)."""
        columns = scores.reshape(len(scores), -1)
        ordered = np.sort(columns, axis=0)
        ranks = np.argsort(np.argsort(columns, axis=0, kind="stable"), axis=0)
        values = np.stack([_with_tails(target)[1] for target in ordered.T])
        levels = _with_tails(ordered[:, 0])[0]
        values -= (0.5 * (values[:, 1:] + values[:, :-1]) @ np.diff(levels))[:, None]
        of_target = scores.shape[1:]
        return cls(levels, values.reshape(*of_target, -1), ranks.reshape(scores.shape))

    @property
    def std(self) -> Array:
        """Standard deviations (*t) of the errors."""
        lower, upper = self.values[..., :-1], self.values[..., 1:]
        # Mean square of a linear interpolation; the mean is zero.
        squares = (lower**2 + lower * upper + upper**2) / 3.0
        return as_array(np.maximum(np.sqrt(squares @ np.diff(self.levels)), LEAST_STD))

    def quantiles(self, levels: Array) -> Array:
        """Return quantiles (*t, q) at levels (q,)."""
        columns = self.values.reshape(-1, len(self.levels))
        of_targets = np.stack([np.interp(levels, self.levels, values) for values in columns])
        return of_targets.reshape(*self.values.shape[:-1], *np.shape(levels))

    def distribution(self, errors: Array) -> Array:
        """Return the cumulative probabilities (..., *t) of ``errors`` (..., *t)."""
        if self.values.ndim == 1:
            return _interpolated(errors, self.values, self.levels)
        probabilities = np.empty(errors.shape)
        for target, values in enumerate(self.values):
            probabilities[..., target] = _interpolated(errors[..., target], values, self.levels)
        return probabilities

    def nodes(self) -> Pair:
        """Return quadrature nodes: mean errors (*t, k) and probabilities (k,) of cells."""
        edges = _edges()
        levels = np.union1d(edges, self.levels)
        values = self.quantiles(levels)
        pieces = 0.5 * (values[..., 1:] + values[..., :-1]) * np.diff(levels)
        sums = np.add.reduceat(pieces, np.searchsorted(levels, edges[:-1]), axis=-1)
        return sums / np.diff(edges), np.diff(edges)

    def sample(self, shape: tuple[int, ...], n_targets: int | None, rng: Generator) -> Array:
        """Return draws of errors; ``shape`` is followed by (n_targets,) unless it is ``None``."""
        n_scores = len(self.ranks)
        rows, places = rng.integers(n_scores, size=shape), rng.uniform(size=shape)
        if self.values.ndim == 1:
            # A random rank plus a uniform fraction is a uniform level.
            return np.interp((self.ranks[rows] + places) / n_scores, self.levels, self.values)
        levels = (self.ranks[rows] + places[..., None]) / n_scores
        draws = [np.interp(levels[..., t], self.levels, of) for t, of in enumerate(self.values)]
        return np.stack(draws, axis=-1)

    def check(self, levels: Array) -> None:
        """Warn if quantiles at ``levels`` need more scores, and say how many."""
        n_scores, tails = len(self.ranks), np.minimum(levels, 1.0 - levels)
        least = int(np.ceil(1.0 / tails.min() - 1.0 - _SAME_RANK))
        if n_scores < least:
            level = levels[np.argmin(tails)]
            warn_user(
                f"A quantile of level {level:g} needs the errors of at least {least:,} left-out "
                f"rows, but there are {n_scores:,}: the quantile is extrapolated from the largest "
                "errors. Choose a level nearer to one half, or fit more rows."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Predictive:
    """Distributions of new targets: mixtures of D components for each of n rows."""

    mean: Array  # (n, D, *t): Scaled means
    std: Array  # (n, D, *t): Factors of the standardised errors
    weight: Array  # (n, D): Probabilities of the components
    law: ScoreLaw  # Distribution of the standardised errors
    inverse: Callable[[Array], Array]  # Increasing, from scaled values (n, *t) or (n, *t, q)
    slope: Array | float | None = None  # (*t): Slopes of a linear inverse
    nearer: Array | None = None  # (n, D, *t): Factors for means, with less spread beyond ranges

    @classmethod
    def of_rows(
        cls,
        mean: Array,
        std: Array,
        law: ScoreLaw,
        inverse: Callable[[Array], Array],
        slope: Array | float | None = None,
    ) -> "Predictive":
        """Return distributions with one component per row, given means and factors (n, *t)."""
        return cls(mean[:, None], std[:, None], np.ones((len(mean), 1)), law, inverse, slope)

    def mean_and_std(self) -> Pair:
        """Return means (n, *t), with the spread of ``nearer``, and deviations about them."""
        if self.slope is None:
            parts = [self._integrated(rows) for rows in self._blocks(len(_edges()))]
            mean, std = (np.concatenate(part) for part in zip(*parts, strict=True))
            if self.nearer is not None:
                centre, _ = replace(self, std=self.nearer, nearer=None).mean_and_std()
                mean, std = centre, np.hypot(std, mean - centre)
            return mean, std
        weight = self._expanded(self.weight, self.mean)
        mean = np.sum(weight * self.mean, axis=1)
        away = (self.mean - mean[:, None]) ** 2
        variance = np.sum(weight * ((self.law.std * self.std) ** 2 + away), axis=1)
        return self.inverse(mean), as_array(self.slope * np.sqrt(variance))

    def quantiles(self, levels: Array) -> Array:
        """Return quantiles (n, *t, q) at levels (q,); warn if there are too few scores for them."""
        self.law.check(levels)
        blocks = self._blocks(len(levels))
        return self.inverse(np.concatenate([self._quantiles(rows, levels) for rows in blocks]))

    def sample(self, count: int, rng: Generator) -> Array:
        """Return independent draws (n, *t, count) of new targets."""
        n = len(self.mean)
        places = np.cumsum(self.weight, axis=1)[:, :-1]
        drawn = np.zeros((n, count), dtype=np.intp)
        if places.shape[1]:
            uniform = rng.uniform(size=(n, count, 1))
            drawn = np.sum(uniform > places[:, None], axis=2)
        rows = np.arange(n)[:, None]
        n_targets = self.mean.shape[2] if self.mean.ndim > 2 else None
        errors = self.law.sample((n, count), n_targets, rng)
        values = self.mean[rows, drawn] + self.std[rows, drawn] * errors
        return self.inverse(np.moveaxis(values, 1, -1))

    def _quantiles(self, rows: slice, levels: Array) -> Array:
        """Return quantiles (n', *t, q) of the scaled targets of a block of rows."""
        ends = self.mean[rows][..., None] + self.std[rows][..., None] * self.law.quantiles(levels)
        if ends.shape[1] == 1:
            return as_array(ends[:, 0])
        # Quantiles of a mixture are between the least and the greatest quantile of its components.
        lower, upper = ends.min(axis=1), ends.max(axis=1)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (lower + upper)
            is_below = self._distribution(rows, middle) < levels
            lower, upper = np.where(is_below, middle, lower), np.where(is_below, upper, middle)
        return as_array(upper)

    def _distribution(self, rows: slice, values: Array) -> Array:
        """Return probabilities (n', *t, q) of scaled targets up to ``values`` (n', *t, q)."""
        away = np.moveaxis(values, -1, 1)[:, :, None] - self.mean[rows][:, None]  # (n', q, D, *t)
        std = np.maximum(self.std[rows], np.finfo(np.float64).tiny)[:, None]
        probabilities = self.law.distribution(away / std)
        weight = self._expanded(self.weight[rows][:, None], probabilities)
        return np.moveaxis(np.sum(weight * probabilities, axis=2), 1, -1)

    def _integrated(self, rows: slice) -> Pair:
        """Return means and standard deviations (n', *t) of a block of rows by quadrature."""
        errors, shares = self.law.nodes()
        values = self.mean[rows][..., None] + self.std[rows][..., None] * errors
        values = np.moveaxis(values, 1, -2)  # (n', *t, D, k)
        flat = self.inverse(values.reshape(*values.shape[:-2], -1))
        weight = (self.weight[rows][..., None] * shares).reshape(len(flat), -1)
        weight = weight.reshape(len(flat), *(1,) * (flat.ndim - 2), -1)
        mean = as_array(np.sum(weight * flat, axis=-1))
        with np.errstate(over="ignore"):  # Squares of far exponentials may be infinite
            variance = np.sum(weight * (flat - mean[..., None]) ** 2, axis=-1)
        return mean, as_array(np.sqrt(variance))

    def _blocks(self, count: int) -> Iterator[slice]:
        """Yield slices of rows for which ``count`` values per component fit into memory."""
        size = max(1, _MOST_VALUES // (count * max(1, self.mean[:1].size)))
        for start in range(0, max(len(self.mean), 1), size):
            yield slice(start, start + size)

    @staticmethod
    def _expanded(weight: Array, values: Array) -> Array:
        """Return weights with axes appended, so that they multiply values of several targets."""
        return weight.reshape(*weight.shape, *(1,) * (values.ndim - weight.ndim))


@cache
def _edges() -> Array:
    """Return the edges of probability cells for integration, denser near zero and one."""
    tail = np.geomspace(_LEAST_CELL, _TAIL_CELL, _TAIL_CELLS)
    body = np.linspace(_TAIL_CELL, 1.0 - _TAIL_CELL, _BODY_CELLS + 1)[1:-1]
    return np.concatenate(([0.0], tail, body, 1.0 - tail[::-1], [1.0]))


def _with_tails(ordered: Array) -> Pair:
    """Return levels and quantiles (k,) of sorted scores (s,) with fitted tails, not yet centred."""
    n_scores = len(ordered)
    levels = np.arange(1, n_scores + 1) / (n_scores + 1)
    if n_scores < _FEWEST_FOR_TAILS:
        return np.concatenate(([0.0], levels, [1.0])), np.pad(ordered, 1, mode="edge")
    # The tail of m outer intervals has m - 1 scores beyond its first.
    m = int(np.clip(_TAIL_SHARE * np.sqrt(n_scores), 2, n_scores // 2))
    beyond, excesses = _tail(m / (n_scores + 1))
    body = ordered[m - 1 : n_scores - m + 1]
    # Means over m, with a zero for the first score: a large first score has less beyond it.
    lower = body[0] - np.sum(body[0] - ordered[: m - 1]) / m * excesses
    upper = body[-1] + np.sum(ordered[n_scores - m + 1 :] - body[-1]) / m * excesses
    return (
        np.concatenate((beyond[::-1], levels[m - 1 : n_scores - m + 1], 1.0 - beyond)),
        np.concatenate((lower[::-1], body, upper)),
    )


def _tail(share: float) -> Pair:
    """Return tail probabilities (k,) from ``share`` down to zero, and excesses of mean one."""
    beyond = share * np.geomspace(1.0, _LAST, _TAIL_KNOTS + 1)
    excesses = ndtri(share) - ndtri(beyond)
    beyond, excesses = np.append(beyond, 0.0), np.append(excesses, excesses[-1])
    mean = 0.5 * (excesses[1:] + excesses[:-1]) @ -np.diff(beyond) / share
    return beyond[1:], excesses[1:] / mean


def _interpolated(errors: Array, values: Array, levels: Array) -> Array:
    """Return cumulative probabilities of errors: the highest level where values are equal."""
    place = np.clip(np.searchsorted(values, errors, side="right"), 1, len(values) - 1)
    left, width = values[place - 1], values[place] - values[place - 1]
    share = np.divide(errors - left, width, out=np.ones(np.shape(errors)), where=width > 0.0)
    inside = levels[place - 1] + np.clip(share, 0.0, 1.0) * (levels[place] - levels[place - 1])
    return as_array(np.where(errors < values[0], 0.0, np.where(errors >= values[-1], 1.0, inside)))
