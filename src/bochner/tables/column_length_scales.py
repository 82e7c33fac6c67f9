r"""A length scale for each input, learned by the gradient of the leave-one-out error."""

import numpy as np
from scipy.optimize import Bounds

from bochner._base.arrays import Array, as_array
from bochner._base.descent import minimised
from bochner.kernels import Laplacian
from bochner.tables.distinct_rows import Rows
from bochner.tables.leave_one_out import (
    Found,
    Learnable,
    LearnedKernel,
    absolute_moments,
    distances_of,
    error_across,
    error_and_slope,
    square_sums,
)

PENALTIES = (100.0, 10.0, 1.0)
"""Penalties of deviations from a common length scale, per squared logarithm, in rows. Halves of the
rows choose: a few hundred noisy rows hardly distinguish the scales of inputs, but without noise few
rows do."""

_REACH = 5.0
"""Largest change of a logarithm. An input with 150 times the common length scale has no effect on
the kernel; with a 150th of it, all kernel values between different rows are zero."""

LOG_ALPHA = np.log((1e-9, 10.0))
"""Bounds of the logarithm of the ratio of noise to signal: rounding, and hardly any signal."""

ITERATIONS = 25
"""Largest number of quasi-Newton steps: later steps reduce the error by less than one per cent."""

STEPS_OF_HALVES = 12
"""Steps on each half of the rows. They begin at the best point of the next stronger penalty."""

NO_ERROR = 1e-24
"""Number that is added to errors before their logarithm: errors of 1e-12 standard deviations of the
targets are rounding errors."""

_PRECISE = 0.05
"""Error, relative to the mean square of the targets, below which a second search starts from the
other point. At small errors the two local minima differ by factors; at larger ones by noise."""

_TOLERANCE = 3e-4
"""Relative decrease of the error below which a search ends. With ten times the tolerance, searches
end on plateaus before inputs with few distinct values have got their short length scales."""


def with_length_scales(
    starts: tuple[LearnedKernel, LearnedKernel, LearnedKernel], rows: Rows, *, is_tied: bool
) -> Found:
    """Return the kernels whose length scales and noise minimise the mean square LOO residual.

    ``starts`` are kernels of all rows and of each half of the rows, learned independently. The
    halves choose the penalty of unequal length scales by the error with which they predict each
    other. The penalty is infinite, so that all length scales are equal up to a factor of the start,
    if ``is_tied`` or if this is best.
    """
    kernel, dim, halves = starts[0].kernel, rows.X.shape[1], rows.halves()

    def moved(points: tuple[Array, ...], pull: float) -> tuple[Array, ...]:
        pairs = zip(halves, points, strict=True)
        return tuple(descended(kernel, *pair, pull, STEPS_OF_HALVES) for pair in pairs)

    def ends(points: tuple[Array, ...]) -> tuple[LearnedKernel, ...]:
        return tuple(LearnedKernel.at(kernel, point) for point in points)

    points = best = moved(tuple(_point(start, dim) for start in starts[1:]), np.inf)
    least, penalty = error_across(ends(best), halves), np.inf
    for pull in () if is_tied or not rows.length_scales().any() else PENALTIES:
        # A weaker penalty starts at the end of a stronger one, so that few steps suffice.
        points = moved(points, pull)
        error = error_across(ends(points), halves)
        if not error < least:
            break
        best, least, penalty = points, error, pull
    # Searches on halves of few rows may end far from the minimum: the start of all rows competes.
    begins = sorted(
        (np.mean(best, axis=0), _point(starts[0], dim)),
        key=lambda point: _error(kernel, point, rows),
    )
    best_point = descended(kernel, rows, begins[0], penalty, ITERATIONS)
    error = _error(kernel, best_point, rows)
    if error < _PRECISE * np.sum(rows.Y**2) / rows.n_observations:
        second_point = descended(kernel, rows, begins[1], penalty, ITERATIONS)
        second_error = _error(kernel, second_point, rows)
        best_point, error = (
            (second_point, second_error) if second_error < error else (best_point, error)
        )
    return Found(LearnedKernel.at(kernel, best_point), ends(best), error, least)


def _point(start: LearnedKernel, dim: int) -> Array:
    """Return logarithms (dim + 1,) of a common length scale and of alpha."""
    scale = np.full(dim, np.log(as_array(start.kernel.length_scale)))
    return np.append(scale, np.log(start.alpha))


def _error(kernel: Learnable, point: Array, rows: Rows) -> float:
    """Return the error of :func:`error_and_gradient` alone."""
    return LearnedKernel.at(kernel, point).left_out_error(rows)


def error_and_gradient(kernel: Learnable, point: Array, rows: Rows) -> tuple[float, Array]:
    """Return the mean square of leave-one-out residuals, and its gradient (d + 1,).

    ``point`` holds logarithms of length scales and of alpha.
    """
    scaled = rows.X / np.exp(point[:-1])
    distance = distances_of(kernel, scaled)
    error, slope, noise = error_and_slope(kernel, distance, np.exp(point[-1]), rows)
    moments = absolute_moments if isinstance(kernel, Laplacian) else square_sums
    return error, np.append(moments(slope, scaled), noise)


def descended(
    kernel: Learnable, rows: Rows, start: Array, penalty: float, iterations: int
) -> Array:
    """Return the point (dim + 1,) that minimises the logarithm of the error plus a penalty.

    The penalty is on squared deviations of the logarithms of length scales from their mean. If it
    is infinite, the ratios of length scales remain those of ``start``.
    """
    if not np.isfinite(penalty):
        return _descended_together(kernel, rows, start, iterations)
    # Columns that share a length scale, such as levels of a category, are one coordinate.
    owners = np.append(shared := rows.length_scales(), shared.max() + 1)
    _, first_of = np.unique(owners, return_index=True)
    start = start[first_of]
    pull = penalty / rows.n_observations

    def loss(point: Array) -> tuple[float, Array]:
        error, slopes = error_and_gradient(kernel, point[owners], rows)
        if not error < np.inf:
            return np.inf, np.zeros(len(point))
        error += NO_ERROR
        # The noise has no penalty.
        away = np.append(point[:-1] - point[:-1].mean(), 0.0)
        gradient = np.bincount(owners, slopes) / error + 2.0 * pull * away
        return np.log(error) + pull * away @ away, gradient

    end = minimised(
        loss, start, n_steps=iterations, bounds=_bounds(start), decrease=_TOLERANCE
    ).point
    return as_array(end[owners])


def _descended_together(kernel: Learnable, rows: Rows, start: Array, iterations: int) -> Array:
    """Return the point of least error at which length scales have the ratios of the start.

    All distances are the distances at the start times one factor, so that they are computed once.
    """
    of_start = distances_of(kernel, rows.X / np.exp(start[:-1]))
    power = 1.0 if isinstance(kernel, Laplacian) else 2.0

    def loss(short: Array) -> tuple[float, Array]:
        distance = of_start * np.exp(-short[0])
        error, slope, noise = error_and_slope(kernel, distance, np.exp(short[1]), rows)
        if not error < np.inf:
            return np.inf, np.zeros(2)
        error += NO_ERROR
        return np.log(error), np.array([np.sum(slope * distance**power), noise]) / error

    first = np.array([0.0, start[-1]])
    end = minimised(
        loss, first, n_steps=iterations, bounds=_bounds(first), decrease=_TOLERANCE
    ).point
    return np.append(start[:-1] + end[0], end[1])


def _bounds(start: Array) -> Bounds:
    """Return the bounds of the logarithms of length scales and of alpha in a search."""
    low, high = start - _REACH, start + _REACH
    low[-1], high[-1] = LOG_ALPHA
    return Bounds(low, high)
