"""Allocation of frequencies to the parts of a measure."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array

Counts = NDArray[np.intp]


class Allocation(ABC):
    """A rule that gives every part of a measure its frequencies."""

    __slots__ = ()

    @abstractmethod
    def counts(self, mass: Array, m: int) -> Counts:
        """Return the number of frequencies of each part, all positive, for ``m`` of them."""

    def share(
        self, mass: Array, m: int, rng: np.random.Generator, most: Counts | None = None
    ) -> tuple[Counts, Array]:
        """Return the number of frequencies of each part, and the weight each of them carries.

        With fewer frequencies than :meth:`least`, parts are drawn at random in proportion to their
        mass, so the estimate stays unbiased. ``most`` has the number of frequencies with which each
        part is exact. No part gets more than this number as long as other parts can use the rest.
        """
        if m < self.least(mass):
            counts = rng.multinomial(m, _proportions(mass))
            return counts, np.sign(mass) * np.abs(mass).sum() / m
        counts = self.counts(mass, m)
        if most is not None:
            counts = self._capped(counts, mass, most)
        return counts, mass / counts

    def _capped(self, counts: Counts, mass: Array, most: Counts) -> Counts:
        """Return counts after the excess of some parts is distributed over the remaining parts."""
        full = counts >= most
        n_left = int(counts.sum() - most[full].sum())
        if not (counts > most).any() or full.all() or n_left < self.least(mass[~full]):
            return counts
        counts = np.where(full, most, counts)
        free_counts = self.counts(mass[~full], n_left)
        counts[~full] = self._capped(free_counts, mass[~full], most[~full])
        return counts

    def least(self, mass: Array) -> int:
        """Return the least number of frequencies that is not shared at random."""
        return len(mass)


@dataclass(frozen=True, slots=True)
class HalfByMass(Allocation):
    """Half of the frequencies by equal shares, half in proportion to mass.

    No part starves, and, up to rounding, the variance is at most twice that of shares in
    proportion to mass.
    """

    def counts(self, mass: Array, m: int) -> Counts:
        return _rounded(m * (0.5 / len(mass) + 0.5 * _proportions(mass)), m)

    def least(self, mass: Array) -> int:
        return 2 * len(mass) if len(mass) > 1 else 1


@dataclass(frozen=True, slots=True)
class ByMass(Allocation):
    """Shares in proportion to mass, and one frequency at least for each part."""

    def counts(self, mass: Array, m: int) -> Counts:
        return 1 + _rounded((m - len(mass)) * _proportions(mass), m - len(mass))


@dataclass(frozen=True, slots=True)
class ByVariance(Allocation):
    r"""Shares in proportion to mass times standard deviation, in whole orthogonal blocks.

    Parameters
    ----------
    single, blocked : tuple of float
        Variance that one frequency of each part contributes, alone and in whole blocks.
    block : int
        Number of directions of a block.
    """

    single: tuple[float, ...]
    blocked: tuple[float, ...]
    block: int

    def counts(self, mass: Array, m: int) -> Counts:
        """Return whole blocks by proportional shares, then blocks where they gain most.

        Equal shares instead, should their variance be less.
        """
        equal = _rounded(np.full(len(mass), m / len(mass)), m)
        proportional = self._proportional(mass, m)
        better = self.variances(mass, equal).sum() < self.variances(mass, proportional).sum()
        return equal if better else proportional

    def _proportional(self, mass: Array, m: int) -> Counts:
        spread = np.abs(mass) * np.sqrt(np.array(self.blocked))
        total = spread.sum()
        free = m - len(mass)
        share = free * spread / total if total > 0.0 else np.zeros(len(mass))
        counts = 1 + np.maximum(np.floor((share + 1.0) / self.block) * self.block - 1.0, 0.0)
        counts = counts.astype(np.intp)
        left = m - int(counts.sum())
        while left > 0:
            step = np.minimum(self.block - counts % self.block, left)
            gain = (self.variances(mass, counts) - self.variances(mass, counts + step)) / step
            best = int(np.argmax(gain))
            counts[best] += step[best]
            left -= int(step[best])
        return counts

    def variances(self, mass: Array, counts: Counts) -> Array:
        r"""Return each part's variance of the kernel, remainders of blocks counted as such."""
        single = np.array(self.single)
        covariance = (np.array(self.blocked) - single) / max(self.block - 1, 1)
        n_blocks, n_last = np.divmod(counts, self.block)
        total = n_blocks * self.block * (single + (self.block - 1) * covariance)
        total = total + n_last * (single + np.maximum(n_last - 1, 0) * covariance)
        return as_array(np.maximum(mass**2 * total / counts**2, 0.0))


def _proportions(mass: Array) -> Array:
    """Return the share of each part in the total variation; uniform if the total is zero."""
    variation = np.abs(mass)
    total = variation.sum()
    return variation / total if total > 0.0 else np.full(len(mass), 1.0 / len(mass))


def _rounded(expected: Array, m: int) -> Counts:
    """Return the whole numbers nearest to ``expected`` that sum to ``m``."""
    counts = np.floor(expected).astype(np.intp)
    largest = np.argsort(counts - expected, kind="stable")
    counts[largest[: m - counts.sum()]] += 1
    return counts
