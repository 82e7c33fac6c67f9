r"""A linear map of all inputs, learned by the gradient of the leave-one-out error."""

from dataclasses import replace

import numpy as np
from scipy.optimize import Bounds

from bochner._base.arrays import Array
from bochner._base.descent import minimised
from bochner.tables.column_length_scales import ITERATIONS, LOG_ALPHA, NO_ERROR, STEPS_OF_HALVES
from bochner.tables.distinct_rows import Rows
from bochner.tables.leave_one_out import (
    Found,
    LearnedKernel,
    distances_of,
    error_across,
    error_and_slope,
    square_moments,
)

PULLS = (100.0, 10.0)
"""Penalties of squared differences between a map and the length scales, in rows. Halves of the
rows choose one of them by cross-validation."""

_TOLERANCE = 1e-3
"""Relative decrease of the error below which a search ends. The many entries of a map have many
directions of small slope: a tenth of the tolerance takes twice the time for the same errors."""

_ROWS_PER_ENTRY = 10
"""Fewest rows per entry of a map. With fewer rows the map overfits: leave-one-out errors fall, but
errors of new rows rise."""


def with_linear_map(kernels: Found, rows: Rows) -> Found:
    """Return the kernel with a linear map of all inputs, if halves of the rows gain by it.

    The map starts from the length scales. Halves of the rows choose the penalty of the difference
    from them.
    """
    if len(rows) < _ROWS_PER_ENTRY * rows.X.shape[1] ** 2:
        return kernels
    halves = rows.halves()
    best, penalty, points = kernels, None, kernels.halves
    for pull in PULLS:
        points = tuple(
            mapped(half, start, part, pull, STEPS_OF_HALVES)
            for half, start, part in zip(kernels.halves, points, halves, strict=True)
        )
        across = error_across(points, halves)
        if not across < best.across:
            break
        best, penalty = replace(best, halves=points, across=across), pull
    if penalty is None:
        return kernels
    full_map = mapped(kernels.full, kernels.full, rows, penalty, ITERATIONS)
    return replace(best, full=full_map, error=full_map.left_out_error(rows))


def mapped(
    origin: LearnedKernel, start: LearnedKernel, rows: Rows, penalty: float, iterations: int
) -> LearnedKernel:
    """Return the kernel whose map minimises the logarithm of the error plus a penalty.

    The map is that of ``origin``, in units of length scales, times a matrix. The penalty is on the
    squared distance of this matrix from the identity. The descent begins at ``start``: ``origin``
    or the result of an earlier descent from it.
    """
    dim, pull = rows.X.shape[1], penalty / rows.n_observations
    # In units of length scales the penalty treats all inputs equally.
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
    end = minimised(
        loss, begin, n_steps=iterations, bounds=Bounds(low, high), decrease=_TOLERANCE
    ).point
    matrix = to_origin @ end[:-1].reshape(dim, dim)
    return LearnedKernel(unit, float(np.exp(end[-1])), matrix)
