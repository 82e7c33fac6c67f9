"""Metropolis-Hastings on one unit after another, at the speed of matrix products."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm

from bochner._base.arrays import Array, Index, Mask
from bochner._base.registry import register
from bochner.learned.amplitude_waves import WaveFeatures
from bochner.learned.basis import Basis
from bochner.learned.chain_evidence import ChainEvidence, solved
from bochner.learned.exchange_loops import decide_exchanges
from bochner.learned.moves.move import Move
from bochner.learned.state import ChainState, Info
from bochner.learned.training_data import TrainingData

_ILL_CONDITIONED = 1e-3
"""Precision, as a share of the mean diagonal of the Gram matrix, below which products with the
covariance are corrected once: sums are then ill-conditioned, and one more matrix product removes
most of their rounding error."""


@register
@dataclass(frozen=True, slots=True)
class ReplacementSweep(Move):
    """Propose a new value for every unknown of the basis, one after another in random order.

    The prior makes the proposals (independent draws, Crank-Nicolson steps, changes of the active
    inputs, new components, amplitudes) and names their kinds in the trace.
    """

    # Number of waves decided between two passes over the rows. Larger blocks make products more
    # efficient, but need larger panels
    block_size: int = 64

    name: ClassVar[str] = "replacement"

    def __call__(self, rng: Generator, state: ChainState) -> Info:
        kinds = state.prior.kinds
        tried, accepted = np.zeros(len(kinds)), np.zeros(len(kinds))
        for index in blocks_of_units(rng, state.rows.basis, len(state.omega), self.block_size):
            suggestion = state.prior.suggest(rng, state.omega, index)
            proposals = Proposals(
                index, suggestion.omega, suggestion.log_ratio, np.log(rng.random(len(index)))
            )
            decided = replace_frequencies(state.evidence, state.rows, proposals)
            state.prior = state.prior.decided(index, suggestion, decided)
            tried += np.bincount(suggestion.kind, minlength=len(tried))
            accepted += np.bincount(suggestion.kind[decided], minlength=len(tried))
        # From the updated sums, so that rounding errors of a sweep do not accumulate.
        state.evidence = solved(state.evidence, state.evidence.precision)
        return acceptances(kinds, tried, accepted)


def acceptances(
    kinds: tuple[str, ...], tried: NDArray[np.number], accepted: NDArray[np.number]
) -> Info:
    """Return the share of accepted proposals by kind; zero for a kind without proposals."""
    rates = accepted / np.maximum(tried, 1.0)
    return {f"acceptance_{kind}": float(rate) for kind, rate in zip(kinds, rates, strict=True)}


def blocks_of_units(rng: Generator, basis: Basis, n_units: int, block_size: int) -> Iterator[Index]:
    """Yield random blocks of units within groups, of at most ``block_size`` waves or one unit."""
    for group in basis.groups(n_units):
        order = group[rng.permutation(len(group))]
        width = basis.touched(group[:1], n_units).size
        step = max(1, block_size // width)
        for start in range(0, len(order), step):
            yield order[start : start + step]


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """Proposed values of some units of a basis, which are accepted or rejected in turn."""

    index: Index  # (B,): The units, of one group of the basis, each at most once
    omega: Array  # (B, D): Their proposed values
    log_ratio: Array  # (B,): Share of prior and proposal law in the log acceptance ratio
    log_uniform: Array  # (B,): Logarithms of uniform variates, which decide


def replace_frequencies(evidence: ChainEvidence, rows: TrainingData, proposals: Proposals) -> Mask:
    r"""Decide a block of proposals and update the evidence in place; return a mask of acceptances.

    The result is that of one proposal after another, each with its evidence (equation (15) of the
    paper). With the features ``F`` of all proposals it needs three products with the data:
    :math:`C = \Phi^\top W F`, :math:`H = F^\top W F` and :math:`F^\top W y`. Decisions depend on
    :math:`P = A^{-1}` only by its columns at the block's features and by :math:`P C`. These panels
    are updated at every acceptance; ``P`` is updated once at the end, by one product.
    """
    if not len(proposals.index):
        return np.zeros(0, dtype=np.bool_)
    noise = np.array(evidence.noise.coefficients(evidence.degrees))
    touched = rows.basis.touched(proposals.index, len(evidence.omega))
    columns = (2 * touched[:, :, None] + np.arange(2)).ravel()
    waves = rows.basis.proposed(evidence.omega, proposals.index, proposals.omega)
    # Features of the proposals are stored if those of the current state are.
    features = evidence.features
    fresh = None if features is None else rows.room(2 * len(waves))
    products, within, cross = rows.total(
        part_products,
        evidence.omega,
        waves,
        along=(features, fresh),
        n_features=len(evidence.cross),
    )
    panel = _panel(evidence, columns, products, width=2 * touched.shape[1])
    reached = np.array([evidence.explained, evidence.log_determinant])
    # Rows of the low-rank change of P, filled by the compiled loop.
    factors, scaled = np.zeros((2, *panel.shape))
    accepted = np.zeros(len(proposals.log_ratio), dtype=np.bool_)
    decide_exchanges(
        panel,
        products,
        within,
        cross,
        columns,
        evidence.gram,
        evidence.cross,
        evidence.mean,
        proposals.log_ratio,
        proposals.log_uniform,
        evidence.precision,
        evidence.square,
        noise,
        reached,
        factors,
        scaled,
        accepted,
    )
    evidence.explained, evidence.log_determinant = map(float, reached)
    changed = np.flatnonzero(accepted)
    if len(changed):
        of_units = np.repeat(accepted, len(panel) // len(accepted))
        evidence.covariance = dgemm(
            1.0, scaled[of_units].T, factors[of_units].T, 1.0, evidence.covariance, trans_b=1
        )
        evidence.omega[proposals.index[changed]] = proposals.omega[changed]
        if features is not None and fresh is not None:
            of_features = np.repeat(accepted, len(columns) // len(accepted))
            features[columns[of_features]] = fresh[of_features]
    return accepted


def _panel(evidence: ChainEvidence, columns: Index, products: Array, width: int) -> Array:
    """Return columns of P and of P C as rows, in blocks of ``width`` features of a unit."""
    covariance = evidence.covariance
    propagated = products @ covariance
    if evidence.precision < _ILL_CONDITIONED * np.mean(np.diagonal(evidence.gram)):
        # Rounding errors of P grow with its condition number: one correction removes most of them.
        propagated += (products - propagated @ evidence.posterior_precision()) @ covariance
    units = (-1, width, len(covariance))
    pair = (covariance[columns].reshape(units), propagated.reshape(units))
    return np.concatenate(pair, axis=1).reshape(-1, len(covariance))


def part_products(
    part: TrainingData,
    Z: NDArray[np.floating] | None,
    fresh: NDArray[np.floating] | None,
    omega: Array,
    proposed: WaveFeatures,
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    """Return C', H and F'Wy of a part of the rows; write ``F`` to ``fresh`` unless it is None."""
    scale = 1.0 / np.sqrt(part.basis.n_waves(len(omega)))
    F = proposed.features(part.inputs, scale)
    weighted = F if part.weight is None else F * part.weight.astype(F.dtype)
    if fresh is not None:
        fresh[:] = F
    outer = weighted @ part.features(omega, Z).T
    return outer, F @ weighted.T, F @ part.target.astype(F.dtype)
