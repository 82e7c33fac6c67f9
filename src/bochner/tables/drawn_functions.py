r"""Posterior draws of functions from the kernels of a table model: updated draws of the prior.

With ``R`` of :class:`~bochner.tables.kernel_laws.KernelLaw`, the factor of its rows or
landmarks :math:`L`, a law's deviation from its mean is that of a prior draw ``h``,

.. math:: h(x) - k(x, L)\, R\, (R^\top h(L) + \eta), \quad \eta \sim N(0, I - R^\top k(L, L) R),

whose covariance is :math:`k(x, y) - k(x, L) R R^\top k(L, y)`, the law's. For exact laws that is
Matheron's rule, :math:`R R^\top = (K + \alpha W^{-1})^{-1}` and
:math:`\eta = R^\top \varepsilon` with the noise :math:`\varepsilon` of the rows.

Prior draws are sums of waves. The update removes the waves that the rows determine, so that the
variance near rows consists of noise and of a few high frequencies. If all functions of a call
shared their frequencies, their variance would be wrong by a factor of two or more at low noise.
Therefore frequencies are drawn separately for each function: the covariance over draws is unbiased.
Half of the frequencies are from the tails of the spectral measure (:mod:`bochner.spectral.tails`),
so that the covariance given the frequencies is nearly exact and functions are nearly Gaussian.

Source: Wilson, Borovitskiy, Terenin, Mostowsky and Deisenroth, "Pathwise conditioning of Gaussian
processes", 2021.
"""

from contextlib import suppress

import numpy as np
from numpy.random import Generator
from scipy.linalg import LinAlgError, eigh

from bochner._base.arrays import Array, as_array
from bochner._base.linalg import jittered_cholesky
from bochner.linear.functions import FunctionTerm, KernelTerm, SampledFunctions, WaveTerm
from bochner.spectral import spectral_measure
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.tails import sample_with_tails
from bochner.tables.base_laws import Laws
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.residual_laws import MeanTerm, ResidualLaw

_N_FREQUENCIES = 256
"""Number of frequencies of one function, even. Given the frequencies, the root mean square error of
the variance at a row is at most a tenth of the variance, in one to twenty inputs; the error
averages out over functions. Twice the number takes twice the time and memory and reduces the error
by a third."""


def drawn_functions(
    laws: Laws, weights: Array, factor: Array | float, count: int, rng: Generator
) -> SampledFunctions:
    """Return functions of encoded columns, of the shape (count,) or (t, count).

    Each function belongs to one base model, drawn with its weight (K, *t) as probability. The
    deviation of the function from the mean of all base models is multiplied by the ``factor`` (*t)
    of standard deviations. A function of trees or estimators is their mean.
    """
    laws, weights = laws.used(weights)
    shares = weights.reshape(len(weights), -1)
    n_targets = shares.shape[1]
    target = np.repeat(np.arange(n_targets), count)
    law_of_draw = np.concatenate([rng.choice(len(shares), count, p=p) for p in shares.T])
    scale = np.broadcast_to(factor, n_targets)[target]
    terms: list[FunctionTerm] = []
    all_draws = np.arange(len(target))
    for number, law in enumerate(laws.members):
        draws = np.flatnonzero(law_of_draw == number)
        # m + scale (m_k - m): the mean m of all laws has the coefficients of every law.
        if isinstance(law, ResidualLaw):
            factors = (1.0 - scale) * shares[number, target]
            factors[draws] += scale[draws]
            coef = np.eye(n_targets)[:, target] * factors
            terms.append(MeanTerm(coef, all_draws, law))
            continue
        coef = (1.0 - scale) * shares[number, target] * law.coef[:, target]
        coef[:, draws] += scale[draws] * law.coef[:, target[draws]]
        matrix = np.eye(laws.rows.shape[1])[:, law.columns] @ _matrix(law)
        if len(draws):
            size = scale[draws] * np.sqrt(np.broadcast_to(law.signal, n_targets)[target[draws]])
            drawn, waves, update = _deviations(law, laws.rows @ matrix, len(draws), rng)
            coef = np.pad(coef, ((0, max(0, len(update) - len(coef))), (0, 0)))
            coef[: len(update), draws] += size * update
            for place in range(len(draws)):
                in_columns = Frequencies(drawn[place].omega @ matrix.T, drawn[place].weight)
                of_function = size[place] * waves[:, place : place + 1]
                terms.append(WaveTerm(of_function, draws[place : place + 1], in_columns))
        rows = laws.rows[: len(coef)] @ matrix
        terms.append(KernelTerm(coef, all_draws, law.found.kernel, rows, matrix))
    constant, shape = np.zeros(len(target)), (*weights.shape[1:], count)
    return SampledFunctions(tuple(terms), constant, shape, laws.rows.shape[1])


def _matrix(law: KernelLaw) -> Array:
    """Return the map (d', d') of the law's columns."""
    return np.eye(len(law.columns)) if law.found.matrix is None else law.found.matrix


def _deviations(
    law: KernelLaw, rows: Array, count: int, rng: Generator
) -> tuple[list[Frequencies], Array, Array]:
    """Return frequencies of each function, with weights of waves (p, count) and of kernel values.

    The latter (m, count) belong to the first rows.
    """
    kernel, R = law.found.kernel, as_array(law.factor)
    measure, landmarks = spectral_measure(kernel, rows.shape[1]), rows[: len(R)]
    waves = rng.normal(size=(2 * _N_FREQUENCIES, count))
    # What the factor of the rows leaves of the prior's variance at the landmarks.
    eta = _root(np.eye(len(R)) - R.T @ kernel(landmarks) @ R) @ rng.normal(size=(len(R), count))
    frequencies = [sample_with_tails(measure, _N_FREQUENCIES, rng) for _ in range(count)]
    prior = np.empty_like(eta)
    for column, of_function in enumerate(frequencies):
        prior[:, column] = of_function.features(landmarks) @ waves[:, column]
    return frequencies, waves, -(R @ (R.T @ prior + eta))


def _root(cov: Array) -> Array:
    """Return a root of a covariance; negative eigenvalues from rounding are set to zero."""
    with suppress(LinAlgError):
        return jittered_cholesky(cov)
    # Rounding of a factor in single precision leaves negative eigenvalues.
    values, vectors = eigh(cov)
    root: Array = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
