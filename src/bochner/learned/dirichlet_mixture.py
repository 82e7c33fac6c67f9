r"""A Dirichlet-process mixture of Gaussians over frequencies: Gibbs sampler and chain prior.

.. math:: \pi \sim \mathrm{GEM}(\alpha), \quad (\mu_k, \Sigma_k) \sim \mathrm{NIW}, \quad
          z_j \sim \pi, \quad \omega_j \sim N(\mu_{z_j}, \Sigma_{z_j}), \quad j = 1, \dots, m.

The weights are integrated out, so that labels follow a Chinese restaurant process. Only the
parameters of components with frequencies are stored (Neal's algorithm 2).

Sources: Oliva et al. (2016; see :class:`bochner.LearnedKernelRegressor`), sections 2.2, 3.1 and
3.2. Neal, "Markov chain sampling methods for Dirichlet process mixture models", 2000.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import exp, inf
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array, Index, Mask
from bochner.learned.gaussian_components import Components
from bochner.learned.prior import FrequencyPrior, Suggestion, Whitening, crank_nicolson
from bochner.learned.wishart import (
    GammaPrior,
    GaussianComponent,
    NormalInverseWishart,
    covariance_factor,
)

Labels = NDArray[np.intp]
Rows = NDArray[np.intp] | slice | None
Method = Callable[[GaussianComponent, Array], Array]


@dataclass(frozen=True, slots=True, eq=False)
class MixturePrior:
    r"""The prior ``base`` of components, and the prior ``concentration`` of :math:`\alpha`.

    ``m`` frequencies have about :math:`\alpha \log(1 + m / \alpha)` components.
    """

    base: NormalInverseWishart
    concentration: GammaPrior


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    r"""The labels (m,) of frequencies and the means (K, d) and covariances of their components.

    Labels are in ``0 .. K - 1`` and no component is empty; means are in radians per unit of the
    inputs. Methods take one row per frequency, or per frequency of ``rows`` (indices or a slice).
    Raises ValueError if a matrix is not a covariance.
    """

    labels: Labels
    means: Array
    covariances: Array
    concentration: float
    _components: tuple[GaussianComponent, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        components = tuple(
            GaussianComponent(mean, covariance_factor(f"covariances[{k}]", self.covariances[k]))
            for k, mean in enumerate(self.means)
        )
        object.__setattr__(self, "_components", components)

    @property
    def n_components(self) -> int:
        """Number of components, all of which have frequencies."""
        return len(self.means)

    @property
    def weights(self) -> Array:
        """Share of the frequencies in each component, of shape (K,)."""
        return np.asarray(np.bincount(self.labels) / len(self.labels))

    def whiten(self, omega: Array, rows: Rows = None) -> Array:
        r"""Return :math:`L^{-1}(\omega - \mu)`, (m, d), where L is the Cholesky factor."""
        return self._by_component(GaussianComponent.whiten, omega, rows)

    def colour(self, xi: Array, rows: Rows = None) -> Array:
        r"""Return :math:`\mu + L \xi`, (m, d), the inverse of :meth:`whiten`."""
        return self._by_component(GaussianComponent.colour, xi, rows)

    def colour_gradient(self, gradient: Array, rows: Rows = None) -> Array:
        r"""Return :math:`L^\top g`, (m, d): the gradient with respect to whitened coordinates."""
        return self._by_component(GaussianComponent.colour_gradient, gradient, rows)

    def log_table(self, omega: Array) -> Array:
        """Return the log density of each frequency (m, d) in each component, (m, K)."""
        return np.stack([component.log_density(omega) for component in self._components], axis=1)

    def _by_component(self, method: Method, values: Array, rows: Rows) -> Array:
        result = np.empty_like(values)
        labels = self.labels if rows is None else self.labels[rows]
        for k, component in enumerate(self._components):
            chosen = np.flatnonzero(labels == k)
            if len(chosen):
                result[chosen] = method(component, values[chosen])
        return result


def sample_prior(rng: Generator, prior: MixturePrior, n_frequencies: int) -> tuple[Mixture, Array]:
    """Return a mixture and its frequencies (m, d), drawn from the generative model."""
    concentration = prior.concentration.sample(rng)
    counts, seats = [concentration], []
    for uniform in rng.random(n_frequencies).tolist():
        seats.append(_join(counts, _pick(counts, [0.0] * len(counts), uniform)))
    means, covariances = zip(*(prior.base.sample(rng) for _ in counts[1:]), strict=True)
    mixture = Mixture(np.array(seats) - 1, np.array(means), np.array(covariances), concentration)
    return mixture, mixture.colour(rng.standard_normal((n_frequencies, prior.base.dim)))


def init(rng: Generator, omega: Array, prior: MixturePrior) -> Mixture:
    """Return an initial mixture for frequencies (m, d), which join components one by one.

    The probability of a component is its count times the density of the frequency given the
    frequencies that have joined it. The concentration starts at its prior mean.
    """
    concentration = prior.concentration.shape / prior.concentration.rate
    laws, counts, seats = [prior.base], [concentration], []
    for row, uniform in zip(omega[:, None], rng.random(len(omega)).tolist(), strict=True):
        logs = [float(law.log_marginal(row)[0]) for law in laws]
        seat = _join(counts, _pick(counts, logs, uniform))
        if seat == len(laws):
            laws.append(prior.base)
        laws[seat] = laws[seat].posterior(row)
        seats.append(seat)
    return _with_parameters(rng, np.array(seats) - 1, omega, prior.base, concentration)


def step(rng: Generator, mixture: Mixture, omega: Array, prior: MixturePrior) -> Mixture:
    """Return the mixture after one Gibbs sweep at fixed frequencies (m, d).

    The labels are redrawn in turn, then the concentration and the parameters of every component.
    """
    labels = sample_labels(rng, mixture, omega, prior.base)
    used, last = int(labels.max()) + 1, mixture.concentration
    concentration = prior.concentration.sample_given(rng, last, used, len(labels))
    return _with_parameters(rng, labels, omega, prior.base, concentration)


def sample_labels(
    rng: Generator, mixture: Mixture, omega: Array, base: NormalInverseWishart
) -> Labels:
    """Return labels (m,) redrawn in turn, renumbered so that no component is empty.

    Oliva et al. (2016), equation (8). A frequency that starts a component draws its parameters
    from their posterior; later frequencies may join that component.
    """
    # Seat 0 is a new component, whose count is the concentration.
    table = np.column_stack((base.log_marginal(omega), mixture.log_table(omega))).tolist()
    counts = [mixture.concentration, *np.bincount(mixture.labels).tolist()]
    # Lists, because arrays of a few numbers are slower in a loop of Python.
    seats = (mixture.labels + 1).tolist()
    for j, uniform in enumerate(rng.random(len(seats)).tolist()):
        # Without the frequency itself, as the Chinese restaurant process requires.
        choice = _pick(_without(counts, seats[j]), table[j], uniform)
        if choice == 0:
            mean, covariance = base.posterior(omega[j : j + 1]).sample(rng)
            component = GaussianComponent(mean, covariance_factor("covariance", covariance))
            # Only later frequencies may join the new component in this sweep.
            column = component.log_density(omega[j + 1 :])
            for row, value in zip(table[j + 1 :], column.tolist(), strict=True):
                row.append(value)
        counts[seats[j]] -= 1
        seats[j] = _join(counts, choice)
    return np.asarray(np.unique(seats, return_inverse=True)[1])


def _with_parameters(
    rng: Generator, labels: Labels, omega: Array, base: NormalInverseWishart, concentration: float
) -> Mixture:
    """Draw the parameters of every component given its frequencies."""
    laws = (base.posterior(omega[labels == k]) for k in range(int(labels.max()) + 1))
    means, covariances = zip(*(law.sample(rng) for law in laws), strict=True)
    return Mixture(labels, np.array(means), np.array(covariances), concentration)


def _without(counts: list[float], seat: int) -> list[float]:
    """Return the counts without one frequency of ``seat``."""
    return [count - (k == seat) for k, count in enumerate(counts)]


def _pick(counts: list[float], logs: list[float], uniform: float) -> int:
    """Return an index with probability in proportion to its count times exp(log)."""
    cumulative = _cumulative(counts, logs)
    # The greatest log contributes its count, which is at least 1 unless its component is empty. In
    # that case all other terms may underflow, and logs are taken relative to the greatest of them.
    if cumulative[-1] < 1e-200:
        logs = [log if count else -inf for count, log in zip(counts, logs, strict=True)]
        cumulative = _cumulative(counts, logs)
    return bisect_right(cumulative, uniform * cumulative[-1])


def _cumulative(counts: list[float], logs: list[float]) -> list[float]:
    top = max(logs)
    return list(accumulate([c * exp(log - top) for c, log in zip(counts, logs, strict=True)]))


def _join(counts: list[float], seat: int) -> int:
    """Add one to the count of a seat in place, of a new seat for seat 0, and return the seat."""
    if seat == 0:
        counts.append(0)
        seat = len(counts) - 1
    counts[seat] += 1
    return seat


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
