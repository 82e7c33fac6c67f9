"""Sampling schemes: how the points behind random frequencies depend on one another."""

from bochner.sampling.choice import SCHEMES, Automatic, resolve_scheme, transforms_pay
from bochner.sampling.hadamard import HadamardRows, Matrix
from bochner.sampling.lattice import ShiftedLattice
from bochner.sampling.layouts import Coordinates, Directions, Layout, Scheme, Uniforms
from bochner.sampling.schemes import (
    Iid,
    MinimumEnergy,
    Orthogonal,
    QuasiMonteCarlo,
    Structured,
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
    "ShiftedLattice",
    "Structured",
    "Uniforms",
    "resolve_scheme",
    "transforms_pay",
]
