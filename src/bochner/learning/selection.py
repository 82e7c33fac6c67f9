"""Choosing a kernel by its evidence on a subsample of the rows."""

from collections.abc import Callable

import numpy as np

from bochner._numerics.arrays import LengthScale
from bochner.features.chunks import Chunk
from bochner.features.length_scales import median_distance
from bochner.features.stats import feature_sums
from bochner.kernels import Kernel
from bochner.learning.ridge import best_alpha, fit_ridge
from bochner.sampling import Scheme
from bochner.spectral import spectral_measure

_SUBSAMPLE = 2000
"""Most rows of the evidence, so that a grid of length scales takes seconds for any table."""
_MOST_FREQUENCIES = 256
"""Most frequencies of the evidence: the cost of each length scale grows with their square."""


def select_length_scale(
    family: Callable[[LengthScale], Kernel],
    rows: Chunk,
    n_frequencies: int,
    scheme: Scheme | str,
    alpha: float | None,
    rng: np.random.Generator,
    *,
    fit_intercept: bool = False,
) -> Kernel:
    """Return the kernel of ``family`` of greatest evidence over a grid about the median distance.

    The grid spans a factor of eight below and above the median, in steps of the square root of two.
    Every kernel is scored on the same 2000 rows, as its targets (n, t) and weights have it, with at
    most 256 frequencies from the same seed, and at its best alpha unless this is a number.
    """
    rows = _subsample(rows, rng)
    n_frequencies, seed = min(n_frequencies, _MOST_FREQUENCIES), int(rng.integers(2**32))

    def log_evidence(kernel: Kernel) -> float:
        measure = spectral_measure(kernel, rows.X.shape[1])
        frequencies = measure.sample(n_frequencies, seed, scheme)
        sums = feature_sums(frequencies, rows.X, rows.y, rows.weight)
        if alpha is None:
            return best_alpha(sums, fit_intercept=fit_intercept)[1]
        return fit_ridge(sums, alpha, fit_intercept=fit_intercept).log_evidence

    median = median_distance(rows.X, rng, rows.weight)
    grid = median * 2.0 ** np.arange(-3.0, 3.01, 0.5)
    return max((family(float(scale)) for scale in grid), key=log_evidence)


def _subsample(rows: Chunk, rng: np.random.Generator) -> Chunk:
    """Return at most 2000 rows of positive weight, in order."""
    chosen = np.flatnonzero(rows.weights > 0)
    if len(chosen) > _SUBSAMPLE:
        chosen = np.sort(rng.choice(chosen, _SUBSAMPLE, replace=False))
    return rows[chosen]
