"""Sampling schemes: independent, orthogonal, quasi-Monte-Carlo and structured."""

from bochner.sampling.hadamard import HadamardRows, Matrix
from bochner.sampling.layout import Coordinates, Directions, Layout, Uniforms
from bochner.sampling.schemes import (
    SCHEMES,
    Automatic,
    Iid,
    Orthogonal,
    QuasiMonteCarlo,
    Scheme,
    Structured,
    resolve_scheme,
)

__all__ = [
    "SCHEMES",
    "Automatic",
    "Coordinates",
    "Directions",
    "HadamardRows",
    "Iid",
    "Layout",
    "Matrix",
    "Orthogonal",
    "QuasiMonteCarlo",
    "Scheme",
    "Structured",
    "Uniforms",
    "resolve_scheme",
]
