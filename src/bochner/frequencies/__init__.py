"""Sampled frequencies: the finite sum every kernel of the library becomes."""

from bochner.frequencies.factors import CosineFactors, Envelope
from bochner.frequencies.frequencies import Frequencies
from bochner.frequencies.positive import PositiveFrequencies

__all__ = ["CosineFactors", "Envelope", "Frequencies", "PositiveFrequencies"]
