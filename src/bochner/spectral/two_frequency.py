"""Laws of locally stationary kernels: a frequency for each argument."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isqrt
from types import MappingProxyType

import numpy as np

from bochner._numerics.names import resolved
from bochner.registry import register
from bochner.sampling import Scheme
from bochner.spectral.composite import reflected, together
from bochner.spectral.laws import Draw, Law

_LONGEST = 4
"""Greatest ratio of the sides of a grid that has exactly as many cells as are wanted."""


class Pairing(ABC):
    """A way to pair frequencies of the lag with frequencies of the midpoint."""

    __slots__ = ()

    @abstractmethod
    def draws(
        self, stationary: Law, envelope: Law, m: int, rng: np.random.Generator, scheme: Scheme
    ) -> tuple[Draw, Draw]:
        """Return ``m`` draws from either law; the two of a row are independent of each other."""


@register
@dataclass(frozen=True, slots=True)
class MatchedPairs(Pairing):
    """One frequency of the lag and one of the midpoint for every pair."""

    def draws(
        self, stationary: Law, envelope: Law, m: int, rng: np.random.Generator, scheme: Scheme
    ) -> tuple[Draw, Draw]:
        lag, middle = together((stationary, envelope), m, rng, scheme)
        return lag, middle


@register
@dataclass(frozen=True, slots=True)
class GridPairs(Pairing):
    r"""All pairs of few frequencies of the lag and few of the midpoint, the paper's equation (6).

    :math:`m = m_1 m_2` with sides that differ by a factor of four at most; where ``m`` has no such
    factors, the first ``m`` cells of a square that is large enough. Pairs depend on one another,
    but every one of them has the right law, so nothing becomes biased.
    """

    def draws(
        self, stationary: Law, envelope: Law, m: int, rng: np.random.Generator, scheme: Scheme
    ) -> tuple[Draw, Draw]:
        rows, columns = grid_sides(m)
        lag_rng, middle_rng, sign_rng = rng.spawn(3)
        lag, middle = reflected(
            (stationary, envelope),
            [stationary.draw(rows, lag_rng, scheme), envelope.draw(columns, middle_rng, scheme)],
            sign_rng,
        )
        row, column = np.divmod(np.arange(m), columns)
        return lag.rearranged(row), middle.rearranged(column)


def grid_sides(m: int) -> tuple[int, int]:
    """Return the sides of a grid of ``m`` cells or, without near factors, a few more.

    >>> grid_sides(12), grid_sides(13)
    ((4, 3), (4, 4))
    """
    root = isqrt(m)
    short = next(side for side in range(root, 0, -1) if m % side == 0)
    if m <= _LONGEST * short**2:
        return m // short, short
    columns = root + (root * root < m)
    return -(-m // columns), columns


PAIRINGS: Mapping[str, Pairing] = MappingProxyType({"matched": MatchedPairs(), "grid": GridPairs()})


def resolve_pairing(pairs: str | Pairing) -> Pairing:
    """Return the pairing of that name; an object is returned as it is."""
    return resolved("pairs", pairs, Pairing, PAIRINGS)


@dataclass(frozen=True, slots=True)
class TwoFrequency(Law):
    r"""The law of :math:`\kappa_1((x + y)/2 - c)\, \kappa_s(x - y)`, either factor one at zero.

    With :math:`s` from the law of :math:`\kappa_s` and :math:`v` from that of :math:`\kappa_1`,

    .. math:: \omega = s + \tfrac v2, \quad \nu = s - \tfrac v2, \quad \theta = -v \cdot c, \qquad
              E \cos(\omega \cdot x - \nu \cdot y + \theta)
              = E \cos(s \cdot (x - y))\, E \cos\big(v \cdot \big(\tfrac{x + y}2 - c\big)\big),

    where one of the laws is even, or is made so by random reflections.

    Parameters
    ----------
    stationary, envelope : Law
        Laws of :math:`s` and of :math:`v`.
    centre : tuple of d floats
        :math:`c`, in the units of the inputs.
    pairing : Pairing, default=MatchedPairs()

    References
    ----------
    Silverman, "Locally stationary random processes", 1957. "Gaussian mixture Bayesian nonparametric
    kernel learning using spectral representation" (GaBaSR), section 3.1 and equation (6).
    """

    stationary: Law
    envelope: Law
    centre: tuple[float, ...]
    pairing: Pairing = MatchedPairs()

    is_positive = False
    is_two_sided = True

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.stationary.dim

    @property
    def members(self) -> tuple[Law, ...]:
        return (self.stationary, self.envelope)

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        lag, middle = self.pairing.draws(self.stationary, self.envelope, m, rng, scheme)
        v = np.asarray(middle.omega)
        half = Draw(0.5 * v, middle.ratio, middle.phase - v @ np.array(self.centre), -0.5 * v)
        return lag + half

    def paired(self, pairing: Pairing) -> Law:
        return replace(self, pairing=pairing)
