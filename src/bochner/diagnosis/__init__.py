"""Analysis of a kernel on given data, and advice on which estimator to use."""

from bochner.diagnosis.diagnosis import Diagnosis, diagnose
from bochner.diagnosis.errors import FeatureErrors, Features
from bochner.diagnosis.spectrum import SingularValues, Spectrum, singular_values_of, spectrum_of

__all__ = [
    "Diagnosis",
    "FeatureErrors",
    "Features",
    "SingularValues",
    "Spectrum",
    "diagnose",
    "singular_values_of",
    "spectrum_of",
]
