"""From data and settings to the stages of chains, and from chains to what was learned."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from bochner._numerics.arrays import Array
from bochner._numerics.threads import single_threaded_blas
from bochner.learning.inference.checkpoint import chain_path
from bochner.learning.inference.driver import Chain, Progress, Stage, run
from bochner.learning.inference.models import BANK
from bochner.learning.inference.preparation import frequency_scales
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.settings import Data, Settings
from bochner.learning.inference.start import dense_start, paper_start, sparse_start

Start = tuple[Array, FrequencyPrior]
"""Frequencies (m, d) and the parameters of their law."""

_LADDER = ((3000, False, 0.25), (20_000, True, 0.45))
"""Warm-ups: rows, whether labels have their own likelihood yet, and the share of the time."""

_TRIAL_ROWS, _TRIAL_FREQUENCIES, _TRIAL_ROUNDS = 1000, 100, 80
_TRIAL_SHARE = 0.15
_SECONDS_AN_ITERATION, _MOST_ROUNDS = 0.25, 4
_FLOPS, _SECONDS_A_PROPOSAL = 2e10, 1.5e-4


def learn(
    seed: np.random.SeedSequence,
    data: Data,
    settings: Settings,
    *,
    checkpoint: Path | None = None,
    fingerprint: str = "",
    report: Callable[[str], None] | None = None,
) -> tuple[str, list[Progress]]:
    """Return the structure in use and what every chain has made."""
    structure_seed, *chain_seeds = seed.spawn(1 + settings.n_chains)
    start: Start | None = None
    if settings.structure == "auto":
        before = perf_counter()
        rng = np.random.default_rng(structure_seed)
        # A clock must not decide where a killed fit is to go on from.
        timed = settings if checkpoint is None else replace(settings, time_limit=None)
        structure, start = choose_structure(rng, data, timed)
        settings = replace(settings, structure=structure).less(perf_counter() - before)

    def one(index: int, report: Callable[[str], None] | None) -> Progress:
        path = checkpoint and chain_path(checkpoint, index, settings.n_chains)
        # Processes do not inherit the limit of the one that started them.
        with single_threaded_blas():
            return run_chain(
                np.random.default_rng(chain_seeds[index]),
                data,
                settings,
                start,
                path,
                fingerprint,
                report,
            )

    n_chains = settings.n_chains
    # Rows that lie elsewhere have workers of their own.
    if n_chains == 1 or settings.n_jobs in (None, 1) or data.elsewhere is not None:
        return settings.structure, [one(index, report) for index in range(n_chains)]
    shared = max(1, settings.n_threads // effective_n_jobs(settings.n_jobs))
    settings = replace(settings, n_threads=shared)
    # Other processes cannot report: this one does, whenever a chain is finished.
    parallel = Parallel(n_jobs=settings.n_jobs, return_as="generator")
    chains: list[Progress] = []
    for chain in parallel(delayed(one)(index, None) for index in range(n_chains)):
        chains.append(chain)
        if report is not None:
            report(f"chain {len(chains)} of {n_chains} is finished")
    return settings.structure, chains


def run_chain(
    rng: np.random.Generator,
    data: Data,
    settings: Settings,
    trial: Start | None = None,
    checkpoint: Path | None = None,
    fingerprint: str = "",
    report: Callable[[str], None] | None = None,
) -> Progress:
    """Run one chain through its stages, from where a trial has come to, if there was one."""
    start_rng, run_rng = rng.spawn(2)
    n_frequencies = settings.model.n_stationary(settings.n_frequencies)
    if trial is None:
        omega, prior = starting_point(
            start_rng, data, replace(settings, n_frequencies=n_frequencies)
        )
    else:
        omega, prior = trial[1].extended(start_rng, trial[0], n_frequencies)
    omega, prior = settings.model.start(start_rng, omega, prior)
    precision = settings.model.precision(settings.n_frequencies)

    def start(chain: Chain) -> Any:
        return chain.init(run_rng, omega, prior, precision)

    return run(
        run_rng,
        stages_of(start_rng, data, settings),
        start,
        n_full=settings.n_full,
        time_limit=settings.seconds_a_chain,
        checkpoint=checkpoint,
        fingerprint=fingerprint,
        report=report,
    )


def starting_point(rng: np.random.Generator, data: Data, settings: Settings) -> Start:
    """Return frequencies and the prior of the structure, to start a chain from."""
    X = np.asarray(data.X, dtype=np.float64)
    scale = frequency_scales(X, rng)
    if settings.structure == "sparse":
        return sparse_start(rng, scale, settings.n_frequencies, X, data.y)
    if settings.sampler == "mh":
        return paper_start(rng, scale, settings.n_frequencies)
    return dense_start(rng, scale, settings.n_frequencies, X, data.y)


def stages_of(rng: np.random.Generator, data: Data, settings: Settings) -> list[Stage]:
    """Return warm-up on ever more rows, then burn-in and sampling on all of them."""
    stages, burn_in, order = [], settings.n_burn_in, rng.permutation(len(data.y))

    def stage(chain: Chain, n_rows: int, n_iterations: int, until: float) -> Stage:
        rounds = settings.thin or rounds_an_iteration(n_rows, settings.n_frequencies)
        return Stage(chain, n_iterations, rounds, adapting=until < 1.0, until=until)

    for n_rows, is_binary, until in _LADDER:
        if len(order) >= 2 * n_rows and burn_in >= 2:
            part = data.subset(np.sort(order[:n_rows]))
            part = replace(part, is_binary=data.is_binary and is_binary)
            stages.append(stage(chain_of(part, settings), n_rows, burn_in // 2, until))
            burn_in -= burn_in // 2
    whole = chain_of(data, settings)
    if burn_in:
        stages.append(stage(whole, data.n_samples, burn_in, 0.6))
    return [*stages, stage(whole, data.n_samples, settings.n_samples, 1.0)]


def chain_of(data: Data, settings: Settings) -> Chain:
    """Return the chain of the data's likelihood and of the sampler."""
    if data.is_binary and settings.sampler == "mh":
        data = _repeated(data)
    rows = data.rows(settings.n_threads) if data.elsewhere is None else data.elsewhere
    chain = settings.model.chain_of_labels if data.is_binary else settings.model.chain_of_numbers
    return chain(rows, settings.sampler, settings.structure)


def _repeated(data: Data) -> Data:
    """Return rows of integer weights as often as they count."""
    if data.weight is None:
        return data
    times = np.rint(data.weight).astype(np.intp)
    if not np.array_equal(times, data.weight):
        raise ValueError(
            "The paper's sampler takes weights that are whole numbers, repetitions of rows, in a "
            "classification; use sampler='auto' and, where there is a choice, "
            "likelihood='logistic'."
        )
    return replace(data.subset(np.repeat(np.arange(len(times)), times)), weight=None)


def choose_structure(
    rng: np.random.Generator, data: Data, settings: Settings
) -> tuple[str, Start | None]:
    """Return the structure of greater evidence after short runs on some of the rows.

    Sparse frequencies have nothing to choose in one input. Where there were runs, the
    winner's last state comes with its structure.
    """
    if data.X.shape[1] == 1:
        return "dense", None
    rows = rng.permutation(len(data.y))[:_TRIAL_ROWS]
    # Stationary ones: what they find, amplitudes start from.
    n_frequencies = settings.model.n_stationary(settings.n_frequencies)
    settings = replace(settings, model=BANK, n_frequencies=n_frequencies)
    part = replace(data.subset(np.sort(rows)), is_binary=False, basis=BANK.basis(0))
    trials = {name: _trial(rng, part, settings, name) for name in ("sparse", "dense")}
    best = max(trials, key=lambda name: trials[name][0])
    return best, trials[best][1]


def _trial(
    rng: np.random.Generator, part: Data, settings: Settings, structure: str
) -> tuple[float, Start]:
    """Return the log evidence that a structure reaches, and the state there."""
    few = min(settings.n_frequencies, _TRIAL_FREQUENCIES)
    settings = replace(settings, structure=structure, sampler="pcn", n_frequencies=few)
    omega, prior = starting_point(rng, part, settings)
    chain = chain_of(part, settings)
    state = chain.init(rng, omega, prior, BANK.precision(few))
    values: list[float] = []
    limit, before = settings.time_limit, perf_counter()
    for _ in range(_TRIAL_ROUNDS):
        if values and limit is not None and perf_counter() - before > _TRIAL_SHARE * limit:
            break
        state, info = chain.step(rng, state, adapting=True)
        values.append(info["log_evidence"])
    reached = float(np.mean(values[-len(values) // 4 :]))
    return reached, (chain.saved(state)["omega"], state.prior)


def rounds_an_iteration(n_samples: int, n_frequencies: int) -> int:
    """Return how many rounds make an iteration: several where they cost little.

    From the sizes alone, not from a clock, so that the same data give the same chain.
    """
    p = 2.0 * n_frequencies
    seconds = p**2 * (2.0 * n_samples + 5.0 * p) / _FLOPS + _SECONDS_A_PROPOSAL * n_frequencies
    return int(np.clip(round(_SECONDS_AN_ITERATION / seconds), 1, _MOST_ROUNDS))
