"""Blocks of rows that parts of an ensemble leave out, and ridge fits without each of them."""

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics import limits
from bochner._numerics.arrays import Array, row_blocks
from bochner.features.stats import FeatureSums
from bochner.learning.ridge import RidgePosterior, best_alpha, fit_ridge

_SPECTRUM = 1600
"""Most features whose evidence has an eigendecomposition, a second of a core."""

_MOST_AT_ONCE = 500
"""Most rows left out at once in closed form: systems of their number are solved in 10 ms. Of more
than 4,000 rows, a half or a tenth of an eighth left out makes no difference to the rest."""

_STEP = 4.0
"""Factor between values of alpha on a walk: predictions hardly change within a factor of two."""

_MOST_STEPS = 6
"""Most steps of a walk, a factor of four thousand: it starts from fewer features of the same
kernel, whose best alpha is of the same order."""

Trial = tuple[float, RidgePosterior, tuple[Array, Array]]
"""A mean square error of rows left out, its posterior, and means and standard deviations (n,)."""


class FeatureMap(Protocol):
    """What maps rows to features."""

    def features(self, X: Array) -> Array:
        """Return the features (n, p) of rows (n, d)."""

    def lacking_variance(self, X: Array, Z: Array) -> Array | float:
        """Return what the squared norms of the features ``Z`` (n, p) of rows lack of k(x, x)."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows with a target and the blocks that they belong to."""

    X: Array  # (n, d)
    y: Array  # (n,)
    blocks: NDArray[np.intp]  # (n,): Numbers from zero
    n_scored: int  # The first so many blocks are left out in turn

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return int(self.blocks.max()) + 1

    def columns(self, chosen: NDArray[np.int64]) -> "Rows":
        """Return the rows with some of the columns."""
        return replace(self, X=self.X[:, chosen])

    def without(self, block: int) -> "Rows":
        """Return the rows outside of a block."""
        kept = self.blocks != block
        return replace(self, X=self.X[kept], y=self.y[kept], blocks=self.blocks[kept])

    def sums(self, features: FeatureMap) -> FeatureSums:
        """Return the sums of all rows, from as many at a time as memory is meant for."""
        n_features = features.features(self.X[:1]).shape[1]
        parts = row_blocks(len(self.y), 8 * n_features, block_bytes=limits.CACHED_FEATURES_BYTES)
        sums = (
            FeatureSums.from_rows(features.features(self.X[part]), self.y[part, None])
            for part in parts
        )
        return reduce(add, sums)


def left_out_blocks(n_samples: int, n_blocks: int, rng: Generator) -> NDArray[np.intp]:
    """Return random blocks (n,) whose sizes differ by one row at most.

    Rows are exchangeable: what is left out stands to the rest as new rows stand to the table, also
    where rows repeat.
    """
    return rng.permutation(np.arange(n_samples) % n_blocks)


def best_by_evidence(sums: FeatureSums) -> RidgePosterior:
    """Return the ridge posterior at the ratio of noise to signal of greatest evidence.

    That of every few features, scaled to the same kernel, stands for that of many.
    """
    every = -(-len(sums.gram) // _SPECTRUM)
    few = replace(
        sums,
        gram=every * sums.gram[::every, ::every],
        cross=np.sqrt(every) * sums.cross[::every],
        features=np.sqrt(every) * sums.features[::every],
    )
    return fit_ridge(sums, best_alpha(few, fit_intercept=True)[0], fit_intercept=True)


def best_by_left_out(
    rows: Rows, features: FeatureMap, alpha: float
) -> tuple[RidgePosterior, tuple[Array, Array]]:
    """Return the ridge posterior of least left-out error near ``alpha``, and its predictions.

    Errors, and not the evidence, choose the ratio of noise to signal: rows that repeat with equal
    targets have no noise by evidence, and rows that do not repeat no prediction. The walk goes up
    as long as the error falls, else down.
    """
    sums = rows.sums(features)

    def trial(alpha: float) -> Trial:
        posterior = fit_ridge(sums, alpha, fit_intercept=True)
        found = left_out_predictions(rows, features, posterior)
        return float(np.nanmean((rows.y - found[0]) ** 2)), posterior, found

    def walked(best: Trial, factor: float) -> Trial:
        for _ in range(_MOST_STEPS):
            other = trial(factor * best[1].alpha)
            if not other[0] < best[0]:
                break
            best = other
        return best

    start = trial(alpha)
    best = walked(start, _STEP)
    best = walked(start, 1.0 / _STEP) if best is start else best
    return best[1], best[2]


def left_out_predictions(
    rows: Rows, features: FeatureMap, posterior: RidgePosterior
) -> tuple[Array, Array]:
    r"""Return means and standard deviations (n,) of the posterior without each scored block.

    From the posterior of all rows: with the block ``H`` of its hat matrix, the residuals of the
    block's rows are :math:`(I - H)^{-1}` times those of the fit, and the variance of the mean
    relative to the noise is the diagonal of :math:`H (I - H)^{-1}`. Large blocks are left out in
    parts. Rows that are not scored get ``nan``.
    """
    mean, std = np.full((2, len(rows.y)), np.nan)
    noise = float(posterior.noise_variance[0])
    for block in range(rows.n_scored):
        own = np.flatnonzero(rows.blocks == block)
        for part in np.array_split(own, -(-len(own) // _MOST_AT_ONCE)):
            Z = features.features(rows.X[part])
            half = (Z - posterior.centre) @ posterior.whitener
            hat = half @ half.T + posterior.intercept_variance
            residuals = rows.y[part] - posterior.mean(Z)[:, 0]
            solved = np.linalg.solve(np.eye(len(part)) - hat, np.column_stack([residuals, hat]))
            mean[part] = rows.y[part] - solved[:, 0]
            lacking = features.lacking_variance(rows.X[part], Z) / posterior.alpha
            std[part] = np.sqrt(noise * (1.0 + np.diagonal(solved[:, 1:]) + lacking))
    return mean, std


def predictions(posterior: RidgePosterior, features: FeatureMap, X: Array) -> tuple[Array, Array]:
    r"""Return means and standard deviations (n,), noise included, of a model of one target.

    The prior variance that features lack of the kernel's is added: far from all landmarks, theirs
    tends to zero.
    """
    Z = features.features(X)
    lacking = posterior.noise_variance[0] / posterior.alpha * features.lacking_variance(X, Z)
    return posterior.mean(Z)[:, 0], np.sqrt(posterior.std(Z)[:, 0] ** 2 + lacking)
