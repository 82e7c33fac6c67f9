r"""The log evidence of a linear model on features, and its gradient by frequencies.

With :math:`A = Z^\top Z + \alpha I`, :math:`u = A^{-1} Z^\top y` and the noise variance at its
maximum-likelihood value, :math:`n \sigma^2 = y^\top y - y^\top Z u`,

.. math::
    \log p(y) &= -\tfrac12 \big(n \log(2 \pi e \sigma^2) + \log|A| - p \log\alpha\big), \\
    \frac{\partial \log p}{\partial Z} &= \frac{(y - Z u) u^\top}{\sigma^2} - Z A^{-1}, \\
    \frac{\partial \log p}{\partial \log\alpha}
        &= \tfrac12 \big(p - \alpha \operatorname{tr} A^{-1} - \alpha \|u\|^2 / \sigma^2\big),

summed over targets, where ``n`` is the number of observations. A row of weight :math:`w` either has
the noise variance :math:`\sigma^2 / w`, which adds :math:`\tfrac12 \sum \log w`, or counts as ``w``
observations. Features are cosines and sines of angles, and the chain rule gives the derivatives by
frequencies. All quantities are sums over rows, computed in two passes.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from scipy.linalg import blas

from bochner._base.arrays import Array, as_array, steps
from bochner._base.threads import in_order, single_threaded_blas
from bochner.features.chunks import Chunk, RowChunks, Targets
from bochner.features.landmarks import FeatureMap
from bochner.features.row_sums import FeatureSums, RunningSums
from bochner.linear.ridge_posterior import RidgePosterior, fit_ridge
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.wave_formulas import MemoryLayout, angle_gradient

_BLOCK_ROWS = 1024
"""Number of rows of a block, which one thread maps and multiplies: 8 MiB for 1,024 features."""


class _Sum(Protocol):
    def __add__(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=_Sum)


@dataclass(frozen=True, slots=True, eq=False)
class FrequencySlopes:
    r"""Derivatives of the log evidence by frequencies and by the logarithms of their weights."""

    omega: Array  # (m, d)
    log_weight: Array  # (m,)

    def __add__(self, other: "FrequencySlopes") -> "FrequencySlopes":
        return FrequencySlopes(self.omega + other.omega, self.log_weight + other.log_weight)


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceGradient:
    """The log evidence, and its derivatives by frequencies, weights and log alpha."""

    log_evidence: float
    slopes: FrequencySlopes
    log_alpha: float


def evidence_gradient(
    rows: RowChunks,
    frequencies: Frequencies,
    targets: Targets,
    alpha: float,
    *,
    fit_intercept: bool = False,
) -> EvidenceGradient:
    """Return the log evidence of ridge regression on symmetric frequencies, and its gradient."""
    with single_threaded_blas() as n_threads:
        sums = ordered_sums(rows, frequencies, targets)
        posterior = fit_ridge(sums, alpha, fit_intercept=fit_intercept)
        covariance = posterior.whitener @ posterior.whitener.T
        slopes = rows.total(
            frequency_slopes, frequencies, targets, posterior, covariance, n_threads
        )
    # The derivative by log alpha, as in the formula of the module docstring.
    by_noise = np.sum(posterior.coef**2, axis=0) / posterior.noise_variance
    lost = alpha * (np.trace(covariance) + by_noise)
    log_alpha = 0.5 * float(np.sum(len(covariance) - lost))
    return EvidenceGradient(posterior.log_evidence, slopes, log_alpha)


def ordered_sums(rows: RowChunks, features: FeatureMap, targets: Targets) -> FeatureSums:
    """Return the feature sums over all rows, bit for bit the same for any number of threads."""
    with single_threaded_blas() as n_threads:
        return rows.total(block_sums, features, targets, n_threads)


def block_sums(
    chunks: Iterable[Chunk], features: FeatureMap, targets: Targets, n_threads: int
) -> FeatureSums:
    """Return the feature sums over the rows of chunks, computed by threads block by block."""

    def part(rows: Chunk) -> FeatureSums:
        sums = RunningSums(features.n_features, targets.n_targets)
        sums.add(features.features(rows.X, np.float64), targets(rows.y), rows)
        return sums.sums()

    return _total(chunks, part, n_threads)


def frequency_slopes(
    chunks: Iterable[Chunk],
    frequencies: Frequencies,
    targets: Targets,
    posterior: RidgePosterior,
    covariance: Array,
    n_threads: int,
) -> FrequencySlopes:
    r"""Return derivatives of the log evidence; ``covariance`` (p, p) is :math:`A^{-1}`."""
    share = partial(_slopes, frequencies, targets, posterior, covariance)
    return _total(chunks, share, n_threads)


def _slopes(
    frequencies: Frequencies,
    targets: Targets,
    posterior: RidgePosterior,
    covariance: Array,
    rows: Chunk,
) -> FrequencySlopes:
    Z = frequencies.features(rows.X, np.float64)
    Y = targets(rows.y)
    residuals = (Y - posterior.mean(Z)) / posterior.noise_variance
    centred = Z - posterior.centre
    # dgemm scales the product in place, without another array.
    slope = as_array(blas.dgemm(-float(Y.shape[1]), covariance, centred.T).T)
    slope += residuals @ posterior.coef.T
    if rows.weight is not None:
        slope *= rows.weight[:, None]
    return slopes_by_frequencies(rows.X, Z, slope)


def slopes_by_frequencies(X: Any, Z: Array, slope: Array) -> FrequencySlopes:
    """Return derivatives by frequencies from derivatives ``slope`` (n, 2m) by features ``Z``."""
    waves, pairs = MemoryLayout.BY_SAMPLE.pairs(Z), MemoryLayout.BY_SAMPLE.pairs(slope)
    angles = angle_gradient(waves, pairs)
    # A feature is proportional to the square root of its weight, hence the factor 1/2.
    return FrequencySlopes((X.T @ angles).T, 0.5 * np.sum(waves * pairs, axis=(0, 1)))


def _total(chunks: Iterable[Chunk], part: Callable[[Chunk], S], n_threads: int) -> S:
    """Return the sum of ``part(block)`` over all blocks of rows, added up in the order of rows."""

    def of_chunk(chunk: Chunk) -> S:
        blocks = [chunk[rows] for rows in steps(len(chunk), _BLOCK_ROWS)]
        return reduce(add, (block_total for _, block_total in in_order(part, blocks, n_threads)))

    return reduce(add, map(of_chunk, chunks))
