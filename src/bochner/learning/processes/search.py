"""Length scales, signal and noise of a Gaussian kernel with the greatest exact evidence."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_solve

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.linalg import jittered_cholesky
from bochner._numerics.threads import single_threaded_blas
from bochner.features.chunks import Chunk
from bochner.kernels import Gaussian
from bochner.learning.evidence.reparameterised import LengthScales
from bochner.learning.evidence.ridge_search import GramSearch
from bochner.learning.families.selection import drawn_rows, select_kernel

_FIRST_ROWS = 1000
"""Rows of the searches from several starts, the last of which is exact on so many rows."""

_SEARCHED_ROWS = 2000
"""Rows on which the exact evidence has its greatest value: with a step of a second, the errors of
the parameters are below those of a fit to a fourth of the rows by half."""

_N_STEPS = 60
"""Largest number of steps from the end of the first searches."""

_SEARCHED_FEATURES = 512
"""Largest number of random features of the first searches."""


class LearnedGaussian(NamedTuple):
    """A Gaussian kernel with length scales (d,), and variances of signal and noise."""

    length_scale: Array
    signal: float
    noise: float


def learned_scales(X: Array, y: Array, rng: Generator) -> Array:
    """Return length scales (d,) of a Gaussian kernel of great evidence of targets (n, t)."""
    some = drawn_rows(np.arange(len(X)), _FIRST_ROWS, rng)
    selected = select_kernel(
        "gaussian", Chunk(X[some], y[some]), _SEARCHED_FEATURES, "auto", None, rng
    )
    assert selected is not None
    return np.broadcast_to(as_array(selected.get_params()["length_scale"]), X.shape[1])


def learned_gaussian(X: Array, y: Array, rng: Generator) -> LearnedGaussian:
    """Return the kernel of greatest exact evidence of rows (n, d) with targets (n, t).

    Searches from several starts end in a search on at most 2,000 rows, where the noise of all
    targets together is a part of the signal.
    """
    first_rng, row_rng = rng.spawn(2)
    scales = learned_scales(X, y, first_rng)
    some = drawn_rows(np.arange(len(X)), _SEARCHED_ROWS, row_rng)
    rows = Chunk(X[some], y[some])
    family = LengthScales(
        Gaussian, scales, is_shared=bool(np.ptp(scales) == 0.0 and len(scales) > 100)
    )
    search = GramSearch(family, rows, None, False)
    with single_threaded_blas():
        point = search.explored(search.started(family.origin), _N_STEPS)
    alpha = float(np.exp(point[-1]))
    kernel = family.kernel(point[:-1])
    lower = jittered_cholesky(kernel(rows.X), alpha)
    signal = float(np.mean(np.sum(rows.y * cho_solve((lower, True), rows.y), axis=0))) / len(rows)
    length_scale = np.broadcast_to(as_array(kernel.get_params()["length_scale"]), X.shape[1])
    return LearnedGaussian(length_scale, signal, alpha * signal)
