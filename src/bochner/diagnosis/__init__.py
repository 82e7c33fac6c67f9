"""Analysis of kernels and fitted functions on given data, and which estimator to use."""

from bochner.diagnosis.contributions import Contributions
from bochner.diagnosis.sensitivity import Effect, VarianceShares
from bochner.linear.diagnosis import Diagnosis, diagnose
from bochner.linear.feature_errors import FeatureErrors, Features
from bochner.linear.singular_values import SingularValues, Spectrum, singular_values_of, spectrum_of

__all__ = [
    "Contributions",
    "Diagnosis",
    "Effect",
    "FeatureErrors",
    "Features",
    "SingularValues",
    "Spectrum",
    "VarianceShares",
    "diagnose",
    "singular_values_of",
    "spectrum_of",
]
