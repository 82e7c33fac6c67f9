"""Seconds of a new amplitude's log likelihood: one block update, or everything afresh."""

from collections.abc import Callable
from time import perf_counter

import numpy as np

from benchmarks.bank.speed import NOISE, PRECISION
from bochner.learned.basis import Grid
from bochner.learned.chain_state import ChainEvidence, evidence_of, solved
from bochner.learned.moves import Proposals, replace_frequencies
from bochner.learned.training_data import TrainingData

INPUTS = 5  # They enter the angles alone, which cost less than the products of features
_REPETITIONS = 5  # Timed runs, after one that loads and compiles


def update_metrics(n_rows: int, n_each: int, seed: int) -> dict[str, float]:
    r"""Return seconds of one new :math:`v_k`, combined with all ``n_each`` frequencies.

    ``block_seconds``: the log likelihood after the exchange of a block of :math:`2 m_1` features,
    and the posterior, as the proposal is accepted; ``refused_seconds``: the log likelihood alone;
    ``refactored_seconds``: the factorisation of all features' sums, where they are known;
    ``recomputed_seconds``: these sums and the factorisation.
    """
    rng = np.random.default_rng(seed)
    basis = Grid(n_each, n_each)
    X, y = rng.normal(size=(n_rows, INPUTS)), rng.normal(size=n_rows)
    rows = TrainingData.of(X, y, np.ones((n_rows, 1)), basis=basis)
    s, v = rng.normal(size=(2, n_each, INPUTS))
    omega = basis.joined(s, v, rng.normal(size=n_each))
    evidence = evidence_of(rows, omega, PRECISION, NOISE)

    return {
        "block_seconds": _seconds(lambda: decide(rng, evidence, rows, accept=True)),
        "refused_seconds": _seconds(lambda: decide(rng, evidence, rows, accept=False)),
        "refactored_seconds": _seconds(lambda: solved(evidence, PRECISION)),
        "recomputed_seconds": _seconds(lambda: evidence_of(rows, evidence.omega, PRECISION, NOISE)),
    }


def decide(
    rng: np.random.Generator, evidence: ChainEvidence, rows: TrainingData, *, accept: bool
) -> None:
    """Propose another amplitude in the place of any one, and accept it, in place, or refuse it."""
    amplitudes = rows.basis.groups(len(evidence.omega))[1]
    index = rng.choice(amplitudes, size=1)
    omega = rng.normal(size=(1, evidence.omega.shape[1]))
    threshold = np.full(1, -np.inf if accept else np.inf)
    replace_frequencies(evidence, rows, Proposals(index, omega, np.zeros(1), threshold))


def _seconds(work: Callable[[], object]) -> float:
    """Return the median of several runs, after one that is not counted."""
    work()
    seconds = []
    for _ in range(_REPETITIONS):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return float(np.median(seconds))
