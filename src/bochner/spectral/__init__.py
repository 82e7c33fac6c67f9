"""Spectral measures: laws over frequencies, closed forms and their algebra, designed measures."""

from bochner.spectral.allocation import Allocation, ByVariance, HalfByMass
from bochner.spectral.closed_forms import closed_form
from bochner.spectral.decompositions import (
    DECOMPOSITIONS,
    Auto,
    Decomposition,
    Designed,
    Jordan,
    spectral_measure,
)
from bochner.spectral.design import designed_measure
from bochner.spectral.laws import Convolution, Elliptical, Independent, Isotropic, Law
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.pairs import Pairs
from bochner.spectral.profiles import Profile, profile
from bochner.spectral.radial import (
    Chi,
    ExponentialMagnitude,
    GammaMixture,
    RadialLaw,
    Shell,
    Student,
)

__all__ = [
    "DECOMPOSITIONS",
    "Allocation",
    "Auto",
    "ByVariance",
    "Chi",
    "Convolution",
    "Decomposition",
    "Designed",
    "Elliptical",
    "ExponentialMagnitude",
    "GammaMixture",
    "HalfByMass",
    "Independent",
    "Isotropic",
    "Jordan",
    "Law",
    "Pairs",
    "Part",
    "Profile",
    "RadialLaw",
    "Shell",
    "SpectralMeasure",
    "Student",
    "closed_form",
    "designed_measure",
    "profile",
    "spectral_measure",
]
