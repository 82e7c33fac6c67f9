"""Features of kernels, and the sums over rows that linear models need.

To write an estimator, draw frequencies with :class:`bochner.FourierFeatures`, compute the sums once
with :func:`feature_sums`, whose docstring has an example, and solve for the weights.
"""

from bochner.features.nystroem import AsymmetricNystroem, KreinNystroem
from bochner.features.row_sums import FeatureSums, feature_sums

__all__ = ["AsymmetricNystroem", "FeatureSums", "KreinNystroem", "feature_sums"]
