"""Spectral measures, sampling schemes, and the frequencies drawn from them."""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.spectral.amplitudes import Amplitudes as Amplitudes
    from bochner.spectral.choice import SCHEMES as SCHEMES
    from bochner.spectral.choice import Automatic as Automatic
    from bochner.spectral.choice import resolve_scheme as resolve_scheme
    from bochner.spectral.choice import transforms_pay as transforms_pay
    from bochner.spectral.closed_forms import closed_form as closed_form
    from bochner.spectral.composite_laws import PAIRINGS as PAIRINGS
    from bochner.spectral.composite_laws import Convolution as Convolution
    from bochner.spectral.composite_laws import GridPairs as GridPairs
    from bochner.spectral.composite_laws import Mapped as Mapped
    from bochner.spectral.composite_laws import MatchedPairs as MatchedPairs
    from bochner.spectral.composite_laws import TwoFrequency as TwoFrequency
    from bochner.spectral.composite_laws import WithAmplitude as WithAmplitude
    from bochner.spectral.composite_laws import grid_sides as grid_sides
    from bochner.spectral.decompositions import DECOMPOSITIONS as DECOMPOSITIONS
    from bochner.spectral.decompositions import Auto as Auto
    from bochner.spectral.decompositions import Decomposition as Decomposition
    from bochner.spectral.decompositions import Designed as Designed
    from bochner.spectral.decompositions import Jordan as Jordan
    from bochner.spectral.decompositions import Polar as Polar
    from bochner.spectral.decompositions import spectral_measure as spectral_measure
    from bochner.spectral.design import designed_measure as designed_measure
    from bochner.spectral.factors import CosineFactors as CosineFactors
    from bochner.spectral.factors import Envelope as Envelope
    from bochner.spectral.frequencies import Frequencies as Frequencies
    from bochner.spectral.hadamard import HadamardRows as HadamardRows
    from bochner.spectral.hadamard import Matrix as Matrix
    from bochner.spectral.lattice_measure import Lattice as Lattice
    from bochner.spectral.lattice_points import ShiftedLattice as ShiftedLattice
    from bochner.spectral.laws import BlockLaw as BlockLaw
    from bochner.spectral.laws import Chi as Chi
    from bochner.spectral.laws import Draw as Draw
    from bochner.spectral.laws import Elliptical as Elliptical
    from bochner.spectral.laws import ExponentialMagnitude as ExponentialMagnitude
    from bochner.spectral.laws import GammaMixture as GammaMixture
    from bochner.spectral.laws import Independent as Independent
    from bochner.spectral.laws import Isotropic as Isotropic
    from bochner.spectral.laws import Law as Law
    from bochner.spectral.laws import NoMeasureError as NoMeasureError
    from bochner.spectral.laws import Pairing as Pairing
    from bochner.spectral.laws import RadialLaw as RadialLaw
    from bochner.spectral.laws import Shell as Shell
    from bochner.spectral.laws import Student as Student
    from bochner.spectral.layouts import Coordinates as Coordinates
    from bochner.spectral.layouts import Directions as Directions
    from bochner.spectral.layouts import Layout as Layout
    from bochner.spectral.layouts import Scheme as Scheme
    from bochner.spectral.layouts import Uniforms as Uniforms
    from bochner.spectral.measure import Allocation as Allocation
    from bochner.spectral.measure import ByMass as ByMass
    from bochner.spectral.measure import ByVariance as ByVariance
    from bochner.spectral.measure import HalfByMass as HalfByMass
    from bochner.spectral.measure import Part as Part
    from bochner.spectral.measure import SpectralMeasure as SpectralMeasure
    from bochner.spectral.phase_factor import Component as Component
    from bochner.spectral.phase_factor import PhaseFactor as PhaseFactor
    from bochner.spectral.positive_frequencies import PositiveFrequencies as PositiveFrequencies
    from bochner.spectral.positive_measure import PositiveMeasure as PositiveMeasure
    from bochner.spectral.profiles import Pairs as Pairs
    from bochner.spectral.profiles import Profile as Profile
    from bochner.spectral.profiles import profile as profile
    from bochner.spectral.schemes import Iid as Iid
    from bochner.spectral.schemes import MinimumEnergy as MinimumEnergy
    from bochner.spectral.schemes import Orthogonal as Orthogonal
    from bochner.spectral.schemes import QuasiMonteCarlo as QuasiMonteCarlo
    from bochner.spectral.schemes import Structured as Structured
    from bochner.spectral.shifted_gaussian import ShiftedGaussian as ShiftedGaussian
else:
    __getattr__, __dir__, __all__ = on_demand(
        __name__,
        {
            "bochner.spectral.amplitudes": ("Amplitudes",),
            "bochner.spectral.choice": (
                "Automatic",
                "SCHEMES",
                "resolve_scheme",
                "transforms_pay",
            ),
            "bochner.spectral.closed_forms": ("closed_form",),
            "bochner.spectral.composite_laws": (
                "Convolution",
                "GridPairs",
                "Mapped",
                "MatchedPairs",
                "PAIRINGS",
                "TwoFrequency",
                "WithAmplitude",
                "grid_sides",
            ),
            "bochner.spectral.decompositions": (
                "Auto",
                "DECOMPOSITIONS",
                "Decomposition",
                "Designed",
                "Jordan",
                "Polar",
                "spectral_measure",
            ),
            "bochner.spectral.design": ("designed_measure",),
            "bochner.spectral.factors": (
                "CosineFactors",
                "Envelope",
            ),
            "bochner.spectral.frequencies": ("Frequencies",),
            "bochner.spectral.hadamard": (
                "HadamardRows",
                "Matrix",
            ),
            "bochner.spectral.lattice_measure": ("Lattice",),
            "bochner.spectral.lattice_points": ("ShiftedLattice",),
            "bochner.spectral.laws": (
                "BlockLaw",
                "Chi",
                "Draw",
                "Elliptical",
                "ExponentialMagnitude",
                "GammaMixture",
                "Independent",
                "Isotropic",
                "Law",
                "NoMeasureError",
                "Pairing",
                "RadialLaw",
                "Shell",
                "Student",
            ),
            "bochner.spectral.layouts": (
                "Coordinates",
                "Directions",
                "Layout",
                "Scheme",
                "Uniforms",
            ),
            "bochner.spectral.measure": (
                "Allocation",
                "ByMass",
                "ByVariance",
                "HalfByMass",
                "Part",
                "SpectralMeasure",
            ),
            "bochner.spectral.phase_factor": (
                "Component",
                "PhaseFactor",
            ),
            "bochner.spectral.positive_frequencies": ("PositiveFrequencies",),
            "bochner.spectral.positive_measure": ("PositiveMeasure",),
            "bochner.spectral.profiles": (
                "Pairs",
                "Profile",
                "profile",
            ),
            "bochner.spectral.schemes": (
                "Iid",
                "MinimumEnergy",
                "Orthogonal",
                "QuasiMonteCarlo",
                "Structured",
            ),
            "bochner.spectral.shifted_gaussian": ("ShiftedGaussian",),
        },
    )
