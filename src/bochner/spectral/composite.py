"""Laws made of other laws: those of products of kernels, and of kernels of mapped inputs."""

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from bochner._numerics.arrays import Array
from bochner.frequencies import CosineFactors
from bochner.sampling import Matrix, Scheme
from bochner.spectral.laws import BlockLaw, Draw, Law, NoMeasureError

if TYPE_CHECKING:
    from bochner.spectral.two_frequency import Pairing


@dataclass(frozen=True, slots=True)
class Convolution(Law):
    r"""The law of a sum of independent frequencies: the spectrum of a product of kernels.

    The product of two means of cosines is the mean of the cosine of the sum only if one mean of
    the sines vanishes. Frequencies of laws that are not even, such as those of a component of a
    spectral mixture, are therefore negated at random, together with their phases; those of one
    such law may stay.
    """

    laws: tuple[Law, ...]

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.laws[0].dim

    @property
    def members(self) -> tuple[Law, ...]:
        return self.laws

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        return reduce(add, together(self.laws, m, rng, scheme))

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        choices = (
            tuple(zip(*parts, strict=True))
            for parts in product(*(law.jordan() for law in self.laws))
        )
        return tuple((float(np.prod(shares)), Convolution(laws)) for shares, laws in choices)

    def paired(self, pairing: "Pairing") -> Law:
        return Convolution(tuple(law.paired(pairing) for law in self.laws))


def together(laws: tuple[Law, ...], m: int, rng: np.random.Generator, scheme: Scheme) -> list[Draw]:
    """Return ``m`` draws from each of some laws, those of a row independent of one another."""
    in_blocks = [law for law in laws if isinstance(law, BlockLaw)]
    if len(in_blocks) == len(laws):
        # One layout for all, so that a quasi-random sequence fills it jointly.
        layout = tuple(block for law in in_blocks for block in law.layout)
        omegas = _assembled(in_blocks, scheme.sample(layout, m, rng))
        draws = [Draw(omega, np.ones(m), np.zeros(m)) for omega in omegas]
    else:
        streams = rng.spawn(len(laws))
        draws = [
            # Two quasi-random sequences in step with each other would be far from independent.
            law.draw(m, stream, scheme).rearranged(stream.permutation(m))
            for law, stream in zip(laws, streams, strict=True)
        ]
    return reflected(laws, draws, rng)


def reflected(laws: tuple[Law, ...], draws: list[Draw], rng: np.random.Generator) -> list[Draw]:
    """Return draws, negated at random where their law is not even, but for the first such law."""
    uneven = [index for index, law in enumerate(laws) if not law.is_even]
    for index in uneven[1:]:
        signs = rng.choice((-1.0, 1.0), len(draws[index].ratio))
        draws[index] = draws[index].reflected(signs)
    return draws


def _assembled(laws: list[BlockLaw], blocks: list[Matrix]) -> list[Matrix]:
    ends = np.cumsum([0, *(len(law.layout) for law in laws)])
    return [
        law.assemble(blocks[start:stop])
        for law, (start, stop) in zip(laws, pairwise(ends), strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Mapped(Law):
    r"""Frequencies of a kernel of mapped inputs, :math:`k(x L, y R)`.

    Parameters
    ----------
    law : Law
        Law of the kernel ``k``, in ``q`` dimensions.
    left, right : ndarray of shapes (d, q) and (d2, q)
        :math:`L` and :math:`R`: :math:`\omega = L \omega'` and :math:`\nu = R \omega'`.
    """

    law: Law
    left: Array
    right: Array

    @property
    def dim(self) -> int:  # type: ignore[override]
        return len(self.left)

    @property
    def dim_right(self) -> int:
        return len(self.right)

    @property
    def members(self) -> tuple[Law, ...]:
        return (self.law,)

    @property
    def is_positive(self) -> bool:
        return self.law.is_positive and self._is_one_map

    @property
    def is_two_sided(self) -> bool:
        return self.law.is_two_sided or not self._is_one_map

    @property
    def _is_one_map(self) -> bool:
        return np.array_equal(self.left, self.right)

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        inner = self.law.draw(m, rng, scheme)
        omega, modulation = np.asarray(inner.omega), inner.modulation
        if modulation is not None:
            if not self._is_one_map:
                raise NoMeasureError(
                    "ShiftedGaussian waves of two different maps have no sampled features; use "
                    "weights='least_squares'."
                )
            modulation = CosineFactors(modulation.v @ self.left.T, modulation.phase)
        nu = None
        if self.is_two_sided:
            nu = (omega if inner.nu is None else inner.nu) @ self.right.T
        return Draw(omega @ self.left.T, inner.ratio, inner.phase, nu, modulation)

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        return tuple(
            (share, Mapped(law, self.left, self.right)) for share, law in self.law.jordan()
        )

    def paired(self, pairing: "Pairing") -> Law:
        return Mapped(self.law.paired(pairing), self.left, self.right)
