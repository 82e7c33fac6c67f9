"""Laws made of other laws: those of products of kernels, and of kernels of mapped inputs."""

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from operator import add

import numpy as np

from bochner._numerics.arrays import Array
from bochner.sampling import Layout, Scheme
from bochner.spectral.laws import Draw, Law


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
    def dim_right(self) -> int:
        return self.laws[0].dim_right

    @property
    def at_zero(self) -> float:
        return float(np.prod([law.at_zero for law in self.laws]))

    @property
    def is_positive(self) -> bool:
        return all(law.is_positive for law in self.laws)

    @property
    def is_even(self) -> bool:
        return all(law.is_even for law in self.laws)

    @property
    def is_jordan(self) -> bool:
        return any(law.is_jordan for law in self.laws)

    @property
    def layout(self) -> Layout:
        return tuple(block for law in self.laws for block in law.layout)

    def assemble(self, blocks: list[Array]) -> Array:
        return reduce(add, self._assembled(blocks))

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        if all(type(law).draw is Law.draw for law in self.laws):
            # One layout for all, so that a quasi-random sequence fills it jointly.
            ones, zeros = np.ones(m), np.zeros(m)
            omegas = self._assembled(scheme.fill(self.layout, m, rng))
            draws = [Draw(omega, ones, zeros) for omega in omegas]
        else:
            streams = rng.spawn(len(self.laws))
            draws = [
                # Two quasi-random sequences in step with each other would be far from independent.
                law.draw(m, stream, scheme).rearranged(stream.permutation(m))
                for law, stream in zip(self.laws, streams, strict=True)
            ]
        uneven = [index for index, law in enumerate(self.laws) if not law.is_even]
        for index in uneven[1:]:
            draws[index] = draws[index].reflected(rng.choice((-1.0, 1.0), m))
        return reduce(add, draws)

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        choices = (
            tuple(zip(*parts, strict=True))
            for parts in product(*(law.jordan() for law in self.laws))
        )
        return tuple((float(np.prod(shares)), Convolution(laws)) for shares, laws in choices)

    def _assembled(self, blocks: list[Array]) -> list[Array]:
        ends = np.cumsum([0, *(len(law.layout) for law in self.laws)])
        return [
            law.assemble(blocks[start:stop])
            for law, (start, stop) in zip(self.laws, pairwise(ends), strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Mapped(Law):
    r"""Frequencies of a kernel of mapped inputs, :math:`k(x L, y R)`.

    Parameters
    ----------
    law : Law
        Of the kernel ``k``, in ``q`` dimensions.
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
    def at_zero(self) -> float:
        return self.law.at_zero

    @property
    def is_positive(self) -> bool:
        return self.law.is_positive and np.array_equal(self.left, self.right)

    @property
    def is_even(self) -> bool:
        return self.law.is_even

    @property
    def is_jordan(self) -> bool:
        return self.law.is_jordan

    @property
    def layout(self) -> Layout:
        return self.law.layout

    def assemble(self, blocks: list[Array]) -> Array:
        return self.law.assemble(blocks) @ self.left.T

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        inner = self.law.draw(m, rng, scheme)
        omega = np.asarray(inner.omega)
        nu = omega if inner.nu is None else inner.nu
        return Draw(omega @ self.left.T, inner.ratio, inner.phase, nu @ self.right.T)

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        return tuple(
            (share, Mapped(law, self.left, self.right)) for share, law in self.law.jordan()
        )
