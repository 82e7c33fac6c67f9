r"""The evidence lower bound of two mixtures of Gaussians over frequencies, and its gradient.

The model is that of section III of the paper (see :class:`bochner.SimilarityFeatures`), with the
frequencies of both signs together. With :math:`c_\pm` the masses, ``M`` frequencies of each sign,
and two Dirichlet-process mixtures,

.. math:: k_{ij} = \frac{c_+}{M} \sum_m \cos \omega_m \cdot \Delta_{ij}
                 - \frac{c_-}{M} \sum_m \cos \omega'_m \cdot \Delta_{ij} + \varepsilon_{ij},
          \qquad \varepsilon_{ij} \sim N(0, \sigma^2).

Frequencies are exchangeable, so all have one factor :math:`q(\omega, z)`: component ``t`` has
probability :math:`r_t`, and given it the frequency is :math:`N(a_t, V_t)`. No expansion is needed:
:math:`E \cos \omega \cdot \Delta = e^{-\Delta^\top V \Delta / 2} \cos a \cdot \Delta`, so the
expected sum is a spectral mixture :math:`\hat k(\Delta)`, and its variance is that of random
features, :math:`(\frac{1}{2} (1 + \hat k(2 \Delta)) - \hat k(\Delta)^2) / M`. The masses and,
unless it is given, the noise are set to their maximisers.

Sticks and components are integrated out given the ``N`` expected frequencies of each component.
Sticks are :math:`\theta_t = \beta_t \prod_{s < t} (1 - \beta_s)`, :math:`\beta_t \sim
\mathrm{Beta}(1, \alpha)`, :math:`\beta_T = 1` (Blei and Jordan, "Variational inference for
Dirichlet process mixtures", 2006). A component's mean and covariance have the prior
:class:`~bochner.learned.dirichlet_mixture.NormalInverseWishart` with mean zero and
:math:`E \Sigma = s I`; :math:`\log \int p(\mu, \Sigma) \exp(N \, E \log N(\omega \mid \mu, \Sigma))
d\mu \, d\Sigma` is the log ratio of the normalisers of posterior and prior, for any real ``N``.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, digamma, gammaln

from bochner._base.arrays import Array
from bochner.learned.mixture_inference import PairSimilarities


def stick_posterior(counts: Array, concentration: float) -> Array:
    """Return the Beta parameters (T - 1, 2) of all sticks but the last, given counts (T,)."""
    beyond = counts[::-1].cumsum()[::-1]
    return np.column_stack((1.0 + counts[:-1], concentration + beyond[1:]))


def expected_log_weights(sticks: Array) -> Array:
    r"""Return the expected log weights :math:`E \log \theta_t` (T,) of sticks (T - 1, 2)."""
    both = digamma(sticks.sum(axis=1))
    broken: Array = np.append(digamma(sticks[:, 0]) - both, 0.0)
    expected: Array = broken + np.append(0.0, np.cumsum(digamma(sticks[:, 1]) - both))
    return expected


def stick_log_evidence(counts: Array, concentration: float) -> float:
    r"""Return the log evidence of counts (T,), :math:`\log E_\beta \prod_t \theta_t^{N_t}`.

    Its gradient by the counts is :func:`expected_log_weights` of the sticks' posterior.
    """
    after = betaln(*stick_posterior(counts, concentration).T)
    return float(np.sum(after - betaln(1.0, concentration)))


# Degrees of freedom beyond d + 1: a covariance varies by about sqrt(2 / 100) = 14 % around a
# multiple of the identity. Smaller values let it vary more between directions, and a sketch of
# few rows has no information about most directions.
STIFFNESS = 100.0
# Strength of the prior mean (zero), in frequencies: the standard deviation of component means is
# 1 / sqrt(0.01), ten times the component's standard deviation.
_STRENGTH = 0.01
# Standard deviation of the log prior variance: one standard deviation is a factor exp(2) = 7.4.
_SPREAD = 2.0


@dataclass(frozen=True, slots=True)
class ComponentPrior:
    """The prior of the components of a mixture in ``dim`` coordinates, except for their scales.

    The degrees of freedom couple directions: the widths in the directions of the sketch determine
    the widths in other directions. Coordinates in a subspace have the same prior with the same
    ``stiffness``.
    """

    dim: int
    stiffness: float = STIFFNESS  # Degrees of freedom beyond dim + 1
    strength: float = _STRENGTH  # Strength of the prior mean, in frequencies

    @property
    def dof(self) -> float:
        """Degrees of freedom of the inverse Wishart law."""
        return self.dim + 1.0 + self.stiffness


@dataclass(frozen=True, slots=True, eq=False)
class ComponentEvidence:
    """Log evidence ``value`` (T,) of components, and its gradients by the other arguments."""

    value: Array
    counts: Array
    means: Array
    covariances: Array
    log_scales: Array


def component_evidence(
    prior: ComponentPrior, counts: Array, means: Array, covariances: Array, scales: Array
) -> ComponentEvidence:
    """Return the log evidence of ``T`` components for their frequencies, and its gradient.

    Arguments are the expected numbers ``counts`` (T,) of frequencies, zero or more, their ``means``
    (T, d) and ``covariances`` (T, d, d), and the prior variances ``scales`` (T,).
    """
    dim, before = prior.dim, prior.dof
    after, strength = before + counts, prior.strength + counts
    shrinkage = prior.strength / strength
    outer = means[:, :, None] * means[:, None, :]
    level = prior.stiffness * scales
    scatter = covariances + shrinkage[:, None, None] * outer
    matrix = level[:, None, None] * np.eye(dim) + counts[:, None, None] * scatter
    inverse = np.linalg.inv(matrix)
    inverse = 0.5 * (inverse + inverse.swapaxes(1, 2))
    log_determinant = np.linalg.slogdet(matrix)[1]
    steps = np.arange(dim)
    value = (
        np.sum(gammaln(0.5 * (after[:, None] - steps)) - gammaln(0.5 * (before - steps)), axis=1)
        + 0.5 * before * dim * np.log(level)
        - 0.5 * after * log_determinant
        + 0.5 * dim * (np.log(shrinkage) - counts * np.log(np.pi))
    )
    by_matrix = -0.5 * after[:, None, None] * inverse
    by_counts = 0.5 * (
        np.sum(digamma(0.5 * (after[:, None] - steps)), axis=1)
        - log_determinant
        - dim * (np.log(np.pi) + 1.0 / strength)
    ) + np.sum(by_matrix * (covariances + shrinkage[:, None, None] ** 2 * outer), axis=(1, 2))
    by_means = 2.0 * (counts * shrinkage)[:, None] * np.einsum("kij,kj->ki", by_matrix, means)
    by_scales = 0.5 * before * dim + level * np.trace(by_matrix, axis1=1, axis2=2)
    return ComponentEvidence(
        value, by_counts, by_means, counts[:, None, None] * by_matrix, by_scales
    )


def log_scale_prior(log_scales: Array) -> tuple[float, Array]:
    """Return the log density of the log prior variances (T,) of components, and its gradient.

    It is normal, of mean zero, up to a constant. Variances are per squared typical distance.
    """
    return -0.5 * float(np.sum(np.square(log_scales / _SPREAD))), -log_scales / _SPREAD**2


# Latent frequencies of each sign. The standard deviation of their mean cosine is at most
# 1 / sqrt(10,000) = 0.01; twice as many make it smaller by sqrt(2), half as many larger.
N_LATENT = 10_000
# Lower bound of the learned noise, in units of the mean self-similarity. It keeps the bound
# finite where the kernel fits all similarities exactly.
LEAST_NOISE = 1e-4
# Added to the diagonal of each covariance, in inverse squared typical distances. It keeps the
# entropy finite; the kernel changes by at most 5e-7 at the typical distance.
_FLOOR = 1e-6
# Relative determinant below which the two signs' kernels are collinear up to rounding (about 50
# units in the last place): their masses are then not identified, and one sign is used.
_COLLINEAR = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """The variational distribution of the frequencies of one sign: a mixture of Gaussians."""

    weights: Array  # (T,): Probabilities r of the components
    means: Array  # (T, q): a
    roots: Array  # (T, q, q): Lower triangular B with covariances V = B B' + 1e-6 I
    log_scales: Array  # (T,): Logarithms of the components' prior variances

    @property
    def covariances(self) -> Array:
        """Covariances ``V``, of shape (T, q, q)."""
        square: Array = self.roots @ self.roots.swapaxes(1, 2)
        return square + _FLOOR * np.eye(self.means.shape[1])

    def ordered(self) -> "Factor":
        """Return the same distribution with its components in descending order of weight."""
        order = np.argsort(-self.weights, kind="stable")
        return Factor(
            self.weights[order], self.means[order], self.roots[order], self.log_scales[order]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A value of the lower bound, its gradient for each factor, and the best masses and noise."""

    value: float
    gradients: tuple[Factor, ...]
    masses: Array
    noise: float


class ExpectedCosines:
    """The kernel of a factor at ``P`` differences: the terms (P, T) of components, the variance."""

    def __init__(self, factor: Factor, deltas: Array) -> None:
        self.factor, self.deltas = factor, deltas
        phase = deltas @ factor.means.T
        square = np.einsum("pi,pi->p", deltas, deltas)[:, None] * _FLOOR
        quadratic = np.stack([np.square(deltas @ B).sum(axis=1) for B in factor.roots], axis=1)
        decay = np.exp(-0.5 * (quadratic + square))
        cosine, sine = np.cos(phase), np.sin(phase)
        self.cosine, self.sine = decay * cosine, decay * sine
        # exp(-q / 2) at twice the differences, where q is four times as large.
        doubled = decay**4
        self.doubled_cosine = doubled * (2.0 * cosine**2 - 1.0)
        self.doubled_sine = doubled * (2.0 * sine * cosine)
        self.kernel: Array = self.cosine @ factor.weights
        spread = 0.5 * (1.0 + self.doubled_cosine @ factor.weights) - self.kernel**2
        # The variance is zero at zero difference, where rounding can make it negative.
        self.variance: Array = np.maximum(spread, 0.0) / N_LATENT

    def pulled_back(self, by_kernel: Array, by_doubled: Array) -> tuple[Array, Array, Array]:
        """Return the gradients by the factor's weights, means and covariances, by the chain rule.

        ``by_kernel`` and ``by_doubled`` (P,) are the gradients by the kernel at the differences and
        at twice the differences.
        """
        by_kernel, by_doubled = by_kernel[:, None], by_doubled[:, None]
        r, deltas = self.factor.weights, self.deltas
        by_cosine, by_doubled_cosine = by_kernel * self.cosine, by_doubled * self.doubled_cosine
        by_weights = np.sum(by_cosine + by_doubled_cosine, axis=0)
        by_phase = -r * (by_kernel * self.sine + 2.0 * by_doubled * self.doubled_sine)
        by_quadratic = -0.5 * r * (by_cosine + 4.0 * by_doubled_cosine)
        by_covariance = np.stack([(deltas.T * column) @ deltas for column in by_quadratic.T])
        return by_weights, by_phase.T @ deltas, by_covariance


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """The evidence lower bound as a function of the factors, for given data and priors."""

    observed: PairSimilarities
    signs: Array  # (S,): Signs of the factors
    prior: ComponentPrior
    concentration: float  # Concentration of both Dirichlet processes
    noise: float | None  # Standard deviation in the units of ``observed``; None maximises over it

    def bound(self, factors: tuple[Factor, ...]) -> Bound:
        """Return the bound at ``factors``, of which there is one for each of ``signs``."""
        data = self.observed
        terms = [ExpectedCosines(factor, data.deltas) for factor in factors]
        kernels = self.signs * np.column_stack([part.kernel for part in terms])
        variances = np.column_stack([part.variance for part in terms])
        masses = _best_masses(kernels, variances, data)
        residual = data.values - kernels @ masses
        squares = data.counts @ (residual**2 + variances @ masses**2) + data.spread
        noise = self.noise
        if noise is None:
            noise = max(float(np.sqrt(squares / data.total)), LEAST_NOISE)
        value = -0.5 * data.total * float(np.log(2.0 * np.pi * noise**2))
        value -= 0.5 * float(squares) / noise**2
        gradients = []
        for sign, mass, part in zip(self.signs, masses, terms, strict=True):
            scale = data.counts * mass / noise**2
            by_kernel = scale * (sign * residual + mass * part.kernel / N_LATENT)
            by_doubled = -scale * (0.25 * mass / N_LATENT)
            prior_value, gradient = self._with_prior(
                part.factor, *part.pulled_back(by_kernel, by_doubled)
            )
            value += prior_value
            gradients.append(gradient)
        return Bound(value, tuple(gradients), masses, noise)

    def _with_prior(
        self, factor: Factor, by_weights: Array, by_means: Array, by_covariances: Array
    ) -> tuple[float, Factor]:
        """Return the bound's prior and entropy terms of a factor, and the bound's full gradient."""
        # Expected numbers of latent frequencies of each component.
        r, covariances = factor.weights, factor.covariances
        counts = N_LATENT * r
        scales = np.exp(factor.log_scales)
        evidence = component_evidence(self.prior, counts, factor.means, covariances, scales)
        spread, by_spread = log_scale_prior(factor.log_scales)
        beta = stick_posterior(counts, self.concentration)
        log_r = np.log(np.maximum(r, np.finfo(float).tiny))
        entropy = 0.5 * np.linalg.slogdet(covariances)[1]
        entropy += 0.5 * self.prior.dim * (1.0 + np.log(2.0 * np.pi))
        value = (
            stick_log_evidence(counts, self.concentration)
            + float(np.sum(evidence.value) + counts @ (entropy - log_r))
            + spread
        )
        by_counts = evidence.counts + expected_log_weights(beta) + entropy - log_r - 1.0
        by_entropy = 0.5 * counts[:, None, None] * np.linalg.inv(covariances)
        by_roots = np.tril((by_covariances + evidence.covariances + by_entropy) @ factor.roots)
        return value, Factor(
            by_weights + N_LATENT * by_counts,
            by_means + evidence.means,
            np.asarray(2.0 * by_roots, dtype=np.float64),
            evidence.log_scales + by_spread,
        )


def _best_masses(kernels: Array, variances: Array, data: PairSimilarities) -> Array:
    """Return the non-negative masses of the kernels of all signs that maximise the bound."""
    matrix = (kernels.T * data.counts) @ kernels + np.diag(data.counts @ variances)
    vector = kernels.T @ (data.counts * data.values)
    # Each sign alone; used if both masses would not be non-negative.
    alone = np.maximum(vector / np.diagonal(matrix), 0.0)
    if len(vector) == 1:
        return alone
    product = float(matrix[0, 0] * matrix[1, 1])
    if float(product - matrix[0, 1] ** 2) > _COLLINEAR * product:
        both = np.linalg.solve(matrix, vector)
        if (both >= 0.0).all():
            return np.asarray(both, dtype=np.float64)
    return np.where(np.arange(2) == int(np.argmax(alone * vector)), alone, 0.0)
