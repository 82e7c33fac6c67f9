r"""Families of sums and products of kernels.

Frequencies of a composite are functions of those of its members, so that slopes are passed on to
the members by the chain rule. In a sum they stand one after the other; in a product
:math:`\omega = \sum_f s_f \omega_f`, with signs :math:`s_f` of either kind, since
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

from bochner._numerics.arrays import Array, as_array
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel, Scaled, Sum
from bochner.learning.evidence.feature_evidence import FrequencySlopes
from bochner.learning.evidence.reparameterised import (
    MOST_TRIED,
    SPREAD,
    D,
    ParameterisedKernel,
    slopes_by_logit,
)
from bochner.sampling import Scheme
from bochner.spectral import HalfByMass

Family = ParameterisedKernel[Any]
"""A family, whatever its base draws are."""

_MOST_STARTS = 12
"""Most starts of a composite: three times those of one kernel, some seconds."""


class Composite(ParameterisedKernel[D]):
    """Base of families composed of members: parameters of all members, then additional ones."""

    __slots__ = ()

    @property
    @abstractmethod
    def members(self) -> tuple[Family, ...]:
        """The member families of the composite."""

    @property
    def own_origin(self) -> Array:
        """Prior mean of the additional parameters of the composite; empty by default."""
        return np.zeros(0)

    @property
    def origin(self) -> Array:
        return np.concatenate((*(member.origin for member in self.members), self.own_origin))

    def split(self, theta: Array) -> list[Array]:
        """Return the parameters of each member, followed by the additional parameters."""
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
        # Two equal members would stay equal if they only started together.
        alone = [_with(pieces, i, s) for i, starts in enumerate(each) for s in starts[1:]]
        perturbed = self.origin + SPREAD * rng.standard_normal(self.origin.size)
        return [*together, perturbed, *alone][:_MOST_STARTS]

    def neighbours(self, theta: Array) -> Sequence[Array]:
        pieces = self.split(theta)
        found = [
            _with(pieces, i, other)
            for i, member in enumerate(self.members)
            for other in member.neighbours(pieces[i])
        ]
        return found if len(found) <= MOST_TRIED else ()

    def _streams(self, seed: int) -> tuple[list[int], Generator]:
        """Return a seed for each member, and a generator; one member has the given seed."""
        *members, own = np.random.SeedSequence(seed).spawn(len(self.members) + 1)
        seeds = [int(stream.generate_state(1)[0]) for stream in members]
        return seeds if len(seeds) > 1 else [seed], np.random.default_rng(own)


@dataclass(frozen=True, slots=True, eq=False)
class SumDraws:
    """Draws of the terms of a sum, and where the frequencies of each are."""

    terms: tuple[Any, ...]
    places: tuple[slice, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SumOfKernels(Composite[SumDraws]):
    r"""Sums :math:`\sum_i c_i k_i`: parameters of the terms, and logits (K,) of their shares.

    The share of a term is its part of the total variation :math:`T = \sum_i c_i T_i`, which stays:
    the evidence depends on it through alpha alone. :math:`c_i = T p_i / T_i`, p the softmax of the
    logits. A sum of one term has no logits.
    """

    terms: tuple[Family, ...]
    factors: Array  # (K,): c at the start

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
        return self._placed([term.draw(count, one, scheme) for term, count, one in each])

    def draw_factor(self, m: int, seed: int, scheme: Scheme | str) -> SumDraws:
        each = self._shares(m, seed)
        return self._placed([term.draw_factor(count, one, scheme) for term, count, one in each])

    def _shares(self, m: int, seed: int) -> Iterator[tuple[Family, int, int]]:
        """Return every term with its number of frequencies and its seed."""
        if m < self.least:
            raise ValueError(
                f"n_components must be at least {2 * self.least} to learn a sum of "
                f"{len(self.terms)} kernels: two frequencies or more for each; got {2 * m}."
            )
        seeds, rng = self._streams(seed)
        counts = [m] if len(self.terms) == 1 else self._counts(m, rng)
        return zip(self.terms, counts, seeds, strict=True)

    def _counts(self, m: int, rng: Generator) -> list[int]:
        """Return the least number of each term, and its share of the others."""
        least = np.array([term.least for term in self.terms])
        most = np.array([term.n_atoms or m for term in self.terms])
        rest = m - int(least.sum())
        shares, _ = HalfByMass().share(self._masses, rest, rng, np.maximum(most - least, 1))
        counts: list[int] = (least + shares).tolist()
        return counts

    def _placed(self, draws: list[Any]) -> SumDraws:
        ends = np.cumsum([0, *map(_count, self.terms, draws)]).tolist()
        return SumDraws(tuple(draws), tuple(slice(*pair) for pair in pairwise(ends)))

    def frequencies(self, draws: SumDraws, theta: Array) -> Frequencies:
        *pieces, logits = self.split(theta)
        each = zip(self.terms, draws.terms, pieces, self._factors_at(logits), strict=True)
        made = [(term.frequencies(one, piece), factor) for term, one, piece, factor in each]
        return reduce(add, (f.with_weights(factor * f.weight) for f, factor in made))

    def pulled_back(self, draws: SumDraws, theta: Array, slopes: FrequencySlopes) -> Array:
        *pieces, logits = self.split(theta)
        own = [FrequencySlopes(slopes.omega[s], slopes.log_weight[s]) for s in draws.places]
        each = zip(self.terms, draws.terms, pieces, own, strict=True)
        by_terms = [term.pulled_back(one, piece, slope) for term, one, piece, slope in each]
        if not logits.size:
            return np.concatenate(by_terms)
        by_factor = np.array([slope.log_weight.sum() for slope in own])
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
    """Draws of factors, and which of them, with which signs, make each frequency of a product."""

    factors: tuple[Any, ...]
    index: tuple[NDArray[np.intp], ...]  # (m,) each
    signs: tuple[Array, ...]  # (m,) each
    share: float  # Weight of a frequency per product of the factors' weights


@dataclass(frozen=True, slots=True, eq=False)
class ProductOfKernels(Composite[ProductDraws]):
    r"""Products of kernels: the parameters of the factors.

    Every frequency is a signed sum of one frequency of each factor: all combinations, if the
    factors have finitely many frequencies and there is room for all, else random ones.
    """

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
        known = [count for count in counts if count is not None]
        return None if len(known) < len(counts) else prod(known) * 2 ** (len(known) - 1)

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> ProductDraws:
        n_atoms = self.n_atoms
        if n_atoms is None or m < n_atoms:
            return self.draw_factor(m, seed, scheme)
        seeds, _ = self._streams(seed)
        draws = [
            factor.draw(factor.n_atoms or m, one, scheme)
            for factor, one in zip(self.factors, seeds, strict=True)
        ]
        n_signs = len(self.factors) - 1
        grid = np.indices([*map(_count, self.factors, draws), *[2] * n_signs])
        *index, turned = np.split(grid.reshape(len(grid), -1), np.arange(1, len(draws) + 1))
        signs = [np.ones(turned.shape[1]), *(1.0 - 2.0 * turned)]
        places = tuple(places[0].astype(np.intp) for places in index)
        return ProductDraws(tuple(draws), places, tuple(signs), 0.5**n_signs)

    def draw_factor(self, m: int, seed: int, scheme: Scheme | str) -> ProductDraws:
        seeds, rng = self._streams(seed)
        draws = [
            factor.draw_factor(m, one, scheme)
            for factor, one in zip(self.factors, seeds, strict=True)
        ]
        counts = [*map(_count, self.factors, draws)]
        # The first factor keeps its order, and the others are in step with none.
        order = [np.arange(m), *(rng.permutation(m) for _ in seeds[1:])]
        index = tuple(places % count for places, count in zip(order, counts, strict=True))
        signs = (np.ones(m), *(rng.choice((-1.0, 1.0), m) for _ in seeds[1:]))
        return ProductDraws(tuple(draws), index, signs, prod(counts) / m)

    def frequencies(self, draws: ProductDraws, theta: Array) -> Frequencies:
        *pieces, _ = self.split(theta)
        each = zip(self.factors, draws.factors, pieces, strict=True)
        made = [factor.frequencies(one, piece) for factor, one, piece in each]
        omega = sum(
            sign[:, None] * f.omega[index]
            for f, index, sign in zip(made, draws.index, draws.signs, strict=True)
        )
        weight = draws.share * np.prod(
            [f.weight[index] for f, index in zip(made, draws.index, strict=True)], axis=0
        )
        # Measures of products of two kernels with cosine factors are not known.
        waves = [
            f.modulation.rearranged(index)
            for f, index in zip(made, draws.index, strict=True)
            if f.modulation is not None
        ]
        return Frequencies(omega, weight, modulation=waves[0] if waves else None)

    def pulled_back(self, draws: ProductDraws, theta: Array, slopes: FrequencySlopes) -> Array:
        *pieces, _ = self.split(theta)
        found = []
        each = zip(self.factors, draws.factors, pieces, draws.index, draws.signs, strict=True)
        for factor, one, piece, index, sign in each:
            count = _count(factor, one)
            omega = np.zeros((count, slopes.omega.shape[1]))
            np.add.at(omega, index, sign[:, None] * slopes.omega)
            log_weight = as_array(np.bincount(index, slopes.log_weight, count))
            own = FrequencySlopes(omega, log_weight)
            found.append(factor.pulled_back(one, piece, own))
        return np.concatenate(found)

    def kernel(self, theta: Array) -> Kernel:
        *pieces, _ = self.split(theta)
        each = zip(self.factors, pieces, strict=True)
        return self.combine([factor.kernel(piece) for factor, piece in each])


def _count(family: Family, draws: Any) -> int:
    """Return the number of frequencies of draws."""
    return family.frequencies(draws, family.origin).n_frequencies


def _with(pieces: list[Array], index: int, changed: Array) -> Array:
    """Return parameters in one array, with another piece in place of one."""
    return np.concatenate((*pieces[:index], changed, *pieces[index + 1 :]))
