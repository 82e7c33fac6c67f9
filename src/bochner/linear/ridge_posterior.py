r"""Bayesian ridge regression on features, from sums over rows.

The error of random features is estimated by check features, a second draw :math:`\tilde z`,
independent of the features ``Z`` (n, p) of the rows. Predictions are
:math:`m(x) = z(x)^\top A^{-1} Z^\top y` with :math:`A = Z^\top Z + \alpha I`. As
:math:`f = s\, \tilde z \cdot \omega` with normal weights :math:`\omega` has the mean kernel
:math:`s^2 k`, the covariance of :math:`f(x) - m(x)` is estimated without bias by that of

.. math:: \tilde z(x) - S^\top z(x), \quad S = A^{-1} Z^\top \tilde Z, \qquad
          \text{and} \quad A^{-1} Z^\top Z A^{-1}.

The variances follow from quadratic forms of the targets. With :math:`G = I - Z A^{-1} Z^\top`,
:math:`y^\top G y` and :math:`y^\top G^2 y` have the means :math:`\sigma^2 \operatorname{tr} G +
s^2 \operatorname{tr} G K` and :math:`\sigma^2 \operatorname{tr} G^2 + s^2 \operatorname{tr} G K G`.
Where they do not separate noise and function, because the kernel is nearly diagonal at the rows,
the share of the function is between zero and one with equal probability.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from scipy.linalg import eigh, lapack, solve_triangular
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import truncnorm

from bochner._base import limits
from bochner._base.arrays import Array, Index, as_array, jittered_cholesky, pivoted_cholesky
from bochner._base.registry import register
from bochner.features.landmarks import FeatureMap, ResidualFeatures
from bochner.features.row_sums import FeatureSums
from bochner.spectral.frequencies import Frequencies

LOG_ALPHA = (np.log(1e-6), np.log(1e5))
"""Search range of log alpha, relative to the mean square of the features: from a signal variance of
1e6 noise variances to a noise variance of 1e5 signal variances."""
_GRID = 33  # Number of values of alpha in the search range, three per decade
_MOST_EIGENVALUES = 2048  # Largest number of features for which an eigendecomposition chooses alpha
_APART = np.log(30.0)
"""Largest distance of log alpha from its best value on a part of the features, whose misfit counts
as noise. If the evidence still increases at that distance, the search continues from there."""

_ALPHA_ERROR = 0.02
"""Tolerance of log alpha: the evidence changes by less than 1e-4 times the features."""

N_CHECKS = 128
"""Number of check frequencies. Variances by 256 check features have a relative standard deviation
of a tenth; half as many check features understate the error of 512 features of a smooth kernel,
twice as many double the time of a fit on 512."""


class LinearFunction:
    """A linear function of features, with weights (p, t) and intercepts (t,)."""

    __slots__ = ()

    coef: Array
    intercept: Array

    def mean(self, Z: Array) -> Array:
        """Return predictions of shape (n, t) for features ``Z`` (n, p)."""
        return Z @ self.coef + self.intercept


class PointSolution(ABC):
    """Base of solutions that have weights but no covariance."""

    __slots__ = ()

    log_evidence: ClassVar[None] = None

    @property
    def noise_variance(self) -> Array | None:
        """Noise variances (t,), or ``None`` if the method does not estimate them."""
        return None

    @property
    def condition_number(self) -> float | None:
        """Condition number of the system for the weights; ``None`` if it is unknown."""
        return None

    @property
    @abstractmethod
    def limitation(self) -> str:
        """Reason why there is no uncertainty, with advice."""


@register(
    shapes={
        "coef": "jt",
        "intercept": "t",
        "centre": "j",
        "noise_root": "jp",
        "prior_root": "jc",
        "noise_variance": "t",
        "prior_variance": "t",
    }
)
@dataclass(frozen=True, slots=True, eq=False)
class FunctionLaw(LinearFunction):
    r"""Normal distribution of functions linear in ``j`` features, for ``t`` targets with noise.

    The covariance of the weights is :math:`\sigma_t^2 N N^\top + s_t^2 P P^\top`, with the roots
    ``N`` (due to noise) and ``P`` (due to the prior); the constant at ``centre`` is independent.
    """

    coef: Array  # (j, t)
    intercept: Array  # (t,)
    centre: Array  # (j,)
    noise_root: Array  # (j, p)
    prior_root: Array  # (j, c)
    noise_variance: Array  # (t,)
    prior_variance: Array  # (t,)
    intercept_variance: float  # Relative to the noise variance

    def std(self, Z: Array) -> Array:
        """Return predictive standard deviations of shape (n, t), noise included."""
        Z = Z - self.centre
        spread = 1.0 + self.intercept_variance + np.sum((Z @ self.noise_root) ** 2, axis=1)
        variance = spread[:, None] * self.noise_variance
        prior = np.sum((Z @ self.prior_root) ** 2, axis=1)
        std: Array = np.sqrt(variance + prior[:, None] * self.prior_variance)
        return std

    def cov(self, Z: Array) -> Array:
        """Return predictive covariances of shape (n, n, t), noise on the diagonal included."""
        Z = Z - self.centre
        noise, prior = Z @ self.noise_root, Z @ self.prior_root
        shared = noise @ noise.T + self.intercept_variance + np.eye(len(Z), dtype=Z.dtype)
        cov: Array = shared[:, :, None] * self.noise_variance
        return cov + (prior @ prior.T)[:, :, None] * self.prior_variance

    def sample(self, n: int, rng: Generator) -> tuple[Array, Array]:
        """Return ``n`` draws of the weights (j, t, n) and of the intercepts (t, n)."""
        j, t = self.coef.shape
        noise, prior = np.sqrt(self.noise_variance), np.sqrt(self.prior_variance)
        change = np.zeros((j, t, n))
        for root, deviation in ((self.noise_root, noise), (self.prior_root, prior)):
            weights = root @ rng.normal(size=(root.shape[1], t * n))
            change += weights.reshape(j, t, n) * deviation[:, None]
        shift = noise[:, None] * np.sqrt(self.intercept_variance) * rng.normal(size=(t, n))
        # With centred features the intercept and the weights are independent.
        intercept = self.intercept[:, None] + shift - np.tensordot(self.centre, change, 1)
        return self.coef[:, :, None] + change, intercept


@register(
    shapes={"coef": "pt", "intercept": "t", "whitener": "pp", "noise_variance": "t", "centre": "p"}
)
@dataclass(frozen=True, slots=True, eq=False)
class RidgePosterior(LinearFunction):
    r"""The Gaussian posterior of a linear model on ``p`` features, for ``t`` targets.

    :math:`y_t = b_t + z \cdot w_t + \varepsilon`, :math:`\varepsilon \sim N(0, \sigma_t^2)`,
    :math:`w_t \sim N(0, (\sigma_t^2 / \alpha) I)`. The posterior mean of ``w`` is the ridge
    solution, and its covariance is :math:`\sigma_t^2 A^{-1}` with :math:`A = Z^\top Z + \alpha I`.
    """

    coef: Array  # (p, t)
    intercept: Array  # (t,)
    whitener: Array  # (p, p): W with W W' = A^{-1}
    noise_variance: Array  # (t,)
    alpha: float
    log_evidence: float  # Log marginal likelihood, summed over targets
    centre: Array  # (p,): Mean features, zero without an intercept
    intercept_variance: float  # Relative to the noise variance; zero without an intercept
    checked: FunctionLaw | None = None  # Distribution on features and check features

    limitation: ClassVar[None] = None  # Empty: the posterior has all quantities

    @property
    def condition_number(self) -> float:
        """The ratio of the greatest to the least eigenvalue of ``A``, from its inverse root."""
        return float(np.linalg.cond(self.whitener)) ** 2

    @property
    def law(self) -> FunctionLaw:
        """The normal distribution of functions with noise, with check features if there are any."""
        if self.checked is not None:
            return self.checked
        return FunctionLaw(
            self.coef,
            self.intercept,
            self.centre,
            self.whitener,
            np.zeros((len(self.coef), 0)),
            self.noise_variance,
            np.zeros_like(self.noise_variance),
            self.intercept_variance,
        )


def fit_ridge(sums: FeatureSums, alpha: float, *, fit_intercept: bool = False) -> RidgePosterior:
    """Return the posterior from sums and ``alpha``, the noise variance over the weight variance."""
    centred, degrees = centred_sums(sums, fit_intercept)
    # Rounding errors of centred sums are relative to the sums before centring, which a row of large
    # weight makes far larger.
    lower = jittered_cholesky(centred.gram, alpha, float(np.mean(np.diagonal(sums.gram))))
    log_determinant = 2.0 * float(np.sum(np.log(np.diagonal(lower)))) - len(lower) * np.log(alpha)
    log_determinant -= sums.log_precision
    inverse, _ = lapack.dtrtri(lower, lower=1, overwrite_c=1)
    # W W' = A^{-1} for the inverse transposed of the Cholesky factor.
    whitener = inverse.T
    coef = whitener @ (whitener.T @ centred.cross)
    noise = noise_variance(centred.square, np.sum(centred.cross * coef, axis=0), degrees)
    centre, mean_targets = origin(sums, centred)
    return RidgePosterior(
        coef=coef,
        intercept=mean_targets - centre @ coef,
        whitener=whitener,
        noise_variance=noise,
        alpha=float(alpha),
        log_evidence=log_evidence(noise, log_determinant, degrees),
        centre=centre,
        intercept_variance=1.0 / sums.weight if fit_intercept else 0.0,
    )


def best_alpha(sums: FeatureSums, *, fit_intercept: bool = False) -> tuple[float, float]:
    """Return the ``alpha`` of greatest evidence, and its log evidence."""
    if len(sums.gram) > _MOST_EIGENVALUES:
        return _alpha_by_factors(sums, fit_intercept)
    centred, degrees = centred_sums(sums, fit_intercept)
    spectrum = _Spectrum.of(centred, degrees)
    # Constant features explain nothing for any alpha.
    scale = float(spectrum.values.sum()) / sums.n_observations or 1.0
    grid = np.log(scale) + np.linspace(*LOG_ALPHA, _GRID)
    best = int(np.argmax([spectrum.log_evidence(point) for point in grid]))
    log_alpha = grid[best]
    if 0 < best < len(grid) - 1:
        low, high = grid[best - 1], grid[best + 1]
        if spectrum.slope(low) > 0 > spectrum.slope(high):
            log_alpha = brentq(spectrum.slope, low, high, xtol=1e-13)
    return float(np.exp(log_alpha)), spectrum.log_evidence(log_alpha)


def _alpha_by_factors(sums: FeatureSums, fit_intercept: bool) -> tuple[float, float]:
    """Return the alpha of greatest evidence and its log evidence, by about ten factorisations."""
    # A first estimate uses every k-th feature, because random features are exchangeable.
    step = -(-len(sums.gram) // _MOST_EIGENVALUES)
    first = float(np.log(best_alpha(sums.thinned(step), fit_intercept=fit_intercept)[0]))
    centred, degrees = centred_sums(sums, fit_intercept)
    scale = float(np.mean(np.diagonal(sums.gram)))

    def loss(log_alpha: float) -> float:
        lower = jittered_cholesky(centred.gram, np.exp(log_alpha), scale)
        log_determinant = 2.0 * float(np.sum(np.log(np.diagonal(lower)))) - len(lower) * log_alpha
        log_determinant -= sums.log_precision
        half = solve_triangular(lower, centred.cross, lower=True)
        noise = noise_variance(centred.square, np.sum(half**2, axis=0), degrees)
        return -log_evidence(noise, log_determinant, degrees)

    unit = np.log(float(np.trace(centred.gram)) / sums.n_observations or 1.0)
    least, greatest = (float(unit + end) for end in LOG_ALPHA)
    for _ in range(1 + int((greatest - least) / _APART)):
        low, high = max(first - _APART, least), min(first + _APART, greatest)
        minimum = minimize_scalar(
            loss, bounds=(low, high), method="bounded", options={"xatol": _ALPHA_ERROR}
        )
        at_low = low > least and minimum.x < low + 2.0 * _ALPHA_ERROR
        at_high = high < greatest and minimum.x > high - 2.0 * _ALPHA_ERROR
        if not (at_low or at_high):
            break
        first = float(minimum.x)
    return float(np.exp(minimum.x)), -float(minimum.fun)


@dataclass(frozen=True, slots=True, eq=False)
class _Spectrum:
    """The evidence as a function of log alpha, in the eigenbasis of the Gram matrix."""

    values: Array
    squares: Array
    sums: FeatureSums
    degrees: float

    @classmethod
    def of(cls, sums: FeatureSums, degrees: float) -> "_Spectrum":
        values, vectors = eigh(sums.gram)
        return cls(np.maximum(values, 0.0), (vectors.T @ sums.cross) ** 2, sums, degrees)

    def log_evidence(self, log_alpha: float) -> float:
        shifted = self.values + np.exp(log_alpha)
        log_determinant = float(np.sum(np.log(shifted))) - len(shifted) * log_alpha
        log_determinant -= self.sums.log_precision
        return log_evidence(self._noise_variance(shifted), log_determinant, self.degrees)

    def slope(self, log_alpha: float) -> float:
        """Return the derivative of the log evidence with respect to log alpha."""
        alpha = np.exp(log_alpha)
        shifted = self.values + alpha
        shrinkage = np.sum(self.squares / shifted[:, None] ** 2, axis=0)
        fit = alpha * np.sum(shrinkage / self._noise_variance(shifted))
        return 0.5 * float(len(shrinkage) * np.sum(self.values / shifted) - fit)

    def _noise_variance(self, shifted: Array) -> Array:
        explained = np.sum(self.squares / shifted[:, None], axis=0)
        return noise_variance(self.sums.square, explained, self.degrees)


def centred_sums(sums: FeatureSums, fit_intercept: bool) -> tuple[FeatureSums, float]:
    """Return feature sums, centred if an intercept is fitted, and the degrees of freedom."""
    degrees = degrees_of(sums.n_observations, fit_intercept)
    return sums.centred() if fit_intercept else sums, degrees


def degrees_of(n_observations: float, fit_intercept: bool) -> float:
    """Return the degrees of freedom: the number of observations, minus one with an intercept."""
    return max(n_observations - 1.0, 1.0) if fit_intercept else n_observations


def origin(sums: FeatureSums, centred: FeatureSums) -> tuple[Array, Array]:
    """Return the means of features (p,) and targets (t,); zeros without centring."""
    return (
        (sums.features - centred.features) / sums.weight,
        (sums.targets - centred.targets) / sums.weight,
    )


def noise_variance(square: Array, explained: Array, degrees: float) -> Array:
    """Return the maximum-likelihood noise variances (t,), from total and explained squares (t,)."""
    return residual_squares(square, explained) / degrees


def residual_squares(square: Array, explained: Array) -> Array:
    """Return residual sums of squares (t,), at least a positive rounding error for perfect fits."""
    floor = np.maximum(limits.NEGLIGIBLE * square, np.finfo(np.float64).tiny)
    return np.maximum(square - explained, floor)


def log_evidence(noise_variance: Array, log_determinant: float, degrees: float) -> float:
    """Return the log evidence of targets at the maximum-likelihood noise variances (t,)."""
    per_target = degrees * (np.log(2.0 * np.pi * noise_variance) + 1.0) + log_determinant
    return -0.5 * float(np.sum(per_target))


_UNKNOWN = 1e3
"""Standard deviation from which a share counts as unknown: uniform between zero and one."""
_FAR = 8.0
"""Standard deviations below zero or above one to which estimates of shares are clipped: the mean is
then within a seventh of a standard deviation of the end, and exact in floating point."""


@dataclass(frozen=True, slots=True)
class CheckedMap:
    """The feature map of a model followed by check features, with the indices of both."""

    joint: FeatureMap
    main_columns: Index
    check_columns: Index

    @classmethod
    def of(cls, features: FeatureMap, checks: Frequencies) -> "CheckedMap":
        """Return the joint map of a model's features and of the check frequencies ``checks``."""
        waves = features.frequencies if isinstance(features, ResidualFeatures) else features
        both = waves + checks
        joint = features.with_frequencies(both) if isinstance(features, ResidualFeatures) else both
        m, total = waves.n_frequencies, both.n_frequencies
        landmarks = np.arange(2 * total, joint.n_features)
        main, other = np.arange(m), np.arange(m, total)
        return cls(
            joint,
            np.concatenate((main, total + main, landmarks)),
            np.concatenate((other, total + other, landmarks)),
        )


def fit_checked(
    sums: FeatureSums,
    features: CheckedMap,
    alpha: float,
    *,
    fit_intercept: bool = False,
    is_ratio: bool = True,
) -> RidgePosterior:
    """Return the posterior with check features; ``is_ratio`` keeps ``alpha`` as variance ratio."""
    main, check = features.main_columns, features.check_columns
    centred, degrees = centred_sums(sums, fit_intercept)
    ridge = fit_ridge(sums.at(main), alpha, fit_intercept=fit_intercept)
    whitener = ridge.whitener
    cross = centred.gram[np.ix_(main, check)]
    projection = whitener @ (whitener.T @ cross)
    noise, prior = _variances(ridge, centred, cross, projection, features, degrees, is_ratio)
    n_features = len(sums.gram)
    # Pivoting tolerates slightly negative eigenvalues, which removed rows leave in sums.
    half, _ = pivoted_cholesky(centred.gram[np.ix_(main, main)])
    noise_root = np.zeros((n_features, half.shape[1]))
    noise_root[main] = whitener @ (whitener.T @ half)
    prior_root = np.zeros((n_features, len(check)))
    prior_root[main] = -projection
    prior_root[check] += np.eye(len(check))
    coef = np.zeros((n_features, ridge.coef.shape[1]))
    coef[main] = ridge.coef
    centre, _ = origin(sums, centred)
    variances = noise, prior, ridge.intercept_variance
    law = FunctionLaw(coef, ridge.intercept, centre, noise_root, prior_root, *variances)
    return replace(ridge, noise_variance=noise, checked=law)


def _variances(
    ridge: RidgePosterior,
    centred: FeatureSums,
    cross: Array,
    projection: Array,
    features: CheckedMap,
    degrees: float,
    is_ratio: bool,
) -> tuple[Array, Array]:
    """Return noise variances (t,) and prior variances (t,), by the module's quadratic forms."""
    alpha, check, p = ridge.alpha, features.check_columns, len(ridge.coef)
    # Rounding makes sums of equal features negative.
    square = max(float(np.trace(centred.gram[np.ix_(check, check)])), 0.0)
    explained = float(np.sum(cross * projection))
    rounding = limits.NEGLIGIBLE * square + np.finfo(np.float64).tiny
    # Traces of G and G K, and of their products with G.
    of_noise = max(degrees - p + alpha * float(np.sum(ridge.whitener**2)), rounding)
    of_prior = max(square - explained, rounding)
    form = ridge.noise_variance * degrees
    if is_ratio:
        prior = form / (alpha * of_noise + of_prior)
        return alpha * prior, prior
    root = alpha * (ridge.whitener.T @ ridge.whitener)
    of_noise_squared = degrees - p + float(np.sum(root**2))
    of_prior_squared = of_prior - alpha * float(np.sum(projection**2))
    residual = form - alpha * np.sum(ridge.coef**2, axis=0)
    # The share of the first quadratic form due to the prior, and its standard deviation. If the
    # residuals have variance form / degrees, covariances are traces of powers of G.
    determinant = of_noise * of_prior_squared - of_prior * of_noise_squared
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = of_prior * (of_noise * residual / form - of_noise_squared) / determinant
        spread = 2.0 * of_noise_squared * (of_noise_squared * degrees - of_noise**2)
        deviation = of_prior * np.sqrt(max(spread, 0.0)) / (degrees * abs(determinant))
    share = _mean_share(share, deviation)
    return as_array((1.0 - share) * form / of_noise), as_array(share * form / of_prior)


def _mean_share(estimate: Array, deviation: float) -> Array:
    """Return posterior means (t,) of shares from normal estimates, with a flat prior on [0, 1]."""
    if not deviation < _UNKNOWN:
        return np.full_like(estimate, 0.5)
    deviation = max(deviation, limits.NEGLIGIBLE)
    estimate = np.clip(estimate, -_FAR * deviation, 1.0 + _FAR * deviation)
    low, high = -estimate / deviation, (1.0 - estimate) / deviation
    return as_array(truncnorm.mean(low, high, loc=estimate, scale=deviation))
