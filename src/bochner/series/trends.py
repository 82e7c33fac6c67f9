r"""Trends of a series: a level, slopes that vary, and a random walk with drift.

References
----------
Assimakopoulos and Nikolopoulos, "The theta model: a decomposition approach to forecasting",
International Journal of Forecasting, 2000. Hyndman and Billah, "Unmasking the Theta method",
International Journal of Forecasting, 2003.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.series.components import (
    CompiledForm,
    Prior,
    RealOrComplex,
    SeriesProcess,
    StateTransition,
    around,
)
from bochner.series.process_loops import LEVEL, LINE, SLOPE, WALK

_LEVEL = 10.0
"""Prior standard deviation of the level, in standard deviations of the values: a vague prior."""

RISE = 3.0
"""Prior deviation of the rise of a line, in those of the values: an exact line rises by 3.5."""

_SMALL = 0.02
"""Decay over a step below which a power series gives the variance of an integrated slope."""


class LevelProcess(SeriesProcess):
    """Base class of trends, the first process of every model: a level and its changes."""

    __slots__ = ()

    is_walk: bool = False
    """Whether the level is a random walk, which replaces the variation with finite memory."""

    @property
    @abstractmethod
    def key(self) -> str:
        """Name of the trend in tables of learned priors."""

    @property
    @abstractmethod
    def description(self) -> str:
        """Description of the trend for users."""

    def onward(self, mean: Array, cov: Array) -> tuple[Array, Array]:
        """Return mean (s,) and covariance (s, s) of the states, as changed for forecasts."""
        return mean, cov


@register
@dataclass(frozen=True, slots=True)
class ConstantLevel(LevelProcess):
    """A level that never changes."""

    name: str = "trend"

    key = "level"
    description = "a level"

    @property
    def form(self) -> CompiledForm:
        return LEVEL, (_LEVEL**2, 0.0, 0.0)

    @property
    def priors(self) -> tuple[Prior, ...]:
        return ()

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(1)

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        ones = np.ones((len(dt), 1))
        return StateTransition(ones, 0.0 * ones, 0.0 * ones, 0.0 * ones)

    def initial(self, theta: RealOrComplex) -> RealOrComplex:
        return np.array([_LEVEL**2])


@register
@dataclass(frozen=True, slots=True)
class Slope(LevelProcess):
    r"""A level whose slope varies and returns to zero, or to the slope of a line.

    The slope is an Ornstein-Uhlenbeck process with the rate of return :math:`\lambda` and the
    diffusion :math:`q`; the level is its integral. As :math:`\lambda \to 0` this is the integrated
    Wiener process of smoothing splines.
    """

    has_line: bool
    name: str = "trend"
    rise: float = RISE

    @property
    def key(self) -> str:
        return "line" if self.has_line else "slope"

    @property
    def description(self) -> str:
        return "a line whose slope varies" if self.has_line else "a slope that dies out"

    @property
    def form(self) -> CompiledForm:
        return LINE if self.has_line else SLOPE, (_LEVEL**2, self.rise**2, 0.0)

    @property
    def priors(self) -> tuple[Prior, ...]:
        # A priori, slopes change the level by a third of a standard deviation over the range, or
        # much less. With a line, which models the lasting rise, slopes return slowly.
        diffusion = Prior(float(np.log(0.1)), 3.0, f"{self.key} diffusion", 2)
        rate = (0.3, 4.5) if self.has_line else (3.0, 2.7)
        return diffusion, around(*rate, f"{self.key} return")

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.array([1, 0, 2]) if self.has_line else np.array([1, 0])

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        diffusion, rate = np.exp(theta[..., 0, None]), np.exp(theta[..., 1, None])
        x = rate * dt
        decay, loss = np.exp(-x), -np.expm1(-x)
        ones, zeros = np.ones_like(decay), np.zeros_like(decay)
        slope = diffusion * -np.expm1(-2.0 * x) / (2.0 * rate)
        both = diffusion * loss**2 / (2.0 * rate**2)
        level = diffusion / (2.0 * rate**3) * _integrated(x, decay)
        parts = ([ones, decay], [loss / rate, zeros], [level, slope], [both, both])
        if self.has_line:
            for part, last in zip(parts, (ones, zeros, zeros, zeros), strict=True):
                part.append(last)
        return StateTransition(*(np.stack(part, axis=-1) for part in parts))

    def initial(self, theta: RealOrComplex) -> RealOrComplex:
        diffusion, rate = np.exp(theta[..., 0]), np.exp(theta[..., 1])
        level = np.full_like(diffusion, _LEVEL**2)
        if self.has_line:
            return np.stack([level, 0.0 * level, 0.0 * level + self.rise**2], axis=-1)
        return np.stack([level, diffusion / (2.0 * rate)], axis=-1)

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        weights = SeriesProcess.weights(self, times, inputs)
        if self.has_line:
            weights[:, 2] = times - 0.5  # Centred, so uncorrelated with the level
        return weights


def _integrated(x: RealOrComplex, decay: RealOrComplex) -> RealOrComplex:
    """Return ``2 x - 3 + 4 exp(-x) - exp(-2 x)``, the scaled variance of an integrated slope."""
    is_small = np.real(x) < _SMALL
    s = np.where(is_small, x, 0.0)  # Powers of large x would overflow
    series = s**3 * (2 / 3 - s / 2 + 7 * s**2 / 30 - s**3 / 12 + 31 * s**4 / 1260)
    return np.where(is_small, series, 2.0 * x - 3.0 + 4.0 * decay - decay**2)


@register
@dataclass(frozen=True, slots=True)
class WalkWithDrift(LevelProcess):
    """A random walk with constant drift; forecasts continue with a share of the drift."""

    share: float
    name: str = "trend"
    rise: float = RISE

    key = "drift"
    description = "a random walk with drift"
    is_walk = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"the share of a drift must be between 0 and 1, got {self.share}")

    @property
    def form(self) -> CompiledForm:
        return WALK, (_LEVEL**2, self.rise**2, 0.0)

    @property
    def priors(self) -> tuple[Prior, ...]:
        # A priori, the walk moves by half a standard deviation over the range.
        return (Prior(float(np.log(0.3)), 2.0, "drift diffusion", 2),)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.array([1, 0])

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        variance = np.exp(theta[..., 0, None]) * dt
        ones, zeros = np.ones_like(variance), np.zeros_like(variance)
        return StateTransition(
            np.stack([ones, ones], axis=-1),
            np.stack([zeros + dt, zeros], axis=-1),
            np.stack([variance, zeros], axis=-1),
            np.stack([zeros, zeros], axis=-1),
        )

    def initial(self, theta: RealOrComplex) -> RealOrComplex:
        level = np.full_like(theta[..., 0], _LEVEL**2)
        return np.stack([level, 0.0 * level + self.rise**2], axis=-1)

    def onward(self, mean: Array, cov: Array) -> tuple[Array, Array]:
        kept = np.ones(len(mean))
        kept[1] = self.share
        return kept * mean, kept[:, None] * cov * kept


TRENDS = (ConstantLevel(), Slope(has_line=False), Slope(has_line=True))
"""Trends compared by evidence: a level, a slope that decays, and a line of varying slope."""
