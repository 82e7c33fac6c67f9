"""Structures of frequencies: their priors, and where chains start from them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner.frequencies.waves import MemoryLayout, wave_features
from bochner.learning.chains.dense import DensePrior
from bochner.learning.chains.prior import FrequencyPrior
from bochner.learning.chains.sparse import SparseHyper, SparsePrior
from bochner.learning.mixtures.mixture import MixturePrior
from bochner.learning.mixtures.wishart import GammaPrior, NormalInverseWishart
from bochner.registry import register

_MEAN_STRENGTH = 0.05
"""Frequencies that the prior mean of a component is worth: it spreads over 4.5 typical scales."""

_CANDIDATES = 4000
"""Frequencies among which a start searches: more find narrower lines, at a cost in proportion."""

_PURSUED = 24
"""Most frequencies that a start takes from the data; each costs a pass over the candidates."""

_PURSUIT_ROWS = 2000
"""Rows on which they are searched; with the candidates they make arrays of 64 MB."""

_WIDEST = 300.0
"""Highest frequency searched, in radians per standard deviation: some 150 periods of the range."""

_FEWEST_VALUES = 8
"""Different values below which an input has no frequency to search."""

_INSIGNIFICANT = 3.0
"""Margin over the logarithm of the candidates: noise exceeds it about once in e^3 searches, as a
wave explains of noise twice its variance times an exponential variate."""

_JITTER = 0.02
"""Standard deviation of copies of a found frequency, in typical scales: near, but not equal."""

_MOST_COPIES = 8
"""Most copies of a found frequency, which let its component have a spread."""

_LEAST_NORM = 1e-6
"""Least mean square of a candidate off the trend; below it, rounding would be amplified."""

Start = tuple[Array, FrequencyPrior]
"""Frequencies (m, d) and the parameters of their law."""


class Structure(ABC):
    """A family of priors of frequencies, with a start that fits given data.

    ``BaNKRegressor(structure=...)`` takes an instance, or a string that stands for one.

    Attributes
    ----------
    name : str
        Name in the fitted model.
    is_discrete : bool
        Whether frequencies have discrete parts, which moves along gradients cannot change.
    """

    __slots__ = ()

    name: ClassVar[str]
    is_discrete: ClassVar[bool]

    @abstractmethod
    def start(self, rng: Generator, scale: Array, n_frequencies: int, X: Array, y: Array) -> Start:
        """Return frequencies (m, d) and prior to start a chain from.

        ``scale`` (d,) are typical angular frequencies of the inputs, and ``X`` (n, d) and ``y``
        (n,) the data.
        """

    def suits(self, dim: int) -> bool:
        """Return whether the structure is worth a trial with ``dim`` inputs."""
        return True


@register
@dataclass(frozen=True, slots=True)
class SparseStructure(Structure):
    """Frequencies that act on few inputs; see :class:`SparsePrior`."""

    name: ClassVar[str] = "sparse"
    is_discrete: ClassVar[bool] = True

    def start(self, rng: Generator, scale: Array, n_frequencies: int, X: Array, y: Array) -> Start:
        """Return frequencies of the prior, and some that explain ``y``, each along one input."""
        prior = SparsePrior.start(SparseHyper(scale))
        finest = finest_frequencies(X)
        fine = np.flatnonzero(finest > scale)
        omega = prior.sample(rng, n_frequencies)
        if not len(fine):
            return omega, prior
        which = rng.choice(fine, size=_CANDIDATES)
        single = np.zeros((_CANDIDATES, len(scale)))
        size = rng.uniform(np.log(0.5 * scale[which]), np.log(finest[which]))
        single[np.arange(_CANDIDATES), which] = np.exp(size)
        pursued = _pursued(rng, X, y, single, n_frequencies)
        omega[: len(pursued)] = pursued
        return omega, prior

    def suits(self, dim: int) -> bool:
        return dim > 1


_MOST_DENSE = 100
"""Inputs up to which dense frequencies are tried: a round takes products of d x d matrices for each
of their components, 0.2 s for 100 inputs and eight times as much for 200."""


@register
@dataclass(frozen=True, slots=True)
class DenseStructure(Structure):
    """Frequencies that act on all inputs; see :class:`DensePrior`."""

    name: ClassVar[str] = "dense"
    is_discrete: ClassVar[bool] = False

    def suits(self, dim: int) -> bool:
        return dim <= _MOST_DENSE

    def start(self, rng: Generator, scale: Array, n_frequencies: int, X: Array, y: Array) -> Start:
        """Return frequencies of a broad law, and some on lines that local moves would not find."""
        d = len(scale)
        directions = rng.normal(size=(_CANDIDATES, d))
        # A frequency and its negative are one: lines of either sign would make one broad component.
        directions *= np.where(directions[:, :1] < 0, -1.0, 1.0)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        finest = np.maximum(finest_frequencies(X), scale)
        most = np.min(finest / np.abs(directions), axis=1)
        least = 0.5 / np.linalg.norm(directions / scale, axis=1)
        size = np.exp(rng.uniform(np.log(np.minimum(least, most)), np.log(most)))
        copies = _pursued(rng, X, y, size[:, None] * directions, n_frequencies)
        copies = copies + _JITTER * rng.normal(size=copies.shape) * scale
        rest = rng.normal(size=(n_frequencies - len(copies), d)) * scale / np.sqrt(d)
        omega = np.concatenate([copies, rest])
        return omega, DensePrior.start(rng, dense_hyper(scale), omega)


def finest_frequencies(X: Array) -> Array:
    """Return the highest frequency that the values of each input can show, of shape (d,).

    That of a grid of as many values, at most ``_WIDEST``; zero for inputs of a few values.
    """
    finest = np.zeros(X.shape[1])
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        if len(values) >= _FEWEST_VALUES:
            finest[column] = np.pi * (len(values) - 1) / (values[-1] - values[0])
    return np.minimum(finest, _WIDEST)


def _pursued(rng: Generator, X: Array, y: Array, candidates: Array, n_frequencies: int) -> Array:
    """Return the candidates that explain ``y``, repeated so as to be a quarter of all."""
    rows = rng.permutation(len(X))[:_PURSUIT_ROWS]
    most = min(_PURSUED, n_frequencies // 4)
    chosen = candidates[pursuit(X[rows], y[rows], candidates, most)]
    if not len(chosen):
        return chosen
    times = min(_MOST_COPIES, max(1, n_frequencies // (4 * len(chosen))))
    return np.repeat(chosen, times, axis=0)


def dense_hyper(scale: Array) -> MixturePrior:
    """Return the hyperparameters of dense frequencies, given typical ones of the inputs (d,)."""
    d = len(scale)
    base = NormalInverseWishart(np.zeros(d), _MEAN_STRENGTH, np.diag(scale**2) / d, d + 2.0)
    return MixturePrior(base, GammaPrior(1.0, 1.0))


def pursuit(X: Array, y: Array, candidates: Array, count: int) -> list[int]:
    """Return at most ``count`` candidate frequencies (C, d) that explain ``y``.

    Orthogonal matching pursuit on pairs of cosine and sine, next to a quadratic trend, until the
    best of all candidates explains no more than the best of as many waves would of noise.
    """
    waves = MemoryLayout.BY_WAVE.pairs(wave_features(X.T, candidates, MemoryLayout.BY_WAVE))
    waves = np.ascontiguousarray(waves.transpose(1, 2, 0))
    basis, _ = np.linalg.qr(np.concatenate([np.ones((len(X), 1)), X, X**2], axis=1))
    residual = y - basis @ (basis.T @ y)
    waves -= basis @ (basis.T @ waves)
    norms = np.maximum(np.sum(waves**2, axis=1), _LEAST_NORM * len(X))
    chosen: list[int] = []
    for _ in range(count):
        gain = np.sum((np.einsum("kni,n->ki", waves, residual)) ** 2 / norms, axis=0)
        gain[chosen] = -1.0
        best = int(np.argmax(gain))
        expected = 2.0 * float(residual @ residual) / len(y)
        if gain[best] < expected * (np.log(len(candidates)) + _INSIGNIFICANT):
            break
        chosen.append(best)
        pair, _ = np.linalg.qr(waves[:, :, best].T)
        residual = residual - pair @ (pair.T @ residual)
    return chosen
