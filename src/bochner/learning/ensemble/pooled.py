"""Short chains on parts of the rows, and the frequencies of their draws pooled."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress
from bochner._numerics.threads import in_order
from bochner.frequencies import Frequencies
from bochner.learning.ensemble.blocks import Rows
from bochner.learning.inference.plan import Sampler, SamplerSettings, run_chain
from bochner.learning.inference.preparation import Scaling, Trend
from bochner.learning.inference.start import DenseStructure, SparseStructure
from bochner.learning.inference.training_data import ScaledData
from bochner.registry import register

_MOST_LEFT_OUT = 512
"""Most frequencies that predict a left-out block: those of one chain, whose draws resemble each
other; more cost more than they tell."""


@dataclass(frozen=True, slots=True)
class ChainSizes:
    """How long chains are, and on how many rows."""

    n_frequencies: int
    n_burn_in: int
    n_samples: int
    most_rows: int  # Of each chain, whose sweeps cost in proportion to them


@register
@dataclass(frozen=True, slots=True, eq=False)
class WaveFeatures:
    """Features of frequencies, whose squared norms are those of the kernel."""

    frequencies: Frequencies

    def features(self, X: Array) -> Array:
        """Return the features (n, 2m) of rows (n, d)."""
        return self.frequencies.features(X)

    def products(self, X: Array, coef: Array) -> Array:
        """Return ``features(X) @ coef`` (n, t)."""
        return self.features(X) @ coef

    def lacking_variance(self, X: Array, Z: Array) -> float:
        """Return zero."""
        return 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PooledChains:
    """The frequencies of the draws of chains, each of which left out one block of rows."""

    omega: tuple[Array, ...]  # (S, m, d) of each chain, in units of the encoded rows

    def of_all(self, count: int) -> WaveFeatures:
        """Return features of so many frequencies: of all chains' last draws, then earlier ones."""
        # Draw by draw, the last first, so that chains have equal shares.
        depth = min(len(omega) for omega in self.omega)
        draws = [omega[-1 - back] for back in range(depth) for omega in self.omega]
        return equally_weighted(np.concatenate(draws)[:count])

    def of_one(self, chain: int) -> WaveFeatures:
        """Return features of one chain's draws, evenly spread, to predict its left-out block."""
        draws = self.omega[chain]
        step = -(-len(draws) * draws.shape[1] // _MOST_LEFT_OUT)
        return equally_weighted(np.concatenate(draws[::-step]))


def equally_weighted(omega: Array) -> WaveFeatures:
    """Return features of the frequencies (m, d) with equal weights that sum to one."""
    return WaveFeatures(Frequencies(omega, np.full(len(omega), 1.0 / len(omega))))


def run_chains(
    rows: Rows,
    sizes: ChainSizes,
    rng: Generator,
    *,
    n_threads: int,
    seconds: float | None,
    report: Callable[[int], Progress],
) -> PooledChains:
    """Return the frequencies drawn by chains, each on the rows outside of one block.

    Targets have mean zero and variance one. ``seconds`` limit each chain, and ``report(chain)``
    returns what is called after each of its iterations.
    """
    scaling = Scaling.of(rows.X)
    scaled = scaling.apply(rows.X)
    data = ScaledData(scaled, rows.y, Trend.of(scaled, 0).columns(scaled), None, False)
    structure = SparseStructure() if rows.X.shape[1] > 1 else DenseStructure()
    settings = SamplerSettings(
        sizes.n_frequencies,
        (structure,),
        Sampler(),
        sizes.n_burn_in,
        sizes.n_samples,
        thin=1,
        n_chains=1,
        n_jobs=None,
        time_limit=seconds,
    )
    seeds = rng.spawn(rows.n_blocks)

    def run(chain: int) -> Array:
        others = np.flatnonzero(rows.blocks != chain)
        if len(others) > sizes.most_rows:
            others = seeds[chain].choice(others, sizes.most_rows, replace=False)
        part = data.subset(np.sort(others))
        done = run_chain(seeds[chain], part, settings, report=report(chain))
        return np.stack([draw.omega for draw in done.draws]) / scaling.scale

    chains = in_order(run, range(rows.n_blocks), n_threads)
    return PooledChains(tuple(omega for _, omega in chains))
