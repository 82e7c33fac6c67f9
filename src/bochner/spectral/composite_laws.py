"""Composite laws: for products, mapped inputs, and locally stationary kernels."""

from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice, product
from operator import add

import numpy as np

from bochner._base.arrays import Array
from bochner.spectral.feature_factors import Amplitudes
from bochner.spectral.laws import BlockLaw, Draw, Law, NoMeasureError
from bochner.spectral.schemes import Scheme


@dataclass(frozen=True, slots=True)
class Convolution(Law):
    """The law of a sum of independent frequencies: the spectrum of a product of kernels."""

    laws: tuple[Law, ...]

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.laws[0].dim

    @property
    def members(self) -> tuple[Law, ...]:
        return self.laws

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        return reduce(add, draw_jointly(self.laws, m, rng, scheme))

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        choices = (
            tuple(zip(*parts, strict=True))
            for parts in product(*(law.jordan() for law in self.laws))
        )
        return tuple((float(np.prod(shares)), Convolution(laws)) for shares, laws in choices)


def draw_jointly(
    laws: tuple[Law, ...], m: int, rng: np.random.Generator, scheme: Scheme
) -> list[Draw]:
    """Return ``m`` draws from each law; draws of different laws are independent in each row."""
    in_blocks = [law for law in laws if isinstance(law, BlockLaw)]
    if len(in_blocks) == len(laws):
        # One joint layout, so that one lattice fills all laws.
        layout = tuple(block for law in in_blocks for block in law.layout)
        blocks = iter(scheme.sample(layout, m, rng))
        omegas = [law.assemble(list(islice(blocks, len(law.layout)))) for law in in_blocks]
        draws = [Draw(omega, np.ones(m), np.zeros(m)) for omega in omegas]
    else:
        streams = rng.spawn(len(laws))
        draws = [
            # Permuted, because draws that come in an order, constants first, are dependent.
            law.draw_factor(m, stream, scheme).rearranged(stream.permutation(m))
            for law, stream in zip(laws, streams, strict=True)
        ]
    return reflected(laws, draws, rng)


def reflected(laws: tuple[Law, ...], draws: list[Draw], rng: np.random.Generator) -> list[Draw]:
    """Make all laws but one even: negate rows at random for uneven laws except the first."""
    uneven = [index for index, law in enumerate(laws) if not law.is_even]
    for index in uneven[1:]:
        signs = rng.choice((-1.0, 1.0), len(draws[index].ratio))
        draws[index] = draws[index].reflected(signs)
    return draws


@dataclass(frozen=True, slots=True, eq=False)
class Mapped(Law):
    r"""The law of :math:`k(x L, y R)`, of frequencies :math:`L \omega` and :math:`R \omega`."""

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

    @property
    def _key(self) -> tuple[object, ...]:
        return self.law, self.left.shape, self.left.tobytes(), self.right.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapped) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def mapped(self, left: Array, right: Array) -> Law:
        return Mapped(self.law, left @ self.left, right @ self.right)

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        inner = self.law.draw(m, rng, scheme)
        omega, factor = np.asarray(inner.omega), inner.factor
        if factor is not None:
            if not self._is_one_map:
                raise NoMeasureError(
                    "ShiftedGaussian waves of two different maps have no sampled features; use "
                    "weights='least_squares'."
                )
            factor = factor.mapped(self.left)
        nu = None
        if self.is_two_sided:
            nu = (omega if inner.nu is None else inner.nu) @ self.right.T
        return Draw(omega @ self.left.T, inner.ratio, inner.phase, nu, factor)

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        return tuple(
            (share, Mapped(law, self.left, self.right)) for share, law in self.law.jordan()
        )


@dataclass(frozen=True, slots=True)
class TwoFrequency(Law):
    r"""The law of :math:`\kappa_1((x + y)/2 - c)\, \kappa_s(x - y)`, where factors are 1 at zero.

    With :math:`s` from the law of :math:`\kappa_s` and :math:`v` from that of :math:`\kappa_1`,

    .. math:: \omega = s + \tfrac v2, \quad \nu = s - \tfrac v2, \quad \theta = -v \cdot c, \qquad
              E \cos(\omega \cdot x - \nu \cdot y + \theta)
              = E \cos(s \cdot (x - y))\, E \cos\big(v \cdot \big(\tfrac{x + y}2 - c\big)\big),

    where one of the laws is even, or is made so by random reflections.

    References
    ----------
    Silverman, "Locally stationary random processes", 1957. "Gaussian mixture Bayesian nonparametric
    kernel learning using spectral representation" (GaBaSR), section 3.1 and equation (6).
    """

    stationary: Law
    envelope: Law
    centre: tuple[float, ...]

    is_positive = False
    is_two_sided = True

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.stationary.dim

    @property
    def members(self) -> tuple[Law, ...]:
        return (self.stationary, self.envelope)

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        laws = self.stationary, self.envelope
        lag, middle = draw_jointly(laws, m, rng, scheme)
        v = np.asarray(middle.omega)
        half = Draw(0.5 * v, middle.ratio, middle.phase - v @ np.array(self.centre), -0.5 * v)
        return lag + half


@dataclass(frozen=True, slots=True, eq=False)
class WithAmplitude(Law):
    r"""The law of :math:`a(x)\, a(y)\, E \cos(s \cdot (x - y))`, with real or complex ``a``."""

    law: Law
    amplitude_of: Amplitudes

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.law.dim

    @property
    def members(self) -> tuple[Law, ...]:
        return (self.law,)

    @property
    def at_zero(self) -> float:
        value = float(self.amplitude_of.values(np.zeros((1, self.dim)))[0, 0])
        return self.law.at_zero * value**2

    @property
    def amplitude(self) -> float:
        return self.law.amplitude * float(np.abs(self.amplitude_of.coef).sum()) ** 2

    @property
    def n_atoms(self) -> int | None:
        return self.law.n_atoms

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        return replace(
            self.law.draw(m, rng, scheme),
            factor=self.amplitude_of.rearranged(np.zeros(m, dtype=np.intp)),
        )

    def mapped(self, left: Array, right: Array) -> Law | None:
        if not np.array_equal(left, right):
            return None
        inner = self.law.mapped(left, right)
        # Subclasses of BlockLaw do not implement `mapped`.
        return inner and WithAmplitude(inner, self.amplitude_of.mapped(left))
