"""Sampling schemes: independent, orthogonal, quasi-Monte-Carlo and structured."""

from bochner.sampling.hadamard import HadamardRows, Matrix
from bochner.sampling.schemes import (
    SCHEMES,
    Automatic,
    Coordinates,
    Directions,
    Iid,
    Layout,
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
    "Orthogonal",
    "QuasiMonteCarlo",
    "Scheme",
    "Structured",
    "Uniforms",
    "resolve_scheme",
]
