"""Features of kernels, and the sums over rows that linear models need.

An estimator of your own draws frequencies with :class:`FourierFeatures`, or with
:func:`approximate` from a kernel, computes the sums once with
:func:`feature_sums`, which shows an example, or with :func:`chunk_sums` from chunks of rows, and
solves for its weights, for instance with ``bochner.linear.ridge_posterior``.
"""

from bochner.features.approximation import Approximation, approximate
from bochner.features.chunks import Chunk
from bochner.features.nystroem import AsymmetricNystroem, KreinNystroem
from bochner.features.stats import FeatureSums, chunk_sums, feature_sums
from bochner.features.targets import Indicators, Numbers, Targets
from bochner.features.transformer import FourierFeatures

__all__ = [
    "Approximation",
    "AsymmetricNystroem",
    "Chunk",
    "FeatureSums",
    "FourierFeatures",
    "Indicators",
    "KreinNystroem",
    "Numbers",
    "Targets",
    "approximate",
    "chunk_sums",
    "feature_sums",
]
