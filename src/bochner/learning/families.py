"""Families of kernels with a length scale, and optionally an inclusion, for every input."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from bochner._numerics.arrays import Array, row_blocks
from bochner.kernels import Anova, Gaussian, Kernel, Matern

Pullback = Callable[[Array], Array]

_ODDS_STEP = 0.7
"""Step of the log-odds of inclusion from one kernel of a ladder to the next: the odds double. Half
makes richer kernels out of reach of four steps, twice quadruples the odds at once."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A correlation function of the squared scaled lag ``q``, and the kernel it belongs to."""

    name: str
    at: Callable[[Array], tuple[Array, Array]]  # From q to v(q) and -2 v'(q)
    kernel: Callable[[tuple[float, ...]], Gaussian | Matern]  # From length scales


def _gaussian(square: Array) -> tuple[Array, Array]:
    value = np.exp(-0.5 * square)
    return value, value


def _matern(square: Array) -> tuple[Array, Array]:
    u = np.sqrt(3.0 * square)
    decay = np.exp(-u)
    return (1.0 + u) * decay, 3.0 * decay


GAUSSIAN = Profile("Gaussian", _gaussian, Gaussian)
MATERN = Profile("Matern 3/2", _matern, Matern)


class Family(ABC):
    """Kernels indexed by an unconstrained vector of parameters."""

    __slots__ = ()

    @abstractmethod
    def prior(self, dim: int) -> tuple[Array, Array]:
        """Return the prior mean of the parameters, where searches start, and their precisions."""

    @abstractmethod
    def correlation(self, lags: Array, theta: Array) -> tuple[Array, Pullback]:
        """Return correlations (n_pairs,) at ``lags`` (d, n_pairs), and their pullback.

        It maps a gradient with respect to the correlations to one with respect to ``theta``.
        """

    @abstractmethod
    def kernel(self, theta: Array) -> Kernel:
        """Return the kernel at ``theta``."""

    def ladder(self, theta: Array) -> list[Kernel]:
        """Return the kernel at ``theta`` and richer ones, to be compared with finite features."""
        return [self.kernel(theta)]


@dataclass(frozen=True, slots=True)
class ScaledInputs(Family):
    r"""A function of :math:`\sum_i (\Delta_i/\ell_i)^2`; the parameters are :math:`\log\ell_i`."""

    profile: Profile

    def prior(self, dim: int) -> tuple[Array, Array]:
        return np.full(dim, 0.5 * np.log(2.0 * dim)), np.full(dim, 0.5)

    def correlation(self, lags: Array, theta: Array) -> tuple[Array, Pullback]:
        value, slope = np.empty(lags.shape[1]), np.empty(lags.shape[1])
        squares = np.empty_like(lags)
        scales = np.exp(theta)[:, None]
        for block in _blocks(lags):
            np.square(lags[:, block] / scales, out=squares[:, block])
            value[block], slope[block] = self.profile.at(squares[:, block].sum(axis=0))
        return value, lambda gradient: squares @ (gradient * slope)

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

    def prior(self, dim: int) -> tuple[Array, Array]:
        odds = logit(np.clip(self.order / dim, 0.02, 0.9))
        return np.repeat([np.log(1.5), odds], dim), np.repeat([0.5, 0.125], dim)

    def correlation(self, lags: Array, theta: Array) -> tuple[Array, Pullback]:
        scales, inclusion = np.exp(theta[: len(lags)]), expit(theta[len(lags) :])
        correlation = np.ones(lags.shape[1])
        by_scale, by_odds = np.empty_like(lags), np.empty_like(lags)
        for block in _blocks(lags):
            for i, (scale, pi) in enumerate(zip(scales, inclusion, strict=True)):
                square = np.square(lags[i, block] / scale)
                value, slope = self.profile.at(square)
                weight = pi / (1.0 - pi + pi * value)
                correlation[block] *= pi / weight
                np.multiply(weight * square, slope, out=by_scale[i, block])
                np.multiply((1.0 - pi) * weight, value - 1.0, out=by_odds[i, block])

        def pullback(gradient: Array) -> Array:
            weighted = gradient * correlation
            return np.concatenate([by_scale @ weighted, by_odds @ weighted])

        return correlation, pullback

    def kernel(self, theta: Array) -> Anova:
        dim = len(theta) // 2
        base = self.profile.kernel(tuple(np.exp(theta[:dim]).tolist()))
        return Anova(base, tuple(expit(theta[dim:]).tolist()))

    def ladder(self, theta: Array) -> list[Kernel]:
        # A frequency of several inputs serves all their interactions at once, so with few
        # frequencies more inclusion is better than what the exact kernel would have; and the
        # intercept does the work of the constant.
        dim = len(theta) // 2
        shifts = (np.repeat([0.0, step * _ODDS_STEP], dim) for step in range(4))
        kernels = (self.kernel(theta + shift) for shift in shifts)
        return [replace(kernel, constant=False) for kernel in kernels]

    def __str__(self) -> str:
        return f"Anova of {self.profile.name}, order {self.order}"


def _blocks(lags: Array) -> Iterator[slice]:
    # Blocks of pairs whose few temporaries stay in a core's cache are several times faster.
    return row_blocks(lags.shape[1], 1024)


GAUSSIAN_FAMILY = ScaledInputs(GAUSSIAN)
MATERN_FAMILY = ScaledInputs(MATERN)
# Orders of interactions: with three, a kernel of ten inputs has 175 groups of them.
ANOVA_FAMILIES: tuple[Family, ...] = tuple(
    Interactions(profile, order) for profile in (GAUSSIAN, MATERN) for order in (1, 2, 3)
)
FAMILIES: tuple[Family, ...] = (GAUSSIAN_FAMILY, MATERN_FAMILY, *ANOVA_FAMILIES)
