"""Sparse and Gaussian-mixture priors over frequencies, with the proposals of chain moves."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Index, Mask
from bochner.learned.dirichlet_mixture import Mixture, MixturePrior, init, step


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """A mixture of ``Q`` weighted Gaussians over frequencies."""

    weights: Array  # (Q,)
    means: Array  # (Q, d)
    covariances: Array  # (Q, d, d)

    def __post_init__(self) -> None:
        q, d = self.means.shape
        if self.weights.shape != (q,) or self.covariances.shape != (q, d, d):
            raise ValueError(
                f"weights of shape {self.weights.shape} and covariances of shape "
                f"{self.covariances.shape} do not fit to means of shape {(q, d)}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """Values of some frequencies that a prior proposes to a chain."""

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
    """Whitening by (omega - centre) / scale, and zero for fixed entries; arrays are (m, d)."""

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
    """A prior of frequencies, which are independent given its parameters.

    Priors are immutable: :meth:`refresh` returns a new prior, given the frequencies.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """Names of the kinds of proposals that :meth:`suggest` makes, as the trace shows them."""

    @abstractmethod
    def sample(self, rng: Generator, n_frequencies: int) -> Array:
        """Return frequencies (m, d) drawn with the current parameters."""

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
        """Return ``omega`` extended to ``n_frequencies`` rows by prior draws, and the prior."""
        return np.concatenate([omega, self.sample(rng, n_frequencies - len(omega))]), self

    def components(self) -> Components | None:
        """Return the prior as a Gaussian mixture; ``None`` if frequencies describe it better."""
        return None


def crank_nicolson(rng: Generator, coordinates: Array, correlations: Array) -> Array:
    r"""Return proposals :math:`\rho \xi + \sqrt{1 - \rho^2}\, \zeta` for coordinates :math:`\xi`.

    ``rho`` is drawn for each row. Proposals keep the standard normal law of coordinates, so that
    the prior cancels in the acceptance ratio.
    """
    # Large and small steps alternate at random, so that no step size is adapted.
    rho = rng.choice(correlations, size=(len(coordinates), 1))
    fresh = rng.normal(size=coordinates.shape)
    return rho * coordinates + np.sqrt(1.0 - rho**2) * fresh


# Correlations of Crank-Nicolson steps: from nearly independent draws to steps of a 20th of a scale.
_CORRELATIONS = np.array([0.3, 0.8, 0.95, 0.99, 0.999])
# Shares of the kinds of proposals, in the order of ``SparsePrior.kinds``.
_SHARES = np.array([0.5, 0.25, 0.15, 0.1])
# Keeps logarithms of zero finite.
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class SparseHyper:
    r"""Fixed hyperparameters of :class:`SparsePrior`."""

    scale: Array  # (d,): Typical angular frequency of each input
    inclusion: tuple[float, float] = (1.0, 4.0)  # Beta prior of pi
    n_slabs: int = 4  # Components of each input's spectrum
    concentration: float = 1.0  # Sum of the parameters of the Dirichlet prior of their weights
    mean_strength: float = 0.2  # kappa: means are N(0, s^2/kappa) given the component's scale s
    shape: float = 1.0  # Variances are IG(shape, shape * scale^2): heavy tails


@dataclass(frozen=True, slots=True, eq=False)
class SparsePrior(FrequencyPrior):
    r"""Prior of frequencies that act on few inputs, :math:`\omega_{ji} = \gamma_{ji} w_{ji}`.

    .. math:: \gamma_{ji} \sim \mathrm{Bernoulli}(\pi_i), \quad
              w_{ji} \sim \sum_c \rho_{ic} \tfrac12
              [N(\mu_{ic}, s_{ic}^2) + N(-\mu_{ic}, s_{ic}^2)],

    independent over inputs: the spectral distribution of an analysis-of-variance kernel
    :math:`\prod_i (1 - \pi_i + \pi_i k_i(\Delta_i))` whose factors are spectral mixtures. All of
    ``pi``, ``rho``, ``mu`` and ``s`` are unknown.
    """

    hyper: SparseHyper
    inclusion: Array  # (d,): pi
    weights: Array  # (d, K): rho, mu and s
    means: Array  # (d, K)
    scales: Array  # (d, K)

    kinds: ClassVar[tuple[str, ...]] = ("pcn", "toggle", "swap", "redraw")

    @classmethod
    def start(cls, hyper: SparseHyper) -> "SparsePrior":
        """Return an initial prior: two active inputs per frequency, scales over three octaves."""
        d, K = len(hyper.scale), hyper.n_slabs
        return cls(
            hyper=hyper,
            inclusion=np.full(d, min(0.5, 2.0 / d)),
            weights=np.full((d, K), 1.0 / K),
            means=np.zeros((d, K)),
            scales=hyper.scale[:, None] * np.geomspace(0.5, 4.0, K),
        )

    @property
    def n_components(self) -> int:
        """Number of slab components with more than one per cent of the weight of their input."""
        return int(np.count_nonzero(self.weights > 0.01))

    def sample(self, rng: Generator, n_frequencies: int) -> Array:
        active = rng.random((n_frequencies, len(self.inclusion))) < self.inclusion
        return np.where(active, self._slab(rng, n_frequencies), 0.0)

    def suggest(self, rng: Generator, omega: Array, index: Index) -> Suggestion:
        current = omega[index]
        size = len(index)
        kind = rng.choice(len(self.kinds), size=size, p=_SHARES)
        log_ratio, fresh = np.zeros(size), self._slab(rng, size)
        active = current != 0.0
        # Prior log odds of an active input.
        odds = np.log(self.inclusion + _TINY) - np.log1p(-self.inclusion)
        # Candidates of a swap: an active input gives way to an inactive one.
        first, second = _two_inputs(rng, active)
        coordinate = rng.integers(active.shape[1], size=size)
        law = _slabs(rng, self, current)[2]
        moved = law.colour(crank_nicolson(rng, law.whiten(current), _CORRELATIONS))
        # An independent draw of the whole frequency.
        drawn = np.where(rng.random(active.shape) < self.inclusion, fresh, 0.0)
        proposed = np.select([kind[:, None] == 0, kind[:, None] == 3], [moved, drawn], current)
        # A toggle draws the value from the slab, so that its density cancels in the ratio.
        toggled = np.flatnonzero(kind == 1)
        i = coordinate[toggled]
        off = active[toggled, i]
        proposed[toggled, i] = np.where(off, 0.0, fresh[toggled, i])
        log_ratio[toggled] = np.where(off, -odds[i], odds[i])
        swapped = np.flatnonzero((kind == 2) & (first >= 0))
        i, entering = first[swapped], second[swapped]
        proposed[swapped, i], proposed[swapped, entering] = 0.0, fresh[swapped, entering]
        log_ratio[swapped] = odds[entering] - odds[i]
        return Suggestion(proposed, log_ratio, kind)

    def refresh(self, rng: Generator, omega: Array) -> "SparsePrior":
        hyper = self.hyper
        active = omega != 0.0
        counts, (a, b) = active.sum(axis=0), hyper.inclusion
        inclusion = rng.beta(a + counts, b + len(omega) - counts)
        label, sign, _ = _slabs(rng, self, omega)
        # One-hot labels of active coordinates: sums over frequencies by input and component.
        member = (label[:, :, None] == np.arange(hyper.n_slabs)) & active[:, :, None]
        upright = (sign * omega)[:, :, None] * member
        n, total = member.sum(axis=0), upright.sum(axis=0)
        strength = hyper.mean_strength + n
        centre = total / strength
        spread = (upright**2).sum(axis=0) - strength * centre**2
        # Conjugate normal inverse gamma updates of each component.
        rate = hyper.shape * hyper.scale[:, None] ** 2 + 0.5 * spread
        variance = rate / rng.gamma(hyper.shape + 0.5 * n)
        # Normalised gamma variates are a draw from the Dirichlet posterior.
        gammas = rng.gamma(hyper.concentration / hyper.n_slabs + n) + _TINY
        return replace(
            self,
            inclusion=inclusion,
            weights=gammas / gammas.sum(axis=1, keepdims=True),
            means=centre + np.sqrt(variance / strength) * rng.normal(size=n.shape),
            scales=np.sqrt(variance),
        )

    def whitening(self, rng: Generator, omega: Array) -> Whitening:
        return _slabs(rng, self, omega)[2]

    def _slab(self, rng: Generator, size: int) -> Array:
        """Return nonzero values (size, d) of frequencies, drawn from the slabs of all inputs."""
        d, K = self.weights.shape
        # Labels by the inverse of the cumulative weights.
        level = rng.random((size, d, 1))
        label = np.minimum((level > np.cumsum(self.weights, axis=1)).sum(axis=2), K - 1)
        inputs = np.arange(d)
        sign = rng.choice([-1.0, 1.0], size=(size, d))
        fresh = rng.normal(size=(size, d))
        drawn: Array = sign * self.means[inputs, label] + self.scales[inputs, label] * fresh
        return drawn


def _slabs(
    rng: Generator, prior: SparsePrior, omega: Array
) -> tuple[Index, Array, AffineWhitening]:
    """Return labels and signs of slabs, drawn given frequencies (m, d), and their whitening."""
    K = prior.hyper.n_slabs
    log_weight = np.log(prior.weights) - np.log(prior.scales)
    score = [
        log_weight - 0.5 * ((sign * omega[:, :, None] - prior.means) / prior.scales) ** 2
        for sign in (1.0, -1.0)
    ]
    # Both signs of each component are labels.
    table = np.concatenate(score, axis=2)
    choice = np.argmax(table + rng.gumbel(size=table.shape), axis=2)
    label, sign = choice % K, np.where(choice < K, 1.0, -1.0)
    inputs = np.arange(omega.shape[1])
    centre, scale = sign * prior.means[inputs, label], prior.scales[inputs, label]
    return label, sign, AffineWhitening(centre, scale, omega != 0.0)


def _two_inputs(rng: Generator, active: Mask) -> tuple[Index, Index]:
    """Return a random active and a random inactive input of each row; -1 if either is missing."""
    level = rng.random(active.shape)
    first = np.where(active, level, -1.0).argmax(axis=1)
    second = np.where(active, -1.0, level).argmax(axis=1)
    mixed = active.any(axis=1) & ~active.all(axis=1)
    return np.where(mixed, first, -1), np.where(mixed, second, -1)


CORRELATIONS = (0.0, 0.7, 0.9, 0.99)
"""Correlations of the Crank-Nicolson moves; a single zero is the independence proposal of BaNK."""

JUMPS = 0.25
"""Share of the proposals that draw a new component, and the frequency from it."""


@dataclass(frozen=True, slots=True, eq=False)
class DensePrior(FrequencyPrior):
    """Gaussian mixture prior (BaNK): each frequency is a draw from its component."""

    hyper: MixturePrior
    mixture: Mixture  # Labels of the frequencies and parameters of the components
    correlations: tuple[float, ...] = CORRELATIONS
    jumps: float = JUMPS  # Share of the proposals that also draw a component

    kinds: ClassVar[tuple[str, ...]] = ("pcn", "jump")

    @classmethod
    def start(cls, rng: Generator, hyper: MixturePrior, omega: Array) -> "DensePrior":
        """Return a prior whose mixture is initialised from frequencies (m, d)."""
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
        """Return component labels (B,) of frequencies, and the mask of labels that are proposals.

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
    """Whitening of each frequency by the mean and covariance of its component."""

    mixture: Mixture
    moving: Mask

    def whiten(self, omega: Array) -> Array:
        return self.mixture.whiten(omega)

    def colour(self, coordinates: Array) -> Array:
        return self.mixture.colour(coordinates)

    def pull(self, gradient: Array) -> Array:
        return self.mixture.colour_gradient(gradient)


def frequency_components(omega: Array) -> Components:
    """Return Gaussians fitted to sparse frequencies (m, d), one per set of inputs and octave.

    The sign of a frequency does not change the kernel. A Gaussian therefore has mean zero, unless
    its frequencies are far from zero relative to their spread.
    """
    active = omega != 0.0
    octave = np.floor(np.log2(np.maximum(np.linalg.norm(omega, axis=1), 1e-6)))
    octave[~active.any(axis=1)] = 0.0
    patterns, which = np.unique(np.column_stack([active, octave]), axis=0, return_inverse=True)
    groups = [omega[which.ravel() == index] for index in range(len(patterns))]
    means, covariances = zip(*map(_gaussian, groups), strict=True)
    weights = np.array([len(members) / len(omega) for members in groups])
    return Components(weights, np.array(means), np.array(covariances))


def _gaussian(members: Array) -> tuple[Array, Array]:
    """Return mean and covariance of frequencies (m, d), after aligning their arbitrary signs."""
    second = members.T @ members / len(members)
    if len(members) == 1:
        return members[0], np.zeros_like(second)
    # Signs are chosen so that all frequencies point along the largest second moment.
    direction = np.linalg.eigh(second)[1][:, -1]
    turned = members * np.where(members @ direction < 0, -1.0, 1.0)[:, None]
    mean = turned.mean(axis=0)
    spread = turned - mean
    # Only a spectral line away from zero has a mean of two deviations: a half-normal has 1.3,
    # and half a ring has less than two, too.
    if np.linalg.norm(mean) < 2.0 * np.sqrt(np.mean(np.sum(spread**2, axis=1))):
        return np.zeros(members.shape[1]), second
    return mean, spread.T @ spread / len(members)
