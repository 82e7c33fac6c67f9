"""The rule for ``scheme="auto"``: which scheme has the least error of a model in equal seconds.

Measured in docs/results/schemes.md, errors of Gram matrices, and docs/results/payoff.md, errors of
models.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from bochner._base.name_checks import resolved
from bochner._base.registry import register
from bochner.spectral.energy import MOST_INPUTS
from bochner.spectral.hadamard import Matrix
from bochner.spectral.lattice_points import ShiftedLattice
from bochner.spectral.layouts import Coordinates, Directions, Layout, Scheme, Uniforms
from bochner.spectral.schemes import Iid, MinimumEnergy, Orthogonal, QuasiMonteCarlo, Structured

_LATTICE_COORDINATES = 2
"""Inputs up to which lattices are best for laws with independent coordinates: in three inputs they
are better for Laplacian kernels and worse for Cauchy kernels."""

_LATTICE_MIXTURES = 3
"""Inputs up to which lattices are best for mixtures of scales."""


LEAST_TRANSFORMED = 256
"""Inputs from which on Hadamard blocks are considered: their bias is of order 1/d."""

_LEAST_GAIN = 25.0
"""Multiplications for each addition of a transform: from about ten on, blocks are faster."""


def best_scheme(layout: Layout) -> Scheme:
    """Return the scheme with the least error for the blocks of a law."""
    match layout:
        case (Coordinates(dim=dim), *_) if dim <= _LATTICE_COORDINATES and len(layout) <= 2:
            return ShiftedLattice()
        case (Directions(dim=dim), Uniforms(dim=n)) if n > 1 and dim <= _LATTICE_MIXTURES:
            return ShiftedLattice()
    return MinimumEnergy() if layout[0].dim <= MOST_INPUTS else Orthogonal()


def transforms_pay(n_nonzero: float, dim: int, m: int) -> bool:
    """Return whether ``m`` frequencies in Hadamard blocks are faster than in an array.

    ``n_nonzero`` is the number of nonzero inputs of a row, of ``dim``.
    """
    order = 1 << (dim - 1).bit_length()
    additions = -(-m // order) * order * math.log2(order)
    return dim >= LEAST_TRANSFORMED and m * n_nonzero >= _LEAST_GAIN * additions


@register
@dataclass(frozen=True, slots=True)
class Automatic(Scheme):
    r"""The scheme that was measured to be best for the layout.

    :class:`ShiftedLattice` for laws with independent coordinates in at most two inputs, and for
    mixtures of scales in at most three; else :class:`MinimumEnergy` in at most 64 inputs and
    :class:`Orthogonal` beyond. Estimators use :class:`Structured` if its draws are faster and as
    accurate on the training rows (``bochner/features/measure_parts.py``).
    """

    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        return best_scheme(layout).sample(layout, m, rng)


SCHEMES: Mapping[str, Scheme] = MappingProxyType(
    {
        "iid": Iid(),
        "orthogonal": Orthogonal(),
        "qmc": QuasiMonteCarlo(),
        "structured": Structured(),
        "energy": MinimumEnergy(),
        "lattice": ShiftedLattice(),
        "auto": Automatic(),
    }
)


def resolve_scheme(scheme: "str | Scheme") -> Scheme:
    """Return the scheme with a name; a :class:`Scheme` is returned unchanged."""
    return resolved("scheme", scheme, Scheme, SCHEMES)
