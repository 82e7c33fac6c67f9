"""Plan and run the chains of a fit: their number, stages and frequency structures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.random import Generator

from bochner._base.progress import Progress, silent
from bochner._base.registry import register
from bochner._base.threads import single_threaded_blas
from bochner.learned.chain_models import BANK, Model, Start, Structure
from bochner.learned.chain_run import Chain, ChainRun, CollapsedChain, PreparedChain, Stage, run
from bochner.learned.learned_kernel import ChainRows
from bochner.learned.moves import LOCAL_MOVES, Move
from bochner.learned.training_data import ScaledData, frequency_scales

_MANY_ROWS = 5_000
"""Number of rows from which few longer chains are the default. The mean square errors of eight
chains of 10 + 10 iterations and of two chains of 80 + 20 iterations are 0.0585 and 0.0568 on 7,373
rows (kin8nm), 0.162 and 0.152 on 16,512 rows (california_housing), where an iteration has fewer
rounds. On small tables many chains near different modes are better."""

_SHORT: Mapping[str, int] = {"n_burn_in": 10, "n_samples": 10, "n_chains": 8}
"""Numbers of iterations and chains for fewer rows. With five kept iterations instead of ten, the
mean square error is 0.081 instead of 0.079 on concrete and 0.058 instead of 0.053 on airfoil."""
_LONGER: Mapping[str, int] = {"n_burn_in": 80, "n_samples": 20, "n_chains": 2}
"""Numbers of iterations and chains for many rows, with about the same total."""

_LADDER = ((3000, False, 0.25), (20_000, True, 0.45))
"""Warm-ups: number of rows, whether labels have their logistic likelihood, and the share of the
time at which they end. A sweep costs in proportion to the rows, so that many cheap sweeps come
first."""


def default_sizes(n_rows: int) -> dict[str, Any]:
    """Return the default numbers of iterations and chains for a number of rows."""
    return dict(_LONGER if n_rows >= _MANY_ROWS else _SHORT)


def warm_ups(n_rows: int, n_burn_in: int) -> Iterator[tuple[int, int, bool, float]]:
    """Yield the numbers of rows and iterations of warm-ups, and the values of ``_LADDER``."""
    for rows, is_binary, until in _LADDER:
        if n_rows >= 2 * rows and n_burn_in >= 2:
            yield rows, n_burn_in // 2, is_binary, until
            n_burn_in -= n_burn_in // 2


_BURN_IN_SHARE = 0.6  # Share of the time limit after which burn-in stops
_TRIAL_ROWS = 1000
"""Number of rows of a trial of a structure: the time of a trial is proportional to it."""

_TRIAL_FREQUENCIES = 100  # Largest number of frequencies of a trial
_TRIAL_ROUNDS = 80  # Number of rounds of a trial. The evidence is averaged over the last quarter
_TRIAL_SHARE = 0.15  # Share of the time limit after which a trial ends
_SECONDS_PER_ITERATION = 0.25  # Seconds that an iteration with several rounds of moves may take
_MOST_ROUNDS = 4  # Largest number of rounds per iteration
_FLOPS = 2e10  # Floating-point operations per second of one core in matrix products of these sizes
_SECONDS_PER_PROPOSAL = 1.5e-4  # Seconds per proposal in addition to the matrix products


@register
@dataclass(frozen=True, slots=True)
class Sampler:
    """The moves that make up a round of a Markov chain over frequencies.

    Parameters
    ----------
    moves : tuple of Move, default=LOCAL_MOVES
        The moves of a round, in order.
    discrete_moves : tuple of Move, default=None
        The moves of a round for frequencies with discrete parts, such as those of
        :class:`SparseStructure`; ``None`` means ``moves``.
    structure : Structure, default=None
        The structure of frequencies that the moves need; ``None`` means any.
    model : Model, default=None
        The model to sample in place of the estimator's, such as one of :mod:`bochner.papers`.

    Examples
    --------
    >>> from bochner import LearnedKernelRegressor
    >>> from bochner.learned import Sampler, SparseStructure
    >>> from bochner.learned.moves import LOCAL_MOVES, Hamiltonian
    >>> sampler = Sampler((Hamiltonian(), *LOCAL_MOVES), discrete_moves=LOCAL_MOVES)
    >>> model = LearnedKernelRegressor(structure=SparseStructure(), sampler=sampler)
    """

    moves: tuple[Move, ...] = LOCAL_MOVES
    discrete_moves: tuple[Move, ...] | None = None
    structure: Structure | None = None
    model: Model | None = None

    def __post_init__(self) -> None:
        for move in (*self.moves, *(self.discrete_moves or ())):
            if not isinstance(move, Move):
                raise TypeError(
                    f"A sampler takes instances of classes derived from Move, not classes or "
                    f"functions, got {move!r:.60}."
                )
            if not isinstance(getattr(move, "name", None), str):
                raise TypeError(
                    f'{type(move).__name__} needs a name: write name = "..." in the body of the '
                    f"class."
                )


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """Settings of the chains of a fit, resolved from the parameters of the estimator."""

    n_frequencies: int
    # Candidate structures; the greatest evidence in short trials decides
    structures: tuple[Structure, ...]
    sampler: Sampler
    n_burn_in: int
    n_samples: int
    thin: int | None  # Rounds per iteration; None derives them from the sizes
    n_chains: int
    n_jobs: int | None
    time_limit: float | None
    n_threads: int = 1
    model: Model = BANK

    @property
    def structure(self) -> Structure:
        """The structure of the frequencies, once one is selected."""
        (structure,) = self.structures
        return structure

    @property
    def seconds_per_chain(self) -> float | None:
        """The time limit of one chain; chains of one process run one after another."""
        if self.time_limit is None:
            return None
        return self.time_limit / -(-self.n_chains // self.n_processes)

    @property
    def n_processes(self) -> int:
        """The number of processes, at most one per chain."""
        return 1 if self.n_chains == 1 else min(effective_n_jobs(self.n_jobs), self.n_chains)

    def less(self, seconds: float) -> "SamplerSettings":
        """Return the settings with the time limit reduced by some seconds."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=max(0.0, self.time_limit - seconds))


def learn(
    seed: np.random.SeedSequence,
    data: ScaledData,
    settings: SamplerSettings,
    *,
    parts: Sequence[ChainRows] | None = None,
    report: Progress = silent,
) -> tuple[Structure, list[ChainRun]]:
    """Run all chains; return the structure in use, and the draws and records of every chain.

    With ``parts``, each chain learns from its part of the rows, with weights.
    """
    structure_seed, *chain_seeds = seed.spawn(1 + settings.n_chains)
    start: Start | None = None
    if len(settings.structures) > 1:
        before = perf_counter()
        rng = np.random.default_rng(structure_seed)
        structure, start = choose_structure(rng, data, settings)
        settings = replace(settings, structures=(structure,)).less(perf_counter() - before)

    def run_one(index: int, report: Progress) -> ChainRun:
        rng = np.random.default_rng(chain_seeds[index])
        rows_of_chain = data if parts is None else data.weighted_subset(*parts[index])
        # Worker processes do not inherit the limit on BLAS threads.
        with single_threaded_blas():
            chain = prepared(rng, rows_of_chain, settings, start)
            return run(chain, seconds=settings.seconds_per_chain, report=report)

    n_chains = settings.n_chains
    if n_chains == 1 or settings.n_jobs in (None, 1):
        return settings.structure, [run_one(index, report) for index in range(n_chains)]
    # Processes share the cores, so that BLAS does not start more threads than cores.
    shared = max(1, settings.n_threads // settings.n_processes)
    settings = replace(settings, n_threads=shared)
    # Worker processes cannot report: this process reports each finished chain.
    parallel = Parallel(n_jobs=settings.n_processes, return_as="generator")
    chains: list[ChainRun] = []
    for finished in parallel(delayed(run_one)(index, silent) for index in range(n_chains)):
        chains.append(finished)
        report("finished chain", len(chains), n_chains)
    return settings.structure, chains


def prepared(
    rng: Generator, data: ScaledData, settings: SamplerSettings, trial: Start | None = None
) -> PreparedChain:
    """Return a chain with its stages; it starts from the end state of ``trial`` if given."""
    start_rng, run_rng = rng.spawn(2)
    n_frequencies = settings.model.n_stationary(settings.n_frequencies)
    if trial is None:
        omega, prior = starting_point(start_rng, data, settings.structure, n_frequencies)
    else:
        omega, prior = trial[1].extended(start_rng, trial[0], n_frequencies)
    # The model adds amplitudes to the frequencies.
    omega, prior = settings.model.start(start_rng, omega, prior)
    precision = settings.model.precision(settings.n_frequencies)
    return PreparedChain(run_rng, stages_of(start_rng, data, settings), omega, prior, precision)


def starting_point(rng: Generator, data: ScaledData, structure: Structure, size: int) -> Start:
    """Return frequencies (size, d) and their prior for a chain to start from, by ``structure``."""
    X = np.asarray(data.X, dtype=np.float64)
    return structure.start(rng, frequency_scales(X, rng), size, X, data.y)


def stages_of(rng: Generator, data: ScaledData, settings: SamplerSettings) -> list[Stage]:
    """Return the stages: warm-ups on increasing numbers of rows, then burn-in and sampling."""
    stages, burn_in, order = [], settings.n_burn_in, rng.permutation(len(data.y))

    def stage(chain: Chain, n_rows: int, n_iterations: int, until: float) -> Stage:
        rounds = settings.thin or rounds_an_iteration(n_rows, settings.n_frequencies)
        return Stage(chain, n_iterations, rounds, adapting=until < 1.0, until=until)

    for n_rows, n_iterations, is_binary, until in warm_ups(len(order), burn_in):
        part = data.subset(np.sort(order[:n_rows]))
        # The first warm-up treats labels as numbers, so that it needs no latent variables.
        part = replace(part, is_binary=data.is_binary and is_binary)
        stages.append(stage(chain_of(part, settings), n_rows, n_iterations, until))
        burn_in -= n_iterations
    full_chain = chain_of(data, settings)
    if burn_in:
        stages.append(stage(full_chain, data.n_samples, burn_in, _BURN_IN_SHARE))
    return [*stages, stage(full_chain, data.n_samples, settings.n_samples, 1.0)]


def chain_of(data: ScaledData, settings: SamplerSettings) -> Chain:
    """Return the chain with the likelihood of the data and the moves of the sampler."""
    rows, moves = data.rows(settings.n_threads), settings.sampler.moves
    if settings.structure.is_discrete and settings.sampler.discrete_moves is not None:
        moves = settings.sampler.discrete_moves
    if data.is_binary:
        return settings.model.chain_of_labels(rows, moves)
    return CollapsedChain(rows, settings.model.likelihood(), moves)


def choose_structure(
    rng: Generator, data: ScaledData, settings: SamplerSettings
) -> tuple[Structure, Start | None]:
    """Return the structure with the greatest evidence after short runs on some rows.

    The second result is the last state of its run, or ``None`` if only one structure suits.
    """
    candidates = [each for each in settings.structures if each.suits(data.X.shape[1])]
    if len(candidates) == 1:
        return candidates[0], None
    rows = rng.permutation(len(data.y))[:_TRIAL_ROWS]
    # Trials have constant amplitudes. Chains with varying amplitudes start from their frequencies.
    n_frequencies = settings.model.n_stationary(settings.n_frequencies)
    settings = replace(settings, model=BANK, n_frequencies=n_frequencies)
    part = replace(data.subset(np.sort(rows)), is_binary=False, basis=BANK.basis(0))
    trials = [_trial(rng, part, settings, structure) for structure in candidates]
    # Evidences of different priors are comparable: both have the same rows and weights.
    best = max(range(len(trials)), key=lambda index: trials[index][0])
    return candidates[best], trials[best][1]


def _trial(
    rng: Generator, part: ScaledData, settings: SamplerSettings, structure: Structure
) -> tuple[float, Start]:
    """Return the mean log evidence at the end of a short run with a structure, and the state."""
    few = min(settings.n_frequencies, _TRIAL_FREQUENCIES)
    settings = replace(settings, structures=(structure,), sampler=Sampler())
    omega, prior = starting_point(rng, part, structure, few)
    chain = chain_of(part, settings)
    state = chain.init(rng, omega, prior, BANK.precision(few))
    values: list[float] = []
    limit, before = settings.time_limit, perf_counter()
    for _ in range(_TRIAL_ROUNDS):
        if values and limit is not None and perf_counter() - before > _TRIAL_SHARE * limit:
            break
        values.append(chain.step(rng, state, adapting=True)["log_evidence"])
    reached = float(np.mean(values[-len(values) // 4 :]))
    return reached, (state.omega, state.prior)


def rounds_an_iteration(n_samples: int, n_frequencies: int) -> int:
    """Return the number of rounds of moves per iteration, by a cost model.

    It depends on sizes only, and on no measured time, so that the same data give the same chain.
    """
    p = 2.0 * n_frequencies
    seconds = p**2 * (2.0 * n_samples + 5.0 * p) / _FLOPS + _SECONDS_PER_PROPOSAL * n_frequencies
    return int(np.clip(round(_SECONDS_PER_ITERATION / seconds), 1, _MOST_ROUNDS))
