r"""The processes that a series is a sum of.

Each is a Gaussian process along time whose spectral density is a rational function of the
frequency, or a limit of such: a constant, an integrated or damped slope, variation with the
spectrum of a Cauchy law, waves of finite memory, whose lines have that shape, and known inputs.
Such a process is the first of a few states that form a Markov chain, so that a fit to n rows costs
O(n) and is exact, at any times (:mod:`bochner._numerics.state_loops`).

Time is measured in units of the range of the training rows, from zero at the first of them, and
values in standard deviations. Parameters are logarithms of positive numbers and have independent
normal priors. Formulas are analytic, so that an imaginary increment of a parameter gives its
derivative without rounding errors; see `bochner.learning.series.model`.

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

from bochner._numerics.arrays import Array
from bochner.registry import register

_LEVEL = 10.0
"""Standard deviation of the level, in those of the values: next to no prior on where they lie."""

_LINE = 3.0
"""Standard deviation of the rise over the range: values on a line rise by 3.5 of theirs."""

_SMALL = 0.02
"""Decay over a step below which the variance of an integrated slope is computed by its series: the
closed form loses nine digits there, the series less than one in a million million."""


class Prior(NamedTuple):
    """Normal prior of the logarithm of a parameter."""

    mean: float
    std: float


def _around(value: float, factor: float) -> Prior:
    """Return the prior of a number within a factor of a value, in two of three cases."""
    return Prior(float(np.log(value)), float(np.log(factor)))


class StateTransition(NamedTuple):
    """Transitions of one part over steps; see `bochner._numerics.state_loops`."""

    own: Any
    other: Any
    variance: Any
    covariance: Any


class SeriesProcess(ABC):
    """One process of the sum.

    ``theta`` has shape (..., k), one entry per prior, and lengths of steps are ``dt`` (u,).
    """

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
        """The state (s,) that each state depends on besides itself; itself if there is none."""

    @abstractmethod
    def move(self, theta: Any, dt: Array) -> StateTransition:
        """Return the transitions, arrays that broadcast to (..., u, s)."""

    @abstractmethod
    def initial(self, theta: Any) -> Any:
        """Return the variances (..., s) of the states at the first training row."""

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        """Return the weights (n, s) of the states in the values at times (n,).

        ``clock`` (n,) is the time by the clock of a zone minus the time; None for zero.
        """
        one = np.zeros((len(times), len(self.partners)))
        one[:, 0] = 1.0
        return one


@register
@dataclass(frozen=True, slots=True)
class ConstantLevel(SeriesProcess):
    """A level that never changes."""

    name: str = "trend"

    @property
    def priors(self) -> tuple[Prior, ...]:
        return ()

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(1)

    def move(self, theta: Any, dt: Array) -> StateTransition:
        one = np.ones((len(dt), 1))
        return StateTransition(one, 0.0 * one, 0.0 * one, 0.0 * one)

    def initial(self, theta: Any) -> Any:
        return np.array([_LEVEL**2])


@register
@dataclass(frozen=True, slots=True)
class Slope(SeriesProcess):
    r"""A level whose slope varies and returns to zero, or to that of a line.

    With the slope's rate of return :math:`\lambda` and its diffusion :math:`q`, the slope is an
    Ornstein-Uhlenbeck process and the level its integral. As :math:`\lambda \to 0` this is the
    integrated Wiener process of smoothing splines. With ``has_line`` a straight line is added, and
    slopes vary around it from zero on; else the slope begins anywhere in its stationary law, and
    the forecast levels off.
    """

    has_line: bool
    name: str = "trend"

    @property
    def priors(self) -> tuple[Prior, ...]:
        # Slopes may change the level by a third of a deviation over the range, or by next to
        # nothing; a line takes the lasting part, so that slopes return slowly next to it.
        return Prior(np.log(0.1), 3.0), _around(0.3, 4.5) if self.has_line else _around(3.0, 2.7)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.array([1, 0, 2]) if self.has_line else np.array([1, 0])

    def move(self, theta: Any, dt: Array) -> StateTransition:
        diffusion, rate = np.exp(theta[..., 0, None]), np.exp(theta[..., 1, None])
        x = rate * dt
        kept, lost = np.exp(-x), -np.expm1(-x)
        one, zero = np.ones_like(kept), np.zeros_like(kept)
        slope = diffusion * -np.expm1(-2.0 * x) / (2.0 * rate)
        both = diffusion * lost**2 / (2.0 * rate**2)
        level = diffusion / (2.0 * rate**3) * _integrated(x, kept)
        parts = (
            [one, kept],
            [lost / rate, zero],
            [level, slope],
            [both, both],
        )
        if self.has_line:
            for part, last in zip(parts, (one, zero, zero, zero), strict=True):
                part.append(last)
        return StateTransition(*(np.stack(part, axis=-1) for part in parts))

    def initial(self, theta: Any) -> Any:
        diffusion, rate = np.exp(theta[..., 0]), np.exp(theta[..., 1])
        level = np.full_like(diffusion, _LEVEL**2)
        if self.has_line:
            return np.stack([level, 0.0 * level, 0.0 * level + _LINE**2], axis=-1)
        return np.stack([level, diffusion / (2.0 * rate)], axis=-1)

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        found = SeriesProcess.weights(self, times, inputs)
        if self.has_line:
            found[:, 2] = times - 0.5  # From the middle of the range, apart from the level
        return found


def _integrated(x: Any, kept: Any) -> Any:
    """Return ``2 x - 3 + 4 exp(-x) - exp(-2 x)``, the variance of an integrated slope in units."""
    is_small = np.real(x) < _SMALL
    s = np.where(is_small, x, 0.0)  # Powers of large ones overflow
    series = s**3 * (2 / 3 - s / 2 + 7 * s**2 / 30 - s**3 / 12 + 31 * s**4 / 1260)
    return np.where(is_small, series, 2.0 * x - 3.0 + 4.0 * kept - kept**2)


@register
@dataclass(frozen=True, slots=True)
class Variation(SeriesProcess):
    r"""Variation that is forgotten: an Ornstein-Uhlenbeck process.

    Its kernel is :math:`s^2 \exp(-|\Delta| / \ell)`, the Laplacian kernel. ``memory`` is where the
    prior of :math:`\ell` is centred; much longer than the range, it is a random walk.
    """

    memory: float
    name: str = "trend"

    def __post_init__(self) -> None:
        if not self.memory > 0.0:
            raise ValueError("the memory of variation must be positive")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return _around(0.2, 7.4), _around(self.memory, 2.7)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(1)

    def move(self, theta: Any, dt: Array) -> StateTransition:
        variance, memory = np.exp(2.0 * theta[..., 0, None]), np.exp(theta[..., 1, None])
        kept = np.exp(-dt / memory)[..., None]
        zero = np.zeros_like(kept)
        return StateTransition(kept, zero, variance[..., None] * (1.0 - kept**2), zero)

    def initial(self, theta: Any) -> Any:
        return np.exp(2.0 * theta[..., :1])


@register
@dataclass(frozen=True, slots=True)
class Remainder(SeriesProcess):
    r"""The remainder: autocorrelated short-term variation plus noise.

    The parameters are the standard deviation of the sum, the logit of the share of its variance
    that is autocorrelated, and the correlation time (memory). With separate standard deviations
    the posterior would be strongly curved if the memory is near one step, where variation and noise
    are hard to distinguish.
    """

    memory: float
    name: str = "remainder"

    def __post_init__(self) -> None:
        if not self.memory > 0.0:
            raise ValueError("the memory of variation must be positive")

    @property
    def priors(self) -> tuple[Prior, ...]:
        # A tenth of the values' deviation, and any share.
        return _around(0.1, 7.4), Prior(0.0, 2.0), _around(self.memory, 2.7)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(1)

    def move(self, theta: Any, dt: Array) -> StateTransition:
        kept = np.exp(-dt / np.exp(theta[..., 2, None]))[..., None]
        zero = np.zeros_like(kept)
        return StateTransition(kept, zero, self.initial(theta)[..., None] * (1.0 - kept**2), zero)

    def initial(self, theta: Any) -> Any:
        return np.exp(2.0 * theta[..., :1]) / (1.0 + np.exp(-theta[..., 1:2]))

    def noise(self, theta: Any) -> Any:
        """Return the variance (...) of the noise."""
        return np.exp(2.0 * theta[..., 0]) / (1.0 + np.exp(theta[..., 1]))


@register
@dataclass(frozen=True, slots=True)
class Waves(SeriesProcess):
    r"""A period and its harmonics, whose amplitudes and phases change.

    The kernel is :math:`s^2 e^{-|\Delta| / \ell} \sum_h h^{-2 a} \cos(2 \pi h \Delta / p)`.
    The memory :math:`\ell` is several ranges for a season, and a few periods for a cycle. A season
    of the calendar has the given period ``p``; others learn it, within about ``freedom`` of it.
    With ``by_clock`` the cosine's lag is that of the clock of a zone: the phase jumps where clocks
    change, and the memory does not.
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
        priors = [_around(0.2, 4.5), _around(self.memory, 4.5)]
        if self.n_harmonics > 1:
            priors.append(_around(1.0, 2.0))  # Amplitudes fall like 1 / h, give or take
        if self.freedom:
            priors.append(Prior(float(np.log(self.period)), self.freedom))
        return tuple(priors)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(2 * self.n_harmonics) ^ 1  # Cosines and sines in turn

    @property
    def _harmonics(self) -> Array:
        return np.arange(1.0, self.n_harmonics + 1.0)

    def move(self, theta: Any, dt: Array) -> StateTransition:
        memory = np.exp(theta[..., 1, None])
        period = np.exp(theta[..., -1, None]) if self.freedom else self.period
        kept = np.exp(-dt / memory)[..., None]
        angle = (2.0 * np.pi * dt / period)[..., None] * self._harmonics
        cosine, sine = kept * np.cos(angle), kept * np.sin(angle)
        variance = self._variances(theta)[..., None, :] * (1.0 - kept**2)
        return StateTransition(
            np.repeat(cosine, 2, axis=-1),
            np.stack([sine, -sine], axis=-1).reshape(*sine.shape[:-1], -1),
            np.repeat(variance, 2, axis=-1),
            np.zeros((1, 2 * self.n_harmonics)),
        )

    def initial(self, theta: Any) -> Any:
        return np.repeat(self._variances(theta), 2, axis=-1)

    def _variances(self, theta: Any) -> Any:
        """Return the variances (..., H) of the harmonics."""
        variance = np.exp(2.0 * theta[..., 0, None])
        if self.n_harmonics == 1:
            return variance
        return variance * np.exp(-2.0 * np.exp(theta[..., 2, None]) * np.log(self._harmonics))

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        found = np.zeros((len(times), 2 * self.n_harmonics))
        if clock is None or not self.by_clock:
            found[:, ::2] = 1.0
            return found
        # States turn with the time, and values have turned on by what the clock is ahead of it.
        angle = (2.0 * np.pi * clock / self.period)[:, None] * self._harmonics
        found[:, ::2], found[:, 1::2] = np.cos(angle), np.sin(angle)
        return found


@register
@dataclass(frozen=True, slots=True)
class Inputs(SeriesProcess):
    """Linear effects of known inputs, standardised, with one prior for all of them."""

    n_inputs: int
    name: str = "inputs"

    def __post_init__(self) -> None:
        if self.n_inputs < 1:
            raise ValueError("effects of inputs need at least one")

    @property
    def priors(self) -> tuple[Prior, ...]:
        return (_around(0.3, 4.5),)

    @property
    def partners(self) -> NDArray[np.int64]:
        return np.arange(self.n_inputs)

    def move(self, theta: Any, dt: Array) -> StateTransition:
        one = np.ones((len(dt), self.n_inputs))
        return StateTransition(one, 0.0 * one, 0.0 * one, 0.0 * one)

    def initial(self, theta: Any) -> Any:
        return np.repeat(np.exp(2.0 * theta[..., :1]), self.n_inputs, axis=-1)

    def weights(self, times: Array, inputs: Array, clock: Array | None = None) -> Array:
        return inputs
