"""What a law asks of a sampling scheme, in terms of geometry alone."""

from dataclasses import dataclass


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
