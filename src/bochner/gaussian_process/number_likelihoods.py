"""Likelihoods with additive noise: normal, Student-t and censored normal targets."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import betaln, erfcx, gammainc, log_ndtr, logsumexp, ndtr

from bochner._base.arrays import Array, as_array, as_finite_scalar
from bochner._base.registry import register
from bochner.gaussian_process.likelihood import NumberLikelihood, known, optional_scale

_LOG_ROOT_2PI = 0.5 * np.log(2.0 * np.pi)
"""Minus the logarithm of the standard normal density at zero."""

_DF_GUESS = 4.0
"""Initial degrees of freedom, typical of errors in practice (Lange, Little and Taylor, "Robust
statistical modeling using the t distribution", 1989)."""

_DF_RANGE = (1.0, 100.0)
"""Range of learned degrees of freedom. From 100 on, the noise is normal up to one percent of its
standard deviation. Below one, tails are heavier than Cauchy's, and single rows cause separate
maxima of the posterior."""

_NOISE_SHARE = 0.5
"""Initial standard deviation of the noise, relative to the standard deviation of the targets."""

_LOG_STEP = 0.25
"""Step of the log precision in Student-t quadrature: errors of log densities are below 1e-9."""

_FARTHEST = 1e3
"""Largest distance of a target from the latent value, in scales, at which log densities are exact
to six digits. It determines the smallest precision of the quadrature."""

_NEGLIGIBLE = 1e-12
"""Weight below which a component is omitted from probabilities, with an error of 1e-10."""

_MOST_LOG_VARIANCE = float(np.log(1e300))
"""Largest log variance of a component of Student's t distribution, beyond all targets."""

_FAR = 1e3  # Distance in standard deviations beyond which the series of a hazard is exact to 1e-11
_LOG_ROUNDING = 37.0  # Minus the logarithm of the mass below which tails are rounding, 1e-16


def _normal_log_density(z: Array) -> Array:
    return as_array(-0.5 * z**2 - _LOG_ROOT_2PI)


def _normal_hazard(u: Array) -> Array:
    r"""Return the standard normal hazard :math:`\varphi(u) / \Phi(u)`, zero at infinity."""
    with np.errstate(divide="ignore"):  # at minus infinity
        return as_array(np.sqrt(2.0 / np.pi) / erfcx(-u / np.sqrt(2.0)))


def _normal_bend(u: Array) -> Array:
    r"""Return :math:`-(\log \Phi)''(u) = h (h + u)`, with the hazard ``h``."""
    far = u < -_FAR
    hazard = _normal_hazard(np.where(far, 0.0, u))
    near = hazard * (hazard + np.where(np.isfinite(u) & ~far, u, 0.0))
    # h + u cancels for large -u; the next term of the series is of order u^-4.
    return as_array(np.where(far, 1.0 - np.minimum(u, -_FAR) ** -2, near))


class LocationLikelihood(NumberLikelihood):
    r"""Targets :math:`y = f + \varepsilon` with noise from a scale mixture of normals."""

    __slots__ = ()

    learnable: ClassVar[tuple[str, ...]] = ("scale",)

    scale: float | None

    def __post_init__(self) -> None:
        for name in self.learnable:
            object.__setattr__(self, name, optional_scale(name, getattr(self, name)))

    @property
    def unit(self) -> float:
        return known("scale", self.scale)

    def checked(self, y: Array) -> Array:
        return as_array(y)

    def sample(self, rng: np.random.Generator, f: Array) -> Array:
        return rng.normal(f, self.unit)

    def noise_variances(self) -> tuple[Array, Array]:
        """Return variances (K,) and weights (K,) of the normal components of the noise."""
        return np.array([self.unit**2]), np.ones(1)

    @property
    def noise_variance(self) -> float:
        """Variance of the noise."""
        return float(self.unit**2)

    def origin(self, y: Array, exposure: Array, weight: Array) -> float:
        return float(np.average(y, weights=weight))

    def shifted(self, shift: float) -> Self:
        return self

    def started(self, y: Array, exposure: Array, weight: Array) -> Self:
        if self.scale is not None:
            return self
        spread = float(
            np.sqrt(np.average((y - np.average(y, weights=weight)) ** 2, weights=weight))
        )
        guess = _NOISE_SHARE * spread if spread > 0.0 else max(float(np.abs(y).max()), 1.0)
        started: Self = replace(self, scale=guess)  # type: ignore[type-var]
        return started

    def moments(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        return mean, variance + self.noise_variance

    def distribution(self, y: Array, mean: Array, variance: Array) -> Array:
        noise, weights = self.noise_variances()
        counted = weights > _NEGLIGIBLE
        total = np.sqrt(variance[:, None] + noise[counted])
        return as_array(ndtr((y - mean)[:, None] / total) @ weights[counted])

    def log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        noise, weights = self.noise_variances()
        total = np.sqrt(variance[:, None] + noise)
        terms = _normal_log_density((y - mean)[:, None] / total) - np.log(total)
        return as_array(logsumexp(terms, axis=1, b=weights))


@register
@dataclass(frozen=True, slots=True)
class GaussianLikelihood(LocationLikelihood):
    r"""Normal targets, :math:`y \mid f \sim N(f, s^2)`.

    Parameters
    ----------
    scale : float, default=None
        Standard deviation ``s`` of the noise, in the unit of the targets; learned if ``None``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.gaussian_process import GaussianLikelihood
    >>> law = GaussianLikelihood(scale=2.0)
    >>> law.slope(np.array([1.0, 3.0]), np.array([0.0, 0.0]))
    array([0.25, 0.75])
    """

    scale: float | None = None

    def log_density(self, y: Array, f: Array) -> Array:
        return as_array(_normal_log_density((y - f) / self.unit) - np.log(self.unit))

    def slope(self, y: Array, f: Array) -> Array:
        return as_array((y - f) / self.unit**2)

    def curvature(self, y: Array, f: Array) -> Array:
        return np.full(np.broadcast(y, f).shape, self.unit**-2)


@register
@dataclass(frozen=True, slots=True)
class StudentTLikelihood(LocationLikelihood):
    r"""Targets with outliers: :math:`(y - f) / s` has Student's t distribution.

    Parameters
    ----------
    df : float, default=None
        Degrees of freedom, positive; smaller values mean heavier tails. Learned if ``None``; the
        evidence learns a number from 1 to 100, which is nearly normal noise. The variance of
        targets is infinite if ``df`` is at most 2.
    scale : float, default=None
        Scale ``s`` of the noise, in the unit of the targets; learned if ``None``.

    Examples
    --------
    An outlier has a smaller gradient than a moderate error:

    >>> import numpy as np
    >>> from bochner.gaussian_process import StudentTLikelihood
    >>> law = StudentTLikelihood(df=4.0, scale=1.0)
    >>> law.slope(np.array([2.0, 50.0]), np.zeros(2)).round(2)
    array([1.25, 0.1 ])
    """

    df: float | None = None
    scale: float | None = None

    learnable = ("df", "scale")

    @property
    def degrees_of_freedom(self) -> float:
        """The number ``df``; raises ``ValueError`` if it has not been learned."""
        return known("df", self.df)

    @property
    def noise_variance(self) -> float:
        """Variance of the noise, infinite if ``df`` is at most 2."""
        return (
            self.unit**2 * self.degrees_of_freedom / (self.degrees_of_freedom - 2.0)
            if self.degrees_of_freedom > 2.0
            else np.inf
        )

    def started(self, y: Array, exposure: Array, weight: Array) -> Self:
        started = LocationLikelihood.started(self, y, exposure, weight)
        return started if self.df is not None else replace(started, df=_DF_GUESS)

    def bounds(self, names: tuple[str, ...]) -> Array:
        bounds = LocationLikelihood.bounds(self, names)
        is_df = np.array([name == "df" for name in names], dtype=np.bool_)
        bounds[is_df] = np.log(_DF_RANGE)
        return bounds

    def log_density(self, y: Array, f: Array) -> Array:
        df, z = self.degrees_of_freedom, (y - f) / self.unit
        constant = -betaln(0.5 * df, 0.5) - 0.5 * np.log(df)
        return as_array(constant - np.log(self.unit) - 0.5 * (df + 1.0) * np.log1p(z**2 / df))

    def slope(self, y: Array, f: Array) -> Array:
        df, z = self.degrees_of_freedom, (y - f) / self.unit
        return as_array((df + 1.0) * z / (self.unit * (df + z**2)))

    def curvature(self, y: Array, f: Array) -> Array:
        df, z = self.degrees_of_freedom, (y - f) / self.unit
        return as_array((df + 1.0) * (df - z**2) / (self.unit * (df + z**2)) ** 2)

    def sample(self, rng: np.random.Generator, f: Array) -> Array:
        return as_array(f + self.unit * rng.standard_t(self.degrees_of_freedom, size=np.shape(f)))

    def noise_variances(self) -> tuple[Array, Array]:
        r"""Return variances :math:`s^2 / \lambda` of precisions with a Gamma(df/2, df/2) prior.

        The nodes are those of the trapezoidal rule in :math:`\log \lambda`, whose density is smooth
        and decays at both ends at least exponentially.
        """
        shape = 0.5 * self.degrees_of_freedom
        # The density of log(lambda) falls as lambda^shape below, and beyond any power above.
        low = -_LOG_ROUNDING / shape - np.log1p(_FARTHEST**2 / self.degrees_of_freedom)
        low = max(low, -_MOST_LOG_VARIANCE)
        high = np.log1p(_LOG_ROUNDING / shape) + np.log1p(np.sqrt(_LOG_ROUNDING / shape))
        # The step must resolve the spread of log(lambda), which is about sqrt(1 / shape).
        step = min(_LOG_STEP, 0.5 / np.sqrt(shape)) if shape > 1.0 else _LOG_STEP
        grid = np.arange(low, high + step, step)
        log_weights = shape * (grid - np.exp(grid))
        weights = np.exp(log_weights - log_weights.max())
        weights[weights <= np.finfo(np.float64).tiny] = 0.0
        # Precisions below the grid, which occur with few degrees of freedom, get infinite variance:
        # no target distinguishes them.
        beyond = gammainc(shape, shape * np.exp(low))
        weights = np.append(weights * (1.0 - beyond) / weights.sum(), beyond)
        log_variance = 2.0 * np.log(self.unit) - np.append(grid, -np.inf)
        used = weights > 0.0
        return np.exp(np.minimum(log_variance[used], _MOST_LOG_VARIANCE)), weights[used]


@register
@dataclass(frozen=True, slots=True)
class CensoredGaussianLikelihood(LocationLikelihood):
    r"""Normal targets that are known only between two limits (Tobit model).

    :math:`y = f + \varepsilon`, :math:`\varepsilon \sim N(0, s^2)`. If a target is at most
    ``left``, the uncensored target is at most ``left``; if it is at least ``right``, the uncensored
    target is at least ``right``. The likelihood of a censored target is the probability of this
    event instead of a density. Predictions, samples and intervals refer to the uncensored target
    (Tobin, "Estimation of relationships for limited dependent variables", 1958).

    Parameters
    ----------
    left, right : float, default=None
        Limits, in the unit of the targets, given; ``None`` for no limit on that side. At least one
        limit is required.
    scale : float, default=None
        Standard deviation ``s`` of the noise; learned if ``None``.

    Examples
    --------
    Concentrations below a detection limit of 0.1 are reported as 0.1:

    >>> import numpy as np
    >>> from bochner.gaussian_process import CensoredGaussianLikelihood
    >>> law = CensoredGaussianLikelihood(left=0.1, scale=1.0)
    >>> np.exp(law.log_density(np.array([0.1, 0.0]), np.array([0.1, 0.1])))
    array([0.5, 0.5])
    """

    left: float | None = None
    right: float | None = None
    scale: float | None = None

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, as_finite_scalar(name, value))
        LocationLikelihood.__post_init__(self)
        if self.left is None and self.right is None:
            raise ValueError(
                "Give left or right, the limit at which targets are censored, or both."
            )
        if self._left >= self._right:
            raise ValueError(f"left must be less than right, got {self.left} and {self.right}.")

    @property
    def limits(self) -> tuple[float, float]:
        """Both limits; infinite for ``None``."""
        return self._left, self._right

    @property
    def _left(self) -> float:
        return -np.inf if self.left is None else self.left

    @property
    def _right(self) -> float:
        return np.inf if self.right is None else self.right

    def checked(self, y: Array) -> Array:
        # All targets beyond a limit have the same likelihood.
        return as_array(np.clip(y, self._left, self._right))

    def shifted(self, shift: float) -> Self:
        left, right = (None if end is None else end - shift for end in (self.left, self.right))
        return replace(self, left=left, right=right)

    def _by_case(self, y: Array, inside: Array, below: Array, above: Array) -> Array:
        return np.where(y <= self._left, below, np.where(y >= self._right, above, inside))

    def log_density(self, y: Array, f: Array) -> Array:
        return self._log_density(y, f, self.unit)

    def _log_density(self, y: Array, f: Array, scale: Array | float) -> Array:
        inside = _normal_log_density((y - f) / scale) - np.log(scale)
        below, above = log_ndtr((self._left - f) / scale), log_ndtr((f - self._right) / scale)
        return self._by_case(y, inside, below, above)

    def slope(self, y: Array, f: Array) -> Array:
        below, above = (_normal_hazard(u) for u in self._distances(f))
        return self._by_case(y, (y - f) / self.unit, -below, above) / self.unit

    def curvature(self, y: Array, f: Array) -> Array:
        below, above = (_normal_bend(u) for u in self._distances(f))
        return self._by_case(y, np.ones(1), below, above) / self.unit**2

    def _distances(self, f: Array) -> tuple[Array, Array]:
        """Return ``(left - f) / scale`` and ``(f - right) / scale``."""
        return (self._left - f) / self.unit, (f - self._right) / self.unit

    def log_predictive(self, y: Array, mean: Array, variance: Array) -> Array:
        return self._log_density(y, mean, np.sqrt(variance + self.unit**2))
