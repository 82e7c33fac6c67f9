"""The best of the library for a linear classifier, chosen on training rows."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner import kernels
from bochner._numerics.arrays import Array
from bochner.benchmarks._indefinite_design import FeatureMap
from bochner.benchmarks._squared_hinge import accuracies, targets_of, with_ones
from bochner.estimators.digmm_features import DIGMMFeatures
from bochner.features.length_scales import median_distance
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Gaussian
from bochner.learning.criteria import LeaveOneOut
from bochner.learning.families import GAUSSIAN_FAMILY
from bochner.learning.kernel_search import minimise

Candidates = Mapping[str, Callable[[], FeatureMap]]

_MULTIPLES = (0.25, 0.5, 1.0)
_OWN_MULTIPLES = (0.7, 1.0)
_SEARCH_ROWS, _SEARCH_STEPS = 1_000, 40
_MANY_INPUTS = 100
_JUDGED = 20_000_000
_MOST_ROWS = 16_000
_FOLDS = 3
_CS = (2.0, 8.0, 32.0)


def best_map(
    X: Array, y: NDArray[Any], n_components: int, random_state: int
) -> tuple[FeatureMap, str]:
    """Return the fitted features that a linear classifier is best on, and what they are.

    Candidates are a Gaussian kernel of several multiples of the median distance, one with a
    length scale for every input that is found by leave-one-out errors, and a mixture that is
    learned from similarities. Each is judged by folds of at most 16,000 training rows, fewer
    where features are many.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Classes.
    n_components : int
        Of every candidate.
    random_state : int
    """
    rng = np.random.default_rng(random_state)
    chosen = rng.permutation(len(X))[: min(_MOST_ROWS, _JUDGED // n_components)]
    rows, labels = X[chosen], y[chosen]
    candidates = _candidates(rows, labels, n_components, random_state, rng)
    judged = {
        name: _judged(make().fit(rows), rows, labels, random_state)
        for name, make in candidates.items()
    }
    best = max(judged, key=judged.__getitem__)
    return candidates[best]().fit(X), best


def _judged(features: FeatureMap, rows: Array, labels: NDArray[Any], seed: int) -> float:
    Z = with_ones(np.asarray(features.transform(rows.astype(np.float32)), dtype=np.float32))
    return float(accuracies(Z, labels, _CS, _FOLDS, seed).max())


def _candidates(
    X: Array, y: NDArray[Any], p: int, seed: int, rng: np.random.Generator
) -> Candidates:
    median = median_distance(X, rng)

    def gaussian(scale: Any) -> Callable[[], FeatureMap]:
        return lambda: FourierFeatures(Gaussian(scale), p, random_state=seed)

    def mixture() -> FeatureMap:
        return DIGMMFeatures(kernels.TL1(0.7 * X.shape[1]), p, random_state=seed)

    made = {f"Gaussian, {share:g} medians": gaussian(share * median) for share in _MULTIPLES}
    made["DIGMM, exact, of TL1"] = mixture
    if X.shape[1] <= _MANY_INPUTS:
        scales = _own_scales(X, y)
        made |= {
            f"Gaussian, {share:g} times own scales": gaussian(tuple(share * scales))
            for share in _OWN_MULTIPLES
        }
    return made


def _own_scales(X: Array, y: NDArray[Any]) -> Array:
    """Return a length scale for every input, by leave-one-out errors of ridge regression."""
    spread = X.std(axis=0)
    spread[spread == 0.0] = 1.0
    some = slice(0, _SEARCH_ROWS)
    criterion = LeaveOneOut.of(X[some] / spread, targets_of(y)[0][some])
    theta, _ = minimise(criterion, GAUSSIAN_FAMILY, _SEARCH_STEPS)
    found: Any = GAUSSIAN_FAMILY.ladder(theta[:-1])[0]
    scales: Array = np.asarray(found.length_scale) * spread
    return scales
