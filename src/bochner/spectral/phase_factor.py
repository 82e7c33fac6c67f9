r"""Factors that phases and skewness put on a Gaussian measure, and their exact masses.

A translation of a kernel, or a combination of translations by :math:`\pm r`, multiplies its measure
by a function of one number :math:`t = r \cdot \omega`. For normal frequencies, :math:`t` is normal
with standard deviation ``s``. All masses are therefore integrals over one normal variable, for any
number of inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner.spectral.tabulated import gauss_legendre

_REACH = 12.0  # standard deviations; exp(-72) is left out
_UNIFORM_FROM = 40.0  # standard deviation beyond which t is uniform over a period to rounding
_ORDER = 24  # nodes a panel: exact to rounding on panels that halve towards corners
_NARROW = 1e-6  # standard deviation below which the nodes of a period may pass over the law
_GRADES = 40  # halvings towards a corner: 2**-40 of a panel


@dataclass(frozen=True, slots=True)
class PhaseFactor:
    r"""The factor :math:`H(t) = \alpha + \gamma \cos t + i \delta \sin t`.

    Its even part is real and its odd part imaginary, so that kernels come out real. The fields are
    :math:`\alpha`, :math:`\gamma` and :math:`\delta`; a translation is ``PhaseFactor(0, 1, 1)``.
    """

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

    @property
    def is_pure(self) -> bool:
        """Whether the size is the same everywhere, as that of one translation is."""
        return self.constant == 0.0 and abs(self.cosine) == abs(self.sine)

    def mean(self, s: float) -> float:
        r"""Return :math:`E\,\Re H(t) = \alpha + \gamma e^{-s^2/2}`, the kernel's value at zero."""
        return float(self.constant + self.cosine * np.exp(-0.5 * s * s))

    def variation(self, s: float) -> float:
        r"""Return :math:`E|H(t)|`, the total variation."""
        if self.is_pure:
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
        """The zero of the real part in (0, pi), where sizes have a kink, or an empty tuple."""
        if abs(self.cosine) <= abs(self.constant):
            return ()
        return (float(np.arccos(-self.constant / self.cosine)),)


class Component(Enum):
    """Part of a modulated measure from which frequencies are drawn.

    ``POLAR`` is the whole measure with its phases. The other members are the Jordan parts: the
    positive and the negative part of the real measure, and the imaginary measure, whose positive
    and negative parts are reflections of each other.
    """

    POLAR = "polar"
    POSITIVE = "positive"
    NEGATIVE = "negative"
    IMAGINARY = "imaginary"

    @property
    def sign(self) -> int:
        """Factor of the part in the measure."""
        return -1 if self is Component.NEGATIVE else 1

    def density(self, factor: PhaseFactor, t: Array) -> Array:
        """Return the density relative to the normal law; nonnegative and even."""
        if self is Component.POLAR:
            return factor.size(t)
        if self is Component.IMAGINARY:
            return np.abs(factor.imaginary(t))
        return np.maximum(self.sign * factor.real(t), 0.0)

    def phase(self, factor: PhaseFactor, t: Array) -> Array:
        """Return the phases of frequencies, odd in ``t``."""
        if self is Component.POLAR:
            return np.arctan2(factor.imaginary(t), factor.real(t))
        if self is Component.IMAGINARY:
            return np.copysign(0.5 * np.pi, factor.imaginary(t))
        return np.zeros(np.shape(t))

    def mass(self, factor: PhaseFactor, s: float) -> float:
        """Return the integral of the density over the normal law."""
        if self is Component.POLAR:
            return factor.variation(s)
        if self is Component.IMAGINARY:
            return factor.imaginary_variation(s)
        return max(0.5 * (factor.real_variation(s) + self.sign * factor.mean(s)), 0.0)

    def bound(self, factor: PhaseFactor) -> float:
        """Return the density's maximum, the bound of acceptance and rejection."""
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
    r"""Return :math:`E f(t)`, :math:`t \sim N(0, s^2)`, for an even function of period 2 pi.

    Sizes may have rounded corners at 0 and :math:`\pi`, towards which panels shrink.
    """
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
    """Return the density of ``|t|``, ``t`` taken modulo a period to [-pi, pi]."""
    turns = 1 + int(np.ceil(_REACH * s / (2.0 * np.pi)))
    images = (t[:, None] + 2.0 * np.pi * np.arange(-turns, turns + 1)) / s
    return as_array(np.exp(-0.5 * images**2).sum(axis=1) * np.sqrt(2.0 / np.pi) / s)


@lru_cache(maxsize=64)
def _period(kinks: tuple[float, ...]) -> tuple[Array, Array]:
    """Return nodes and weights of a rule on [0, pi], graded towards both ends and the kinks."""
    corners = sorted({0.0, np.pi, *kinks})
    steps = 0.5 ** np.arange(_GRADES, 0, -1.0)
    edges = [np.array(corners)]
    for left, right in pairwise(corners):
        edges += [left + (right - left) * steps, right - (right - left) * steps]
    bounds = np.unique(np.concatenate(edges))
    nodes, weights = gauss_legendre(bounds, _ORDER)
    return nodes.ravel(), weights.ravel()
