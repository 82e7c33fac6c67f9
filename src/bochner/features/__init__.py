"""Features of kernels, and the sums over rows that linear heads need."""

from bochner.features.stats import FeatureSums, feature_sums
from bochner.features.transformer import FourierFeatures

__all__ = ["FeatureSums", "FourierFeatures", "feature_sums"]
