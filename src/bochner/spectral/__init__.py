"""Spectral measures: laws over frequencies, closed forms and their algebra, designed measures."""

from bochner.spectral.closed_forms import closed_form
from bochner.spectral.composite import (
    PAIRINGS,
    Convolution,
    GridPairs,
    Mapped,
    MatchedPairs,
    TwoFrequency,
    WithAmplitude,
    grid_sides,
)
from bochner.spectral.decompositions import (
    DECOMPOSITIONS,
    Auto,
    Decomposition,
    Designed,
    Jordan,
    Polar,
    spectral_measure,
)
from bochner.spectral.design import designed_measure
from bochner.spectral.lattice import Lattice
from bochner.spectral.laws import (
    BlockLaw,
    Chi,
    Draw,
    Elliptical,
    ExponentialMagnitude,
    GammaMixture,
    Independent,
    Isotropic,
    Law,
    NoMeasureError,
    Pairing,
    RadialLaw,
    Shell,
    Student,
)
from bochner.spectral.measure import (
    Allocation,
    ByMass,
    ByVariance,
    HalfByMass,
    Part,
    SpectralMeasure,
)
from bochner.spectral.phase_factor import Component, PhaseFactor
from bochner.spectral.positive import PositiveMeasure
from bochner.spectral.profiles import Pairs, Profile, profile
from bochner.spectral.shifted_gaussian import ShiftedGaussian

__all__ = [
    "DECOMPOSITIONS",
    "PAIRINGS",
    "Allocation",
    "Auto",
    "BlockLaw",
    "ByMass",
    "ByVariance",
    "Chi",
    "Component",
    "Convolution",
    "Decomposition",
    "Designed",
    "Draw",
    "Elliptical",
    "ExponentialMagnitude",
    "GammaMixture",
    "GridPairs",
    "HalfByMass",
    "Independent",
    "Isotropic",
    "Jordan",
    "Lattice",
    "Law",
    "Mapped",
    "MatchedPairs",
    "NoMeasureError",
    "Pairing",
    "Pairs",
    "Part",
    "PhaseFactor",
    "Polar",
    "PositiveMeasure",
    "Profile",
    "RadialLaw",
    "Shell",
    "ShiftedGaussian",
    "SpectralMeasure",
    "Student",
    "TwoFrequency",
    "WithAmplitude",
    "closed_form",
    "designed_measure",
    "grid_sides",
    "profile",
    "spectral_measure",
]
