"""A sweep and a gradient next to their own matrix products and plainer algorithms."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.rows import loaded
from bochner._base.arrays import Array
from bochner._base.threads import single_threaded_blas
from bochner.learned.chain_models import SparseStructure
from bochner.learned.chain_run import CollapsedChain
from bochner.learned.chain_state import (
    ChainEvidence,
    ConstantNoise,
    InverseGammaNoise,
    evidence_of,
    frequency_gradient,
)
from bochner.learned.frequency_priors import FrequencyPrior
from bochner.learned.moves import Proposals, replace_frequencies
from bochner.learned.training_data import Scaling, TrainingData, frequency_scales
from bochner.spectral.wave_formulas import MemoryLayout, wave_features

SWEEP, GRADIENT = "sweep", "gradient"

_BLOCK = 64  # The chain's own number of frequencies in a block
# The chain's own prior of the noise, and ratio of noise variance to weight variance at its start.
NOISE, PRECISION = InverseGammaNoise(shape=0.5, rate=1e-6), 0.05
_WARM_ROUNDS = 3  # Rounds of a chain before it is timed: its frequencies have left the start
_RECOMPUTED = 3  # Proposals that are timed; the page multiplies their seconds up to a sweep
_PRODUCT_ROWS = 50_000  # Rows whose products are timed: 512 float64 features take 205 MB


def speed_metrics(
    method: str, name: str, n_rows: int, n_frequencies: int, n_threads: int, folder: Path | None
) -> dict[str, float]:
    """Return seconds of a sweep or of a gradient, and of the reference computations."""
    place = _warmed(name, n_rows, n_frequencies, folder)
    place = replace(place, rows=replace(place.rows, n_threads=n_threads))
    work, products = (_gradient if method == GRADIENT else _sweep)(place)
    with threadpool_limits(n_threads, user_api="blas"):
        product_seconds = _seconds(products)
    with threadpool_limits(1, user_api="blas"):
        return {"product_seconds": product_seconds} | {
            metric: share * _seconds(run) for metric, (run, share) in work.items()
        }


def gradient_seconds(
    X: NDArray[np.floating], y: Array, n_frequencies: int, seed: int
) -> tuple[float, float]:
    """Return seconds of the sums and the gradient of a trajectory's step, and of its products.

    Features are not kept; threads share blocks of rows, as many as linear algebra has alone.
    """
    rng = np.random.default_rng(seed)
    omega = rng.normal(size=(n_frequencies, X.shape[1])) / np.sqrt(X.shape[1])
    with single_threaded_blas() as n_threads:
        rows = TrainingData.of(
            X, (y - y.mean()) / y.std(), np.ones((len(y), 1)), n_threads=n_threads
        )
        evidence = evidence_of(rows.part(slice(0, 1000)), omega, PRECISION, NOISE)

        def step() -> None:
            log_evidence = evidence_of(rows, omega, PRECISION, NOISE, keep=False)
            frequency_gradient(log_evidence, rows)

        step_seconds = _seconds(step)
    few = rows.part(slice(0, _PRODUCT_ROWS))
    Z, P = few.features(omega), evidence.covariance.astype(X.dtype)
    slopes = np.empty_like(Z)

    def products() -> None:
        Z @ Z.T
        np.matmul(P, Z, out=slopes)

    products()
    return step_seconds, len(y) / few.n_samples * _seconds(products)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where a chain has come to after a few rounds."""

    rows: TrainingData
    omega: Array
    prior: FrequencyPrior

    @property
    def evidence(self) -> ChainEvidence:
        """The evidence there, computed afresh."""
        return evidence_of(self.rows, self.omega, PRECISION, NOISE)


@lru_cache(maxsize=1)
def _warmed(name: str, n_rows: int, n_frequencies: int, folder: Path | None) -> _Place:
    dataset, rng = loaded(name, folder), np.random.default_rng(0)
    chosen = np.sort(rng.permutation(len(dataset.y))[:n_rows])
    X = Scaling.of(dataset.X).apply(dataset.X)[chosen]
    y = np.asarray(dataset.y, dtype=np.float64)[chosen]
    rows = TrainingData.of(X, (y - y.mean()) / y.std(), np.ones((len(y), 1)))
    scale = frequency_scales(X, rng)
    omega, prior = SparseStructure().start(rng, scale, n_frequencies, X, rows.target)
    chain = CollapsedChain(rows, ConstantNoise(NOISE))
    state = chain.init(rng, omega, prior, PRECISION)
    for _ in range(_WARM_ROUNDS):
        chain.step(rng, state)
    return _Place(rows, state.omega.copy(), state.prior)


Work = dict[str, tuple[Callable[[], None], float]]
"""What is measured by its metric, and how many times as much it stands for."""


def _sweep(place: _Place) -> tuple[Work, Callable[[], None]]:
    few = len(place.omega) / _RECOMPUTED
    work: Work = {
        "work_seconds": (_swept(place, _BLOCK), 1.0),
        "single_seconds": (_swept(place, 1), 1.0),
        "recomputed_seconds": (_recomputed(place), few),
    }
    return work, _block_products(place)


def _swept(place: _Place, block_size: int) -> Callable[[], None]:
    """Return a sweep over all frequencies, in blocks."""
    rng, evidence = np.random.default_rng(1), place.evidence
    order = rng.permutation(len(place.omega))

    def sweep() -> None:
        for first in range(0, len(order), block_size):
            proposals = _proposals(rng, place, evidence.omega, order[first : first + block_size])
            replace_frequencies(evidence, place.rows, proposals)

    return sweep


def _recomputed(place: _Place) -> Callable[[], None]:
    """Return a few decisions, each with the sums of all features computed afresh."""
    rng, start = np.random.default_rng(1), place.evidence
    few = rng.permutation(len(place.omega))[:_RECOMPUTED]

    def decide() -> None:
        evidence = start
        for index in few:
            proposals = _proposals(rng, place, evidence.omega, np.array([index]))
            omega = evidence.omega.copy()
            omega[index] = proposals.omega[0]
            proposed = evidence_of(place.rows, omega, PRECISION, NOISE)
            gain = proposed.log_evidence() - evidence.log_evidence()
            if proposals.log_uniform[0] < gain + proposals.log_ratio[0]:
                evidence = proposed

    return decide


def _proposals(
    rng: np.random.Generator, place: _Place, omega: Array, index: NDArray[np.intp]
) -> Proposals:
    suggestion = place.prior.suggest(rng, omega, index)
    uniform = np.log(rng.random(len(index)))
    return Proposals(index, suggestion.omega, suggestion.log_ratio, uniform)


def _block_products(place: _Place) -> Callable[[], None]:
    """Return the products of all blocks with the features of all rows, and nothing else."""
    m = len(place.omega)
    Z = _features(place)
    blocks = [Z[2 * first : 2 * min(first + _BLOCK, m)].copy() for first in range(0, m, _BLOCK)]

    def products() -> None:
        for F in blocks:
            Z @ F.T
            F @ F.T

    return products


def _gradient(place: _Place) -> tuple[Work, Callable[[], None]]:
    Z, P = _features(place), place.evidence.covariance

    def work() -> None:
        evidence = evidence_of(place.rows, place.omega, PRECISION, NOISE)
        frequency_gradient(evidence, place.rows)

    def products() -> None:
        Z @ Z.T
        for part in place.rows.blocks(2 * len(Z)):
            P @ Z[:, part]

    return {"work_seconds": (work, 1.0)}, products


def _features(place: _Place) -> Array:
    """Return features and the constant at all rows, of shape (2m + 1, n)."""
    scale = 1.0 / np.sqrt(len(place.omega))
    waves = wave_features(place.rows.inputs, place.omega, MemoryLayout.BY_WAVE, amplitude=scale)
    return np.concatenate([waves, place.rows.fixed])


def _seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
