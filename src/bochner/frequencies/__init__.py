"""Sampled frequencies: the finite sum every kernel of the library becomes."""

from bochner.frequencies.cosine_factors import CosineFactors
from bochner.frequencies.envelope import Envelope
from bochner.frequencies.frequencies import Frequencies

__all__ = ["CosineFactors", "Envelope", "Frequencies"]
