"""Models that chains sample: frequencies only, or with amplitudes and varying noise."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.learned.basis import PLAIN, Basis, Grid, Matched, TwoSpectra, Windows
from bochner.learned.chain_evidence import InverseGammaNoise
from bochner.learned.chain_run import Chain, CollapsedChain
from bochner.learned.chain_starts import Start
from bochner.learned.chain_state import ConditionallyGaussian, ConstantNoise
from bochner.learned.moves import Move
from bochner.learned.noise_field import VaryingNoise
from bochner.learned.polya_gamma import LogisticLabels
from bochner.learned.prior import FrequencyPrior
from bochner.learned.sparse import SparseHyper, SparsePrior
from bochner.learned.training_data import TrainingData
from bochner.learned.two_spectra import NoEnvelope, TwoSpectraPrior

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
"""Prior odds of a wave without a window: equal odds. Five is as good on Doppler series and on
generated terrain."""

_NOISE_SCARCITY = 1.0
"""Prior odds of a constant wave in the noise field, which has few waves."""

_LEAST_ACTIVE = 0.5
"""Least probability that a shared amplitude depends on an input at the start, so that shared
amplitudes differ."""


class Model(ABC):
    """A model that chains sample; methods with a default describe constant noise."""

    __slots__ = ()

    def scaled(self, scale: tuple[float, ...]) -> "Model":
        """Return the model of inputs with typical angular frequencies ``scale``."""
        return self

    @abstractmethod
    def basis(self, n_waves: int) -> Basis:
        """Return the basis of ``n_waves`` waves."""

    def n_stationary(self, n_waves: int) -> int:
        """Return the number of frequencies of ``n_waves`` waves."""
        return n_waves

    def start(self, rng: Generator, omega: Array, prior: FrequencyPrior) -> Start:
        """Return units of the basis and their prior, given frequencies (m, d) and their prior."""
        return omega, prior

    def precision(self, n_waves: int) -> float:
        """Return the initial precision of the weights."""
        return _START_PRECISION

    def likelihood(self) -> ConditionallyGaussian:
        """Return the likelihood of a regression."""
        return ConstantNoise(_NOISE)

    def chain_of_labels(self, rows: TrainingData, moves: tuple[Move, ...]) -> Chain:
        """Return the chain of a binary classification."""
        return CollapsedChain(rows, LogisticLabels(), moves)


@dataclass(frozen=True, slots=True)
class StationaryModel(Model):
    """The model of BaNK: numeric targets, or labels with Pólya-Gamma variables."""

    def basis(self, n_waves: int) -> Basis:
        return PLAIN


BANK = StationaryModel()


@dataclass(frozen=True, slots=True)
class AmplitudeModel(Model):
    """Frequencies with amplitudes; the laws of both are unknown."""

    scale: tuple[float, ...] = ()  # Typical angular frequencies of the inputs
    n_envelope: int = 0  # Amplitudes that all frequencies share; zero means one for each frequency
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
        """Return initial values of ``v`` (size, d), and their prior."""


@dataclass(frozen=True, slots=True)
class LocallyStationaryModel(AmplitudeModel):
    """Frequencies with varying amplitudes and varying noise."""

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
        prior, v = sparse_envelope(scale, _SCARCITY), np.zeros((size, len(scale)))
        if self.n_envelope:
            # The first shared amplitude is constant at the start; the others must differ.
            share = max(_LEAST_ACTIVE, 1.0 / len(scale))
            active = replace(prior, inclusion=np.full(len(scale), share))
            v[1:] = active.sample(rng, size - 1)
        return v, prior

    def likelihood(self) -> ConditionallyGaussian:
        if not self.noise:
            return ConstantNoise(_NOISE)
        return VaryingNoise(_NOISE, sparse_envelope(np.array(self.scale), _NOISE_SCARCITY))


def sparse_envelope(scale: Array, scarcity: float) -> SparsePrior:
    """Return a prior of mostly zero frequencies with typical ``scale`` (d,).

    ``scarcity`` is about the prior odds that a frequency is zero along all inputs.
    """
    d = len(scale)
    prior = SparsePrior.start(SparseHyper(scale, inclusion=(1.0, scarcity * d)))
    return replace(prior, inclusion=np.full(d, 1.0 / (1.0 + scarcity * d)))
