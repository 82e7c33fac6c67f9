"""Search for length scales that are too short for random features, by evidence with landmarks.

Features of few frequencies take a function that varies at short lags for noise, and their evidence
ends at longer length scales than that of the kernel. With what features lack at landmarks (see
:mod:`bochner.features.residual`) it does not, for lags from rows to landmarks.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.features.chunks import ArrayChunks
from bochner.features.residual import ResidualFeatures
from bochner.learning.evidence.feature_evidence import ordered_sums
from bochner.learning.evidence.ridge_search import FeatureSearch
from bochner.learning.ridge.posterior import best_alpha, fit_ridge


def shortened(search: FeatureSearch, theta: Array, n_landmarks: int, seed: int) -> Array:
    """Return parameters (q,) whose shortest scale is the shorter one while the evidence rises.

    The evidence is that of the features of a search with ``n_landmarks``, which are chosen anew for
    each kernel. Of the neighbours of parameters, the one of the shortest scale is tried: few
    frequencies are further from following that than any other.
    """
    value = _loss_with_landmarks(search, n_landmarks, seed)
    least = value(theta)
    while near := search.family.neighbours(theta):
        shorter = min(near, key=lambda other: float(other[other != theta].min()))
        found = value(shorter)
        if found >= least:
            break
        theta, least = shorter, found
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
            found = fit_ridge(sums, search.alpha, fit_intercept=search.fit_intercept)
            evidence = found.log_evidence
        return search.penalty(theta)[0] - evidence

    return loss
