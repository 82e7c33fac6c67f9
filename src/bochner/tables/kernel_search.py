"""Search for length scales or a linear map of least leave-one-out error of a kernel."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike
from scipy.optimize import Bounds

from bochner._base.arrays import Array, as_array, floored
from bochner._base.descent import minimised
from bochner.kernels import Laplacian
from bochner.tables.leave_one_out import (
    LEAST_SINGLE,
    Found,
    Learnable,
    LearnedKernel,
    absolute_moments,
    distances_of,
    error_across,
    error_and_slope,
    shifted_inverse,
    square_moments,
    square_sums,
)
from bochner.tables.observations import Rows
from bochner.tables.scale_prior import SMOOTH_SCALES, ScalePrior

_PENALTY, _FEW = 5.0, 200.0
"""Penalty, in rows, of log(1 + x²), and the number of rows at which it doubles, because searches on
few rows overfit. x is the logarithm of a length scale relative to the expected one."""

_PRECISE = 0.03
"""Relative squared error below which the penalty doubles at fewer rows, in proportion: without
noise few rows show which inputs matter, and errors of 60 rows were twice as great."""

_REACH = 5.0
"""Largest change of the logarithm of a length scale. An input with 150 times the common scale has
no effect on the kernel; with a 150th of it, kernel values between different rows are zero."""

LOG_ALPHA = np.log((1e-9, 10.0))
"""Bounds of the logarithm of the ratio of noise to signal: rounding, and hardly any signal."""

STEPS, STEPS_OF_HALVES = 12, 12
"""Most quasi-Newton steps on all rows and each half: more reduce the error by less than 1 %."""

_BEGIN_ROWS, _BEGIN_STEPS = 400, 4
"""Rows and steps after which the columns of each kernel are chosen."""

NO_ERROR = 1e-24
"""Number added to errors before their logarithm, as small as rounding errors."""

_TOLERANCE = 3e-4
"""Relative decrease of the error below which a search ends. With ten times the tolerance, searches
end on plateaus before inputs with few distinct values have got their short length scales."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Expected length scales, and the kernel after some steps from there on some of the rows."""

    start: LearnedKernel
    kernel: LearnedKernel
    error: float  # Leave-one-out error on some of the rows

    def found(self) -> Found:
        """Return the kernel as that of all rows and of both halves."""
        return Found(self.kernel, (self.kernel, self.kernel), self.error, np.inf)


def begun(family: "Family", rows: Rows) -> Begun:
    """Begin a search on some of the rows, to choose the columns of a kernel."""
    rows = rows.with_unit_targets()
    start = _common_start(family, rows)
    few = rows.part(np.arange(min(len(rows), _BEGIN_ROWS)))
    kernel = _after_steps(start, few, start, _BEGIN_STEPS)
    return Begun(start, kernel, kernel.left_out_error(few))


def finished(family: "Family", begin: Begun, rows: Rows) -> Found:
    """Return the kernels of all rows and of halves, with a linear map if it is better."""
    rows = rows.with_unit_targets()
    halves, start = rows.halves(), begin.start
    error = begin.error * rows.n_observations / max(float(np.sum(rows.Y**2)), NO_ERROR)
    few = _FEW * min(error / _PRECISE, 1.0)
    full = _after_steps(begin.kernel, rows, start, STEPS, few)
    # A start from all targets would tell a half those of the other half, which it predicts.
    begins = [_common_start(family, half) for half in halves]
    pairs = zip(begins, halves, strict=True)
    ends = tuple(_after_steps(first, half, first, STEPS_OF_HALVES, few) for first, half in pairs)
    kernels = Found(full, ends, full.left_out_error(rows), error_across(ends, halves))
    return with_linear_map(kernels, rows) if family.is_mapped else kernels


def _after_steps(
    start: LearnedKernel, rows: Rows, expected: LearnedKernel, n_steps: int, few: float = _FEW
) -> LearnedKernel:
    """Return the kernel after a descent to length scales near the expected ones, and to alpha."""
    kernel, dim = start.kernel, rows.X.shape[1]
    centre = None if _is_tied(rows) else expected.point(dim)
    point = descended(kernel, rows, start.point(dim), centre, n_steps, few)
    return LearnedKernel.at(kernel, point)


def _is_tied(rows: Rows) -> bool:
    """Return whether there are too few rows or too many length scales to learn several."""
    scales = rows.length_scales()
    return bool(
        rows.n_observations < _FEWEST_OBSERVATIONS
        or not 0 < scales.max() < _MOST_SCALES
        or rows.X.shape[1] > _MOST_COLUMNS
    )


def error_and_gradient(kernel: Learnable, point: Array, rows: Rows) -> tuple[float, Array]:
    """Return the LOO error, and its gradient (d + 1,) by log length scales and log alpha."""
    scaled = rows.X / np.exp(point[:-1])
    distance = distances_of(kernel, scaled)
    error, slope, noise = error_and_slope(kernel, distance, np.exp(point[-1]), rows)
    moments = absolute_moments if isinstance(kernel, Laplacian) else square_sums
    return error, np.append(moments(slope, scaled), noise)


def descended(
    kernel: Learnable, rows: Rows, start: Array, centre: Array | None, steps: int, few: float = _FEW
) -> Array:
    """Return the point (dim + 1,) of least log error plus a penalty of the distance to a centre.

    Without a centre, the ratios of the length scales stay.
    """
    if centre is None:
        return _descended_together(kernel, rows, start, steps)
    # Columns that share a length scale, such as levels of a category, are one coordinate.
    owners = np.append(shared := rows.length_scales(), shared.max() + 1)
    _, first_of = np.unique(owners, return_index=True)
    start, centre = start[first_of], centre[first_of]
    pull = _PENALTY * (1.0 + few / rows.n_observations) / rows.n_observations

    def loss(point: Array) -> tuple[float, Array]:
        error, slopes = error_and_gradient(kernel, point[owners], rows)
        if not error < np.inf:
            return np.inf, np.zeros(len(point))
        error += NO_ERROR
        # The noise and a common factor of the length scales have no penalty.
        away = (point - centre)[:-1]
        away -= away.mean()
        inner = pull * 2.0 * away / (1.0 + away**2)
        gradient = np.bincount(owners, slopes) / error
        gradient[:-1] += inner - inner.mean()
        return np.log(error) + pull * np.log1p(away**2).sum(), gradient

    end = minimised(loss, start, n_steps=steps, bounds=_bounds(start), decrease=_TOLERANCE).point
    return as_array(end[owners])


def _descended_together(kernel: Learnable, rows: Rows, start: Array, iterations: int) -> Array:
    """Return the point of least error with fixed ratios of the length scales."""
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


PULL = 30.0
"""Penalty of a map's distance to length scales, in rows."""

_MAP_TOLERANCE = 1e-3
"""Relative decrease of the error below which a search ends. The many entries of a map have many
directions of small slope: a tenth of the tolerance takes twice the time for the same errors."""

_ROWS_PER_ENTRY = 10
"""Fewest rows per entry of a map: with fewer it overfits, and errors of new rows rise."""


def with_linear_map(kernels: Found, rows: Rows) -> Found:
    """Return kernels with a linear map of inputs, if halves of rows predict each other better."""
    few = len(rows) < _ROWS_PER_ENTRY * rows.X.shape[1] ** 2
    if few or _is_tied(rows):
        return kernels
    halves = rows.halves()
    points = tuple(
        mapped(half, half, part, PULL, STEPS_OF_HALVES)
        for half, part in zip(kernels.halves, halves, strict=True)
    )
    across = error_across(points, halves)
    if not across < kernels.across:
        return kernels
    full = mapped(kernels.full, kernels.full, rows, PULL, STEPS)
    return Found(full, points, full.left_out_error(rows), across)


def mapped(
    origin: LearnedKernel, start: LearnedKernel, rows: Rows, penalty: float, iterations: int
) -> LearnedKernel:
    """Return the kernel whose map minimises the log error plus a penalty on the map's change."""
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
        loss, begin, n_steps=iterations, bounds=Bounds(low, high), decrease=_MAP_TOLERANCE
    ).point
    matrix = to_origin @ end[:-1].reshape(dim, dim)
    return LearnedKernel(unit, float(np.exp(end[-1])), matrix)


_GRID_ROWS = 200
"""Rows of the search for a common length scale, where the descent of all length scales starts."""

_FACTORS, _NOISES = (1.0, 0.25, 4.0), (0.1, 1.0, 0.01, 1e-4, 1e-7)
"""Candidate common factors of expected length scales, which are wrong by a factor of three, and
ratios of noise to signal: descents from too far away end in local minima."""

_AS_GOOD = 1.005
"""Factor up to which errors count as equal; the largest noise keeps intervals wide."""

_MORE_STEPS = 3
"""Most descent steps on more rows than the search had; eight did not reduce errors further."""

_MOST_SCALES = 40
"""Most length scales of a kernel: the rows of the search hardly identify more."""

_MOST_COLUMNS = 120
"""Most encoded columns of a kernel with several length scales, as the time of a step grows."""

_FEWEST_OBSERVATIONS = 32
"""Fewest observations of a kernel with several length scales: with fewer, errors are greater."""

_STEP = 4.0
"""Factor between candidate ratios of noise to signal: predictions hardly change within two."""

_MOST_STEPS = 3
"""Most steps in one direction, a factor of 64: more rows change the ratio by less."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of kernels that differ in their length scale."""

    kernel: Callable[[float], Learnable]  # Maps a length scale to a kernel
    is_mapped: bool = False  # Whether a linear map of the inputs is learned, if it reduces errors
    prior: ScalePrior = SMOOTH_SCALES  # Expected length scales


def _common_start(family: Family, rows: Rows) -> LearnedKernel:
    """Return the noisiest of the best kernels with the expected ratios of length scales.

    Descents hardly change a ratio of noise that is too small: errors do not depend on it.
    """
    # The first rows are a random sample.
    few, scales = rows.part(np.arange(min(len(rows), _GRID_ROWS))), family.prior.log_scales(rows)
    starts = [
        LearnedKernel.at(family.kernel(1.0), np.append(scales + np.log(factor), np.log(noise)))
        for factor in _FACTORS
        for noise in _NOISES
    ]
    errors = [start.left_out_error(few) for start in starts]
    pairs = zip(starts, errors, strict=True)
    # The factors of the scales come in order of preference.
    best = [start for start, error in pairs if error <= _AS_GOOD * min(errors)]
    return max(best, key=lambda start: start.alpha)


def refined(kernel: LearnedKernel, rows: Rows) -> LearnedKernel:
    """Return a kernel after some descent steps on more rows than the search had."""
    if kernel.matrix is not None:
        return mapped(kernel, kernel, rows, PULL, _MORE_STEPS)
    return _after_steps(kernel, rows, kernel, _MORE_STEPS)


def noise_factor(kernel: LearnedKernel, rows: Rows) -> float:
    """Return the factor of the kernel's noise-to-signal ratio for least leave-one-out error."""
    dtype: DTypeLike = np.float32 if kernel.alpha >= 64.0 * LEAST_SINGLE else np.float64
    gram, targets = floored(kernel(rows.X, rows.X).astype(dtype)), rows.Y.astype(dtype)

    def error(factor: float) -> float:
        inverse = shifted_inverse(gram.copy(), factor * kernel.alpha, rows.weights)
        if inverse is None:
            return np.inf
        coef = (inverse @ targets).astype(np.float64)
        return rows.left_out_squares(inverse, coef, factor * kernel.alpha)

    best, least = 1.0, error(1.0)
    for step in (1.0 / _STEP, _STEP):
        for _ in range(_MOST_STEPS):
            trial = error(step * best)
            if not trial < least / _AS_GOOD:
                break
            best, least = step * best, trial
        # If a smaller ratio was better, a larger ratio need not be tried.
        if best < 1.0:
            break
    return best
