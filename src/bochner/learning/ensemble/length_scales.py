r"""A length scale for each input, learned by the gradient of the leave-one-out error."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from bochner._numerics.arrays import Array, as_array
from bochner.kernels import Laplacian
from bochner.learning.ensemble.leave_one_out import (
    Found,
    Learnable,
    LearnedKernel,
    absolute_moments,
    error_across,
    error_and_slope,
    square_moments,
)
from bochner.learning.ensemble.rows import Rows

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
        key=lambda point: error_and_gradient(kernel, point, rows)[0],
    )
    found = descended(kernel, rows, begins[0], penalty, ITERATIONS)
    error, _ = error_and_gradient(kernel, found, rows)
    if error < _PRECISE * np.sum(rows.Y**2) / rows.n_observations:
        other = descended(kernel, rows, begins[1], penalty, ITERATIONS)
        other_error, _ = error_and_gradient(kernel, other, rows)
        found, error = (other, other_error) if other_error < error else (found, error)
    return Found(LearnedKernel.at(kernel, found), ends(best), error, least)


def _point(start: LearnedKernel, dim: int) -> Array:
    """Return logarithms (dim + 1,) of a common length scale and of alpha."""
    scale = np.full(dim, np.log(as_array(start.kernel.length_scale)))
    return np.append(scale, np.log(start.alpha))


def error_and_gradient(kernel: Learnable, point: Array, rows: Rows) -> tuple[float, Array]:
    """Return the mean square of leave-one-out residuals, and its gradient (d + 1,).

    ``point`` holds logarithms of length scales and of alpha.
    """
    scaled = rows.X / np.exp(point[:-1])
    error, slope, noise = error_and_slope(kernel, scaled, np.exp(point[-1]), rows)
    if isinstance(kernel, Laplacian):
        return error, np.append(absolute_moments(slope, scaled), noise)
    return error, np.append(np.diagonal(square_moments(slope, scaled)), noise)


def descended(
    kernel: Learnable, rows: Rows, start: Array, penalty: float, iterations: int
) -> Array:
    """Return the point of least logarithm of the error, plus a pull to a common length scale.

    The pull is on the squared deviations of the logarithms of scales from their mean. Without limit
    it leaves the shape of ``start`` as it is, and scales move together.
    """
    is_tied = not np.isfinite(penalty)
    # Alpha follows the length scales, of which columns may share some.
    owners = np.append(shared := rows.length_scales(), shared.max() + 1)
    _, first_of = np.unique(owners, return_index=True)
    start = start[first_of]

    def loss(point: Array) -> tuple[float, Array]:
        error, slopes = error_and_gradient(kernel, point[owners], rows)
        if not error < np.inf:
            return np.inf, np.zeros(len(point))
        error += NO_ERROR
        gradient = np.bincount(owners, slopes)
        if is_tied:
            return np.log(error), gradient / error
        away = np.append(point[:-1] - point[:-1].mean(), 0.0)
        pull = penalty / rows.n_observations
        return np.log(error) + pull * away @ away, gradient / error + 2.0 * pull * away

    def tied(short: Array) -> tuple[float, Array]:
        value, gradient = loss(np.append(start[:-1] + short[0], short[1]))
        return value, np.array([gradient[:-1].sum(), gradient[-1]])

    first = np.array([0.0, start[-1]]) if is_tied else start
    low, high = first - _REACH, first + _REACH
    low[-1], high[-1] = LOG_ALPHA
    found = minimised(tied if is_tied else loss, first, Bounds(low, high), iterations, _TOLERANCE)
    if is_tied:
        found = np.append(start[:-1] + found[0], found[1])
    return as_array(found[owners])


def minimised(
    loss: Callable[[Array], tuple[float, Array]],
    start: Array,
    bounds: Bounds,
    iterations: int,
    tolerance: float,
) -> Array:
    """Return the point of least loss, given a function for the loss and its gradient."""
    options: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "bounds": bounds}
    options["options"] = {"maxiter": iterations, "ftol": tolerance}
    found = minimize(loss, start, **options)
    return as_array(found.x)
