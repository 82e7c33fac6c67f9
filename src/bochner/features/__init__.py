"""Features of kernels, and the sums over rows that linear models need.

An estimator of your own draws frequencies with :class:`FourierFeatures`, or with
:func:`approximate` from a kernel and a :class:`Recipe`, computes the sums once with
:func:`feature_sums`, or with :func:`chunk_sums` from chunks of rows, and solves for its weights.

>>> import numpy as np
>>> from bochner.features import FourierFeatures, feature_sums
>>> from bochner.learning.ridge import best_alpha, fit_ridge
>>> X = np.random.default_rng(0).uniform(-2.0, 2.0, size=(500, 1))
>>> frequencies = FourierFeatures("matern52", n_components=64, random_state=0).fit(X).frequencies_
>>> sums = feature_sums(frequencies, X, np.sin(X))
>>> posterior = fit_ridge(sums, best_alpha(sums)[0])
>>> bool(np.abs(posterior.mean(frequencies.features(X)) - np.sin(X)).max() < 0.01)
True
"""

from bochner.features.approximation import Approximation, Recipe, approximate
from bochner.features.chunks import Chunk
from bochner.features.stats import FeatureSums, chunk_sums, feature_sums
from bochner.features.targets import Indicators, Numbers, Targets
from bochner.features.transformer import FourierFeatures

__all__ = [
    "Approximation",
    "Chunk",
    "FeatureSums",
    "FourierFeatures",
    "Indicators",
    "Numbers",
    "Recipe",
    "Targets",
    "approximate",
    "chunk_sums",
    "feature_sums",
]
