"""Functions drawn from the posterior of a chain: sums of waves of its draws."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.learned.draws import Draws
from bochner.learned.gaussian_components import waves_in_units
from bochner.learned.preparation import Scaling, Trend
from bochner.linear.functions import (
    FrequencyIndices,
    FunctionTerm,
    SampledFunctions,
    TrendTerm,
    WaveTerm,
)
from bochner.spectral.frequencies import Frequencies


def drawn_functions(
    draws: Draws, trend: Trend, scaling: Scaling, count: int, rng: Generator, factor: float
) -> tuple[SampledFunctions, FrequencyIndices]:
    """Return functions of scaled inputs, and for each (count,) the draw whose noise it has.

    A function is the mean function of a random draw plus a random deviation with the posterior
    covariance of a whitened draw (:meth:`Draws.pick`). Its deviation from the mean over all draws
    is multiplied by ``factor``.
    """
    deviating = np.empty(count, dtype=np.int64)
    coef = np.zeros((count, 2, draws.coef.shape[1]))
    number = np.empty((count, 2), dtype=np.int64)
    for column in range(count):
        chosen, index, place = draws.pick(rng)
        change = draws.whitener[place] @ rng.normal(size=draws.coef.shape[1])
        coef[column] = draws.coef[chosen], np.sqrt(draws.noise_variance[index]) * change
        number[column] = chosen, index
        deviating[column] = index
    rest = (1.0 - factor) * draws.coef / draws.n_draws
    n_waves = 2 * draws.n_waves
    parts = [*_own(factor * coef, number)]
    if factor != 1.0:
        all_functions = np.arange(count)
        parts += [(index, rest[index, :, None], all_functions) for index in range(draws.n_draws)]
    terms: list[FunctionTerm] = [
        WaveTerm(
            np.concatenate((coefs[:n_waves:2], coefs[1:n_waves:2])), members, _of(draws, index)
        )
        for index, coefs, members in parts
    ]
    fixed = factor * coef.sum(axis=1)[:, n_waves:] + rest.sum(axis=0)[n_waves:]
    terms.append(TrendTerm(fixed.T, np.arange(count), trend))
    constant, dim = np.zeros(count), len(scaling.scale)
    return SampledFunctions(tuple(terms), constant, (count,), dim, scaling), deviating


def _own(coef: Array, number: FrequencyIndices) -> Iterator[tuple[int, Array, FrequencyIndices]]:
    """Yield each draw with the functions (k,) that use it, and weights (p, k) of its features.

    Function ``f`` has the weights ``coef`` (f, 2, p) of the features of two draws, ``number``
    (f, 2).
    """
    for index in np.unique(number):
        uses = number == index
        members = np.flatnonzero(uses.any(axis=1))
        weights = np.sum(coef[members] * uses[members, :, None], axis=1)
        yield int(index), weights.T, members


def _of(draws: Draws, index: int) -> Frequencies:
    """Return the frequencies of a draw for scaled inputs."""
    waves = draws.waves(index)
    dim = waves.omega.shape[1]
    return waves_in_units(waves, Scaling(np.zeros(dim), np.ones(dim)))
