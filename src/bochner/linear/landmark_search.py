"""Search for length scales that are too short for random features, by evidence with landmarks.

With few frequencies, a function that varies at short lags looks like noise, and the evidence of the
features prefers longer length scales than the evidence of the kernel. Residual features at
landmarks (see :mod:`bochner.features.residual`) correct this for lags between rows and landmarks.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bochner._base.arrays import Array
from bochner.features.chunks import ArrayChunks
from bochner.features.residual import ResidualFeatures
from bochner.linear.feature_evidence import ordered_sums
from bochner.linear.ridge_posterior import best_alpha, fit_ridge
from bochner.linear.ridge_search import FeatureSearch


def shortened(search: FeatureSearch, theta: Array, n_landmarks: int, seed: int) -> Array:
    """Return parameters (q,) whose shortest length scale is shortened while the evidence increases.

    The evidence is computed from the features of a search and ``n_landmarks``, chosen for each
    kernel. Among the neighbours of the parameters, the one with the shortest scale is tried: along
    it, few frequencies approximate the kernel worst.
    """
    value = _loss_with_landmarks(search, n_landmarks, seed)
    least = value(theta)
    while near := search.family.neighbours(theta):
        shorter = min(near, key=lambda other: float(other[other != theta].min()))
        shorter_loss = value(shorter)
        if shorter_loss >= least:
            break
        theta, least = shorter, shorter_loss
    return theta


def _loss_with_landmarks(
    search: FeatureSearch, n_landmarks: int, seed: int
) -> Callable[[Array], float]:
    """Return the negative log evidence with landmarks, penalised, as a function of parameters."""
    family: Any = search.family

    def loss(theta: Array) -> float:
        features = ResidualFeatures.of(
            family.frequencies(search.draws, theta),
            family.in_units.kernel(theta),
            search.rows.X,
            n_landmarks,
            np.random.default_rng(seed),
        )
        sums = ordered_sums(ArrayChunks(search.rows), features, search.targets)
        if search.alpha is None:
            evidence = best_alpha(sums, fit_intercept=search.fit_intercept)[1]
        else:
            posterior = fit_ridge(sums, search.alpha, fit_intercept=search.fit_intercept)
            evidence = posterior.log_evidence
        return search.penalty(theta)[0] - evidence

    return loss
