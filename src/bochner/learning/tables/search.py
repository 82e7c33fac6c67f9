r"""Kernels chosen by leave-one-out errors on a part of the rows."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import as_array
from bochner.features.length_scales import median_distance
from bochner.learning.tables.leave_one_out import (
    LEAST_SINGLE,
    Found,
    Learnable,
    LearnedKernel,
    shifted_inverse,
)
from bochner.learning.tables.length_scales import PENALTIES, descended, with_length_scales
from bochner.learning.tables.linear_maps import PULLS, mapped, with_linear_map
from bochner.learning.tables.rows import Rows

_GRID_ROWS = 400
"""Rows of the search for a common length scale, from which the gradient goes on."""

_OCTAVES = (-2.0, 4.0)
"""Length scales searched, as powers of two of the median distance: far below, functions are noise
between rows; far above, the kernel's shape near zero is all that is left, whatever the scale."""

_LOG_ALPHA = np.log(10.0) * np.arange(-9.0, 0.6, 0.5)
"""Logarithms of the ratios of noise to signal that are tried for each kernel: two per decade, from
rounding to three times as much noise as signal."""

_AS_GOOD = 1.005
"""Errors up to half a per cent greater are as good, of which the most noise is chosen: too little
noise makes intervals too narrow."""

_MORE_STEPS = 8
"""Most steps by which more rows move a kernel that has been found, a quarter of a second each."""

_MOST_SCALES = 40
"""Most length scales of a kernel: rows of the search hardly tell more apart."""

_MOST_COLUMNS = 120
"""Most encoded columns of a kernel with several length scales: a step's time grows with them."""

_FEWEST_OBSERVATIONS = 32
"""Fewest observations of a kernel with several length scales: halves of fewer predict each other by
chance, errors at new rows are 7 per cent greater, and those at rows left out are too small."""

_STEP = 4.0
"""Factor between ratios of noise to signal on a walk: predictions hardly change within two."""

_MOST_STEPS = 3
"""Most steps of a walk, a factor of 64: a few times more rows change the ratio by less."""


@dataclass(frozen=True, slots=True)
class Family:
    """Kernels of one shape."""

    kernel: Callable[[float], Learnable]  # Given its length scale
    is_mapped: bool = False  # Whether inputs get a linear map, if rows gain by it


def learned(family: Family, rows: Rows, rng: Generator) -> Found:
    """Return the kernel of a family with length scales of least leave-one-out error.

    A common length scale starts from the median distance and moves by octaves while errors of some
    rows fall. Then all rows move the length scale of each input. Halves of the rows learn kernels
    in the same way, each by itself.
    """
    rows = rows.with_unit_targets()
    first, second = (_common_start(family, half, rng) for half in rows.halves())
    # The first rows of all are then those of the first half, where no groups come between.
    whole = first if len(rows) >= 2 * _GRID_ROWS else _common_start(family, rows, rng)
    starts = whole, first, second
    is_tied = (
        rows.n_observations < _FEWEST_OBSERVATIONS
        or rows.length_scales().max() >= _MOST_SCALES
        or rows.X.shape[1] > _MOST_COLUMNS
    )
    found = with_length_scales(starts, rows, is_tied=is_tied)
    return with_linear_map(found, rows) if family.is_mapped and not is_tied else found


def _common_start(family: Family, rows: Rows, rng: Generator) -> LearnedKernel:
    """Return the kernel with a common length scale of least leave-one-out error of some rows."""
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


def refined(found: LearnedKernel, rows: Rows) -> LearnedKernel:
    """Return the kernel after some descent steps on more rows than its search had."""
    if found.matrix is not None:
        return mapped(found, found, rows, PULLS[-1], _MORE_STEPS)
    scales = np.broadcast_to(as_array(found.kernel.length_scale), rows.X.shape[1])
    point = np.log(np.append(scales, found.alpha))
    pull = np.inf if np.ptp(scales) == 0.0 else PENALTIES[-1]
    return LearnedKernel.at(found.kernel, descended(found.kernel, rows, point, pull, _MORE_STEPS))


def leave_one_out_error(kernel: Learnable, rows: Rows) -> tuple[float, float]:
    r"""Return the least mean square of leave-one-out residuals, and its ratio of noise to signal.

    The residuals are those of :func:`bochner.learning.tables.length_scales.error_and_gradient`.
    """
    root = np.sqrt(rows.weights)
    # SciPy's function would make other threads wait.
    values, vectors = np.linalg.eigh(kernel(rows.X, rows.X) * np.outer(root, root))
    values = np.maximum(values, 0.0)
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


def noise_factor(found: LearnedKernel, rows: Rows) -> float:
    """Return by how much the ratio of noise to signal changes for the least leave-one-out error.

    More rows than those of the search tell the kernel's misfit, which counted as noise, from noise.
    """
    dtype: Any = np.float32 if found.alpha >= 64.0 * LEAST_SINGLE else np.float64
    gram, targets = found(rows.X, rows.X).astype(dtype), rows.Y.astype(dtype)

    def error(factor: float) -> float:
        inverse = shifted_inverse(gram.copy(), factor * found.alpha, rows.weights)
        if inverse is None:
            return np.inf
        coef = (inverse @ targets).astype(np.float64)
        return rows.left_out_squares(inverse, coef, factor * found.alpha)

    best, least = 1.0, error(1.0)
    for step in (1.0 / _STEP, _STEP):
        for _ in range(_MOST_STEPS):
            trial = error(step * best)
            if not trial < least / _AS_GOOD:
                break
            best, least = step * best, trial
        if best < 1.0:
            break
    return best
