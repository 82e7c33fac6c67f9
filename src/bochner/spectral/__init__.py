"""Spectral measures: laws over frequencies, closed forms and their algebra."""

from bochner.spectral.closed_forms import closed_form, spectral_measure
from bochner.spectral.laws import Convolution, Elliptical, Independent, Isotropic, Law
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.radial import Chi, ExponentialMagnitude, GammaMixture, RadialLaw, Student

__all__ = [
    "Chi",
    "Convolution",
    "Elliptical",
    "ExponentialMagnitude",
    "GammaMixture",
    "Independent",
    "Isotropic",
    "Law",
    "Part",
    "RadialLaw",
    "SpectralMeasure",
    "Student",
    "closed_form",
    "spectral_measure",
]
