r"""The fully factorised posterior of one mixture, as Liu et al. (2020) infer it.

.. math:: q = \prod_t q(\beta_t) \, q(\mu_t) \, q(\Lambda_t) \prod_m q(z_m) \, q(\omega_m),

with Beta sticks, Gaussian means, Wishart precisions and Gaussian frequencies. The update of a
frequency depends only on its factors and on the factors of components, so that frequencies with
equal factors stay equal. They are stored as groups, and the cost does not depend on their number.
The updates are in section IV and the appendix; :class:`bochner.SimilarityFeatures` names the paper.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, digamma, multigammaln

from bochner._base.arrays import Array
from bochner.learned import stick_breaking as sticks


@dataclass(frozen=True, slots=True, eq=False)
class MeanFieldPrior:
    r"""The paper's prior: :math:`\mu \sim N(m_0, R_0^{-1})`, :math:`\Lambda \sim W(W_0, \nu_0)`."""

    mean: Array  # (d,)
    mean_precision: Array  # (d, d)
    scale: Array  # (d, d): W_0, for the expected precision nu_0 W_0
    dof: float  # nu_0, above d - 1
    concentration: float  # Concentration of the Dirichlet process, positive


@dataclass(frozen=True, slots=True, eq=False)
class ComponentFactors:
    """Factors of ``T`` components."""

    sticks: Array  # (T - 1, 2): Beta parameters
    means: Array  # (T, d): Of q(mu)
    mean_precisions: Array  # (T, d, d): Of q(mu)
    scales: Array  # (T, d, d): Of q(Lambda)
    dofs: Array  # (T,): Of q(Lambda)

    @property
    def precisions(self) -> Array:
        r"""Expected precisions :math:`E \Lambda_t`, of shape (T, d, d)."""
        return self.dofs[:, None, None] * self.scales


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyFactors:
    """Factors of frequencies, one for each of ``G`` groups."""

    sizes: NDArray[np.intp]  # (G,): Of the groups
    labels: Array  # (G, T): q(z = t)
    means: Array  # (G, d): Of q(omega)
    precisions: Array  # (G, d, d): Of q(omega)

    @property
    def covariances(self) -> Array:
        """Covariances, of shape (G, d, d)."""
        return np.asarray(np.linalg.inv(self.precisions), dtype=np.float64)


def updated_components(
    prior: MeanFieldPrior, components: ComponentFactors, frequencies: FrequencyFactors
) -> ComponentFactors:
    """Return the components after updates of the sticks, the means and then the precisions."""
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
    # The uncertainty of the means adds to the scatter.
    scatter += counts[:, None, None] * np.linalg.inv(mean_precisions)
    scales = np.linalg.inv(np.linalg.inv(prior.scale) + scatter)
    return ComponentFactors(
        sticks.posterior(counts, prior.concentration),
        means,
        mean_precisions,
        0.5 * (scales + scales.swapaxes(1, 2)),
        prior.dof + counts,
    )


def updated_frequencies(
    components: ComponentFactors, frequencies: FrequencyFactors, curvature: Array
) -> FrequencyFactors:
    r"""Return the frequencies after updates of labels and then of :math:`q(\omega)`.

    .. math:: S = \sum_t q(z = t) \, E \Lambda_t + A, \qquad
              \omega \sim N(S^{-1} \sum_t q(z = t) \, E \Lambda_t \, E \mu_t, \; S^{-1})

    with the data's ``curvature`` ``A``.
    """
    logarithms = log_labels(components, frequencies)
    labels = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    labels /= labels.sum(axis=1, keepdims=True)
    expected = components.precisions
    precisions = np.tensordot(labels, expected, axes=1) + curvature
    pulled = labels @ np.einsum("tij,tj->ti", expected, components.means)
    means = np.linalg.solve(precisions, pulled[:, :, None])[:, :, 0]
    return FrequencyFactors(frequencies.sizes, labels, means, precisions)


def log_labels(components: ComponentFactors, frequencies: FrequencyFactors) -> Array:
    r"""Return :math:`\ln \hbar` (G, T), the expected log density of label and frequency."""
    dim = components.means.shape[1]
    spread = np.linalg.inv(components.mean_precisions)
    covariances = frequencies.covariances
    columns = []
    for t, expected in enumerate(components.precisions):
        centred = frequencies.means - components.means[t]
        traces = np.tensordot(covariances + spread[t], expected, axes=2)
        columns.append(np.einsum("gi,ij,gj->g", centred, expected, centred) + traces)
    log_determinants = _summed_digamma(components.dofs, dim) + dim * np.log(2.0)
    log_determinants += np.linalg.slogdet(components.scales)[1]
    logarithms: Array = sticks.expected_log_weights(components.sticks) + 0.5 * (
        log_determinants - dim * np.log(2.0 * np.pi) - np.column_stack(columns)
    )
    return logarithms


def prior_bound(
    prior: MeanFieldPrior, components: ComponentFactors, frequencies: FrequencyFactors
) -> float:
    """Return the evidence lower bound without the term of the data."""
    dim = components.means.shape[1]
    labels, log_determinants = frequencies.labels, np.linalg.slogdet(frequencies.precisions)[1]
    # Labels of zero contribute nothing to the entropy.
    log_q = np.log(np.maximum(labels, np.finfo(float).tiny))
    entropies = 0.5 * (dim * (1.0 + np.log(2.0 * np.pi)) - log_determinants)
    each = np.sum(labels * (log_labels(components, frequencies) - log_q), axis=1) + entropies
    divergences = (
        stick_divergence(components.sticks, prior.concentration)
        + mean_divergence(prior, components)
        + precision_divergence(prior, components)
    )
    return float(frequencies.sizes @ each) - divergences


def stick_divergence(beta: Array, concentration: float) -> float:
    """Return the Kullback-Leibler divergence of all sticks from their prior."""
    both = digamma(beta.sum(axis=1))
    broken, left = digamma(beta[:, 0]) - both, digamma(beta[:, 1]) - both
    normalisers = betaln(1.0, concentration) - betaln(beta[:, 0], beta[:, 1])
    slopes = (beta[:, 0] - 1.0) * broken + (beta[:, 1] - concentration) * left
    return float(np.sum(normalisers + slopes))


def mean_divergence(prior: MeanFieldPrior, components: ComponentFactors) -> float:
    """Return the Kullback-Leibler divergence of all means from their prior."""
    centred = components.means - prior.mean
    traces = np.tensordot(np.linalg.inv(components.mean_precisions), prior.mean_precision, axes=2)
    squares = np.einsum("ti,ij,tj->t", centred, prior.mean_precision, centred)
    ratios = np.linalg.slogdet(components.mean_precisions)[1]
    ratios -= np.linalg.slogdet(prior.mean_precision)[1]
    return float(0.5 * np.sum(traces + squares - len(prior.mean) + ratios))


def precision_divergence(prior: MeanFieldPrior, components: ComponentFactors) -> float:
    """Return the Kullback-Leibler divergence of all precisions from their prior."""
    dim, dofs = len(prior.mean), components.dofs
    inverse = np.linalg.inv(prior.scale)
    ratios = np.linalg.slogdet(prior.scale)[1] - np.linalg.slogdet(components.scales)[1]
    traces = np.tensordot(components.scales, inverse, axes=2)
    gammas = multigammaln(0.5 * prior.dof, dim) - multigammaln(0.5 * dofs, dim)
    slopes = 0.5 * (dofs - prior.dof) * _summed_digamma(dofs, dim)
    return float(np.sum(0.5 * prior.dof * ratios + gammas + slopes + 0.5 * dofs * (traces - dim)))


def _summed_digamma(dofs: Array, dim: int) -> Array:
    """Return the derivative of the log multivariate gamma function at half of ``dofs``."""
    summed: Array = np.sum(digamma(0.5 * (dofs[:, None] - np.arange(dim))), axis=1)
    return summed
