r"""The fully factorised law of one mixture, as the paper infers it.

.. math:: q = \prod_t q(\beta_t) \, q(\mu_t) \, q(\Lambda_t) \prod_m q(z_m) \, q(\omega_m),

with Beta sticks, Gaussian means, Wishart precisions and Gaussian frequencies. The updates of a
frequency depend on its own factors and on those of the components alone, so frequencies whose
factors are equal once stay equal: they are held as groups, and any number of them costs the same.

References
----------
F. Liu, X. Huang, L. Shi, J. Yang and J. A. K. Suykens, "A double-variational Bayesian framework
in random Fourier features for indefinite kernels", 2020, section IV and appendix.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, multigammaln

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture import sticks


@dataclass(frozen=True, slots=True, eq=False)
class MeanFieldPrior:
    r"""The paper's prior: :math:`\mu \sim N(m_0, R_0^{-1})`, :math:`\Lambda \sim W(W_0, \nu_0)`.

    Parameters
    ----------
    mean : ndarray of shape (d,)
    mean_precision : ndarray of shape (d, d)
    scale : ndarray of shape (d, d)
        :math:`W_0`; the expected precision is :math:`\nu_0 W_0`.
    dof : float
        Above ``d - 1``.
    concentration : float
        Positive.
    """

    mean: Array
    mean_precision: Array
    scale: Array
    dof: float
    concentration: float


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    r"""Factors of ``T`` components.

    Parameters
    ----------
    sticks : ndarray of shape (T - 1, 2)
        Beta parameters.
    means, mean_precisions : ndarrays of shapes (T, d) and (T, d, d)
        Of :math:`q(\mu_t)`.
    scales : ndarray of shape (T, d, d)
    dofs : ndarray of shape (T,)
        Of :math:`q(\Lambda_t)`.
    """

    sticks: Array
    means: Array
    mean_precisions: Array
    scales: Array
    dofs: Array

    @property
    def precisions(self) -> Array:
        r"""Return :math:`E \Lambda_t`, of shape (T, d, d)."""
        expected: Array = self.dofs[:, None, None] * self.scales
        return expected

    @property
    def log_determinants(self) -> Array:
        r"""Return :math:`E \ln |\Lambda_t|`, of shape (T,)."""
        dim = self.means.shape[1]
        halves = 0.5 * (self.dofs[:, None] - np.arange(dim))
        expected: Array = (
            np.sum(digamma(halves), axis=1) + dim * np.log(2.0) + np.linalg.slogdet(self.scales)[1]
        )
        return expected


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    r"""Factors of frequencies, one for each of ``G`` groups.

    Parameters
    ----------
    sizes : ndarray of shape (G,)
        How many frequencies each group has.
    labels : ndarray of shape (G, T)
        :math:`q(z = t)`.
    means, precisions : ndarrays of shapes (G, d) and (G, d, d)
        Of :math:`q(\omega)`.
    """

    sizes: NDArray[Any]
    labels: Array
    means: Array
    precisions: Array

    @property
    def covariances(self) -> Array:
        """Return the covariances, of shape (G, d, d)."""
        return np.asarray(np.linalg.inv(self.precisions), dtype=np.float64)


def updated_components(
    prior: MeanFieldPrior, components: Components, frequencies: Frequencies
) -> Components:
    """Return the updates of the sticks, the means and then the precisions of all components."""
    shares = frequencies.sizes[:, None] * frequencies.labels
    counts = shares.sum(axis=0)
    expected = components.precisions
    mean_precisions = prior.mean_precision + counts[:, None, None] * expected
    pulled = np.einsum("tij,tj->ti", expected, shares.T @ frequencies.means)
    pulled += prior.mean_precision @ prior.mean
    means = np.linalg.solve(mean_precisions, pulled[:, :, None])[:, :, 0]
    covariances = frequencies.covariances
    scatter = np.stack(
        [
            np.tensordot(share, covariances, axes=1)
            + ((frequencies.means - mean).T * share) @ (frequencies.means - mean)
            for share, mean in zip(shares.T, means, strict=True)
        ]
    )
    scatter += counts[:, None, None] * np.linalg.inv(mean_precisions)
    scales = np.linalg.inv(np.linalg.inv(prior.scale) + scatter)
    return Components(
        sticks.posterior(counts, prior.concentration),
        means,
        mean_precisions,
        0.5 * (scales + scales.swapaxes(1, 2)),
        prior.dof + counts,
    )


def updated_frequencies(
    components: Components, frequencies: Frequencies, curvature: Array
) -> Frequencies:
    r"""Return the updates of labels and then of frequencies, given the data's ``curvature``.

    .. math:: S = \sum_t q(z = t) \, E \Lambda_t + A, \qquad
              \omega \sim N(S^{-1} \sum_t q(z = t) \, E \Lambda_t \, E \mu_t, \; S^{-1}).
    """
    logarithms = log_labels(components, frequencies)
    labels = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    labels /= labels.sum(axis=1, keepdims=True)
    expected = components.precisions
    precisions = np.tensordot(labels, expected, axes=1) + curvature
    pulled = labels @ np.einsum("tij,tj->ti", expected, components.means)
    means = np.linalg.solve(precisions, pulled[:, :, None])[:, :, 0]
    return Frequencies(frequencies.sizes, labels, means, precisions)


def log_labels(components: Components, frequencies: Frequencies) -> Array:
    r"""Return :math:`\ln \hbar` (G, T), the expected log density of label and frequency."""
    dim = components.means.shape[1]
    spread = np.linalg.inv(components.mean_precisions)
    covariances = frequencies.covariances
    columns = []
    for t, expected in enumerate(components.precisions):
        centred = frequencies.means - components.means[t]
        traces = np.tensordot(covariances + spread[t], expected, axes=2)
        columns.append(np.einsum("gi,ij,gj->g", centred, expected, centred) + traces)
    constants = components.log_determinants - dim * np.log(2.0 * np.pi)
    logarithms: Array = sticks.expected_log_weights(components.sticks) + 0.5 * (
        constants - np.column_stack(columns)
    )
    return logarithms


def prior_bound(prior: MeanFieldPrior, components: Components, frequencies: Frequencies) -> float:
    """Return the evidence lower bound but for the data's term."""
    dim = components.means.shape[1]
    labels = frequencies.labels
    log_q = np.log(np.maximum(labels, np.finfo(float).tiny))
    entropies = 0.5 * (
        dim * (1.0 + np.log(2.0 * np.pi)) - np.linalg.slogdet(frequencies.precisions)[1]
    )
    each = np.sum(labels * (log_labels(components, frequencies) - log_q), axis=1) + entropies
    divergences = (
        _of_sticks(components.sticks, prior.concentration)
        + _of_means(prior, components)
        + _of_precisions(prior, components)
    )
    return float(frequencies.sizes @ each) - divergences


def _of_sticks(beta: Array, concentration: float) -> float:
    both = digamma(beta.sum(axis=1))
    broken, left = digamma(beta[:, 0]) - both, digamma(beta[:, 1]) - both
    return float(
        np.sum(
            betaln(1.0, concentration)
            - betaln(beta[:, 0], beta[:, 1])
            + (beta[:, 0] - 1.0) * broken
            + (beta[:, 1] - concentration) * left
        )
    )


def _of_means(prior: MeanFieldPrior, components: Components) -> float:
    dim = len(prior.mean)
    centred = components.means - prior.mean
    covariances = np.linalg.inv(components.mean_precisions)
    traces = np.tensordot(covariances, prior.mean_precision, axes=2)
    squares = np.einsum("ti,ij,tj->t", centred, prior.mean_precision, centred)
    ratios = (
        np.linalg.slogdet(components.mean_precisions)[1]
        - np.linalg.slogdet(prior.mean_precision)[1]
    )
    return float(0.5 * np.sum(traces + squares - dim + ratios))


def _of_precisions(prior: MeanFieldPrior, components: Components) -> float:
    dim, dofs = len(prior.mean), components.dofs
    inverse = np.linalg.inv(prior.scale)
    ratios = np.linalg.slogdet(prior.scale)[1] - np.linalg.slogdet(components.scales)[1]
    traces = np.tensordot(components.scales, inverse, axes=2)
    halves = 0.5 * (dofs[:, None] - np.arange(dim))
    gammas = multigammaln(0.5 * prior.dof, dim) - np.array(
        [multigammaln(0.5 * dof, dim) for dof in dofs]
    )
    return float(
        np.sum(
            0.5 * prior.dof * ratios
            + gammas
            + 0.5 * (dofs - prior.dof) * np.sum(digamma(halves), axis=1)
            + 0.5 * dofs * (traces - dim)
        )
    )
