r"""RFF-DIGMM: a double-infinite Gaussian mixture of an indefinite kernel, as printed.

Liu, Huang, Shi, Yang and Suykens, "A double-variational Bayesian framework in random Fourier
features for indefinite kernels", 2020. The similarities of a sketch of rows are split into two
definite parts, and frequencies of each are inferred by coordinate ascent.

=======================  ===========================================================================
In the paper             Here
=======================  ===========================================================================
Eqs. (1) to (3), (8)     :meth:`bochner.Frequencies.features`; ``signature`` has the signs
Eq. (4), (11)            :func:`bochner.learned.mixture_bound.stick_posterior`
Eq. (5)                  :func:`eigen_split`
Eqs. (6), (7)            ``positive_`` and ``negative_`` of :class:`bochner.SimilarityFeatures`; the
                         paper's kernel has a precision in place of a covariance
Eq. (9)                  :class:`SignedData`, with :meth:`SignedData.data_bound`
Eq. (10)                 :class:`MeanFieldPrior`
Eqs. (12), (13)          :func:`prior_bound` plus :meth:`SignedData.data_bound`
Section IV-B, 1) to 4)   :func:`updated_components`
Section IV-B, 2), 5)     :func:`updated_frequencies`
Algorithm 1              :func:`coordinate_ascent`; ``SimilarityFeatures(inference=Taylor())``
Tables I to VI           the benchmark ``digmm``: data sets and kernels, part ``accuracy``
Figures 2 to 4           the benchmark ``digmm``, parts ``error`` and ``sketch``
Tables VII, VIII         the benchmark ``digmm``: ``truncation``, ``shift``; Fig. 5: ``convergence``
=======================  ===========================================================================

**What the expansion does.** The data's term of the log posterior of one frequency is, to second
order in it and with the other frequencies' cosines at one,

.. math:: \frac{1}{2 \sigma^2 M} \sum_{i \neq j} (1 - k_{ij}) (\omega^\top \Delta_{ij})^2:

a kernel that decays (:math:`k < 1`) makes *larger* frequencies more probable without limit, and
only fourth-order terms stop them. The published update has this term with the opposite sign and
without the factor 1 / M: a matrix

.. math:: A = \frac{1}{2 \sigma^2} \sum_{i \neq j} (1 - k_{ij}) \Delta_{ij} \Delta_{ij}^\top

that is added to the precision of every frequency. It depends neither on the frequency, nor on its
component, nor on other frequencies. If the data outweigh the prior, all frequencies therefore have
the covariance :math:`A^{-1}`. Consequences: similarities cannot distinguish components; if the
kernel decays faster, frequencies become *smaller*; and as :math:`\sigma \to 0` all frequencies
vanish, so that features are constant in the directions of the sketch. The published features are
useful because of the prior. The bound has an exact data term and may decrease.

The posterior is fully factorised, :math:`q = \prod_t q(\beta_t)\, q(\mu_t)\, q(\Lambda_t)
\prod_m q(z_m)\, q(\omega_m)`. The update of a frequency depends only on its factors and on those of
components, so that frequencies with equal factors stay equal: they are stored as groups.
:class:`bochner.learned.ExactInference`, the default, needs no expansion.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.special import betaln, digamma, multigammaln
from scipy.stats import wishart

from bochner._base.arrays import Array, steps
from bochner._base.limits import EIGENVALUE_ROUNDING
from bochner._base.registry import register
from bochner.learned.mixture_bound import STIFFNESS, expected_log_weights, stick_posterior
from bochner.learned.mixture_inference import Inference, LearnedMixture, LearnedPart, Sketch
from bochner.spectral.measure import Allocation

# Pairs of rows in one block of the data's bound: 32 KiB for each group of frequencies.
_BLOCK = 4_096
# Length scale of the prior's Gaussian kernel, relative to the typical distance.
_LENGTH_SCALE = 0.5


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
    """Variational factors of the sticks, means and precisions of ``T`` components."""

    sticks: Array  # (T - 1, 2): Beta parameters of q(beta)
    means: Array  # (T, d): Means of q(mu)
    mean_precisions: Array  # (T, d, d): Precisions of q(mu)
    scales: Array  # (T, d, d): Scale matrices of q(Lambda)
    dofs: Array  # (T,): Degrees of freedom of q(Lambda)

    @property
    def precisions(self) -> Array:
        r"""Expected precisions :math:`E \Lambda_t`, of shape (T, d, d)."""
        return self.dofs[:, None, None] * self.scales


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyFactors:
    """Variational factors of labels and frequencies; the frequencies of a group share theirs."""

    sizes: NDArray[np.intp]  # (G,): Numbers of frequencies in the groups
    labels: Array  # (G, T): q(z = t)
    means: Array  # (G, d): Means of q(omega)
    precisions: Array  # (G, d, d): Precisions of q(omega)

    @property
    def covariances(self) -> Array:
        """Covariances (G, d, d) of q(omega)."""
        return np.asarray(np.linalg.inv(self.precisions), dtype=np.float64)


def updated_components(
    prior: MeanFieldPrior, components: ComponentFactors, frequencies: FrequencyFactors
) -> ComponentFactors:
    """Return the component factors after updates of sticks, means and then precisions."""
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
        stick_posterior(counts, prior.concentration),
        means,
        mean_precisions,
        0.5 * (scales + scales.swapaxes(1, 2)),
        prior.dof + counts,
    )


def updated_frequencies(
    components: ComponentFactors, frequencies: FrequencyFactors, curvature: Array
) -> FrequencyFactors:
    r"""Return the frequency factors after updates of labels and then of :math:`q(\omega)`.

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
    r"""Return :math:`\ln \hbar` (G, T): expected log densities of a label with its frequency."""
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
    logarithms: Array = expected_log_weights(components.sticks) + 0.5 * (
        log_determinants - dim * np.log(2.0 * np.pi) - np.column_stack(columns)
    )
    return logarithms


def prior_bound(
    prior: MeanFieldPrior, components: ComponentFactors, frequencies: FrequencyFactors
) -> float:
    """Return the evidence lower bound without the expected log likelihood of the data."""
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
    """Return the Kullback-Leibler divergence of all sticks' factors from their prior."""
    both = digamma(beta.sum(axis=1))
    broken, left = digamma(beta[:, 0]) - both, digamma(beta[:, 1]) - both
    normalisers = betaln(1.0, concentration) - betaln(beta[:, 0], beta[:, 1])
    slopes = (beta[:, 0] - 1.0) * broken + (beta[:, 1] - concentration) * left
    return float(np.sum(normalisers + slopes))


def mean_divergence(prior: MeanFieldPrior, components: ComponentFactors) -> float:
    """Return the Kullback-Leibler divergence of all means' factors from their prior."""
    centred = components.means - prior.mean
    traces = np.tensordot(np.linalg.inv(components.mean_precisions), prior.mean_precision, axes=2)
    squares = np.einsum("ti,ij,tj->t", centred, prior.mean_precision, centred)
    ratios = np.linalg.slogdet(components.mean_precisions)[1]
    ratios -= np.linalg.slogdet(prior.mean_precision)[1]
    return float(0.5 * np.sum(traces + squares - len(prior.mean) + ratios))


def precision_divergence(prior: MeanFieldPrior, components: ComponentFactors) -> float:
    """Return the Kullback-Leibler divergence of all precisions' factors from their prior."""
    dim, dofs = len(prior.mean), components.dofs
    inverse = np.linalg.inv(prior.scale)
    ratios = np.linalg.slogdet(prior.scale)[1] - np.linalg.slogdet(components.scales)[1]
    traces = np.tensordot(components.scales, inverse, axes=2)
    gammas = multigammaln(0.5 * prior.dof, dim) - multigammaln(0.5 * dofs, dim)
    slopes = 0.5 * (dofs - prior.dof) * _summed_digamma(dofs, dim)
    return float(np.sum(0.5 * prior.dof * ratios + gammas + slopes + 0.5 * dofs * (traces - dim)))


def _summed_digamma(dofs: Array, dim: int) -> Array:
    """Return the derivative of the log multivariate gamma function at ``dofs / 2``."""
    summed: Array = np.sum(digamma(0.5 * (dofs[:, None] - np.arange(dim))), axis=1)
    return summed


@register
@dataclass(frozen=True, slots=True)
class Taylor(Inference):
    """Inference by Algorithm 1 as published, for each part of the eigen-split separately.

    ``SimilarityFeatures(kernel, inference=Taylor())`` uses it.
    """

    shift: float = 1.1  # Multiple of the size of the smallest eigenvalue added to both parts
    concentration: float = 1.0  # Concentration of both Dirichlet processes
    max_iter: int = 50
    tol: float = 1e-5  # Change of all labels, in the Frobenius norm, at which the ascent stops

    scheme: ClassVar[str] = "iid"
    learns_noise: ClassVar[bool] = False

    def choose(self, rows: Array, n: int, rng: Generator) -> NDArray[np.intp]:
        return rng.permutation(len(rows))[:n]

    def infer(
        self,
        sketch: Sketch,
        truncation: int,
        noise: float | None,
        n_frequencies: int,
        rng: Generator,
    ) -> LearnedMixture:
        noise = 1.0 if noise is None else noise
        split = zip((1.0, -1.0), eigen_split(sketch, self.shift, noise), strict=True)
        signed = [(sign, part) for sign, part in split if part is not None]
        shares = _equal_sizes(max(n_frequencies, len(signed)), len(signed))
        prior, limits = _published_prior(sketch, self.concentration), (self.max_iter, self.tol)
        results = [
            coordinate_ascent(part, prior, _equal_sizes(share, truncation), stream, *limits)
            for (_, part), share, stream in zip(signed, shares, rng.spawn(len(signed)), strict=True)
        ]
        laws = [result.frequencies for result in results]
        parts = [
            LearnedPart(sign, part.mass, q.sizes / q.sizes.sum(), q.means, q.covariances, q.labels)
            for (sign, part), q in zip(signed, laws, strict=True)
        ]
        sizes = np.concatenate([q.sizes for q in laws])
        return LearnedMixture(
            tuple(parts),
            _summed([result.bounds for result in results]),
            np.sqrt(_summed([result.changes**2 for result in results], last=0.0)),
            noise * max(part.mass for _, part in signed),
            GroupSizes(tuple(map(int, sizes))),
        )


@dataclass(frozen=True, slots=True)
class GroupSizes(Allocation):
    """Gives each Gaussian as many frequencies as in the inference; fewer are drawn at random."""

    sizes: tuple[int, ...]

    def least(self, mass: Array) -> int:
        return sum(self.sizes)

    def counts(self, mass: Array, m: int) -> NDArray[np.intp]:
        return np.array(self.sizes, dtype=np.intp)


def eigen_split(
    sketch: Sketch, shift: float, noise: float
) -> tuple["SignedData | None", "SignedData | None"]:
    r"""Return the positive and the negative part of a sketch's similarities.

    .. math:: K_\pm = U \, \mathrm{diag}(\max(\pm\lambda, 0) + \tau) \, U^\top, \qquad
              K = K_+ - K_-, \qquad \tau = -\mathrm{shift} \cdot \lambda_{\min},

    Equation (5) of the paper, with a ``shift`` of at least 1, which adds white noise. A part is
    ``None`` if no eigenvalue of its sign exceeds rounding errors. Without negative eigenvalues
    :math:`\tau = 0`.
    """
    eigenvalues, vectors = eigh(sketch.gram)
    # Eigenvalues within rounding errors of zero have no sign.
    rounding = EIGENVALUE_ROUNDING * float(np.abs(eigenvalues).max(initial=0.0))
    least = float(eigenvalues[0])
    tau = -shift * least if least < -rounding else 0.0

    def part(sizes: Array) -> SignedData | None:
        if sizes.max() <= rounding:
            return None
        matrix = (vectors * (sizes + tau)) @ vectors.T
        mass = float(np.trace(matrix)) / len(matrix)
        return SignedData(sketch.rows, matrix / mass, noise, mass)

    return part(np.maximum(eigenvalues, 0.0)), part(np.maximum(-eigenvalues, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class SignedData:
    """A part of the eigen-split: rows (n, d), and similarities (n, n) over their mean diagonal."""

    rows: Array
    gram: Array
    noise: float
    mass: float = 1.0  # Factor of the similarities

    def pairs(self) -> tuple[Array, Array]:
        """Return differences (P, d) and similarities (P,) of row pairs i < j."""
        first, second = np.triu_indices(len(self.rows), k=1)
        return self.rows[first] - self.rows[second], self.gram[first, second]

    def curvature(self) -> Array:
        """Return the matrix ``A`` (d, d) of the module; similarities above one count as one."""
        deltas, values = self.pairs()
        weights = np.maximum(1.0 - values, 0.0) / self.noise**2
        return (deltas.T * weights) @ deltas

    def data_bound(self, frequencies: FrequencyFactors) -> float:
        """Return the expected log likelihood of the similarities, with exact expected cosines."""
        deltas, values = self.pairs()
        total = frequencies.sizes.sum()
        share, covariances = frequencies.sizes / total, frequencies.covariances
        # In blocks of pairs, which bound the memory.
        squares = 0.0
        for pairs in steps(len(values), _BLOCK):
            block = deltas[pairs]
            phase = block @ frequencies.means.T
            quadratic = np.stack([np.sum((block @ V) * block, axis=1) for V in covariances], axis=1)
            cosine = np.exp(-0.5 * quadratic) * np.cos(phase)
            doubled = np.exp(-2.0 * quadratic) * np.cos(2.0 * phase)
            variance = (0.5 * (1.0 + doubled) - cosine**2) @ share / total
            squares += float(np.sum((values[pairs] - cosine @ share) ** 2 + variance))
        n_pairs = 2.0 * len(values)
        return -0.5 * n_pairs * float(np.log(2.0 * np.pi * self.noise**2)) - squares / self.noise**2


@dataclass(frozen=True, slots=True, eq=False)
class Inferred:
    """Variational factors after the last iteration, and the record of all iterations."""

    components: ComponentFactors
    frequencies: FrequencyFactors
    bounds: Array  # (n_iter,): Evidence lower bounds, which may fall
    changes: Array  # (n_iter,): Frobenius norms of the change of all labels


def coordinate_ascent(
    part: SignedData,
    prior: MeanFieldPrior,
    sizes: NDArray[np.intp],
    rng: Generator,
    max_iter: int,
    tol: float,
) -> Inferred:
    """Return the factors of Algorithm 1 for one sign, until labels change by ``tol`` or less.

    ``sizes`` (T,) are the initial numbers of frequencies of each component. Factors of components
    are initialised by a draw from the prior.
    """
    frequencies, components = start(prior, sizes, rng)
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


def start(
    prior: MeanFieldPrior, sizes: NDArray[np.intp], rng: Generator
) -> tuple[FrequencyFactors, ComponentFactors]:
    """Return initial variational factors, with one group of frequencies for each component."""
    n_groups, dim = len(sizes), len(prior.mean)
    drawn = wishart(prior.dof, prior.scale).rvs(n_groups, random_state=rng)
    precisions = np.reshape(drawn, (n_groups, dim, dim))
    spread = np.linalg.cholesky(np.linalg.inv(prior.mean_precision))
    means = prior.mean + rng.standard_normal((n_groups, dim)) @ spread.T
    components = ComponentFactors(
        np.ones((n_groups - 1, 2)) * (1.0, prior.concentration),
        means,
        np.broadcast_to(prior.mean_precision, precisions.shape),
        np.broadcast_to(prior.scale, precisions.shape),
        np.full(n_groups, prior.dof),
    )
    return FrequencyFactors(sizes, np.eye(n_groups), means, precisions), components


def _published_prior(sketch: Sketch, concentration: float) -> MeanFieldPrior:
    """Return the prior that expects a Gaussian kernel of length scale half the typical distance."""
    dim = sketch.rows.shape[1]
    precision = (_LENGTH_SCALE * sketch.distance) ** 2 * np.eye(dim)
    dof = dim + 1.0 + STIFFNESS
    return MeanFieldPrior(np.zeros(dim), precision, precision / dof, dof, concentration)


def _equal_sizes(total: int, n_parts: int) -> NDArray[np.intp]:
    """Return the sizes of at most ``n_parts`` non-empty parts of ``total``, equal up to one."""
    parts = np.array_split(np.arange(max(total, 1)), max(min(n_parts, total), 1))
    return np.array([len(part) for part in parts])


def _summed(series: list[Array], last: float | None = None) -> Array:
    """Return the sum of series; a shorter one is padded with ``last`` or with its last value."""
    total = np.zeros(max(map(len, series)))
    for values in series:
        total[: len(values)] += values
        total[len(values) :] += values[-1] if last is None else last
    return total
