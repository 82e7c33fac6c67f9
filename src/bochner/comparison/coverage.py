"""Comparison of the coverage of prediction intervals with their level."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from bochner._base.arrays import Array, Index, Mask, as_array
from bochner.comparison.outcomes import Outcome, mean_score

_CERTAINTY = 0.95
"""Probability of the range of coverages that calibrated intervals have."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of intervals of probability ``level``, and its range if they are calibrated.

    ``observed`` is the share of n values within their intervals. Calibrated intervals have a
    coverage between ``lower`` and ``upper`` with a probability of 95 %, by a binomial law.
    """

    level: float
    observed: float
    lower: float
    upper: float

    @property
    def is_narrow(self) -> bool:
        """Whether intervals contain significantly fewer values than they should."""
        return self.observed < self.lower

    @property
    def is_wide(self) -> bool:
        """Whether intervals contain significantly more values than they should."""
        return self.observed > self.upper

    @property
    def judgement(self) -> str:
        """Return the end of a sentence: as expected, or too narrow or wide."""
        if self.is_narrow:
            return "too narrow"
        return "wider than necessary" if self.is_wide else "as expected"


def calibrated_range(
    n: int | Index, level: Array | float, n_comparisons: int = 1
) -> tuple[Array, Array]:
    """Return the central 95 % range of the shares of n independent values in their intervals.

    With several comparisons, the probability that none of the shares is outside is 95 % or more.
    """
    lower, upper = binom.interval(1.0 - (1.0 - _CERTAINTY) / n_comparisons, n, level)
    return as_array(lower / n), as_array(upper / n)


def coverage_of(
    is_covered: NDArray[np.bool_],
    level: float,
    clusters: NDArray[np.generic] | None = None,
    n_comparisons: int = 1,
) -> Coverage:
    """Compare the share of values (n,) within their intervals with the level of the intervals.

    Values of a cluster (n,) are dependent. All sentences, pictures and checks of coverage use this
    function, so that they agree.
    """
    n_independent = _independent(is_covered, clusters)
    lower, upper = calibrated_range(n_independent, level, n_comparisons)
    return Coverage(level, float(np.mean(is_covered)), float(lower), float(upper))


def outcome_coverage(outcome: Outcome, n_comparisons: int = 1) -> Coverage | None:
    """Return the coverage of the intervals of an outcome; ``None`` without intervals."""
    if outcome.lower is None or outcome.upper is None:
        return None
    is_covered = (outcome.lower <= outcome.y) & (outcome.y <= outcome.upper)
    return coverage_of(is_covered, outcome.level, outcome.clusters, n_comparisons)


def are_outside(coverages: Sequence[Coverage]) -> list[Coverage]:
    """Return the coverages that are outside of the range of calibrated intervals."""
    return [each for each in coverages if each.is_narrow or each.is_wide]


def _independent(is_covered: Mask, clusters: NDArray[np.generic] | None) -> int:
    """Return the number of independent values that have the same standard error of their share.

    It is at least the number of clusters, whose values are equal in the worst case. That is assumed
    if all or no values are covered, which says nothing about the dependence.
    """
    n = len(is_covered)
    if clusters is None:
        return n
    n_clusters, share = len(np.unique(clusters)), float(np.mean(is_covered))
    error = mean_score(is_covered, clusters).std_error
    if not error > 0.0:
        return n_clusters
    return int(np.clip(share * (1.0 - share) / error**2, n_clusters, n))
