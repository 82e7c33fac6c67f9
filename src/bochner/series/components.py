r"""Gaussian processes whose sum models a series.

Each process is a linear function of a few hidden states that form a Markov chain. A fit to n
rows therefore costs O(n) and is exact, at any times (:mod:`bochner.series.state_loops`).

Time is measured in ranges of the training rows, from zero at the first row, and values in
standard deviations. Parameters are logarithms of positive numbers and have independent
normal priors. Formulas are analytic, so that an imaginary increment of a parameter gives its
derivative without rounding errors; see `bochner.series.series_model`.

References
----------
Harvey, "Forecasting, structural time series models and the Kalman filter", 1989. Foreman-Mackey,
Agol, Ambikasaran and Angus, "Fast and scalable Gaussian process modeling with applications to
astronomical time series", The Astronomical Journal, 2017.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.series.process_loops import INPUTS, REMAINDER, SHIFTS, VARIATION, WAVES

RealOrComplex = NDArray[np.inexact[Any]]
"""Arrays that are real, or complex in complex-step differentiation by a parameter."""


SHIFT_STD = 3.0
"""Prior standard deviation of a shift of the level, in standard deviations of the values."""


_EFFECT = 0.3
"""Prior median of the standard deviation of effects of inputs, in deviations of the values."""


SHORT_TERM = "remainder"
"""Name of the component of short-term variation, irregular cycles included."""


class Prior(NamedTuple):
    """Normal prior of the logarithm of a parameter."""

    mean: float
    std: float
    name: str = ""
    power: int = 0


def around(value: float, factor: float, name: str = "", power: int = 0) -> Prior:
    """Return the prior of a number that is within a factor of ``value`` with probability 0.68."""
    return Prior(float(np.log(value)), float(np.log(factor)), name, power)


class StateTransition(NamedTuple):
    """Transition entries of one process for u steps; see `bochner.series.state_loops`."""

    own: RealOrComplex
    other: RealOrComplex
    variance: RealOrComplex
    covariance: RealOrComplex


CompiledForm = tuple[int, tuple[float, float, float]]
"""Kind and constants of a process for `bochner.series.process_loops`."""


class SeriesProcess(ABC):
    """One Gaussian process in the sum that models a series."""

    __slots__ = ()

    name: str
    """Name of the component of forecasts that the process belongs to."""

    @property
    @abstractmethod
    def priors(self) -> tuple[Prior, ...]:
        """Priors (k,) of the logarithms of the parameters."""

    @property
    @abstractmethod
    def partners(self) -> NDArray[np.int64]:
        """Index (s,) of the other state on which each state depends, or else the state's index."""

    @property
    def mean(self) -> Array:
        """Prior means (s,) of the states; states whose means are not zero never change."""
        return np.zeros(len(self.partners))

    @abstractmethod
    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        """Return the transition entries, broadcasting to (..., u, s), for steps ``dt`` (u,)."""

    @property
    def form(self) -> CompiledForm | None:
        """Kind and constants for `bochner.series.process_loops`; None if it lacks the process."""
        return None

    @abstractmethod
    def initial(self, theta: RealOrComplex) -> RealOrComplex:
        """Return the variances (..., s) of the states at the first training row."""

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        """Return the weights (n, s) of the states in the values at times (n,).

        ``clock`` (n,) is local time minus time; None without a time zone.
        """
        weights = np.zeros((len(times), len(self.partners)))
        weights[:, 0] = 1.0
        return weights


@register
@dataclass(frozen=True, slots=True)
class Variation(SeriesProcess):
    r"""Variation with finite memory: an Ornstein-Uhlenbeck process.

    Its kernel is the Laplacian kernel :math:`s^2 \exp(-|\Delta| / \ell)`. ``memory`` is the prior
    median of :math:`\ell`. With a memory much longer than the range, it is a random walk.
    """

    memory: float
    name: str = "trend"

    def __post_init__(self) -> None:
        if not self.memory > 0.0:
            raise ValueError("the memory of variation must be positive")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return around(0.2, 7.4, "slow std", 1), around(self.memory, 2.7, "slow memory")

    @property
    def form(self) -> CompiledForm:
        return VARIATION, (0.0, 0.0, 0.0)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(1)

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        variance, memory = np.exp(2.0 * theta[..., 0, None]), np.exp(theta[..., 1, None])
        decay = np.exp(-dt / memory)[..., None]
        zeros = np.zeros_like(decay)
        return StateTransition(decay, zeros, variance[..., None] * (1.0 - decay**2), zeros)

    def initial(self, theta: RealOrComplex) -> Any:
        return np.exp(2.0 * theta[..., :1])


@register
@dataclass(frozen=True, slots=True)
class Remainder(SeriesProcess):
    """The remainder: autocorrelated short-term variation plus noise."""

    memory: float
    name: str = SHORT_TERM

    def __post_init__(self) -> None:
        if not self.memory > 0.0:
            raise ValueError("the memory of variation must be positive")

    @property
    def priors(self) -> tuple[Prior, ...]:
        # Size: a tenth of the standard deviation of the values; share of noise: vague.
        return (
            around(0.1, 7.4, "remainder std", 1),
            Prior(0.0, 2.0, "remainder share"),
            around(self.memory, 2.7, "remainder memory"),
        )

    @property
    def form(self) -> CompiledForm:
        return REMAINDER, (0.0, 0.0, 0.0)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(1)

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        decay = np.exp(-dt / np.exp(theta[..., 2, None]))[..., None]
        zeros = np.zeros_like(decay)
        return StateTransition(
            decay, zeros, self.initial(theta)[..., None] * (1.0 - decay**2), zeros
        )

    def initial(self, theta: RealOrComplex) -> Any:
        return np.exp(2.0 * theta[..., :1]) / (1.0 + np.exp(-theta[..., 1:2]))

    def noise(self, theta: RealOrComplex) -> Any:
        """Return the variance (...) of the noise."""
        return np.exp(2.0 * theta[..., 0]) / (1.0 + np.exp(theta[..., 1]))


@register
@dataclass(frozen=True, slots=True)
class Waves(SeriesProcess):
    r"""A periodic wave with harmonics, whose amplitudes and phases change over time.

    The kernel is :math:`s^2 e^{-|\Delta| / \ell} \sum_h h^{-2 a} \cos(2 \pi h \Delta / p)`. The
    memory :math:`\ell` is several ranges for a season, and a few periods for a cycle.
    """

    period: float
    n_harmonics: int
    memory: float
    freedom: float
    name: str
    by_clock: bool = False

    def __post_init__(self) -> None:
        if self.n_harmonics < 1 or not (self.period > 0.0 < self.memory and self.freedom >= 0.0):
            raise ValueError("a period, its memory and its harmonics must be positive")

    @property
    def priors(self) -> tuple[Prior, ...]:
        # Only seasons of the calendar, whose period is fixed, have learned priors.
        names = ("", "", "") if self.freedom else ("season std", "season memory", "season decay")
        priors = [around(0.2, 4.5, names[0], 1), around(self.memory, 4.5, names[1])]
        if self.n_harmonics > 1:
            priors.append(around(1.0, 2.0, names[2]))  # Amplitudes decrease roughly like 1 / h
        if self.freedom:
            priors.append(Prior(float(np.log(self.period)), self.freedom))
        return tuple(priors)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(2 * self.n_harmonics) ^ 1  # Cosines and sines in turn

    @property
    def form(self) -> CompiledForm:
        return WAVES, (float(self.n_harmonics), self.period, self.freedom)

    @property
    def _harmonics(self) -> Array:
        return np.arange(1.0, self.n_harmonics + 1.0)

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        memory = np.exp(theta[..., 1, None])
        period = np.exp(theta[..., -1, None]) if self.freedom else self.period
        decay = np.exp(-dt / memory)[..., None]
        angle = (2.0 * np.pi * dt / period)[..., None] * self._harmonics
        cosine, sine = decay * np.cos(angle), decay * np.sin(angle)
        variance = self._variances(theta)[..., None, :] * (1.0 - decay**2)
        return StateTransition(
            np.repeat(cosine, 2, axis=-1),
            np.stack([sine, -sine], axis=-1).reshape(*sine.shape[:-1], -1),
            np.repeat(variance, 2, axis=-1),
            np.zeros((1, 2 * self.n_harmonics)),
        )

    def initial(self, theta: RealOrComplex) -> RealOrComplex:
        return np.repeat(self._variances(theta), 2, axis=-1)

    def _variances(self, theta: RealOrComplex) -> Any:
        """Return the variances (..., H) of the harmonics."""
        variance = np.exp(2.0 * theta[..., 0, None])
        if self.n_harmonics == 1:
            return variance
        return variance * np.exp(-2.0 * np.exp(theta[..., 2, None]) * np.log(self._harmonics))

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        weights = np.zeros((len(times), 2 * self.n_harmonics))
        if clock is None or not self.by_clock:
            weights[:, ::2] = 1.0
            return weights
        # States rotate with time; the offset of the local clock rotates the weights further.
        angle = (2.0 * np.pi * clock / self.period)[:, None] * self._harmonics
        weights[:, ::2], weights[:, 1::2] = np.cos(angle), np.sin(angle)
        return weights


@register
@dataclass(frozen=True, slots=True)
class Inputs(SeriesProcess):
    """Linear effects of standardised known inputs, with one prior variance for all effects.

    ``means`` are prior means of the first effects, from other series; those of the others are zero.
    ``std`` is the prior median of the standard deviation of the effects around such means. The
    states are the effects divided by ``units`` (d,), so that effects without means vary more.
    """

    n_inputs: int
    name: str = "inputs"
    means: tuple[float, ...] = ()
    std: float = _EFFECT

    def __post_init__(self) -> None:
        if self.n_inputs < 1 or len(self.means) > self.n_inputs or not self.std > 0.0:
            raise ValueError("effects need an input, at most as many means, and a deviation")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return (around(self.std, 1.5 if self.means else 4.5, power=1),)

    @property
    def units(self) -> Array:
        """Units (d,) of the states."""
        return np.where(np.arange(self.n_inputs) < len(self.means), 1.0, _EFFECT / self.std)

    @property
    def mean(self) -> Array:
        return np.array([*self.means, *[0.0] * (self.n_inputs - len(self.means))])

    @property
    def form(self) -> CompiledForm:
        return INPUTS, (0.0, 0.0, 0.0)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(self.n_inputs)

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        ones = np.ones((len(dt), self.n_inputs))
        return StateTransition(ones, 0.0 * ones, 0.0 * ones, 0.0 * ones)

    def initial(self, theta: RealOrComplex) -> RealOrComplex:
        return np.repeat(np.exp(2.0 * theta[..., :1]), self.n_inputs, axis=-1)

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        return inputs * self.units


@register
@dataclass(frozen=True, slots=True)
class LevelShifts(SeriesProcess):
    """Lasting changes of the level, at known times in ranges of the rows."""

    times: tuple[float, ...]
    name: str = "trend"

    def __post_init__(self) -> None:
        if not self.times or not np.isfinite(self.times).all():
            raise ValueError("shifts of the level need at least one time")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return ()

    @property
    def form(self) -> CompiledForm:
        return SHIFTS, (SHIFT_STD**2, 0.0, 0.0)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(len(self.times))

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        ones = np.ones((len(dt), len(self.times)))
        return StateTransition(ones, 0.0 * ones, 0.0 * ones, 0.0 * ones)

    def initial(self, theta: RealOrComplex) -> RealOrComplex:
        return np.full((*theta.shape[:-1], len(self.times)), SHIFT_STD**2)

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        weights: Array = (times[:, None] >= np.array(self.times)).astype(np.float64)
        return weights


@register
@dataclass(frozen=True, slots=True)
class SharedSeason(SeriesProcess):
    r"""A season that other series share: harmonics whose coefficients have a known normal law.

    The coefficients of :math:`\cos(2 \pi h t / p)` and :math:`\sin(2 \pi h t / p)` in turn, in
    calendar time, are :math:`F z` with :math:`z \sim N(m, 9 I)`. ``factors`` are the columns of F
    (2 H, K) one after the other, ``means`` are m (K,), and ``phase`` is the part of the period
    before the first row.
    """

    period: float
    phase: float
    means: tuple[float, ...]
    factors: tuple[float, ...]
    name: str
    by_clock: bool = False

    def __post_init__(self) -> None:
        count = len(self.means)
        if not (count and self.period > 0.0) or len(self.factors) % (2 * count):
            raise ValueError("a shared season needs a period, and pairs of factors for each mean")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return ()

    @property
    def mean(self) -> Array:
        return np.array(self.means)

    @property
    def form(self) -> CompiledForm:
        return SHIFTS, (SHIFT_STD**2, 0.0, 0.0)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(len(self.means))

    def move(self, theta: RealOrComplex, dt: Array) -> StateTransition:
        ones = np.ones((len(dt), len(self.means)))
        return StateTransition(ones, 0.0 * ones, 0.0 * ones, 0.0 * ones)

    def initial(self, theta: RealOrComplex) -> RealOrComplex:
        return np.full((*theta.shape[:-1], len(self.means)), SHIFT_STD**2)

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        local = times if clock is None or not self.by_clock else times + clock
        factors = np.reshape(self.factors, (len(self.means), -1)).T
        turns = (self.phase + local / self.period)[:, None] * np.arange(1, len(factors) // 2 + 1)
        waves = np.stack((np.cos(2.0 * np.pi * turns), np.sin(2.0 * np.pi * turns)), axis=-1)
        return np.ascontiguousarray(waves.reshape(len(times), len(factors)) @ factors)
