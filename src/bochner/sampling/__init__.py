"""Sampling schemes: independent, orthogonal, quasi-Monte-Carlo and structured."""

from bochner.sampling.layout import Coordinates, Directions, Layout, Uniforms
from bochner.sampling.schemes import (
    SCHEMES,
    Iid,
    Orthogonal,
    QuasiMonteCarlo,
    Scheme,
    Structured,
    resolve_scheme,
)

__all__ = [
    "SCHEMES",
    "Coordinates",
    "Directions",
    "Iid",
    "Layout",
    "Orthogonal",
    "QuasiMonteCarlo",
    "Scheme",
    "Structured",
    "Uniforms",
    "resolve_scheme",
]
