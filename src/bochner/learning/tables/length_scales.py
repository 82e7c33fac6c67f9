r"""A length scale for each input, learned by the gradient of the leave-one-out error."""

import numpy as np
from scipy.optimize import Bounds

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.descent import minimised
from bochner.kernels import Laplacian
from bochner.learning.tables.leave_one_out import (
    Found,
    Learnable,
    LearnedKernel,
    absolute_moments,
    distances_of,
    error_across,
    error_and_slope,
    square_sums,
)
from bochner.learning.tables.rows import Rows

PENALTIES = (100.0, 10.0, 1.0)
"""Pulls towards a common length scale, per squared logarithm, in rows. Halves of the rows choose:
inputs of a few hundred noisy rows are hardly told apart, and without noise one row tells much."""

_REACH = 5.0
"""Most change of a logarithm: an input 150 times as long as the others is out of the kernel, and
one 150 times as short makes every row a stranger."""

LOG_ALPHA = np.log((1e-9, 10.0))
"""Bounds of the logarithm of noise over signal: rounding, and hardly any signal."""

ITERATIONS = 25
"""Most steps of the quasi-Newton search, which gains less than a per cent after them."""

STEPS_OF_HALVES = 12
"""Steps on each half of the rows, from the best point of the stronger pull before."""

NO_ERROR = 1e-24
"""Added to errors before their logarithm: a targets' deviation of 1e-12 is rounding."""

_PRECISE = 0.05
"""Error, relative to the mean square of the targets, below which a second search starts from the
other point: errors of both ends differ by factors then, and by noise where they are greater."""

_TOLERANCE = 3e-4
"""Relative decrease of the error below which a search ends. Ten times more ends on plateaus before
an input whose values nearly repeat has got its short scale."""


def with_length_scales(
    starts: tuple[LearnedKernel, LearnedKernel, LearnedKernel], rows: Rows, *, is_tied: bool
) -> Found:
    """Return the kernel with length scales and a ratio of noise to signal of least error.

    The error is the mean square of leave-one-out residuals. Searches start from kernels of all rows
    and of both halves of them, which know nothing of each other. Halves choose the pull to a common
    length scale by how well they predict each other; it is without limit if ``is_tied``, or if that
    is best.
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
        points = moved(points, pull)
        error = error_across(ends(points), halves)
        if not error < least:
            break
        best, least, penalty = points, error, pull
    # Halves of few rows may end anywhere: rows as a whole then go on from their start.
    begins = sorted(
        (np.mean(best, axis=0), _point(starts[0], dim)),
        key=lambda point: _error(kernel, point, rows),
    )
    found = descended(kernel, rows, begins[0], penalty, ITERATIONS)
    error = _error(kernel, found, rows)
    if error < _PRECISE * np.sum(rows.Y**2) / rows.n_observations:
        other = descended(kernel, rows, begins[1], penalty, ITERATIONS)
        other_error = _error(kernel, other, rows)
        found, error = (other, other_error) if other_error < error else (found, error)
    return Found(LearnedKernel.at(kernel, found), ends(best), error, least)


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
    """Return the point of least logarithm of the error, plus a pull to a common length scale.

    The pull is on the squared deviations of the logarithms of scales from their mean. Without limit
    it leaves the shape of ``start`` as it is, and scales move together.
    """
    if not np.isfinite(penalty):
        return _descended_together(kernel, rows, start, iterations)
    # Columns may share length scales.
    owners = np.append(shared := rows.length_scales(), shared.max() + 1)
    _, first_of = np.unique(owners, return_index=True)
    start = start[first_of]
    pull = penalty / rows.n_observations

    def loss(point: Array) -> tuple[float, Array]:
        error, slopes = error_and_gradient(kernel, point[owners], rows)
        if not error < np.inf:
            return np.inf, np.zeros(len(point))
        error += NO_ERROR
        away = np.append(point[:-1] - point[:-1].mean(), 0.0)
        gradient = np.bincount(owners, slopes) / error + 2.0 * pull * away
        return np.log(error) + pull * away @ away, gradient

    found = minimised(
        loss, start, n_steps=iterations, bounds=_bounds(start), decrease=_TOLERANCE
    ).point
    return as_array(found[owners])


def _descended_together(kernel: Learnable, rows: Rows, start: Array, iterations: int) -> Array:
    """Return the point of least error among those whose length scales have the start's ratios.

    Distances of rows are then those of the start times a number.
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
    found = minimised(
        loss, first, n_steps=iterations, bounds=_bounds(first), decrease=_TOLERANCE
    ).point
    return np.append(start[:-1] + found[0], found[1])


def _bounds(start: Array) -> Bounds:
    """Return the bounds of logarithms of length scales, and of alpha, in a search."""
    low, high = start - _REACH, start + _REACH
    low[-1], high[-1] = LOG_ALPHA
    return Bounds(low, high)
