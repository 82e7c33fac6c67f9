"""Chains that each leave rows out, and the frequencies of all of them, fitted to all rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, Index, Mask
from bochner.features.units import Units
from bochner.learning.chains.draws import Draws, drawn, stacked
from bochner.learning.chains.evidence import (
    MACKAY_STEPS,
    ChainEvidence,
    evidence_of,
    mackay_step,
    solved,
)
from bochner.learning.chains.models import BANK
from bochner.learning.chains.moves.labels import LogisticLabels
from bochner.learning.chains.runner import Runner
from bochner.learning.chains.training_data import ScaledData

_MOST_ROWS = 8_000
"""Most rows that a chain learns from where each leaves rows out: a sweep costs in proportion to
them. On 14,861 rows of california_housing, weights fitted to all rows make up for it (mean square
error 0.180 to 0.172)."""

_FEWEST_LEFT_OUT = 5
"""Rows for each chain to leave out, below which none leaves out any: 20 rows determine a root mean
square to a sixth."""

_MOST_PERMUTED = 2**22
"""Observations up to which blocks have equal sizes, by a permutation of a tenth of a second. Sizes
of random blocks of more differ by less than a thousandth."""

_SCORED = 2_000
"""Most left-out rows that are predicted: they determine a root mean square to 1.6 per cent."""

_ROWS_PER_FEATURE = 2
"""Rows for each feature of pooled draws. On 6,636 rows of kin8nm, 800 features have a mean square
error of 0.0546 and 3,200 one of 0.0540; where rows are fewer, averages of draws are better."""

_MOST_FEATURES = 4_096
"""Most features of pooled draws: their Gram matrix has 128 MB."""


class ChainRows(NamedTuple):
    """The rows that a chain learns from, their weights and numbers of observations.

    Weights are ``None`` for ones.
    """

    rows: Index
    weight: Array | None
    counts: Array


def blocks_of(
    rng: Generator, units: Units, codes: Array | None, n_blocks: int
) -> NDArray[np.int64] | None:
    """Return how many observations of each row a block leaves out (n, n_blocks).

    Blocks are random parts of single observations: equal ones are independent, and their numbers
    in a block follow neither from inputs nor from targets. Of ``codes`` (n,) of classes, those that
    would be missing without a block are left out by none. The result is ``None`` where observations
    are too few.
    """
    counts, n = units.counts.astype(np.int64), len(units)
    total = int(counts.sum())
    if total < _FEWEST_LEFT_OUT * n_blocks:
        return None
    if total <= _MOST_PERMUTED:
        row = rng.permutation(np.repeat(np.arange(n), counts))
        cell = row * n_blocks + np.arange(total) % n_blocks
        left = np.bincount(cell, minlength=n * n_blocks).reshape(n, n_blocks)
    else:
        left = rng.multinomial(counts, np.full(n_blocks, 1.0 / n_blocks))
    for code in () if codes is None else np.unique(codes):
        own = codes == code
        if np.count_nonzero(left[own].sum(axis=0)) == 1:
            left[own] = 0
    return np.asarray(left, dtype=np.int64)


def parts_of(rng: Generator, units: Units, left: NDArray[np.int64]) -> list[ChainRows]:
    """Return the training rows of each chain: observations outside its block of ``left``.

    ``left`` (n, n_blocks) has the number of left-out observations. A chain has at most 8,000 rows.
    """
    parts = []
    for own in left.T:
        counts = units.counts - own
        rows = np.sort(rng.permutation(np.flatnonzero(counts))[:_MOST_ROWS])
        weight = units.weights[rows] * counts[rows]
        parts.append(ChainRows(rows, None if (weight == 1.0).all() else weight, counts[rows]))
    return parts


def scored_of(rng: Generator, left: NDArray[np.int64]) -> tuple[Index, Index]:
    """Return at most 2,000 rows that are scored by left-out predictions, and their blocks."""
    rows, blocks = np.nonzero(left)
    chosen = np.sort(rng.permutation(len(rows))[:_SCORED])
    return rows[chosen], blocks[chosen]


@dataclass(frozen=True, slots=True, eq=False)
class LeftOutRows:
    """Rows that one chain each has left out, as models that learn their kernel judge them."""

    n_chains: int
    block: Index  # (s,): The chain that has left a row out
    inputs: Array  # (d, s): Scaled
    fixed: Array  # (q, s)
    codes: Array  # (s,): Numbers that stand for the targets
    units: Units  # (s,): The observations that the chain has left out

    def by_chain(self, draws: Sequence[Draws]) -> Iterator[tuple[Mask, list[Draws], Array, Array]]:
        """Yield each chain's rows (s,), its draws of every problem, and columns of these rows."""
        for index in range(self.n_chains):
            own = self.block == index
            if own.any():
                parts = [_chain_of(each, index, self.n_chains) for each in draws]
                yield own, parts, self.inputs[:, own], self.fixed[:, own]

    def mean(self, values: Array) -> float:
        """Return the mean of values (s,) over observations."""
        return float(np.average(values, weights=self.units.counts))


def _chain_of(draws: Draws, index: int, n_chains: int) -> Draws:
    n_kept = draws.n_draws // n_chains
    own = slice(index * n_kept, (index + 1) * n_kept)
    place = draws.whitened // n_kept == index
    names = ("omega", "coef", "precision", "noise_variance", "log_density")
    return replace(
        draws,
        **{name: getattr(draws, name)[own] for name in names},
        whitener=draws.whitener[place],
        whitened=draws.whitened[place] - own.start,
    )


def pooled(
    rng: Generator,
    draws: Draws,
    data: ScaledData,
    n_chains: int,
    n_threads: int,
    runner: Runner | None = None,
) -> Draws:
    """Return one draw with the frequencies of several draws of every chain, fitted to all rows.

    The draws are those of :class:`StationaryModel` chains, which follow each other: evenly spaced
    ones, the last included, as many as there are rows for. If there are too few for one of each
    chain, the draws are returned as they are. The precision of numbers has the greatest evidence,
    by MacKay's steps. Labels, which need several passes for a fit, keep the mean precision of the
    draws, and have the normal approximation at the mode of the weights. Sums of all rows, and their
    solution, are those of ``runner``, if it is given.
    """
    n_kept = draws.n_draws // n_chains
    most = min(data.n_samples // _ROWS_PER_FEATURE, _MOST_FEATURES) // (2 * draws.n_waves)
    count = min(most // n_chains, n_kept)
    if not count:
        return draws
    back = n_kept - 1 - n_kept // count * np.arange(count)
    chosen = (n_kept * np.arange(n_chains)[:, None] + back).ravel()
    omega = draws.omega[chosen].reshape(-1, draws.omega.shape[2])
    precision = float(np.exp(np.mean(np.log(draws.precision[chosen]))))
    rows = data.rows(n_threads)
    if runner is not None:
        if data.is_binary:
            draw = runner.draw_of_labels(rows, omega, precision)
        else:
            draw = runner.draw_of_numbers(rows, omega, precision, BANK.likelihood().noise)
        return stacked([draw], draws.basis, noise_unit=draws.noise_unit)
    if data.is_binary:
        _, fit = LogisticLabels().start(rng, rows, omega, precision, n_copies=1)
    else:
        noise = BANK.likelihood().noise
        fit = _of_greatest_evidence(evidence_of(rows, omega, precision, noise, keep=False))
    draw = drawn(fit, None, fit.log_evidence(), in_full=True)
    return stacked([draw], draws.basis, noise_unit=draws.noise_unit)


def _of_greatest_evidence(fit: ChainEvidence) -> ChainEvidence:
    """Return the posterior at the precision that maximises its evidence."""
    ridge = slice(2 * fit.n_waves)
    for _ in range(MACKAY_STEPS):
        trace = float(np.trace(fit.covariance[ridge, ridge]))
        found = mackay_step(fit, trace, float(np.sum(fit.mean[ridge] ** 2)))
        if found == fit.precision:
            break
        fit = solved(fit, found)
    return fit
