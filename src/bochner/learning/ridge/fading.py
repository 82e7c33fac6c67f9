"""The change of predictions when faded features are dropped."""

import numpy as np

from bochner._numerics import limits
from bochner._numerics.arrays import Array, as_array
from bochner.features.fading import FadingFeatures
from bochner.features.stats import FeatureSums
from bochner.learning.ridge.krein import KreinSolution
from bochner.learning.ridge.posterior import RidgePosterior


def prediction_change(
    fading: FadingFeatures,
    since: FeatureSums,
    both: RidgePosterior | KreinSolution,
    later: RidgePosterior | KreinSolution,
) -> float:
    """Return the change of predictions at the rows after a refresh, from ``both`` to ``later``.

    The result is the larger of two changes: the root mean square change of the mean, divided by the
    root mean square residual of ``later`` at these rows, and the change of the logarithm of the
    root mean square of predictive standard deviations. Means over rows are weighted, and the
    largest change of all targets is returned. ``since`` are the sums over the rows, of both sets of
    features with unit shares. ``both`` is the solution on :meth:`FadingFeatures.mixed`.
    """
    share, rows = fading.share(since), fading.later_sums(since)
    mixed = since.scaled(fading.factors(share))
    coef = both.coef.copy()
    coef[fading.later_columns] -= later.coef / np.sqrt(1.0 - share)
    change = _mean_square(mixed, coef, both.intercept - later.intercept)
    fitted = _mean_square(rows, later.coef, later.intercept)
    towards = np.sum(rows.cross * later.coef, axis=0) + rows.targets * later.intercept
    residual = (rows.square - 2.0 * towards) / rows.weight + fitted
    residual = np.maximum(residual, limits.NEGLIGIBLE * rows.square / rows.weight)
    # A residual and a change of zero mean no change.
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.sqrt(np.nan_to_num(np.maximum(change, 0.0) / residual))
    greatest = float(relative.max())
    if isinstance(both, RidgePosterior) and isinstance(later, RidgePosterior):
        ratio = _mean_variance(both, mixed) / _mean_variance(later, rows)
        greatest = max(greatest, 0.5 * float(np.abs(np.log(ratio)).max()))
    return greatest


def _mean_square(sums: FeatureSums, coef: Array, intercept: Array) -> Array:
    """Return the mean squares (t,) over the rows of functions with weights (p, t)."""
    squares = np.sum(coef * (sums.gram @ coef), axis=0) / sums.weight
    return as_array(squares + intercept * (2.0 * (sums.features @ coef) / sums.weight + intercept))


def _mean_variance(posterior: RidgePosterior, sums: FeatureSums) -> Array:
    """Return the mean predictive variances (t,) over the rows, noise included."""
    half = posterior.whitener
    level, mean = posterior.centre @ half, (sums.features / sums.weight) @ half
    spread = np.sum(half * (sums.gram @ half)) / sums.weight + level @ level - 2.0 * level @ mean
    variance = posterior.noise_variance
    return as_array(variance * (1.0 + posterior.intercept_variance + float(spread)))
