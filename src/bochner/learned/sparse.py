"""Sparse frequencies: each acts on few inputs, with a learned spectrum for every input."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Index, Mask
from bochner.learned.prior import (
    AffineWhitening,
    FrequencyPrior,
    Suggestion,
    Whitening,
    crank_nicolson,
)

# Correlations of Crank-Nicolson steps: from nearly independent draws to steps of a 20th of a scale.
_CORRELATIONS = np.array([0.3, 0.8, 0.95, 0.99, 0.999])
# Shares of the kinds of proposals, in the order of ``SparsePrior.kinds``.
_SHARES = np.array([0.5, 0.25, 0.15, 0.1])
# Keeps logarithms of zero finite.
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, eq=False)
class SparseHyper:
    r"""Hyperparameters of sparse frequencies."""

    scale: Array  # (d,): Typical angular frequency of each input
    inclusion: tuple[float, float] = (1.0, 4.0)  # Beta prior of pi
    n_slabs: int = 4  # Components of each input's spectrum
    concentration: float = 1.0  # Sum of the parameters of the Dirichlet prior of their weights
    mean_strength: float = 0.2  # kappa: means are N(0, s^2/kappa) given the component's scale s
    shape: float = 1.0  # Variances are IG(shape, shape * scale^2): heavy tails


@dataclass(frozen=True, slots=True, eq=False)
class SparsePrior(FrequencyPrior):
    r"""Frequencies :math:`\omega_{ji} = \gamma_{ji} w_{ji}` with spike and slab.

    .. math:: \gamma_{ji} \sim \mathrm{Bernoulli}(\pi_i), \quad
              w_{ji} \sim \sum_c \rho_{ic} \tfrac12
              [N(\mu_{ic}, s_{ic}^2) + N(-\mu_{ic}, s_{ic}^2)],

    independent over inputs: the law of an analysis-of-variance kernel
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
        """Slab components with more than one per cent of their input's weight."""
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
        """Return slab draws for every input, of shape (size, d)."""
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
    """Return labels and signs of components, drawn given values (m, d), and their coordinates."""
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
