"""Metropolis-Hastings on one unit after another, at the speed of matrix products."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.linalg.blas import dgemm

from bochner._numerics.arrays import Array
from bochner.learning.inference.basis import Basis
from bochner.learning.inference.evidence import Evidence, solved
from bochner.learning.inference.state import ChainState, Info
from bochner.learning.inference.training_data import SummedRows, TrainingData
from bochner.learning.inference.waves import Index, Mask, Waves
from bochner.learning.moves.base import Move
from bochner.registry import register

_ILL_CONDITIONED = 1e-3
"""Precision, as a share of the mean diagonal of the Gram matrix, below which products with the
covariance are corrected once: a matrix product against the rounding of ill-conditioned sums."""


@register
@dataclass(frozen=True, slots=True)
class ReplacementSweep(Move):
    """Propose a new value for every unknown of the basis, one after another in random order.

    The prior makes the proposals (independent draws, Crank-Nicolson steps, changes of the active
    inputs, new components, amplitudes) and names their kinds in the trace.
    """

    # Waves decided between two passes over the rows: more make larger products, and larger panels
    block_size: int = 64

    name: ClassVar[str] = "replacement"

    def __call__(self, rng: Generator, state: ChainState) -> Info:
        kinds = state.prior.kinds
        tried, accepted = np.zeros(len(kinds)), np.zeros(len(kinds))
        for index in _blocks(rng, state.rows.basis, len(state.omega), self.block_size):
            suggestion = state.prior.suggest(rng, state.omega, index)
            proposals = Proposals(
                index, suggestion.omega, suggestion.log_ratio, np.log(rng.random(len(index)))
            )
            decided = replace_frequencies(state.evidence, state.rows, proposals)
            state.prior = state.prior.decided(index, suggestion, decided)
            tried += np.bincount(suggestion.kind, minlength=len(tried))
            accepted += np.bincount(suggestion.kind[decided], minlength=len(tried))
        state.evidence = solved(state.evidence, state.evidence.precision)
        return acceptances(kinds, tried, accepted)


def acceptances(kinds: tuple[str, ...], tried: NDArray[Any], accepted: NDArray[Any]) -> Info:
    """Return the share of accepted proposals by kind, zero where there were none."""
    rates = accepted / np.maximum(tried, 1.0)
    return {f"acceptance_{kind}": float(rate) for kind, rate in zip(kinds, rates, strict=True)}


def _blocks(rng: Generator, basis: Basis, n_units: int, block_size: int) -> Iterator[Index]:
    """Yield units in random order, group by group, blocks of so many waves or of one unit."""
    for group in basis.groups(n_units):
        order = group[rng.permutation(len(group))]
        width = basis.touched(group[:1], n_units).size
        step = max(1, block_size // width)
        for start in range(0, len(order), step):
            yield order[start : start + step]


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """New values of some units of a basis, to be decided one after another."""

    index: Index  # (B,): The units, of one group of the basis, each at most once
    omega: Array  # (B, D): Their proposed values
    log_ratio: Array  # (B,): Share of prior and proposal law in the log acceptance ratio
    log_uniform: Array  # (B,): Logarithms of uniform variates, which decide


def replace_frequencies(evidence: Evidence, rows: SummedRows, proposals: Proposals) -> Mask:
    r"""Decide a block of proposals and update the evidence in place; return which were accepted.

    Exactly the chain of one proposal at a time, each with its own evidence (equation (15) of the
    paper), in three products with the data: :math:`C = \Phi^\top W F`, :math:`H = F^\top W F` and
    :math:`F^\top W y`, ``F`` the features of all proposals, ``w`` of each unit. Decisions need of
    :math:`P = A^{-1}` its columns at the block's features and :math:`P C`; these panels follow
    every acceptance, ``P`` itself once at the end, by one product.
    """
    block = _Block.of(evidence, rows, proposals)
    accepted = np.zeros(len(proposals.index), dtype=np.bool_)
    current = evidence.log_evidence()
    for k in range(len(accepted)):
        exchange = block.exchange(k)
        if exchange is None:
            continue
        log_evidence = evidence.log_evidence(exchange.explained, exchange.log_determinant)
        if proposals.log_uniform[k] < log_evidence - current + proposals.log_ratio[k]:
            accepted[k] = True
            current = log_evidence
            block.accept(k, exchange)
    block.finish()
    changed = np.flatnonzero(accepted)
    evidence.omega[proposals.index[changed]] = proposals.omega[changed]
    return accepted


@dataclass(slots=True, eq=False)
class _Exchange:
    """The state after one unit's features have given way to the proposal's."""

    explained: float
    log_determinant: float
    left: Array  # P_{:, jj}, jj the places of the unit's w features
    old: Array  # S_old = P_jj^{-1}
    new: Array  # S_new^{-1}
    change: Array  # T
    remainder: Array  # r
    mean: Array  # u without the old features


@dataclass(slots=True, eq=False)
class _Block:
    """Panels of a block: for each proposal ``w`` columns of ``P``, then ``w`` of ``P C``."""

    evidence: Evidence
    width: int  # w
    columns: Index  # (wB,) places of the block's features among all
    fresh: NDArray[np.floating] | None  # (wB, n) features of the proposals, where all are kept
    products: Array  # C (p, wB), Fortran order
    within: Array  # H (wB, wB)
    cross: Array  # (wB,)
    panel: Array  # (p, 2wB), Fortran order
    changes: list[tuple[Array, Array]]

    @classmethod
    def of(cls, evidence: Evidence, rows: SummedRows, proposals: Proposals) -> "_Block":
        touched = rows.basis.touched(proposals.index, len(evidence.omega))
        columns = (2 * touched[:, :, None] + np.arange(2)).ravel()
        width = 2 * touched.shape[1]
        waves = rows.basis.proposed(evidence.omega, proposals.index, proposals.omega)
        # Features of the proposals are kept where those of all rows are.
        kept = evidence.features
        fresh = None if kept is None else rows.room(2 * len(waves))
        p = len(evidence.cross)
        products, within, cross = rows.total(
            part_products, evidence.omega, waves, along=(kept, fresh), n_features=p
        )
        products = np.asfortranarray(products)
        panel = np.empty((len(products), 2 * len(columns)), order="F")
        covariance = evidence.covariance
        propagated = covariance @ products
        if evidence.precision < _ILL_CONDITIONED * np.mean(np.diagonal(evidence.gram)):
            # Rounding in P is as large as its condition: one correction takes most of it away.
            propagated += covariance @ (products - evidence.posterior_precision() @ propagated)
        for offset in range(width):
            panel[:, offset :: 2 * width] = covariance[:, columns[offset::width]]
            panel[:, width + offset :: 2 * width] = propagated[:, offset::width]
        return cls(evidence, width, columns, fresh, products, within, cross, panel, [])

    def exchange(self, k: int) -> _Exchange | None:
        """Return the state that proposal ``k`` leads to, ``None`` where rounding forbids it."""
        w = self.width
        here = slice(w * k, w * (k + 1))
        jj = self.columns[here]
        left = self.panel[:, 2 * w * k : w * (2 * k + 1)]
        inverted = _inverse(left[jj])
        if inverted is None:
            return None
        old, old_determinant = inverted  # S_old and log |P_jj|
        # The products with the old features themselves cancel in this difference.
        change = self.panel[:, w * (2 * k + 1) : 2 * w * (k + 1)]
        change = change - left @ (old @ change[jj])
        change[jj] = 0.0
        evidence = self.evidence
        weights = old @ evidence.mean[jj]
        mean = evidence.mean - left @ weights
        mean[jj] = 0.0
        # Rows jj of both factors on the right are zero, as the old features have left.
        products = self.products[:, here]
        schur = self.within[here, here] - products.T @ change
        schur[np.arange(w), np.arange(w)] += evidence.precision
        remainder = self.cross[here] - products.T @ mean
        inverted = _inverse(schur)
        if inverted is None:
            return None
        new, new_determinant = inverted
        lost = float(evidence.mean[jj] @ weights)
        explained = evidence.explained - lost + float(remainder @ new @ remainder)
        log_determinant = evidence.log_determinant + (old_determinant + new_determinant)
        return _Exchange(explained, log_determinant, left, old, new, change, remainder, mean)

    def accept(self, k: int, exchange: _Exchange) -> None:
        """Carry the exchange through the sums, the posterior and the panels."""
        w = self.width
        here, rest = slice(w * k, w * (k + 1)), slice(w * (k + 1), None)
        jj = self.columns[here]
        evidence, change = self.evidence, exchange.change
        change[jj] = -np.eye(w)
        self.products[jj, rest] = self.within[here, rest]
        sums = self.products[:, here].copy()
        sums[jj] = self.within[here, here]
        evidence.gram[:, jj] = sums
        evidence.gram[jj] = sums.T
        evidence.cross[jj] = self.cross[here]
        if evidence.features is not None and self.fresh is not None:
            evidence.features[jj] = self.fresh[here]
        evidence.mean = exchange.mean - change @ (exchange.new @ exchange.remainder)
        evidence.explained = exchange.explained
        evidence.log_determinant = exchange.log_determinant
        # P changes by -left S_old left' + T S_new^{-1} T': the right factors, then the left ones.
        factors = np.empty((len(change), 2 * w), order="F")
        factors[:, :w] = exchange.left
        factors[:, w:] = change
        scaled = np.empty_like(factors, order="F")
        scaled[:, :w] = -(exchange.left @ exchange.old)
        scaled[:, w:] = change @ exchange.new
        self.changes.append((factors, scaled))
        self._carry(k, jj, rest, change, scaled)

    def _carry(self, k: int, jj: Index, rest: slice, change: Array, scaled: Array) -> None:
        """Update the panels of the proposals that are still to be decided."""
        w = self.width
        tail = self.panel[:, 2 * w * (k + 1) :]
        if not tail.shape[1]:
            return
        right = np.empty((2 * w, tail.shape[1]), order="F")
        right[:w] = tail[jj]
        carried = change.T @ self.products[:, rest]
        for offset in range(w):
            right[w:, offset :: 2 * w] = change[self.columns[rest][offset::w]].T
            right[w:, w + offset :: 2 * w] = carried[:, offset::w]
        dgemm(1.0, scaled, right, beta=1.0, c=tail, overwrite_c=1)

    def finish(self) -> None:
        """Carry all changes through ``P`` at once."""
        if self.changes:
            factors = np.concatenate([pair[0] for pair in self.changes], axis=1)
            scaled = np.concatenate([pair[1] for pair in self.changes], axis=1)
            dgemm(
                1.0, scaled, factors, beta=1.0, c=self.evidence.covariance, trans_b=1, overwrite_c=1
            )


def part_products(
    part: TrainingData,
    Z: NDArray[np.floating] | None,
    fresh: NDArray[np.floating] | None,
    omega: Array,
    proposed: Waves,
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    """Return C, H and F'Wy of a part of the rows, and write ``F`` to ``fresh``, if it is there."""
    scale = 1.0 / np.sqrt(part.basis.n_waves(len(omega)))
    F = proposed.features(part.inputs, scale)
    weighted = F if part.weight is None else F * part.weight.astype(F.dtype)
    if fresh is not None:
        fresh[:] = F
    outer = part.features(omega, Z) @ weighted.T
    return outer, F @ weighted.T, F @ part.target.astype(F.dtype)


def _inverse(matrix: Array) -> tuple[Array, float] | None:
    """Return the inverse of a positive definite matrix and the logarithm of its determinant."""
    if len(matrix) == 2:
        a, b, c = matrix[0, 0], 0.5 * (matrix[0, 1] + matrix[1, 0]), matrix[1, 1]
        determinant = float(a * c - b * b)
        if not determinant > 0:
            return None
        return np.array([[c, -b], [-b, a]]) / determinant, float(np.log(determinant))
    lower, info = lapack.dpotrf(0.5 * (matrix + matrix.T), lower=1, clean=1)
    if info != 0:
        return None
    half = np.asarray(lapack.dtrtri(lower, lower=1)[0])
    return half.T @ half, 2.0 * float(np.sum(np.log(np.diagonal(lower))))
