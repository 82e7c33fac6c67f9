r"""Algorithm 1 as published: coordinate ascent with a second-order Taylor expansion of the cosine.

**What the expansion does.** Near a difference :math:`\Delta` the data's term of the log posterior
of one frequency is, to second order in it and with the others' cosines at one,

.. math:: \frac{1}{2 \sigma^2 M} \sum_{i \neq j} (1 - k_{ij}) (\omega^\top \Delta_{ij})^2:

a kernel that falls off (:math:`k < 1`) asks for *larger* frequencies, without end, and it takes
fourth-order terms to stop them. The published update has this term with the opposite sign, and
without the factor 1 / M: a matrix

.. math:: A = \frac{1}{2 \sigma^2} \sum_{i \neq j} (1 - k_{ij}) \Delta_{ij} \Delta_{ij}^\top

that is added to the precision of every frequency. It depends neither on the frequency, nor on its
component, nor on what the other frequencies explain already, so wherever the data outweigh the
prior all frequencies have one covariance, :math:`A^{-1}`. The consequences: similarities cannot
tell components apart, whose number and shapes are the prior's and the start's; where the kernel
falls off faster, frequencies become *smaller*; and as :math:`\sigma \to 0` all of them vanish, and
the features are constant in the directions of the sketch. What makes the published features
useful is their prior. The bound, whose data term is evaluated without any expansion here, need not
rise.

References
----------
F. Liu, X. Huang, L. Shi, J. Yang and J. A. K. Suykens, "A double-variational Bayesian framework
in random Fourier features for indefinite kernels", 2020, Algorithm 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import wishart

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture.mean_field import (
    Components,
    Frequencies,
    MeanFieldPrior,
    prior_bound,
    updated_components,
    updated_frequencies,
)

_BLOCK = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What is observed of one sign: similarities of mean diagonal one.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    gram : ndarray of shape (n, n)
    noise : float
        Standard deviation.
    """

    rows: Array
    gram: Array
    noise: float

    def pairs(self) -> tuple[Array, Array]:
        """Return differences (P, d) and similarities (P,) of pairs, each of which counts twice."""
        first, second = np.triu_indices(len(self.rows), k=1)
        return self.rows[first] - self.rows[second], self.gram[first, second]

    def curvature(self) -> Array:
        """Return ``A``, of shape (d, d); similarities above one, which would subtract, are one."""
        deltas, values = self.pairs()
        weights = np.maximum(1.0 - values, 0.0) / self.noise**2
        matrix: Array = (deltas.T * weights) @ deltas
        return matrix

    def data_bound(self, frequencies: Frequencies) -> float:
        """Return the expected log likelihood, with exact expectations of cosines."""
        deltas, values = self.pairs()
        total = frequencies.sizes.sum()
        share, covariances = frequencies.sizes / total, frequencies.covariances
        squares = 0.0
        for start in range(0, len(values), _BLOCK):
            block = deltas[start : start + _BLOCK]
            phase = block @ frequencies.means.T
            quadratic = np.stack([np.sum((block @ V) * block, axis=1) for V in covariances], axis=1)
            cosine = np.exp(-0.5 * quadratic) * np.cos(phase)
            doubled = np.exp(-2.0 * quadratic) * np.cos(2.0 * phase)
            variance = (0.5 * (1.0 + doubled) - cosine**2) @ share / total
            residual = values[start : start + _BLOCK] - cosine @ share
            squares += float(np.sum(residual**2 + variance))
        n_pairs = 2.0 * len(values)
        return -0.5 * n_pairs * float(np.log(2.0 * np.pi * self.noise**2)) - squares / self.noise**2


@dataclass(frozen=True, slots=True, eq=False)
class Inferred:
    """Factors after the last iteration, and what happened in each.

    Attributes
    ----------
    components : Components
    frequencies : Frequencies
    bounds : ndarray of shape (n_iter,)
        Evidence lower bounds, which need not rise.
    changes : ndarray of shape (n_iter,)
        Frobenius norms of the change of all labels.
    """

    components: Components
    frequencies: Frequencies
    bounds: Array
    changes: Array


def coordinate_ascent(
    part: Part,
    prior: MeanFieldPrior,
    sizes: NDArray[Any],
    rng: Generator,
    max_iter: int,
    tol: float,
) -> Inferred:
    """Return the factors of Algorithm 1 for one sign.

    Parameters
    ----------
    part : Part
    prior : MeanFieldPrior
    sizes : ndarray of shape (T,)
        Frequencies that start in each of the ``T`` components.
    rng : numpy.random.Generator
        For the start: every component begins with the frequencies of a draw of the prior.
    max_iter : int
    tol : float
        It ends when labels change by no more than this.
    """
    frequencies, components = _start(prior, sizes, rng)
    curvature = part.curvature()
    bounds, changes = [], []
    for _ in range(max_iter):
        components = updated_components(prior, components, frequencies)
        last, frequencies = frequencies, updated_frequencies(components, frequencies, curvature)
        bounds.append(prior_bound(prior, components, frequencies) + part.data_bound(frequencies))
        square = np.sum((frequencies.labels - last.labels) ** 2, axis=1)
        changes.append(float(np.sqrt(frequencies.sizes @ square)))
        if changes[-1] <= tol:
            break
    return Inferred(components, frequencies, np.array(bounds), np.array(changes))


def _start(
    prior: MeanFieldPrior, sizes: NDArray[Any], rng: Generator
) -> tuple[Frequencies, Components]:
    n_groups, dim = len(sizes), len(prior.mean)
    drawn = wishart(prior.dof, prior.scale).rvs(n_groups, random_state=rng)
    precisions = np.reshape(drawn, (n_groups, dim, dim))
    spread = np.linalg.cholesky(np.linalg.inv(prior.mean_precision))
    means = prior.mean + rng.standard_normal((n_groups, dim)) @ spread.T
    frequencies = Frequencies(sizes, np.eye(n_groups), means, precisions)
    components = Components(
        np.ones((n_groups - 1, 2)) * (1.0, prior.concentration),
        means,
        np.broadcast_to(prior.mean_precision, precisions.shape),
        np.broadcast_to(prior.scale, precisions.shape),
        np.full(n_groups, prior.dof),
    )
    return frequencies, components
