"""Length scales, signal and noise of a Gaussian kernel with the greatest exact evidence."""

from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_solve, eigh
from scipy.optimize import minimize_scalar

from bochner._base.arrays import Array, as_array
from bochner._base.linalg import jittered_cholesky
from bochner._base.threads import single_threaded_blas
from bochner.features.chunks import Chunk
from bochner.gaussian_process.neighbours import Places, nearest
from bochner.kernels import Gaussian
from bochner.linear.kernel_families import in_units, parameterised
from bochner.linear.kernel_selection import SearchStage, canonical, drawn_rows
from bochner.linear.reparameterised import LengthScales
from bochner.linear.ridge_search import GramSearch

_STAGES = (SearchStage(1000, 0, 25), SearchStage(2000, 0, 60))
"""Rows and steps of the searches from all starts, and of the one that continues the best of them.
A step takes a tenth of a second on 1,000 rows, and one on 2,000. With half of the rows, functions
of four inputs that vary jointly are taken for noise; random features take them for it, too."""


_BLOCKS, _BLOCK_ROWS = 16, 500
"""Blocks of near rows on which noise is learned if there are more rows, and their rows: their
eigenvalues take two seconds together, and determine the noise of draws within two per cent."""

_LOG_RATIOS = np.log(np.geomspace(1e-6, 10.0, 15))
"""Logarithms of ratios of noise to signal from which the search for noise begins, half a decade
apart."""


class LearnedGaussian(NamedTuple):
    """A Gaussian kernel with length scales (d,), and variances of signal and noise."""

    length_scale: Array
    signal: float
    noise: float


def learned_gaussian(X: Array, y: Array, rng: Generator) -> LearnedGaussian:
    """Return the kernel of greatest exact evidence of at most 2,000 rows (n, d), targets (n, t).

    The noise of all targets is the same part of their signal. Of more rows, it is learned on blocks
    of near ones, given the signal and the length scales.
    """
    row_rng, median_rng, start_rng, block_rng = rng.spawn(4)
    some = drawn_rows(np.arange(len(X)), _STAGES[-1].n_rows, row_rng)
    all_rows, units = in_units("gaussian", Chunk(X[some], y[some]))
    family = parameterised("gaussian", all_rows, units, median_rng)
    assert isinstance(family, LengthScales)
    rows = canonical(all_rows)
    few, most = (
        GramSearch(
            family.in_units,
            rows[drawn_rows(np.arange(len(rows)), stage.n_rows, row_rng)],
            None,
            False,
        )
        for stage in _STAGES
    )
    with single_threaded_blas():
        starts = map(few.started, family.starts(start_rng))
        ends = [few.climbed(start, _STAGES[0].n_steps) for start in starts]
        point = most.explored(min(ends, key=itemgetter(1))[0], _STAGES[1].n_steps)
        # A weak prior around the end, in place of one around the median distance.
        found = replace(family, unit=family.unit * np.exp(point[:-1]))
        last = replace(most, family=found.in_units)
        point, _ = last.climbed(np.append(found.origin, point[-1]), _STAGES[1].n_steps)
    ratio = float(np.exp(point[-1]))
    lower = jittered_cholesky(found.in_units.kernel(point[:-1])(all_rows.X), ratio)
    # The evidence is greatest at this variance of the signal, for targets in their own units.
    misfit = np.sum(y[some] * cho_solve((lower, True), y[some]), axis=0)
    signal = float(np.mean(misfit)) / len(some)
    kernel: Any = found.kernel(point[:-1])
    length_scale = np.broadcast_to(as_array(kernel.length_scale), X.shape[1])
    noise = ratio * signal
    if len(X) > len(some):
        points, gaussian = X / length_scale, Gaussian(1.0)
        noise = noise_of_near_rows(
            lambda rows: signal * gaussian(points[rows]), points, y, noise, block_rng
        )
    return LearnedGaussian(length_scale, signal, noise)


def noise_of_near_rows(
    gram: Callable[[Places], Array], points: Array, y: Array, noise: float, rng: Generator
) -> float:
    """Return the noise of greatest evidence of some blocks of rows that are near each other.

    Few of very many rows are far apart, and functions of several inputs that vary between them look
    like noise, or noise like functions. ``gram`` returns the covariance of the function at some
    rows, whose ``points`` (n, d) tell which are near; the search begins at ``noise``, too.
    """
    values, squares = list[Array](), list[Array]()
    for block in nearest(points, points[rng.permutation(len(points))[:_BLOCKS]], _BLOCK_ROWS):
        eigenvalues, vectors = eigh(gram(block), driver="evd")
        values.append(np.maximum(eigenvalues, 0.0))
        squares.append(np.sum((vectors.T @ y[block]) ** 2, axis=1))
    of_function, total = np.concatenate(values), np.concatenate(squares)

    def loss(log_noise: float) -> float:
        variance = of_function + np.exp(log_noise)
        return float(np.sum(y.shape[1] * np.log(variance) + total / variance))

    logs = np.append(np.log(np.mean(of_function)) + _LOG_RATIOS, np.log(noise))
    best = logs[np.argmin([loss(value) for value in logs])]
    reach = _LOG_RATIOS[1] - _LOG_RATIOS[0]
    found = minimize_scalar(loss, bounds=(best - reach, best + reach), method="bounded")
    return float(np.exp(found.x))
