r"""Functions drawn from the laws of a table: draws of the prior, updated by the rows.

With ``R`` of :class:`~bochner.learning.ensemble.kernel_laws.KernelLaw`, the factor of its rows or
landmarks :math:`L`, a law's deviation from its mean is that of a prior draw ``h``,

.. math:: h(x) - k(x, L)\, R\, (R^\top h(L) + \eta), \quad \eta \sim N(0, I - R^\top k(L, L) R),

whose covariance is :math:`k(x, y) - k(x, L) R R^\top k(L, y)`, the law's. For exact laws that is
Matheron's rule, :math:`R R^\top = (K + \alpha W^{-1})^{-1}` and
:math:`\eta = R^\top \varepsilon` with the noise :math:`\varepsilon` of the rows. Prior draws are on
random features, which all functions of a law share.

Source: Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth, "Pathwise conditioning of Gaussian
processes", 2021.
"""

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh

from bochner._numerics.arrays import Array, as_array
from bochner.frequencies import Frequencies
from bochner.learning.ensemble.ensemble import SumOfLaws
from bochner.learning.ensemble.kernel_laws import KernelLaw
from bochner.learning.functions import FunctionTerm, KernelTerm, SampledFunctions, WaveTerm
from bochner.spectral import spectral_measure

_N_FREQUENCIES = 1024
"""Frequencies of prior draws: values of the kernel are off by 1/32, which the rows correct near
them. Twice as many take twice the time for a sixth of the error less."""


def drawn_functions(head: SumOfLaws, count: int, rng: Generator) -> SampledFunctions:
    """Return functions of encoded columns, of the shape (count,) or (t, count).

    Each is a function of one law, drawn by its weight, and its deviation from the mean of all laws
    is multiplied by the scale of the standard deviations.
    """
    laws, weights = head.laws.used(head.weights)
    shares = weights.reshape(len(weights), -1)
    n_targets = shares.shape[1]
    target = np.repeat(np.arange(n_targets), count)
    chosen = np.concatenate([rng.choice(len(shares), count, p=own) for own in shares.T])
    scale = np.broadcast_to(head.scale, n_targets)[target]
    terms: list[FunctionTerm] = []
    everyone = np.arange(len(target))
    for number, law in enumerate(laws.members):
        own = np.flatnonzero(chosen == number)
        coef = (1.0 - scale) * shares[number, target] * law.coef[:, target]
        coef[:, own] += scale[own] * law.coef[:, target[own]]
        matrix = np.eye(laws.rows.shape[1])[:, law.columns] @ _matrix(law)
        if len(own):
            size = scale[own] * np.sqrt(np.broadcast_to(law.signal, n_targets)[target[own]])
            frequencies, waves, update = _deviations(law, laws.rows @ matrix, len(own), rng)
            coef = np.pad(coef, ((0, max(0, len(update) - len(coef))), (0, 0)))
            coef[: len(update), own] += size * update
            in_columns = Frequencies(frequencies.omega @ matrix.T, frequencies.weight)
            terms.append(WaveTerm(size * waves, own, in_columns))
        rows = laws.rows[: len(coef)] @ matrix
        terms.append(KernelTerm(coef, everyone, law.found.kernel, rows, matrix))
    constant, shape = np.zeros(len(target)), (*weights.shape[1:], count)
    return SampledFunctions(tuple(terms), constant, shape, laws.rows.shape[1])


def _matrix(law: KernelLaw) -> Array:
    """Return the map (d', d') of the law's columns."""
    return np.eye(len(law.columns)) if law.found.matrix is None else law.found.matrix


def _deviations(
    law: KernelLaw, rows: Array, count: int, rng: Generator
) -> tuple[Frequencies, Array, Array]:
    """Return weights of waves (p, count), and of kernel values at the first rows (m, count)."""
    kernel, R = law.found.kernel, as_array(law.factor)
    measure = spectral_measure(kernel, rows.shape[1])
    frequencies = measure.sample(_N_FREQUENCIES, rng, scheme="orthogonal")
    waves = rng.normal(size=(frequencies.n_features, count))
    landmarks = rows[: len(R)]
    values, vectors = eigh(R.T @ kernel(landmarks) @ R)
    # Rounding of a factor in single precision leaves negative ones.
    left = np.sqrt(np.maximum(1.0 - values, 0.0))
    eta = vectors @ (left[:, None] * rng.normal(size=(len(R), count)))
    prior = frequencies.features(landmarks) @ waves
    return frequencies, waves, -(R @ (R.T @ prior + eta))
