"""The change of predictions when faded features are dropped."""

import numpy as np

from bochner._base import limits
from bochner._base.arrays import Array, as_array
from bochner.features.fading import FadingFeatures
from bochner.features.stats import FeatureSums
from bochner.linear.krein import KreinSolution
from bochner.linear.ridge_posterior import FunctionLaw, RidgePosterior


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
    coef, later_coef = _coef(both).copy(), _coef(later)
    coef[fading.later_columns] -= later_coef / np.sqrt(1.0 - share)
    change = _mean_square(mixed, coef, both.intercept - later.intercept)
    fitted = _mean_square(rows, later_coef, later.intercept)
    towards = np.sum(rows.cross * later_coef, axis=0) + rows.targets * later.intercept
    residual = (rows.square - 2.0 * towards) / rows.weight + fitted
    residual = np.maximum(residual, limits.NEGLIGIBLE * rows.square / rows.weight)
    # A residual and a change of zero mean no change.
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.sqrt(np.nan_to_num(np.maximum(change, 0.0) / residual))
    greatest = float(relative.max())
    if isinstance(both, RidgePosterior) and isinstance(later, RidgePosterior):
        ratio = _mean_variance(both.law, mixed) / _mean_variance(later.law, rows)
        greatest = max(greatest, 0.5 * float(np.abs(np.log(ratio)).max()))
    return greatest


def _coef(solution: RidgePosterior | KreinSolution) -> Array:
    return solution.law.coef if isinstance(solution, RidgePosterior) else solution.coef


def _mean_square(sums: FeatureSums, coef: Array, intercept: Array) -> Array:
    """Return the mean squares (t,) over the rows of functions with weights (p, t)."""
    squares = np.sum(coef * (sums.gram @ coef), axis=0) / sums.weight
    return as_array(squares + intercept * (2.0 * (sums.features @ coef) / sums.weight + intercept))


def _mean_variance(law: FunctionLaw, sums: FeatureSums) -> Array:
    """Return the mean predictive variances (t,) over the rows, noise included."""
    variance = (1.0 + law.intercept_variance) * law.noise_variance
    for half, scale in (
        (law.noise_root, law.noise_variance),
        (law.prior_root, law.prior_variance),
    ):
        level, mean = law.centre @ half, (sums.features / sums.weight) @ half
        spread = np.sum(half * (sums.gram @ half)) / sums.weight + level @ level
        variance = variance + scale * float(spread - 2.0 * level @ mean)
    return as_array(variance)
