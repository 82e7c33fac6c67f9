"""Sampled frequencies: the finite sum every kernel of the library becomes."""

from bochner.frequencies.factors import (
    Amplitudes,
    CosineFactors,
    Envelope,
    Factor,
    FactorProduct,
    multiplied,
    separated,
)
from bochner.frequencies.frequencies import Frequencies
from bochner.frequencies.positive import PositiveFrequencies

__all__ = [
    "Amplitudes",
    "CosineFactors",
    "Envelope",
    "Factor",
    "FactorProduct",
    "Frequencies",
    "PositiveFrequencies",
    "multiplied",
    "separated",
]
