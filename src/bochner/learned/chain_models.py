"""Models of frequencies, amplitudes and noise that chains sample, with their starting points."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner._base.registry import register
from bochner.learned.basis import (
    PLAIN,
    Basis,
    Grid,
    Matched,
    NoEnvelope,
    TwoSpectra,
    TwoSpectraPrior,
    Windows,
)
from bochner.learned.chain_run import Chain, CollapsedChain
from bochner.learned.chain_state import ConditionallyGaussian, ConstantNoise, InverseGammaNoise
from bochner.learned.dirichlet_mixture import GammaPrior, MixturePrior, NormalInverseWishart
from bochner.learned.frequency_priors import DensePrior, FrequencyPrior, SparseHyper, SparsePrior
from bochner.learned.moves import Move
from bochner.learned.noise_field import VaryingNoise
from bochner.learned.polya_gamma import LogisticLabels
from bochner.learned.training_data import TrainingData
from bochner.spectral.wave_formulas import MemoryLayout, wave_features

_MEAN_STRENGTH = 0.05
"""Strength of the prior mean of a component, in frequencies: a spread of 4.5 typical scales."""

_CANDIDATES = 4000
"""Number of candidate frequencies of a start: more find narrower spectral lines."""

_PURSUED = 24
"""Most frequencies that a start takes from the data; each needs a pass over the candidates."""

_PURSUIT_ROWS = 2000
"""Number of rows of the search for frequencies: with the candidates they make arrays of 64 MB."""

_WIDEST = 300.0
"""Highest candidate frequency, in radians per standard deviation: some 150 periods in the range."""

_FEWEST_VALUES = 8  # Fewest distinct values of an input for which frequencies are searched
_INSIGNIFICANT = 3.0
"""Margin over the log number of candidates, for a wave to be chosen. A wave explains of noise twice
the variance times an exponential variate: it exceeds the margin about once in e^3 searches."""

_JITTER = 0.02
"""Standard deviation, in typical scales, of the noise that makes copies of a frequency unequal."""

_MOST_COPIES = 8  # Largest number of copies of a frequency, which give its component a spread
_LEAST_NORM = 1e-6
"""Least mean square of a candidate orthogonal to the trend, above rounding errors."""

Start = tuple[Array, FrequencyPrior]
"""Frequencies (m, d) and the parameters of their prior."""


class Structure(ABC):
    """A family of priors of frequencies, with a starting point that depends on the data.

    ``LearnedKernelRegressor(structure=...)`` takes an instance or its name.

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
        """Return the frequencies (m, d) and the prior at which a chain starts.

        ``scale`` (d,) are typical angular frequencies of the inputs. ``X`` (n, d) and ``y`` (n,)
        are the data.
        """

    def suits(self, dim: int) -> bool:
        """Return whether the structure is worth a trial for data with ``dim`` inputs."""
        return True


@register
@dataclass(frozen=True, slots=True)
class SparseStructure(Structure):
    """Frequencies that act on few inputs; see :class:`SparsePrior`."""

    name: ClassVar[str] = "sparse"
    is_discrete: ClassVar[bool] = True

    def start(self, rng: Generator, scale: Array, n_frequencies: int, X: Array, y: Array) -> Start:
        """Return draws of the prior, some replaced by one-input frequencies that explain ``y``."""
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
        # Replaced in place: the other frequencies remain draws of the prior.
        omega[: len(pursued)] = pursued
        return omega, prior

    def suits(self, dim: int) -> bool:
        return dim > 1


_MOST_DENSE = 100
"""Largest number of inputs for dense frequencies: a round needs products of d x d matrices for each
component, 0.2 s for 100 inputs and eight times as much for 200."""


@register
@dataclass(frozen=True, slots=True)
class DenseStructure(Structure):
    """Frequencies that act on all inputs; see :class:`DensePrior`."""

    name: ClassVar[str] = "dense"
    is_discrete: ClassVar[bool] = False

    def suits(self, dim: int) -> bool:
        return dim <= _MOST_DENSE

    def start(self, rng: Generator, scale: Array, n_frequencies: int, X: Array, y: Array) -> Start:
        """Return draws of a broad distribution, and frequencies at spectral lines of the data.

        Local moves of a chain would not find narrow lines.
        """
        d = len(scale)
        directions = rng.normal(size=(_CANDIDATES, d))
        # A frequency and its negative are the same wave. Copies of both signs would make a broad
        # component around zero.
        directions *= np.where(directions[:, :1] < 0, -1.0, 1.0)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        finest = np.maximum(finest_frequencies(X), scale)
        most = np.min(finest / np.abs(directions), axis=1)
        least = 0.5 / np.linalg.norm(directions / scale, axis=1)
        # Lengths of frequencies are log-uniform, so that all length scales are equally likely.
        size = np.exp(rng.uniform(np.log(np.minimum(least, most)), np.log(most)))
        copies = _pursued(rng, X, y, size[:, None] * directions, n_frequencies)
        copies = copies + _JITTER * rng.normal(size=copies.shape) * scale
        rest = rng.normal(size=(n_frequencies - len(copies), d)) * scale / np.sqrt(d)
        omega = np.concatenate([copies, rest])
        return omega, DensePrior.start(rng, dense_hyper(scale), omega)


def finest_frequencies(X: Array) -> Array:
    """Return the highest angular frequency (d,) that the values of each input can resolve.

    It is the Nyquist frequency of a grid with the same range and number of distinct values, at
    most ``_WIDEST``, and zero for inputs with few values.
    """
    finest = np.zeros(X.shape[1])
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        if len(values) >= _FEWEST_VALUES:
            finest[column] = np.pi * (len(values) - 1) / (values[-1] - values[0])
    return np.minimum(finest, _WIDEST)


def _pursued(rng: Generator, X: Array, y: Array, candidates: Array, n_frequencies: int) -> Array:
    """Return the candidate frequencies that explain ``y``, repeated to fill a quarter of all."""
    rows = rng.permutation(len(X))[:_PURSUIT_ROWS]
    most = min(_PURSUED, n_frequencies // 4)
    chosen = candidates[pursuit(X[rows], y[rows], candidates, most)]
    if not len(chosen):
        return chosen
    times = min(_MOST_COPIES, max(1, n_frequencies // (4 * len(chosen))))
    return np.repeat(chosen, times, axis=0)


def dense_hyper(scale: Array) -> MixturePrior:
    """Return the prior of a mixture of dense frequencies, given the inputs' typical ones (d,)."""
    d = len(scale)
    base = NormalInverseWishart(np.zeros(d), _MEAN_STRENGTH, np.diag(scale**2) / d, d + 2.0)
    return MixturePrior(base, GammaPrior(1.0, 1.0))


def pursuit(X: Array, y: Array, candidates: Array, count: int) -> list[int]:
    """Return the indices of at most ``count`` candidate frequencies (C, d) that explain ``y``.

    Orthogonal matching pursuit on pairs of cosine and sine, in addition to a quadratic trend. It
    ends if the best candidate explains no more than the best of as many waves explains of noise.
    """
    waves = MemoryLayout.BY_WAVE.pairs(wave_features(X.T, candidates, MemoryLayout.BY_WAVE))
    waves = np.ascontiguousarray(waves.transpose(1, 2, 0))
    basis, _ = np.linalg.qr(np.concatenate([np.ones((len(X), 1)), X, X**2], axis=1))
    residual = y - basis @ (basis.T @ y)
    # Candidates are compared by the variance that they explain beyond the trend.
    waves -= basis @ (basis.T @ waves)
    # Separate norms of cosine and sine, which are nearly orthogonal.
    norms = np.maximum(np.sum(waves**2, axis=1), _LEAST_NORM * len(X))
    chosen: list[int] = []
    for _ in range(count):
        gain = np.sum((np.einsum("kni,n->ki", waves, residual)) ** 2 / norms, axis=0)
        # A frequency is chosen once.
        gain[chosen] = -1.0
        best = int(np.argmax(gain))
        expected = 2.0 * float(residual @ residual) / len(y)
        if gain[best] < expected * (np.log(len(candidates)) + _INSIGNIFICANT):
            break
        chosen.append(best)
        pair, _ = np.linalg.qr(waves[:, :, best].T)
        residual = residual - pair @ (pair.T @ residual)
    return chosen


_START_PRECISION = 0.05
"""Initial ratio of noise variance to weight variance, which the burn-in changes."""

_NOISE = InverseGammaNoise(shape=0.5, rate=1e-6)
"""Prior of the noise variance of standardised targets: half an observation of variance 2e-6. Almost
noiseless data are possible, and a hundred rows outweigh the prior two hundred times."""

_SCARCITY = 20.0
"""Prior odds of a constant amplitude, which the likelihood of a varying amplitude must outweigh."""

_CENTRE_DEVIATION = 1.2
"""Prior standard deviation of the centres of windows, in standard deviations of the inputs. It is
above one so that rows at the ends of uniform inputs, at 1.7, have windows, too."""

_WINDOW_SCARCITY = 1.0
"""Prior odds that a wave has no window; odds of five are as good."""

_NOISE_SCARCITY = 1.0  # Prior odds of a constant wave in the noise field, which has few waves
_LEAST_ACTIVE = 0.5
"""Least probability at the start that a shared amplitude depends on an input."""


class Model(ABC):
    """Base of models that chains sample; its defaults describe noise of constant variance."""

    __slots__ = ()

    def scaled(self, scale: tuple[float, ...]) -> "Model":
        """Return this model for inputs with the typical angular frequencies ``scale``."""
        return self

    @abstractmethod
    def basis(self, n_waves: int) -> Basis:
        """Return the basis that maps unknowns of a chain to ``n_waves`` waves."""

    def n_stationary(self, n_waves: int) -> int:
        """Return the number of frequencies, without those of amplitudes, of ``n_waves`` waves."""
        return n_waves

    def start(self, rng: Generator, omega: Array, prior: FrequencyPrior) -> Start:
        """Return units of the basis and their prior, given frequencies (m, d) and their prior."""
        return omega, prior

    def precision(self, n_waves: int) -> float:
        """Return the initial precision of the weights relative to the noise."""
        return _START_PRECISION

    def likelihood(self) -> ConditionallyGaussian:
        """Return the likelihood of a regression."""
        return ConstantNoise(_NOISE)

    def chain_of_labels(self, rows: TrainingData, moves: tuple[Move, ...]) -> Chain:
        """Return the chain of a binary classification."""
        return CollapsedChain(rows, LogisticLabels(), moves)


@dataclass(frozen=True, slots=True)
class StationaryModel(Model):
    """The model of BaNK: constant amplitudes; numbers, or labels with Pólya-Gamma variables."""

    def basis(self, n_waves: int) -> Basis:
        return PLAIN


BANK = StationaryModel()


@dataclass(frozen=True, slots=True)
class AmplitudeModel(Model):
    """Model of frequencies and amplitudes with unknown distributions."""

    scale: tuple[float, ...] = ()  # Typical angular frequencies of the inputs
    n_envelope: int = 0  # Number of shared amplitudes; zero means one per frequency
    signal: bool = True  # Whether amplitudes vary

    is_summed: ClassVar[bool] = False

    def scaled(self, scale: tuple[float, ...]) -> Model:
        return replace(self, scale=scale)

    def basis(self, n_waves: int) -> TwoSpectra:
        if not self.n_envelope:
            return Matched()
        return Grid(self.n_stationary(n_waves), self.n_envelope, is_summed=self.is_summed)

    def n_stationary(self, n_waves: int) -> int:
        return max(1, n_waves // self.n_envelope) if self.n_envelope else n_waves

    def start(self, rng: Generator, omega: Array, prior: FrequencyPrior) -> Start:
        # A separate stream, so that without amplitudes the chain equals that of frequencies only.
        rng = rng.spawn(1)[0]
        basis = self.basis(len(omega) * max(1, self.n_envelope))
        size, d = basis.n_amplitudes(len(omega)), len(self.scale)
        constant = np.zeros((size, d)), NoEnvelope(d)
        v, envelope = self.envelope(rng, size) if self.signal else constant
        both = TwoSpectraPrior(basis, prior, envelope)
        return basis.joined(omega, v, both.phases(rng, size)), both

    @abstractmethod
    def envelope(self, rng: Generator, size: int) -> Start:
        """Return initial amplitude parameters ``v`` (size, d), and their prior."""


@dataclass(frozen=True, slots=True)
class LocallyStationaryModel(AmplitudeModel):
    """Model with amplitudes and a noise variance that vary with the inputs."""

    noise: bool = True  # Whether the noise variance varies
    windows: bool = False  # Whether amplitudes are windows instead of cosines

    def basis(self, n_waves: int) -> TwoSpectra:
        return Windows() if self.windows else AmplitudeModel.basis(self, n_waves)

    def envelope(self, rng: Generator, size: int) -> Start:
        scale = np.array(self.scale)
        if self.windows:
            # Windows along half of the inputs at the start, with centres in the range of rows.
            prior = sparse_envelope(np.full(len(scale), _CENTRE_DEVIATION), _WINDOW_SCARCITY)
            prior = replace(prior, inclusion=np.full(len(scale), _LEAST_ACTIVE))
            return prior.sample(rng, size), prior
        return np.zeros((size, len(scale))), sparse_envelope(scale, _SCARCITY)

    def likelihood(self) -> ConditionallyGaussian:
        if not self.noise:
            return ConstantNoise(_NOISE)
        return VaryingNoise(_NOISE, sparse_envelope(np.array(self.scale), _NOISE_SCARCITY))


def sparse_envelope(scale: Array, scarcity: float) -> SparsePrior:
    """Return a prior of frequencies that are mostly zero, and else of typical ``scale`` (d,).

    ``scarcity`` is about the prior odds that a frequency is zero along all inputs.
    """
    d = len(scale)
    prior = SparsePrior.start(SparseHyper(scale, inclusion=(1.0, scarcity * d)))
    return replace(prior, inclusion=np.full(d, 1.0 / (1.0 + scarcity * d)))
