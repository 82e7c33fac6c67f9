"""The interface of priors over frequencies to the moves of a chain."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Index, Mask
from bochner.learned.gaussian_components import Components


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """Proposed values of some frequencies."""

    omega: Array  # (B, d)
    # (B,): Log ratio of prior times reverse proposal to prior times proposal
    log_ratio: Array
    kind: Index  # (B,): Index into the prior's kinds
    labels: Index | None = None  # (B,): Proposed labels, if frequencies have labels


class Whitening(ABC):
    """Coordinates in which the prior of every frequency, given its labels, is standard normal."""

    __slots__ = ()

    moving: Mask
    """Mask (m, d) of the coordinates that may change; other coordinates stay zero."""

    @abstractmethod
    def whiten(self, omega: Array) -> Array:
        """Return coordinates (m, d) of frequencies (m, d)."""

    @abstractmethod
    def colour(self, coordinates: Array) -> Array:
        """Return the frequencies at ``coordinates``, the inverse of :meth:`whiten`."""

    @abstractmethod
    def pull(self, gradient: Array) -> Array:
        """Return the gradient (m, d) by coordinates, given the gradient by frequencies."""


@dataclass(frozen=True, slots=True, eq=False)
class AffineWhitening(Whitening):
    """Coordinates (omega - centre) / scale if they may move, else zero; all are (m, d)."""

    centre: Array
    scale: Array
    moving: Mask

    def whiten(self, omega: Array) -> Array:
        return np.where(self.moving, (omega - self.centre) / self.scale, 0.0)

    def colour(self, coordinates: Array) -> Array:
        return np.where(self.moving, self.centre + self.scale * coordinates, 0.0)

    def pull(self, gradient: Array) -> Array:
        return np.where(self.moving, self.scale * gradient, 0.0)


class FrequencyPrior(ABC):
    """The parameters of an unknown law of frequencies, which are independent given the parameters.

    Values are immutable: :meth:`refresh` returns new parameters given the frequencies.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds of proposals."""

    @abstractmethod
    def sample(self, rng: Generator, n_frequencies: int) -> Array:
        """Return frequencies (m, d) drawn from the current law."""

    @abstractmethod
    def suggest(self, rng: Generator, omega: Array, index: Index) -> Suggestion:
        """Return proposals for the frequencies ``omega[index]``."""

    def decided(self, index: Index, suggestion: Suggestion, accepted: Mask) -> "FrequencyPrior":
        """Return the prior after some proposals for ``omega[index]`` were accepted."""
        return self

    @abstractmethod
    def refresh(self, rng: Generator, omega: Array) -> "FrequencyPrior":
        """Return the prior with hyper-parameters redrawn given all frequencies."""

    @abstractmethod
    def whitening(self, rng: Generator, omega: Array) -> Whitening:
        """Return coordinates for Hamiltonian moves, given newly drawn labels of components."""

    @property
    def n_components(self) -> int:
        """Number of components of the mixture in use; zero unless overridden."""
        return 0

    def extended(
        self, rng: Generator, omega: Array, n_frequencies: int
    ) -> tuple[Array, "FrequencyPrior"]:
        """Return ``omega`` with more frequencies drawn from the prior, and the prior of all."""
        return np.concatenate([omega, self.sample(rng, n_frequencies - len(omega))]), self

    def components(self) -> Components | None:
        """Return the mixture over frequencies; ``None`` if the frequencies describe it better."""
        return None


def crank_nicolson(rng: Generator, coordinates: Array, correlations: Array) -> Array:
    r"""Return :math:`\rho \xi + \sqrt{1 - \rho^2}\, \zeta`, with ``rho`` drawn for each row.

    The proposal keeps standard normal coordinates invariant, so that the prior cancels in the
    acceptance ratio.
    """
    # Large and small steps alternate at random, so that no step size is adapted.
    rho = rng.choice(correlations, size=(len(coordinates), 1))
    fresh = rng.normal(size=coordinates.shape)
    return rho * coordinates + np.sqrt(1.0 - rho**2) * fresh
