"""What a kernel is on given data, and what to do with it."""

from bochner.diagnosis.diagnosis import Diagnosis, diagnose
from bochner.diagnosis.errors import FeatureErrors, Features
from bochner.diagnosis.spectrum import Spectrum, spectrum_of

__all__ = ["Diagnosis", "FeatureErrors", "Features", "Spectrum", "diagnose", "spectrum_of"]
