"""Choosing a kernel by its evidence on a subsample of the rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, LengthScale
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


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceProblem:
    """A regression of ``Y`` (n, t) on a subsample ``X`` (n, d) that scores kernels by evidence.

    Every kernel is scored with frequencies from the same seed, so that two length scales are
    compared on the same draw. ``alpha=None`` maximises the evidence over alpha for every kernel.
    """

    X: Any
    Y: Array
    weight: Array | None
    n_frequencies: int
    scheme: Scheme | str = "orthogonal"
    alpha: float | None = None
    fit_intercept: bool = False
    seed: int = 0

    def subsampled(self, rng: np.random.Generator) -> "EvidenceProblem":
        """Return the problem on at most 2000 rows of positive weight and 256 frequencies."""
        weight = self.weight
        rows = np.arange(self.X.shape[0]) if weight is None else np.flatnonzero(weight > 0)
        if len(rows) > _SUBSAMPLE:
            rows = np.sort(rng.choice(rows, _SUBSAMPLE, replace=False))
        return replace(
            self,
            X=self.X[rows],
            Y=self.Y[rows],
            weight=None if weight is None else weight[rows],
            n_frequencies=min(self.n_frequencies, _MOST_FREQUENCIES),
            seed=int(rng.integers(2**32)),
        )

    def log_evidence(self, kernel: Kernel) -> float:
        """Return the log evidence of ``kernel`` at its best alpha (or the given one)."""
        measure = spectral_measure(kernel, self.X.shape[1])
        frequencies = measure.sample(self.n_frequencies, self.seed, self.scheme)
        sums = feature_sums(frequencies, self.X, self.Y, self.weight)
        if self.alpha is None:
            return best_alpha(sums, fit_intercept=self.fit_intercept)[1]
        return fit_ridge(sums, self.alpha, fit_intercept=self.fit_intercept).log_evidence


def select_length_scale(
    family: Callable[[LengthScale], Kernel], problem: EvidenceProblem, rng: np.random.Generator
) -> Kernel:
    """Return the kernel of ``family`` of greatest evidence over a grid about the median distance.

    The grid spans a factor of eight below and above the median, in steps of the square root of two.
    """
    median = median_distance(problem.X, rng, problem.weight)
    grid = median * 2.0 ** np.arange(-3.0, 3.01, 0.5)
    return max((family(float(scale)) for scale in grid), key=problem.log_evidence)
