"""Analysis of kernels and fitted functions on given data, and which estimator to use."""

from bochner.diagnosis.contributions import Contributions
from bochner.diagnosis.diagnosis import Diagnosis, diagnose
from bochner.diagnosis.errors import FeatureErrors, Features
from bochner.diagnosis.sensitivity import Effect, VarianceShares
from bochner.diagnosis.spectrum import SingularValues, Spectrum, singular_values_of, spectrum_of

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
