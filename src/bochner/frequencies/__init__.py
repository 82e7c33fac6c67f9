"""Sampled frequencies: the finite sum every kernel of the library becomes."""

from bochner.frequencies.frequencies import Frequencies

__all__ = ["Frequencies"]
