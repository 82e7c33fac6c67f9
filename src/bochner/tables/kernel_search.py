r"""Kernels chosen by leave-one-out errors on a part of the rows."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike

from bochner._base.arrays import as_array
from bochner._base.linalg import floored
from bochner.features.median_length_scales import median_distance
from bochner.tables.column_length_scales import PENALTIES, descended, with_length_scales
from bochner.tables.distinct_rows import Rows
from bochner.tables.leave_one_out import (
    LEAST_SINGLE,
    Found,
    Learnable,
    LearnedKernel,
    shifted_inverse,
)
from bochner.tables.linear_maps import PULLS, mapped, with_linear_map

_GRID_ROWS = 400
"""Rows of the search for a common length scale, where the descent of all length scales starts."""

_OCTAVES = (-2.0, 4.0)
"""Range of length scales, as powers of two times the median distance. At much shorter scales
functions at different rows are independent; at much longer ones only the kernel's shape near zero
matters, and the scale does not."""

_LOG_ALPHA = np.log(10.0) * np.arange(-9.0, 0.6, 0.5)
"""Logarithms of the candidate ratios of noise to signal of each kernel: two per decade, from
rounding to three times as much noise as signal."""

_AS_GOOD = 1.005
"""Factor of the least error up to which errors count as equal. Among equal errors the largest noise
is chosen, because too little noise makes intervals too narrow."""

_MORE_STEPS = 8
"""Most descent steps on more rows than the search had, a quarter of a second each."""

_MOST_SCALES = 40
"""Most length scales of a kernel: the rows of the search hardly identify more."""

_MOST_COLUMNS = 120
"""Most encoded columns of a kernel with several length scales: the time of a step grows with the
number of columns."""

_FEWEST_OBSERVATIONS = 32
"""Fewest observations of a kernel with several length scales. Halves of fewer observations predict
each other by chance: errors at new rows are 7 per cent greater, and leave-one-out errors are too
small."""

_STEP = 4.0
"""Factor between successive candidate ratios of noise to signal: within a factor of two predictions
hardly change."""

_MOST_STEPS = 3
"""Most steps in one direction, a factor of 64 in total: a few times as many rows change the ratio
by less."""


@dataclass(frozen=True, slots=True)
class Family:
    """Kernels of one shape."""

    kernel: Callable[[float], Learnable]  # Returns the kernel of a length scale
    is_mapped: bool = False  # Whether a linear map of the inputs is learned, if it reduces errors


def learned(family: Family, rows: Rows, rng: Generator) -> Found:
    """Return the kernels of a family with length scales of least leave-one-out error.

    A common length scale starts at the median distance and moves by octaves while the errors of a
    few rows decrease. Then a descent on all rows fits the length scale of each input. On each half
    of the rows a kernel is learned in the same way, independently.
    """
    rows = rows.with_unit_targets()
    first, second = (_common_start(family, half, rng) for half in rows.halves())
    # Without groups the first half begins with the first rows of all: one search serves both.
    full_start = first if len(rows) >= 2 * _GRID_ROWS else _common_start(family, rows, rng)
    starts = full_start, first, second
    # Too little data for separate length scales, or too many of them.
    is_tied = (
        rows.n_observations < _FEWEST_OBSERVATIONS
        or rows.length_scales().max() >= _MOST_SCALES
        or rows.X.shape[1] > _MOST_COLUMNS
    )
    kernels = with_length_scales(starts, rows, is_tied=is_tied)
    return with_linear_map(kernels, rows) if family.is_mapped and not is_tied else kernels


def _common_start(family: Family, rows: Rows, rng: Generator) -> LearnedKernel:
    """Return the kernel with a common length scale of least leave-one-out error of some rows."""
    # The first rows are a random sample.
    few = rows.part(np.arange(min(len(rows), _GRID_ROWS)))
    median = median_distance(few.X, rng, None)
    errors: dict[float, tuple[float, float]] = {}

    def error(octave: float) -> tuple[float, float]:
        if octave not in errors:
            errors[octave] = leave_one_out_error(family.kernel(median * 2.0**octave), few)
        return errors[octave]

    best = 0.0
    for step in (1.0, -1.0):
        while _OCTAVES[0] <= best + step <= _OCTAVES[1] and error(best + step) < error(best):
            best += step
    return LearnedKernel(family.kernel(median * 2.0**best), error(best)[1])


def refined(kernel: LearnedKernel, rows: Rows) -> LearnedKernel:
    """Return a kernel after some descent steps on more rows than the search had."""
    if kernel.matrix is not None:
        return mapped(kernel, kernel, rows, PULLS[-1], _MORE_STEPS)
    scales = np.broadcast_to(as_array(kernel.kernel.length_scale), rows.X.shape[1])
    point = np.log(np.append(scales, kernel.alpha))
    pull = np.inf if np.ptp(scales) == 0.0 else PENALTIES[-1]
    return LearnedKernel.at(kernel.kernel, descended(kernel.kernel, rows, point, pull, _MORE_STEPS))


def leave_one_out_error(kernel: Learnable, rows: Rows) -> tuple[float, float]:
    r"""Return the least mean square of leave-one-out residuals, and its ratio of noise to signal.

    The residuals are those of :func:`bochner.tables.column_length_scales.error_and_gradient`.
    """
    root = np.sqrt(rows.weights)
    # scipy.linalg.eigh holds Python's lock, so that other threads would wait.
    values, vectors = np.linalg.eigh(floored(kernel(rows.X, rows.X)) * np.outer(root, root))
    values = np.maximum(values, 0.0)
    # One eigendecomposition serves all ratios of noise to signal.
    rotated, squares = vectors.T @ (root[:, None] * rows.Y), vectors**2
    errors = []
    for alpha in np.exp(_LOG_ALPHA):
        inverse = 1.0 / (values + alpha)
        right = vectors @ (rotated * inverse[:, None])
        if rows.groups is None:
            diagonal = rows.weights * (squares @ inverse)
            unit = rows.observations.error(rows.weights, root[:, None] * right, diagonal, alpha)
            errors.append((unit.error, float(alpha)))
            continue
        for group in rows.members():
            part = vectors[group]
            right[group] = np.linalg.solve((part * inverse) @ part.T, right[group])
        error = (float(np.sum(right**2)) + rows.scatter()) / rows.n_observations
        errors.append((error, float(alpha)))
    least = min(errors)[0]
    return max(
        ((error, alpha) for error, alpha in errors if error <= _AS_GOOD * least), key=itemgetter(1)
    )


def noise_factor(kernel: LearnedKernel, rows: Rows) -> float:
    """Return the factor of the noise-to-signal ratio with the least leave-one-out error.

    On the few rows of a search, the misfit of the kernel counts as noise. More rows distinguish
    the misfit from noise.
    """
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
        # After a step down succeeded, a step up would return to a ratio that is worse.
        if best < 1.0:
            break
    return best
