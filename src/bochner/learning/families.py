"""Families of kernels with a scale, and perhaps a relevance, for every input."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bochner._numerics.arrays import Array
from bochner.kernels import Anova, Gaussian, Kernel, Matern

Pullback = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class Profile:
    """A one-dimensional correlation function, its slope, and the kernel it belongs to.

    Parameters
    ----------
    name : str
    value : callable
        Correlation at squared scaled lags.
    slope : callable
        Derivative of ``value`` with respect to the squared scaled lag, times minus two.
    kernel : callable
        From length scales to the kernel.
    """

    name: str
    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    kernel: Callable[[tuple[float, ...]], Gaussian | Matern]


def _matern_value(square: Array) -> Array:
    u = np.sqrt(3.0 * square)
    return (1.0 + u) * np.exp(-u)


GAUSSIAN = Profile(
    "Gaussian",
    value=lambda square: np.exp(-0.5 * square),
    slope=lambda square: np.exp(-0.5 * square),
    kernel=Gaussian,
)
MATERN = Profile(
    "Matern 3/2",
    value=_matern_value,
    slope=lambda square: 3.0 * np.exp(-np.sqrt(3.0 * square)),
    kernel=Matern,
)


class Family(ABC):
    """Kernels indexed by an unconstrained vector of parameters."""

    __slots__ = ()

    @abstractmethod
    def start(self, dim: int) -> Array:
        """Return the parameters to begin at, which are also the mean of their prior."""

    @abstractmethod
    def precision(self, dim: int) -> Array:
        """Return the prior precision of every parameter, of the shape of :meth:`start`."""

    @abstractmethod
    def correlation(self, lags: Array, theta: Array) -> tuple[Array, Pullback]:
        """Return correlations (n_pairs,) at ``lags`` (d, n_pairs), and their pullback.

        The pullback maps a gradient with respect to the correlations to one with respect to
        ``theta``.
        """

    @abstractmethod
    def kernel(self, theta: Array) -> Kernel:
        """Return the kernel at ``theta``."""


@dataclass(frozen=True, slots=True)
class ScaledInputs(Family):
    r"""A function of :math:`\sum_i (\Delta_i/\ell_i)^2`; the parameters are :math:`\log\ell_i`."""

    profile: Profile

    def start(self, dim: int) -> Array:
        return np.full(dim, 0.5 * np.log(2.0 * dim))

    def precision(self, dim: int) -> Array:
        return np.full(dim, 0.5)

    def correlation(self, lags: Array, theta: Array) -> tuple[Array, Pullback]:
        inverse_square = np.exp(-2.0 * theta)
        square = inverse_square @ lags**2

        def pullback(gradient: Array) -> Array:
            return inverse_square * (lags**2 @ (gradient * self.profile.slope(square)))

        return self.profile.value(square), pullback

    def kernel(self, theta: Array) -> Kernel:
        return self.profile.kernel(tuple(np.exp(theta).tolist()))

    def __str__(self) -> str:
        return self.profile.name


@dataclass(frozen=True, slots=True)
class Interactions(Family):
    r"""ANOVA kernels; the parameters are :math:`\log\ell_i` and the log-odds of :math:`\pi_i`.

    ``order`` is the expected order of interaction at the start.
    """

    profile: Profile
    order: int

    def start(self, dim: int) -> Array:
        inclusion = np.clip(self.order / dim, 0.02, 0.9)
        return np.concatenate([np.full(dim, np.log(1.5)), np.full(dim, logit(inclusion))])

    def precision(self, dim: int) -> Array:
        return np.concatenate([np.full(dim, 0.5), np.full(dim, 0.125)])

    def correlation(self, lags: Array, theta: Array) -> tuple[Array, Pullback]:
        scales, inclusion = np.exp(theta[: len(lags)]), expit(theta[len(lags) :])
        correlation = np.ones(lags.shape[1])
        relative = []
        for lag, scale, pi in zip(lags, scales, inclusion, strict=True):
            square = (lag / scale) ** 2
            value = self.profile.value(square)
            factor = 1.0 - pi + pi * value
            correlation *= factor
            by_scale = pi * square * self.profile.slope(square) / factor
            relative.append((by_scale, pi * (1.0 - pi) * (value - 1.0) / factor))

        def pullback(gradient: Array) -> Array:
            weighted = gradient * correlation
            return np.array([weighted @ part for pair in zip(*relative, strict=True) for part in pair])

        return correlation, pullback

    def kernel(self, theta: Array) -> Kernel:
        dim = len(theta) // 2
        base = self.profile.kernel(tuple(np.exp(theta[:dim]).tolist()))
        return Anova(base, tuple(expit(theta[dim:]).tolist()))

    def __str__(self) -> str:
        return f"Anova of {self.profile.name}, order {self.order}"


GAUSSIAN_FAMILY = ScaledInputs(GAUSSIAN)
MATERN_FAMILY = ScaledInputs(MATERN)
ANOVA_FAMILIES: tuple[Family, ...] = tuple(
    Interactions(profile, order) for profile in (GAUSSIAN, MATERN) for order in (1, 2, 3)
)
FAMILIES: tuple[Family, ...] = (GAUSSIAN_FAMILY, MATERN_FAMILY, *ANOVA_FAMILIES)
