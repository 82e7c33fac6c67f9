"""Layouts of draws: blocks of unit vectors and points of the cube, which a scheme fills."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array
from bochner.spectral.hadamard import Matrix


@dataclass(frozen=True, slots=True)
class Directions:
    """A block of unit vectors, uniform on the sphere in ``dim`` dimensions."""

    dim: int


@dataclass(frozen=True, slots=True)
class Coordinates:
    """A block of uniforms on the cube, one coordinate for each of ``dim`` inputs."""

    dim: int


@dataclass(frozen=True, slots=True)
class Uniforms:
    """A block of ``dim`` auxiliary uniforms, for radii and mixing variables."""

    dim: int


Block = Directions | Coordinates | Uniforms
Layout = tuple[Block, ...]
"""The blocks that one draw of a law needs."""


class Scheme(ABC):
    """Fills the blocks of a layout with ``m`` dependent rows, each marginally uniform."""

    __slots__ = ()

    @abstractmethod
    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        """Return a matrix (m, block.dim) for each block; directions may be HadamardRows."""


def open_interval(u: Array) -> Array:
    """Return uniforms moved into the open interval, by no more than they are rounded."""
    # Half the spacing of random numbers, and the greatest float64 below one.
    return np.clip(u, 2.0**-54, 1.0 - 2.0**-53)
