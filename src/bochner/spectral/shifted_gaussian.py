"""Gaussian frequencies with phases: the laws of translated and skewed Gaussian kernels."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import erf

from bochner._base.arrays import Array, LengthScale, as_array
from bochner._base.limits import NEGLIGIBLE
from bochner.spectral.laws import Chi, Draw, Isotropic, Law
from bochner.spectral.schemes import Iid, Scheme
from bochner.spectral.spherical_measure import Tabulated, gauss_legendre

_REACH = 12.0  # standard deviations; the density exp(-72) beyond is ignored
_UNIFORM_FROM = 40.0  # spread beyond which t modulo a period counts as uniform
_ORDER = 24  # quadrature nodes per panel
_NARROW = 1e-6  # spread below which nodes over a period may miss the density
_GRADES = 40  # number of times that panels are halved towards a corner


@dataclass(frozen=True, slots=True)
class PhaseFactor:
    r"""The factor :math:`\alpha + \gamma \cos t + i \delta \sin t`, which keeps kernels real."""

    constant: float
    cosine: float
    sine: float

    def real(self, t: Array) -> Array:
        r"""Return :math:`\Re H(t)`."""
        return self.constant + self.cosine * np.cos(t)

    def imaginary(self, t: Array) -> Array:
        r"""Return :math:`\Im H(t)`."""
        return self.sine * np.sin(t)

    def size(self, t: Array) -> Array:
        r"""Return :math:`|H(t)|`."""
        return np.hypot(self.real(t), self.imaginary(t))

    def __add__(self, other: "PhaseFactor") -> "PhaseFactor":
        return PhaseFactor(
            self.constant + other.constant, self.cosine + other.cosine, self.sine + other.sine
        )

    def __mul__(self, factor: float) -> "PhaseFactor":
        return PhaseFactor(factor * self.constant, factor * self.cosine, factor * self.sine)

    def reversed(self) -> "PhaseFactor":
        """Return the factor of the opposite translations, the complex conjugate."""
        return PhaseFactor(self.constant, self.cosine, -self.sine)

    def mean(self, s: float) -> float:
        r"""Return :math:`E\,\Re H(t) = \alpha + \gamma e^{-s^2/2}`, the kernel's value at zero."""
        return float(self.constant + self.cosine * np.exp(-0.5 * s * s))

    def variation(self, s: float) -> float:
        r"""Return :math:`E|H(t)|`, the total variation."""
        if self.constant == 0.0 and abs(self.cosine) == abs(self.sine):  # One translation
            return abs(self.cosine)
        if self.sine == 0.0:
            return self.real_variation(s)
        return normal_mean(self.size, s, *self._zero)

    def real_variation(self, s: float) -> float:
        r"""Return :math:`E|\Re H(t)|`, the mass of both real Jordan parts."""
        if abs(self.cosine) <= abs(self.constant):
            return abs(self.mean(s))
        return normal_mean(lambda t: np.abs(self.real(t)), s, *self._zero)

    def imaginary_variation(self, s: float) -> float:
        r"""Return :math:`E|\Im H(t)|`, the mass of both imaginary Jordan parts."""
        return abs(self.sine) * normal_mean(lambda t: np.abs(np.sin(t)), s)

    @property
    def _zero(self) -> tuple[float, ...]:
        """The zero of the real part in (0, pi), a kink of the modulus; empty if there is none."""
        if abs(self.cosine) <= abs(self.constant):
            return ()
        return (float(np.arccos(-self.constant / self.cosine)),)


class Component(Enum):
    """The part of a modulated measure from which frequencies are drawn."""

    POLAR = "polar"
    POSITIVE = "positive"
    NEGATIVE = "negative"
    IMAGINARY = "imaginary"

    @property
    def sign(self) -> int:
        """Sign of the part in the measure."""
        return -1 if self is Component.NEGATIVE else 1

    def density(self, factor: PhaseFactor, t: Array) -> Array:
        """Return the nonnegative, even density of the part relative to the normal distribution."""
        if self is Component.POLAR:
            return factor.size(t)
        if self is Component.IMAGINARY:
            return np.abs(factor.imaginary(t))
        return np.maximum(self.sign * factor.real(t), 0.0)

    def phase(self, factor: PhaseFactor, t: Array) -> Array:
        """Return the phases of frequencies at ``t``, an odd function."""
        if self is Component.POLAR:
            return np.arctan2(factor.imaginary(t), factor.real(t))
        if self is Component.IMAGINARY:
            return np.copysign(0.5 * np.pi, factor.imaginary(t))
        return np.zeros(np.shape(t))

    def mass(self, factor: PhaseFactor, s: float) -> float:
        """Return the mass of the part: its density integrated over the normal distribution."""
        if self is Component.POLAR:
            return factor.variation(s)
        if self is Component.IMAGINARY:
            return factor.imaginary_variation(s)
        return max(0.5 * (factor.real_variation(s) + self.sign * factor.mean(s)), 0.0)

    def bound(self, factor: PhaseFactor) -> float:
        """Return the maximum of the density, the bound for rejection sampling."""
        if self is Component.IMAGINARY:
            return abs(factor.sine)
        if self is not Component.POLAR:
            return max(self.sign * factor.constant + abs(factor.cosine), 0.0)
        # |H|^2 is a quadratic polynomial in cos t: its extremes are at the ends and the vertex.
        ends = [0.0, np.pi, 0.5 * np.pi]
        curvature = factor.sine**2 - factor.cosine**2
        if curvature > 0.0:
            vertex = np.clip(factor.constant * factor.cosine / curvature, -1.0, 1.0)
            ends.append(float(np.arccos(vertex)))
        return float(factor.size(np.array(ends)).max())


def normal_mean(function: Callable[[Array], Array], s: float, *kinks: float) -> float:
    r"""Return :math:`E f(t)`, :math:`t \sim N(0, s^2)`, for an even function of period 2 pi."""
    if s == 0.0:
        return float(function(np.zeros(1))[0])
    if s < _NARROW:
        inside = [kink / s for kink in kinks if 0.0 < kink < _REACH * s]
        y, weights = gauss_legendre(np.unique([*np.arange(_REACH + 1.0), *inside]), _ORDER)
        density = np.sqrt(2.0 / np.pi) * np.exp(-0.5 * y * y)
        return float(np.sum(weights * density * function(s * y)))
    nodes, weights = _period(kinks)
    values = function(nodes)
    if s > _UNIFORM_FROM:
        return float(weights @ values / np.pi)
    return float(weights @ (values * _folded_density(nodes, s)))


def _folded_density(t: Array, s: float) -> Array:
    """Return the density of ``|t|`` after ``t`` is wrapped to [-pi, pi]."""
    turns = 1 + int(np.ceil(_REACH * s / (2.0 * np.pi)))
    images = (t[:, None] + 2.0 * np.pi * np.arange(-turns, turns + 1)) / s
    return as_array(np.exp(-0.5 * images**2).sum(axis=1) * np.sqrt(2.0 / np.pi) / s)


@lru_cache(maxsize=64)
def _period(kinks: tuple[float, ...]) -> tuple[Array, Array]:
    """Return quadrature nodes and weights on [0, pi], graded towards the ends and kinks."""
    corners = sorted({0.0, np.pi, *kinks})
    steps = 0.5 ** np.arange(_GRADES, 0, -1.0)
    edges = [np.array(corners)]
    for left, right in pairwise(corners):
        edges += [left + (right - left) * steps, right - (right - left) * steps]
    bounds = np.unique(np.concatenate(edges))
    nodes, weights = gauss_legendre(bounds, _ORDER)
    return nodes.ravel(), weights.ravel()


_RAREST = 1e-4  # least acceptance rate of rejection sampling
_NORMAL_REACH = 9.0  # range of the table in standard deviations
_WIDEST_TABLE = 100.0  # spread beyond which a table would be too large
_SHRINKAGE = 2.0  # weight of the kurtosis in the optimal factor, see correction
_NO_VARIANCE = 1e-140  # a smaller variance counts as zero: its square underflows
_LEAST_HALF = 2  # draws in half a sample: a variance needs two
_FEWEST_BINS = 512  # per unit of length; the error of the table is about 4e-6


@dataclass(frozen=True, slots=True)
class ShiftedGaussian(Law):
    r"""Gaussian frequencies times a factor :math:`H(r \cdot \omega)`, or a Jordan part of it.

    In polar form each frequency has the phase :math:`\arg H` and a weight in proportion to
    :math:`|H|`. Jordan parts are drawn by acceptance and rejection (He et al., Algorithm 1 and
    Appendix B) where points are independent: only :math:`t = r \cdot \omega` is rejected.
    """

    length_scale: LengthScale
    shift: tuple[float, ...]
    factor: PhaseFactor
    component: Component = Component.POLAR

    @property
    def dim(self) -> int:  # type: ignore[override]
        return len(self.shift)

    @property
    def spread(self) -> float:
        r"""The standard deviation of :math:`r \cdot \omega`, :math:`\|r / \ell\|`."""
        return float(np.linalg.norm(self._axis))

    @property
    def variation(self) -> float:
        """The total variation of the unnormalised measure."""
        return self.component.mass(self.factor, self.spread)

    @property
    def acceptance(self) -> float:
        """The acceptance rate of rejection sampling."""
        return self.variation / self.component.bound(self.factor)

    @property
    def at_zero(self) -> float:
        if self.component is Component.POLAR:
            return self.factor.mean(self.spread) / self.variation
        return 0.0 if self.component is Component.IMAGINARY else 1.0

    @property
    def is_positive(self) -> bool:
        return self.component in (Component.POSITIVE, Component.NEGATIVE)

    @property
    def is_jordan(self) -> bool:
        return self.component is not Component.POLAR

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        counts = (m,) if self.is_jordan else self._halves(m)
        standard = Isotropic(Chi(), self.dim)
        points = np.concatenate([np.asarray(standard.draw(n, rng, scheme).omega) for n in counts])
        if self.is_jordan:
            points = self._moved(points, rng, independent=isinstance(scheme, Iid))
            t = points @ self._axis
            ratio = np.ones(m)
        else:
            t = points @ self._axis
            factor = correction(np.split(t, [counts[0]]), self.spread) if len(counts) > 1 else 1.0
            ratio = self.factor.size(t) * factor / self.variation
        phase = self.component.phase(self.factor, t)
        phase = np.where(ratio < 0.0, phase + np.pi, phase)
        return Draw(points / as_array(self.length_scale), np.abs(ratio), phase)

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        if self.is_jordan:
            return ((1.0, self),)
        variation = self.variation
        parts = []
        for component in (Component.POSITIVE, Component.NEGATIVE, Component.IMAGINARY):
            share = component.mass(self.factor, self.spread) / variation
            if share > NEGLIGIBLE:
                law = ShiftedGaussian(self.length_scale, self.shift, self.factor, component)
                parts.append((component.sign * share, law))
        return tuple(parts)

    def joined(
        self, mass: float, other: Law, other_mass: float
    ) -> tuple[tuple[float, Law], ...] | None:
        if not isinstance(other, ShiftedGaussian):
            return None
        same_scales = (self.length_scale, self.shift) == (other.length_scale, other.shift)
        if not same_scales or {self.component, other.component} != {Component.POLAR}:
            return None
        sum_ = self.factor * (mass / self.variation) + other.factor * (other_mass / other.variation)
        return shifted_gaussian_parts(self.length_scale, self.shift, sum_)

    @property
    def _axis(self) -> Array:
        return np.array(self.shift) / as_array(self.length_scale)

    def _halves(self, m: int) -> tuple[int, ...]:
        """Return batch sizes that sum to ``m``: two halves, or one batch without correction."""
        half = m // 2 // self.dim * self.dim or m // 2
        if half < _LEAST_HALF or self.factor.cosine == 0.0:
            return (m,)
        return half, m - half

    def _moved(self, points: Array, rng: np.random.Generator, *, independent: bool) -> Array:
        """Change the points' component along the axis so that it follows this part's density."""
        direction = self._axis / self.spread
        old = points @ direction
        independent = independent or self.spread > _WIDEST_TABLE
        if independent and self.acceptance > _RAREST:
            new = self._accepted(len(points), rng)
        else:
            table = _table(self.component, self.factor, self.spread)
            new = np.copysign(table.quantile(erf(np.abs(old) / np.sqrt(2.0))), old)
        return as_array(points + np.outer(new - old, direction))

    def _accepted(self, m: int, rng: np.random.Generator) -> Array:
        """Return ``m`` coordinates along the axis by rejection sampling."""
        bound = self.component.bound(self.factor)
        accepted: list[Array] = []
        missing = m
        while missing > 0:
            proposals = rng.standard_normal(16 + int(1.2 * missing / self.acceptance))
            height = bound * rng.random(len(proposals))
            density = self.component.density(self.factor, self.spread * proposals)
            accepted.append(proposals[height < density][:missing])
            missing -= len(accepted[-1])
        return np.concatenate(accepted)


def shifted_gaussian_parts(
    length_scale: LengthScale, shift: tuple[float, ...], factor: PhaseFactor
) -> tuple[tuple[float, Law], ...]:
    """Return a modulated Gaussian measure as pairs of mass and law."""
    first = next((value for value in shift if value != 0.0), 0.0)
    if first == 0.0 or (factor.cosine == 0.0 and factor.sine == 0.0):
        return ((factor.mean(0.0), Isotropic(Chi(), len(shift), length_scale)),)
    if first < 0.0:
        shift, factor = tuple(-value for value in shift), factor.reversed()
    law = ShiftedGaussian(length_scale, shift, factor)
    variation = law.variation
    if not np.isfinite(variation):
        raise ValueError(
            f"The total variation of the kernel's measure overflows: the shift {shift} is too long "
            f"for the length scale {length_scale}."
        )
    if variation == 0.0:
        return ((0.0, Isotropic(Chi(), law.dim, length_scale)),)
    if factor.sine == 0.0:
        return tuple((variation * share, part) for share, part in law.jordan())
    return ((variation, law),)


def correction(halves: list[Array], s: float) -> Array:
    r"""Return factors (m,) of the weights that reduce the kernel's error at lag zero.

    The estimate at lag zero is linear in the mean of :math:`g = \cos t`, whose expectation is
    known. Each half A of the draws corrects the second half B by a regression on ``g``, with the
    share

    .. math:: \frac{\beta}{2}\, (E g - \bar g_A)\,
              \frac{g(t_j) - \bar g_B}{\operatorname{Var} g}\, \frac{m}{|B| - 1}.

    The factor of A has mean zero and is independent of B, so the result is unbiased.
    :math:`\beta = 1 / (1 + 2 \kappa / m)`, with the kurtosis :math:`\kappa` of ``g``. ``halves``
    are independent values of ``t`` with standard deviation ``s``, at least two in each.
    """
    m = sum(map(len, halves))
    variance, kurtosis = _cosine_moments(s)
    if variance < _NO_VARIANCE:
        return np.ones(m)
    beta = 1.0 / (1.0 + _SHRINKAGE * kurtosis / m)
    # 1 - cos t instead of cos t, to avoid cancellation for small t.
    centre = np.expm1(-0.5 * s * s)
    first, second = (-2.0 * np.sin(0.5 * t) ** 2 for t in halves)
    factors = []
    for regressor_half, corrected_half in ((second, first), (first, second)):
        slope = (
            (corrected_half - corrected_half.mean()) / variance * (m / (len(corrected_half) - 1))
        )
        factors.append(1.0 + 0.5 * beta * (centre - regressor_half.mean()) * slope)
    return np.concatenate(factors)


@lru_cache(maxsize=256)
def _cosine_moments(s: float) -> tuple[float, float]:
    """Return the variance and the kurtosis of ``cos t``."""
    centre = float(np.expm1(-0.5 * s * s))

    def power(k: int) -> float:
        return normal_mean(lambda t: (-2.0 * np.sin(0.5 * t) ** 2 - centre) ** k, s)

    variance = power(2)
    if variance < _NO_VARIANCE:
        return 0.0, 1.0
    return variance, power(4) / variance**2


@lru_cache(maxsize=64)
def _table(component: Component, factor: PhaseFactor, s: float) -> Tabulated:
    """Return the tabulated distribution of the absolute coordinate along the axis."""
    imaginary = component is Component.IMAGINARY

    def density(y: Array) -> Array:
        t = s * y
        values = np.abs(factor.imaginary(t)) if imaginary else factor.real(t)
        return np.asarray(values * np.exp(-0.5 * y * y))

    return Tabulated(density, _NORMAL_REACH, component.sign, max(_FEWEST_BINS, int(64.0 * s)))
