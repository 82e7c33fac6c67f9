r"""A linear map of all inputs, learned by the gradient of the leave-one-out error."""

from dataclasses import replace

import numpy as np
from scipy.optimize import Bounds

from bochner._numerics.arrays import Array
from bochner._numerics.descent import minimised
from bochner.learning.tables.leave_one_out import (
    Found,
    LearnedKernel,
    distances_of,
    error_across,
    error_and_slope,
    square_moments,
)
from bochner.learning.tables.length_scales import (
    ITERATIONS,
    LOG_ALPHA,
    NO_ERROR,
    STEPS_OF_HALVES,
)
from bochner.learning.tables.rows import Rows

PULLS = (100.0, 10.0)
"""Pulls of maps to the length scales, per squared entry, in rows. Halves of the rows choose."""

_TOLERANCE = 1e-3
"""Relative decrease of the error below which a search ends: the many entries of a map have many
directions of little slope, and ten times less takes twice the time for the same errors."""

_ROWS_PER_ENTRY = 10
"""Fewest rows for each entry of a map: with fewer, leave-one-out errors fall and others rise."""


def with_linear_map(found: Found, rows: Rows) -> Found:
    """Return the kernel with a linear map of all inputs, where halves of the rows gain by it.

    The map starts from the length scales, with a pull to them that the halves choose.
    """
    if len(rows) < _ROWS_PER_ENTRY * rows.X.shape[1] ** 2:
        return found
    halves = rows.halves()
    best, penalty, points = found, None, found.halves
    for pull in PULLS:
        points = tuple(
            mapped(half, start, part, pull, STEPS_OF_HALVES)
            for half, start, part in zip(found.halves, points, halves, strict=True)
        )
        across = error_across(points, halves)
        if not across < best.across:
            break
        best, penalty = replace(best, halves=points, across=across), pull
    if penalty is None:
        return found
    whole = mapped(found.whole, found.whole, rows, penalty, ITERATIONS)
    return replace(best, whole=whole, error=whole.left_out_error(rows))


def mapped(
    origin: LearnedKernel, start: LearnedKernel, rows: Rows, penalty: float, iterations: int
) -> LearnedKernel:
    """Return the map of least logarithm of the error, plus a pull to where a kernel is.

    Images of rows by ``origin``, in its length scales, are multiplied by a matrix near the
    identity, and the pull is on their squared distance. ``start`` is ``origin`` or has been mapped
    from it.
    """
    dim, pull = rows.X.shape[1], penalty / rows.n_observations
    to_origin, unit = origin.map_in_scales(dim), replace(origin.kernel, length_scale=1.0)
    scaled = rows.X @ to_origin
    first = np.linalg.solve(to_origin, start.map_in_scales(dim))

    def loss(point: Array) -> tuple[float, Array]:
        matrix, alpha = point[:-1].reshape(dim, dim), np.exp(point[-1])
        distance = distances_of(unit, scaled @ matrix)
        error, slope, noise = error_and_slope(unit, distance, alpha, rows)
        if not error < np.inf:
            return np.inf, np.zeros(len(point))
        error += NO_ERROR
        away = matrix - np.eye(dim)
        gradient = 2.0 * pull * away - square_moments(slope, scaled) @ matrix / error
        return np.log(error) + pull * np.sum(away**2), np.append(gradient, noise / error)

    high = np.append(np.full(dim**2, np.inf), LOG_ALPHA[1])
    low = np.append(np.full(dim**2, -np.inf), LOG_ALPHA[0])
    begin = np.append(first, np.log(start.alpha))
    found = minimised(
        loss, begin, n_steps=iterations, bounds=Bounds(low, high), decrease=_TOLERANCE
    ).point
    matrix = to_origin @ found[:-1].reshape(dim, dim)
    return LearnedKernel(unit, float(np.exp(found[-1])), matrix)
