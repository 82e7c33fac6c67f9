r"""Levels of counts: a chain with few states, in place of an autoregression, and its filter.

The state is the number of heads among N coins. In a step with correlation :math:`\rho` every coin
keeps its side with probability :math:`(1 + \rho) / 2`. The number of heads, standardised, has the
autocorrelation :math:`\rho` and nearly the law of a Gaussian autoregression, and filter, smoother
and forecasts are finite sums.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import binom

from bochner._base.arrays import Array, Index, as_array

N_COINS = 24
"""Number of coins: with 40, the log evidence of series changes by 0.1 on average."""

HEADS = np.arange(N_COINS + 1.0)  # States
SCORES = (2.0 * HEADS - N_COINS) / np.sqrt(N_COINS)  # States with mean zero and variance one
PRIOR = binom(N_COINS, HEADS) / 2.0**N_COINS  # Stationary probabilities


_FUNCTIONS = np.array(
    [np.poly(np.repeat([1.0, -1.0], [heads, N_COINS - heads])) for heads in range(N_COINS + 1)]
)
"""Right eigenvectors of all transitions, in columns; they are their own inverse up to 2^N. Rows are
coefficients of :math:`(1 - z)^x (1 + z)^{N - x}`: Krawtchouk polynomials."""


def transitions(correlations: Array) -> Array:
    """Return transition probabilities (m, s, s), from rows to columns, by correlation (m,)."""
    powers = correlations[:, None] ** HEADS
    moves = np.maximum((_FUNCTIONS * powers[:, None]) @ (_FUNCTIONS / 2.0**N_COINS), 0.0)
    return as_array(moves / moves.sum(axis=2, keepdims=True))


class LevelChains(NamedTuple):
    """Times (n,), memories (m,), and log likelihoods (u, q, s) by pattern (n,) of the times.

    The m chains have q observation laws each; with one memory per law, q is one and the log
    likelihoods have shape (u, m, 1, s).
    """

    times: Array
    memories: Array
    patterns: Index
    log_likelihoods: Array

    def moves(self) -> Callable[[int], Array]:
        """Return the function from a time to the transitions (m, s, s) to the next time."""
        lengths = np.round(np.diff(self.times), _DIGITS).tolist()
        memories, which = np.unique(self.memories, return_inverse=True)

        @lru_cache(maxsize=_N_LENGTHS)
        def of_length(length: float) -> Array:
            return transitions(np.exp(-length / memories))[which]

        return lambda time: of_length(lengths[time])


def filtered(chains: LevelChains, keep: bool = False) -> tuple[Array, Array]:
    """Return log evidences (m, q), and the filtered states (n or 1, m, q, s) or only the last."""
    moves, n, peaks = chains.moves(), len(chains.times), chains.log_likelihoods.max(axis=-1)
    likelihoods = np.exp(chains.log_likelihoods - peaks[..., None])
    state = np.broadcast_to(PRIOR, (len(chains.memories), *likelihoods.shape[-2:]))
    evidence, states = np.zeros(state.shape[:-1]), []
    for time, pattern in enumerate(chains.patterns.tolist()):
        state = (state @ moves(time - 1) if time else state) * likelihoods[pattern]
        total = np.maximum(state.sum(axis=-1), _TINY)
        evidence = evidence + np.log(total) + peaks[pattern]
        state = state / total[..., None]
        if keep or time == n - 1:
            states.append(state)
    return evidence, np.array(states)


def smoothed(chains: LevelChains) -> Array:
    """Return the probabilities (n, m, q, s) of states at all times, given all counts."""
    moves, states = chains.moves(), filtered(chains, keep=True)[1]
    logs, later = chains.log_likelihoods, np.ones(states.shape[1:])
    likelihoods = np.exp(logs - logs.max(axis=-1, keepdims=True))
    for time in range(len(states) - 2, -1, -1):
        later = (later * likelihoods[chains.patterns[time + 1]]) @ moves(time).mT
        later = later / np.maximum(later.max(axis=-1, keepdims=True), _TINY)
        product = states[time] * later
        states[time] = product / np.maximum(product.sum(axis=-1, keepdims=True), _TINY)
    return states


_DIGITS = 9  # Number of decimals to which steps, in ranges of the series, are rounded
_N_LENGTHS = 16  # Number of different steps whose transitions are kept: more than of business days
_TINY = 1e-300  # Smallest divisor: probabilities may underflow after a value far from all states
