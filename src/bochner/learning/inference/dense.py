"""Dense frequencies: a Dirichlet-process mixture of Gaussians over all inputs at once."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.inference.components import Components
from bochner.learning.inference.prior import (
    FrequencyPrior,
    Suggestion,
    Whitening,
    crank_nicolson,
)
from bochner.learning.mixture import Mixture, MixturePrior, init, step

CORRELATIONS = (0.0, 0.7, 0.9, 0.99)
"""Of the Crank-Nicolson moves; zero alone is the paper's independence proposal."""


@dataclass(frozen=True, slots=True, eq=False)
class DensePrior(FrequencyPrior):
    """The mixture of the paper: every frequency is a Gaussian draw of its component.

    Parameters
    ----------
    hyper : MixturePrior
    mixture : Mixture
        Labels of the frequencies and parameters of the components.
    correlations : tuple of float
        Of the Crank-Nicolson moves.
    """

    hyper: MixturePrior
    mixture: Mixture
    correlations: tuple[float, ...] = CORRELATIONS

    kinds: ClassVar[tuple[str, ...]] = ("pcn",)

    @classmethod
    def start(
        cls,
        rng: np.random.Generator,
        hyper: MixturePrior,
        omega: Array,
        correlations: tuple[float, ...] = CORRELATIONS,
    ) -> "DensePrior":
        """Return a start that fits given frequencies."""
        return cls(hyper, init(rng, omega, hyper), correlations)

    @property
    def n_components(self) -> int:
        return self.mixture.n_components

    def sample(self, rng: np.random.Generator, n_frequencies: int) -> Array:
        if n_frequencies != len(self.mixture.labels):
            raise ValueError(
                f"This mixture labels {len(self.mixture.labels)} frequencies, not {n_frequencies}."
            )
        shape = (n_frequencies, self.mixture.means.shape[1])
        return self.mixture.colour(rng.normal(size=shape))

    def suggest(
        self, rng: np.random.Generator, omega: Array, index: NDArray[np.intp]
    ) -> Suggestion:
        coordinates = self.mixture.whiten(omega[index], index)
        moved = crank_nicolson(rng, coordinates, np.asarray(self.correlations))
        return Suggestion(
            self.mixture.colour(moved, index),
            np.zeros(len(index)),
            np.zeros(len(index), dtype=np.intp),
        )

    def refresh(self, rng: np.random.Generator, omega: Array) -> "DensePrior":
        return replace(self, mixture=step(rng, self.mixture, omega, self.hyper))

    def whitening(self, rng: np.random.Generator, omega: Array) -> Whitening:
        return _Components(self.mixture, np.ones(omega.shape, dtype=np.bool_))

    def extended(
        self, rng: np.random.Generator, omega: Array, n_frequencies: int
    ) -> tuple[Array, "DensePrior"]:
        like = rng.integers(len(omega), size=n_frequencies - len(omega))
        fresh = rng.normal(size=(len(like), omega.shape[1]))
        labels = self.mixture.labels
        mixture = Mixture(
            labels=np.concatenate([labels, labels[like]]),
            means=self.mixture.means,
            covariances=self.mixture.covariances,
            concentration=self.mixture.concentration,
        )
        more = mixture.colour(fresh, np.arange(len(omega), n_frequencies))
        return np.concatenate([omega, more]), replace(self, mixture=mixture)

    def components(self) -> Components:
        mixture = self.mixture
        return Components(mixture.weights, mixture.means, mixture.covariances)

    def state(self) -> dict[str, Any]:
        return {
            name: getattr(self.mixture, name)
            for name in ("labels", "means", "covariances", "concentration")
        }

    def restored(self, state: dict[str, Any]) -> "DensePrior":
        return replace(self, mixture=Mixture(**state))


@dataclass(frozen=True, slots=True, eq=False)
class _Components(Whitening):
    """Coordinates of each frequency in its own component."""

    mixture: Mixture
    moving: NDArray[np.bool_]

    def whiten(self, omega: Array) -> Array:
        return self.mixture.whiten(omega)

    def colour(self, coordinates: Array) -> Array:
        return self.mixture.colour(coordinates)

    def pull(self, gradient: Array) -> Array:
        return self.mixture.colour_gradient(gradient)
