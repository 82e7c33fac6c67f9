"""Sampled frequencies: the finite sum every kernel of the library becomes."""

from bochner.frequencies.amplitudes import Amplitudes
from bochner.frequencies.factors import CosineFactors, Envelope
from bochner.frequencies.frequencies import Frequencies
from bochner.frequencies.positive import PositiveFrequencies

__all__ = [
    "Amplitudes",
    "CosineFactors",
    "Envelope",
    "Frequencies",
    "PositiveFrequencies",
]
