"""Features of kernels, and the sums over rows that linear models need.

An estimator of your own draws frequencies with :class:`bochner.FourierFeatures`, computes the sums
once with :func:`feature_sums`, which shows an example, and solves for its weights.
"""

from bochner.features.nystroem import AsymmetricNystroem, KreinNystroem
from bochner.features.row_sums import FeatureSums, feature_sums

__all__ = ["AsymmetricNystroem", "FeatureSums", "KreinNystroem", "feature_sums"]
