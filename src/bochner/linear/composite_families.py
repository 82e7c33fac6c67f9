r"""Families of sums and products of kernels whose parameters are learned.

Frequencies of a composite are functions of the frequencies of its members, so that derivatives
follow from the chain rule. The frequencies of a sum are those of its terms, concatenated. In a
product :math:`\omega = \sum_f s_f \omega_f` with signs :math:`s_f`, because
:math:`\cos u \cos v = \tfrac12 \cos(u + v) + \tfrac12 \cos(u - v)`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, zip_longest
from math import prod
from operator import add
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import softmax

from bochner._base.arrays import Array, as_array
from bochner.kernels import Kernel, Scaled, Sum
from bochner.linear.feature_evidence import FrequencySlopes
from bochner.linear.reparameterised import (
    MOST_TRIED,
    SPREAD,
    D,
    ParameterisedKernel,
    slopes_by_logit,
)
from bochner.spectral.feature_factors import separated
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.measure import HalfByMass
from bochner.spectral.schemes import Scheme

Family = ParameterisedKernel[Any]
"""A family of kernels with any type of base draws."""

_MOST_STARTS = 12
"""Largest number of starts for a composite: three times as many as for a single kernel."""


class Composite(ParameterisedKernel[D]):
    """Base of families with members; members' parameters come first, then the composite's."""

    __slots__ = ()

    @property
    @abstractmethod
    def members(self) -> tuple[Family, ...]:
        """The member families of the composite."""

    @property
    def own_origin(self) -> Array:
        """Prior mean of the composite's parameters, such as shares of a sum; empty by default."""
        return np.zeros(0)

    @property
    def origin(self) -> Array:
        return np.concatenate((*(member.origin for member in self.members), self.own_origin))

    def split(self, theta: Array) -> list[Array]:
        """Split ``theta`` into the parameters of each member, and those of the composite last."""
        return np.split(theta, np.cumsum([member.origin.size for member in self.members]))

    def starts(self, rng: Generator) -> Sequence[Array]:
        each = [member.starts(rng) for member in self.members]
        pieces = self.split(self.origin)
        together = [
            np.concatenate([p if s is None else s for p, s in zip_longest(pieces, starts)])
            for starts in zip_longest(*each)
        ]
        if len(each) == 1:
            return together
        # Two equal members would remain equal if all their starts were equal.
        alone = [_with(pieces, i, s) for i, starts in enumerate(each) for s in starts[1:]]
        perturbed = self.origin + SPREAD * rng.standard_normal(self.origin.size)
        return [*together, perturbed, *alone][:_MOST_STARTS]

    def neighbours(self, theta: Array) -> Sequence[Array]:
        pieces = self.split(theta)
        neighbours = [
            _with(pieces, i, neighbour)
            for i, member in enumerate(self.members)
            for neighbour in member.neighbours(pieces[i])
        ]
        return neighbours if len(neighbours) <= MOST_TRIED else ()

    def _streams(self, seed: int) -> tuple[list[int], Generator]:
        """Return a seed for each member and a random generator; a single member keeps ``seed``."""
        *members, last_stream = np.random.SeedSequence(seed).spawn(len(self.members) + 1)
        # Members use independent random streams, so that equal members have different draws.
        seeds = [int(stream.generate_state(1)[0]) for stream in members]
        return seeds if len(seeds) > 1 else [seed], np.random.default_rng(last_stream)


@dataclass(frozen=True, slots=True, eq=False)
class SumDraws:
    """Base draws of each term of a sum, and the slice of its frequencies among all frequencies."""

    terms: tuple[Any, ...]
    places: tuple[slice, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SumOfKernels(Composite[SumDraws]):
    r"""Sums :math:`\sum_i c_i k_i`: parameters of the terms, and logits (K,) of their shares.

    A share is a part of the total variation :math:`T = \sum_i c_i T_i`, which does not change. With
    the softmax ``p`` of the logits, :math:`c_i = T p_i / T_i`. A sum of one term has no logits.
    """

    terms: tuple[Family, ...]
    factors: Array  # (K,): initial coefficients c

    @property
    def members(self) -> tuple[Family, ...]:
        return self.terms

    @property
    def own_origin(self) -> Array:
        return np.log(self._masses) if len(self.terms) > 1 else np.zeros(0)

    @property
    def _masses(self) -> Array:
        return as_array(self.factors * [term.total for term in self.terms])

    @property
    def total(self) -> float:
        return float(self._masses.sum())

    @property
    def least(self) -> int:
        of_terms = sum(term.least for term in self.terms)
        return of_terms if len(self.terms) == 1 else 2 * of_terms

    @property
    def n_atoms(self) -> int | None:
        return self.terms[0].n_atoms if len(self.terms) == 1 else None

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> SumDraws:
        each = self._shares(m, seed)
        return self._placed(
            [term.draw(count, term_seed, scheme) for term, count, term_seed in each]
        )

    def draw_factor(self, m: int, seed: int, scheme: Scheme | str) -> SumDraws:
        each = self._shares(m, seed)
        return self._placed(
            [term.draw_factor(count, term_seed, scheme) for term, count, term_seed in each]
        )

    def _shares(self, m: int, seed: int) -> Iterator[tuple[Family, int, int]]:
        """Return each term of the sum with its number of frequencies and its seed."""
        if m < self.least:
            raise ValueError(
                f"n_components must be at least {2 * self.least} to learn a sum of "
                f"{len(self.terms)} kernels: two frequencies or more for each; got {2 * m}."
            )
        seeds, rng = self._streams(seed)
        counts = [m] if len(self.terms) == 1 else self._counts(m, rng)
        return zip(self.terms, counts, seeds, strict=True)

    def _counts(self, m: int, rng: Generator) -> list[int]:
        """Return each term's number of the ``m`` frequencies: its minimum plus a share by mass."""
        least = np.array([term.least for term in self.terms])
        most = np.array([term.n_atoms or m for term in self.terms])
        # Frequencies beyond the minima are divided in proportion to mass.
        rest = m - int(least.sum())
        shares, _ = HalfByMass().share(self._masses, rest, rng, np.maximum(most - least, 1))
        counts: list[int] = (least + shares).tolist()
        return counts

    def _placed(self, draws: Sequence[object]) -> SumDraws:
        ends = np.cumsum([0, *map(_count, self.terms, draws)]).tolist()
        return SumDraws(tuple(draws), tuple(slice(*pair) for pair in pairwise(ends)))

    def frequencies(self, draws: SumDraws, theta: Array) -> Frequencies:
        *pieces, logits = self.split(theta)
        each = zip(self.terms, draws.terms, pieces, self._factors_at(logits), strict=True)
        parts = [(term.frequencies(draw, piece), factor) for term, draw, piece, factor in each]
        return reduce(add, (f.with_weights(factor * f.weight) for f, factor in parts))

    def pulled_back(self, draws: SumDraws, theta: Array, slopes: FrequencySlopes) -> Array:
        *pieces, logits = self.split(theta)
        slopes_of_terms = [
            FrequencySlopes(slopes.omega[s], slopes.log_weight[s]) for s in draws.places
        ]
        each = zip(self.terms, draws.terms, pieces, slopes_of_terms, strict=True)
        by_terms = [term.pulled_back(draw, piece, slope) for term, draw, piece, slope in each]
        if not logits.size:
            return np.concatenate(by_terms)
        by_factor = np.array([slope.log_weight.sum() for slope in slopes_of_terms])
        return np.concatenate((*by_terms, slopes_by_logit(by_factor, softmax(logits))))

    def kernel(self, theta: Array) -> Kernel:
        *pieces, logits = self.split(theta)
        factors = self._factors_at(logits).tolist()
        each = zip(self.terms, pieces, factors, strict=True)
        terms = tuple(Scaled(term.kernel(piece), factor) for term, piece, factor in each)
        return terms[0] if len(terms) == 1 else Sum(terms)

    def _factors_at(self, logits: Array) -> Array:
        if not logits.size:
            return self.factors
        return as_array(self.total * softmax(logits) / [term.total for term in self.terms])


@dataclass(frozen=True, slots=True, eq=False)
class ProductDraws:
    """Base draws of the factors of a product, with the indices and signs that combine them."""

    factors: tuple[Any, ...]
    index: tuple[NDArray[np.intp], ...]  # (m,) each
    signs: tuple[Array, ...]  # (m,) each
    share: float  # Weight of a product frequency relative to the product of the factors' weights


@dataclass(frozen=True, slots=True, eq=False)
class ProductOfKernels(Composite[ProductDraws]):
    """Products of kernels; the parameters are those of all factors, concatenated."""

    factors: tuple[Family, ...]
    combine: Callable[[Sequence[Kernel]], Kernel]

    @property
    def members(self) -> tuple[Family, ...]:
        return self.factors

    @property
    def total(self) -> float:
        return prod(factor.total for factor in self.factors)

    @property
    def least(self) -> int:
        return max(factor.least for factor in self.factors)

    @property
    def n_atoms(self) -> int | None:
        counts = [factor.n_atoms for factor in self.factors]
        finite = [count for count in counts if count is not None]
        return None if len(finite) < len(counts) else prod(finite) * 2 ** (len(finite) - 1)

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> ProductDraws:
        n_atoms = self.n_atoms
        if n_atoms is None or m < n_atoms:
            return self.draw_factor(m, seed, scheme)
        seeds, _ = self._streams(seed)
        draws = [
            factor.draw(factor.n_atoms or m, factor_seed, scheme)
            for factor, factor_seed in zip(self.factors, seeds, strict=True)
        ]
        n_signs = len(self.factors) - 1
        # All combinations of frequencies and signs; the first sign is fixed, as cosines are even.
        grid = np.indices([*map(_count, self.factors, draws), *[2] * n_signs])
        *index, turned = np.split(grid.reshape(len(grid), -1), np.arange(1, len(draws) + 1))
        signs = [np.ones(turned.shape[1]), *(1.0 - 2.0 * turned)]
        places = tuple(places[0].astype(np.intp) for places in index)
        return ProductDraws(tuple(draws), places, tuple(signs), 0.5**n_signs)

    def draw_factor(self, m: int, seed: int, scheme: Scheme | str) -> ProductDraws:
        seeds, rng = self._streams(seed)
        draws = [
            factor.draw_factor(m, factor_seed, scheme)
            for factor, factor_seed in zip(self.factors, seeds, strict=True)
        ]
        counts = [*map(_count, self.factors, draws)]
        # The first factor keeps its order; all other factors are permuted independently.
        order = [np.arange(m), *(rng.permutation(m) for _ in seeds[1:])]
        index = tuple(places % count for places, count in zip(order, counts, strict=True))
        signs = (np.ones(m), *(rng.choice((-1.0, 1.0), m) for _ in seeds[1:]))
        return ProductDraws(tuple(draws), index, signs, prod(counts) / m)

    def frequencies(self, draws: ProductDraws, theta: Array) -> Frequencies:
        *pieces, _ = self.split(theta)
        each = zip(self.factors, draws.factors, pieces, strict=True)
        parts = [factor.frequencies(draw, piece) for factor, draw, piece in each]
        omega = sum(
            sign[:, None] * f.omega[index]
            for f, index, sign in zip(parts, draws.index, draws.signs, strict=True)
        )
        weight = draws.share * np.prod(
            [f.weight[index] for f, index in zip(parts, draws.index, strict=True)], axis=0
        )
        # At most one kernel has cosine factors; products of two have no closed-form measure.
        waves = [
            other.rearranged(index)
            for f, index in zip(parts, draws.index, strict=True)
            if (other := separated(f.factor)[1]) is not None
        ]
        return Frequencies(omega, weight, factor=waves[0] if waves else None)

    def pulled_back(self, draws: ProductDraws, theta: Array, slopes: FrequencySlopes) -> Array:
        *pieces, _ = self.split(theta)
        by_factors = []
        each = zip(self.factors, draws.factors, pieces, draws.index, draws.signs, strict=True)
        for factor, draw, piece, index, sign in each:
            count = _count(factor, draw)
            omega = np.zeros((count, slopes.omega.shape[1]))
            np.add.at(omega, index, sign[:, None] * slopes.omega)
            # A frequency of a factor occurs in several frequencies of the product.
            log_weight = as_array(np.bincount(index, slopes.log_weight, count))
            factor_slopes = FrequencySlopes(omega, log_weight)
            by_factors.append(factor.pulled_back(draw, piece, factor_slopes))
        return np.concatenate(by_factors)

    def kernel(self, theta: Array) -> Kernel:
        *pieces, _ = self.split(theta)
        each = zip(self.factors, pieces, strict=True)
        return self.combine([factor.kernel(piece) for factor, piece in each])


def _count(family: Family, draws: object) -> int:
    """Return the number of frequencies that the family computes from base ``draws``."""
    return family.frequencies(draws, family.origin).n_frequencies


def _with(pieces: list[Array], index: int, changed: Array) -> Array:
    """Concatenate pieces of parameters, with the piece at ``index`` replaced by ``changed``."""
    return np.concatenate((*pieces[:index], changed, *pieces[index + 1 :]))
