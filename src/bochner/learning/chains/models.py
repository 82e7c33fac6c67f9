"""Models that chains sample: frequencies only, or with amplitudes and varying noise."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner.learning.chains.basis import PLAIN, Basis, Grid, Matched, TwoSpectra, Windows
from bochner.learning.chains.chain import CollapsedChain
from bochner.learning.chains.driver import Chain
from bochner.learning.chains.evidence import InverseGammaNoise
from bochner.learning.chains.likelihood import ConditionallyGaussian, ConstantNoise
from bochner.learning.chains.moves import Move
from bochner.learning.chains.moves.labels import LogisticLabels
from bochner.learning.chains.moves.noise_field import VaryingNoise
from bochner.learning.chains.prior import FrequencyPrior
from bochner.learning.chains.sparse import SparseHyper, SparsePrior
from bochner.learning.chains.start import Start
from bochner.learning.chains.training_data import SummedRows
from bochner.learning.chains.two_spectra import NoEnvelope, TwoSpectraPrior

_START_PRECISION = 0.05
"""Ratio of noise variance to weight variance to start from; a burn-in forgets it."""

_NOISE = InverseGammaNoise(shape=0.5, rate=1e-6)
"""Half an observation's worth of prior for the noise of standardised targets, of variance 2e-6:
almost noiseless data are possible, and a hundred rows outweigh it two hundred times."""

_NORMAL = ConstantNoise(_NOISE)

_SCARCITY = 20.0
"""Prior odds that an amplitude is constant: what the likelihood of another one must outweigh."""

_CENTRE_DEVIATION = 1.2
"""Typical distance of windows' centres from the middle, in standard deviations of the inputs: a
little beyond one, so that rows at the ends of uniform inputs, at 1.7, have windows, too."""

_WINDOW_SCARCITY = 1.0
"""Prior odds that a wave has no window: none of either is favoured. Five is as good on series of
Doppler's kind and on generated terrain."""

_NOISE_SCARCITY = 1.0
"""The same odds of a wave of the noise's field, of which there are few."""

_LEAST_ACTIVE = 0.5
"""Least probability that a shared amplitude acts on an input at the start: they must differ."""


class Model(ABC):
    """A model to sample: frequencies with constant noise, unless overridden."""

    __slots__ = ()

    labels_in_memory: ClassVar[bool] = False  # Whether a classification needs its rows in memory

    @abstractmethod
    def basis(self, n_waves: int) -> Basis:
        """Return the basis of ``n_waves`` waves."""

    def n_stationary(self, n_waves: int) -> int:
        """Return the number of frequencies of ``n_waves`` waves."""
        return n_waves

    def start(self, rng: Generator, omega: Array, prior: FrequencyPrior) -> Start:
        """Return units of the basis and their prior, given frequencies (m, d) and theirs."""
        return omega, prior

    def precision(self, n_waves: int) -> float:
        """Return the precision of the weights to start from."""
        return _START_PRECISION

    def likelihood(self) -> ConditionallyGaussian:
        """Return the likelihood of a regression."""
        return ConstantNoise(_NOISE)

    def observed_by(self, likelihood: ConditionallyGaussian) -> "Model":
        """Return the model with another likelihood; ``ValueError`` if it has only its own."""
        raise ValueError(
            "sampler='mh' is the paper's model, with normal noise or logistic labels: use "
            "sampler='auto', 'pcn' or 'hmc' with another likelihood."
        )

    def chain_of_labels(self, rows: SummedRows, moves: tuple[Move, ...]) -> Chain:
        """Return the chain of a binary classification."""
        return CollapsedChain(rows, LogisticLabels(), moves)


@dataclass(frozen=True, slots=True)
class StationaryModel(Model):
    """The model of BaNK: a law of numbers, or labels with Polya-Gamma variables."""

    numbers: ConditionallyGaussian = _NORMAL

    def basis(self, n_waves: int) -> Basis:
        return PLAIN

    def likelihood(self) -> ConditionallyGaussian:
        return self.numbers

    def observed_by(self, likelihood: ConditionallyGaussian) -> Model:
        return replace(self, numbers=likelihood)


BANK = StationaryModel()


@dataclass(frozen=True, slots=True)
class AmplitudeModel(Model):
    """Frequencies with amplitudes, whose laws are both unknown."""

    scale: tuple[float, ...]  # Typical angular frequencies of the inputs
    n_envelope: int = 0  # Amplitudes that all frequencies share; zero means one for each frequency
    signal: bool = True  # Whether amplitudes vary

    is_summed: ClassVar[bool] = False

    def basis(self, n_waves: int) -> TwoSpectra:
        if not self.n_envelope:
            return Matched()
        return Grid(self.n_stationary(n_waves), self.n_envelope, is_summed=self.is_summed)

    def n_stationary(self, n_waves: int) -> int:
        return max(1, n_waves // self.n_envelope) if self.n_envelope else n_waves

    def start(self, rng: Generator, omega: Array, prior: FrequencyPrior) -> Start:
        # A stream of its own: without amplitudes the chain is that of frequencies alone.
        rng = rng.spawn(1)[0]
        basis = self.basis(len(omega) * max(1, self.n_envelope))
        size, d = basis.n_amplitudes(len(omega)), len(self.scale)
        constant = np.zeros((size, d)), NoEnvelope(d)
        v, envelope = self.envelope(rng, size) if self.signal else constant
        both = TwoSpectraPrior(basis, prior, envelope)
        return basis.joined(omega, v, both.phases(rng, size)), both

    @abstractmethod
    def envelope(self, rng: Generator, size: int) -> Start:
        """Return ``v`` (size, d) to start from, and their prior."""


@dataclass(frozen=True, slots=True)
class LocallyStationaryModel(AmplitudeModel):
    """Frequencies with amplitudes that vary, and noise that does."""

    noise: bool = True  # Whether the noise's variance varies
    windows: bool = False  # Whether amplitudes are windows in place of cosines

    def basis(self, n_waves: int) -> TwoSpectra:
        return Windows() if self.windows else AmplitudeModel.basis(self, n_waves)

    def envelope(self, rng: Generator, size: int) -> Start:
        scale = np.array(self.scale)
        if self.windows:
            # Half of the inputs to begin with, and centres where rows are.
            prior = sparse_envelope(np.full(len(scale), _CENTRE_DEVIATION), _WINDOW_SCARCITY)
            prior = replace(prior, inclusion=np.full(len(scale), _LEAST_ACTIVE))
            return prior.sample(rng, size), prior
        prior, v = sparse_envelope(scale, _SCARCITY), np.zeros((size, len(scale)))
        if self.n_envelope:
            # Shared amplitudes must differ to begin with, but for one that is constant.
            share = max(_LEAST_ACTIVE, 1.0 / len(scale))
            active = replace(prior, inclusion=np.full(len(scale), share))
            v[1:] = active.sample(rng, size - 1)
        return v, prior

    def likelihood(self) -> ConditionallyGaussian:
        if not self.noise:
            return ConstantNoise(_NOISE)
        return VaryingNoise(_NOISE, sparse_envelope(np.array(self.scale), _NOISE_SCARCITY))


def sparse_envelope(scale: Array, scarcity: float) -> SparsePrior:
    """Return a law of frequencies that mostly are zero, of typical ones (d,) and these odds."""
    d = len(scale)
    prior = SparsePrior.start(SparseHyper(scale, inclusion=(1.0, scarcity * d)))
    return replace(prior, inclusion=np.full(d, 1.0 / (1.0 + scarcity * d)))
