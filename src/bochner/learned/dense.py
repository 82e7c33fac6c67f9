"""Dense frequencies: a Dirichlet-process mixture of Gaussians over all inputs at once."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Index, Mask
from bochner.learned.dirichlet_mixture import Mixture, MixturePrior, init, step
from bochner.learned.gaussian_components import Components
from bochner.learned.prior import FrequencyPrior, Suggestion, Whitening, crank_nicolson

CORRELATIONS = (0.0, 0.7, 0.9, 0.99)
"""Correlations of the Crank-Nicolson moves; a single zero is the independence proposal of BaNK."""

JUMPS = 0.25
"""Share of the proposals that draw a new component, and the frequency from it."""


@dataclass(frozen=True, slots=True, eq=False)
class DensePrior(FrequencyPrior):
    """The mixture of BaNK: every frequency is a Gaussian draw of its component."""

    hyper: MixturePrior
    mixture: Mixture  # Labels of the frequencies and parameters of the components
    correlations: tuple[float, ...] = CORRELATIONS
    jumps: float = JUMPS  # Share of the proposals that draw a component, too

    kinds: ClassVar[tuple[str, ...]] = ("pcn", "jump")

    @classmethod
    def start(cls, rng: Generator, hyper: MixturePrior, omega: Array) -> "DensePrior":
        """Return a prior that is fitted to frequencies (m, d)."""
        return cls(hyper, init(rng, omega, hyper))

    @property
    def n_components(self) -> int:
        return self.mixture.n_components

    def sample(self, rng: Generator, n_frequencies: int) -> Array:
        if n_frequencies != len(self.mixture.labels):
            raise ValueError(
                f"This mixture labels {len(self.mixture.labels)} frequencies, not {n_frequencies}."
            )
        shape = (n_frequencies, self.mixture.means.shape[1])
        return self.mixture.colour(rng.normal(size=shape))

    def suggest(self, rng: Generator, omega: Array, index: Index) -> Suggestion:
        mixture = self.mixture
        coordinates = mixture.whiten(omega[index], index)
        moved = crank_nicolson(rng, coordinates, np.asarray(self.correlations))
        labels, jumping = mixture.labels[index], np.zeros(len(index), dtype=np.bool_)
        if self.jumps:
            labels, jumping = self._jumps(rng, index)
        # A frequency of a new component is an independent draw from it.
        moved[jumping] = rng.normal(size=moved[jumping].shape)
        member = np.unique(mixture.labels, return_index=True)[1]
        proposed = mixture.colour(moved, member[labels])
        return Suggestion(proposed, np.zeros(len(index)), jumping.astype(np.intp), labels)

    def decided(self, index: Index, suggestion: Suggestion, accepted: Mask) -> "DensePrior":
        if suggestion.labels is None or not self.jumps:
            return self
        labels = self.mixture.labels.copy()
        labels[index[accepted]] = suggestion.labels[accepted]
        return replace(self, mixture=replace(self.mixture, labels=labels))

    def _jumps(self, rng: Generator, index: Index) -> tuple[Index, Mask]:
        """Return labels (B,), some of them proposed, and a mask of the proposed ones.

        Given component weights drawn from their posterior, the label and the value of a frequency
        are independent of other frequencies, so that only the likelihood enters the acceptance
        ratio. In a random order, the first member of every component has to stay, and frequencies
        before the first member of a component may not join it. The reverse proposal then has the
        same probability.
        """
        labels = self.mixture.labels
        weights = rng.dirichlet(np.bincount(labels))
        # A new random order for each block: otherwise some frequencies could never move.
        priority = rng.permutation(len(labels))
        first = np.full(len(weights), len(labels))
        np.minimum.at(first, labels, priority)
        proposed = rng.choice(len(weights), size=len(index), p=weights)
        current = labels[index]
        free = (priority[index] > first[current]) & (priority[index] > first[proposed])
        jumping = free & (rng.random(len(index)) < self.jumps)
        return np.where(jumping, proposed, current), jumping

    def refresh(self, rng: Generator, omega: Array) -> "DensePrior":
        return replace(self, mixture=step(rng, self.mixture, omega, self.hyper))

    def whitening(self, rng: Generator, omega: Array) -> Whitening:
        return _Components(self.mixture, np.ones(omega.shape, dtype=np.bool_))

    def extended(
        self, rng: Generator, omega: Array, n_frequencies: int
    ) -> tuple[Array, "DensePrior"]:
        # Copies of labels keep the expected shares of components.
        like = rng.integers(len(omega), size=n_frequencies - len(omega))
        fresh = rng.normal(size=(len(like), omega.shape[1]))
        labels = self.mixture.labels
        mixture = replace(self.mixture, labels=np.concatenate([labels, labels[like]]))
        more = mixture.colour(fresh, np.arange(len(omega), n_frequencies))
        return np.concatenate([omega, more]), replace(self, mixture=mixture)

    def components(self) -> Components:
        mixture = self.mixture
        return Components(mixture.weights, mixture.means, mixture.covariances)


@dataclass(frozen=True, slots=True, eq=False)
class _Components(Whitening):
    """Coordinates of each frequency relative to its component."""

    mixture: Mixture
    moving: Mask

    def whiten(self, omega: Array) -> Array:
        return self.mixture.whiten(omega)

    def colour(self, coordinates: Array) -> Array:
        return self.mixture.colour(coordinates)

    def pull(self, gradient: Array) -> Array:
        return self.mixture.colour_gradient(gradient)
