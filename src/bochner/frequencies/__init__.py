"""Sampled frequencies: the finite sum every kernel of the library becomes."""

from bochner.frequencies.envelope import Envelope
from bochner.frequencies.frequencies import Frequencies
from bochner.frequencies.modulation import ModulatingWaves

__all__ = ["Envelope", "Frequencies", "ModulatingWaves"]
