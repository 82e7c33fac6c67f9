"""Sampling schemes: independent, orthogonal, quasi-Monte-Carlo, structured, least energy."""

from bochner.sampling.hadamard import HadamardRows, Matrix
from bochner.sampling.schemes import (
    SCHEMES,
    Automatic,
    Coordinates,
    Directions,
    Iid,
    Layout,
    MinimumEnergy,
    Orthogonal,
    QuasiMonteCarlo,
    Scheme,
    Structured,
    Uniforms,
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
    "MinimumEnergy",
    "Orthogonal",
    "QuasiMonteCarlo",
    "Scheme",
    "Structured",
    "Uniforms",
    "resolve_scheme",
]
