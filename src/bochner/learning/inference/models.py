"""The models that chains sample: frequencies alone, or with amplitudes and varying noise."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bochner._numerics.arrays import Array
from bochner.learning.inference.basis import PLAIN, Basis, Grid, Matched, TwoSpectra
from bochner.learning.inference.chain import RegressionChain
from bochner.learning.inference.driver import Chain
from bochner.learning.inference.noise import InverseGammaNoise
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.sparse import SparseHyper, SparsePrior
from bochner.learning.inference.start import paper_start
from bochner.learning.inference.summed import SummedRows
from bochner.learning.inference.training_data import TrainingData
from bochner.learning.inference.two_spectra import NoEnvelope, TwoSpectraPrior
from bochner.learning.inference.varying_noise import VaryingNoiseChain
from bochner.learning.moves.base import Moves
from bochner.learning.moves.hamiltonian import HamiltonianSettings
from bochner.learning.moves.labels import LogisticChain
from bochner.learning.moves.noise_field import NoiseField
from bochner.learning.published.joint_pairs import JointPairChain
from bochner.learning.published.least_squares_labels import LeastSquaresChain

_START_PRECISION = 0.05
_NOISE = InverseGammaNoise(shape=0.5, rate=1e-6)
_PAPER_NOISE, _PAPER_PRECISION = InverseGammaNoise(shape=1e-3, rate=1e-3), 1e-6
_SCARCITY, _NOISE_SCARCITY = 20.0, 1.0


class Model(ABC):
    """What a chain samples: which features there are, and which likelihood."""

    __slots__ = ()

    @abstractmethod
    def basis(self, n_waves: int) -> Basis:
        """Return the basis of so many waves."""

    def n_stationary(self, n_waves: int) -> int:
        """Return how many frequencies so many waves have."""
        return n_waves

    @abstractmethod
    def start(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior
    ) -> tuple[Array, FrequencyPrior]:
        """Return units of the basis and their prior, given frequencies (m, d) and theirs."""

    def precision(self, n_waves: int) -> float:
        """Return the precision of the weights to start from."""
        return _START_PRECISION

    @abstractmethod
    def chain_of_numbers(self, rows: SummedRows, sampler: str, structure: str) -> Chain:
        """Return the chain of a regression."""

    @abstractmethod
    def chain_of_labels(self, rows: SummedRows, sampler: str, structure: str) -> Chain:
        """Return the chain of a binary classification."""


@dataclass(frozen=True, slots=True)
class Stationary(Model):
    """Frequencies of constant amplitude, and constant noise."""

    def basis(self, n_waves: int) -> Basis:
        return PLAIN

    def start(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior
    ) -> tuple[Array, FrequencyPrior]:
        return omega, prior

    def chain_of_numbers(self, rows: SummedRows, sampler: str, structure: str) -> Chain:
        return RegressionChain(rows, _NOISE, moves_of(sampler, structure))

    def chain_of_labels(self, rows: SummedRows, sampler: str, structure: str) -> Chain:
        moves = moves_of(sampler, structure)
        if sampler == "mh" and isinstance(rows, TrainingData):
            return JointPairChain(rows, moves)
        return LogisticChain(rows, moves)


BANK = Stationary()


@dataclass(frozen=True, slots=True)
class LocallyStationary(Model):
    """Frequencies with amplitudes that vary, and noise that does.

    Parameters
    ----------
    scale : tuple of d floats
        Typical angular frequencies of the inputs.
    n_envelope : int
        Amplitudes that all frequencies share; zero means one for each frequency.
    signal, noise : bool
        Whether amplitudes vary, and the noise's variance.
    is_paper : bool
        Whether priors, features and the likelihood of labels are the paper's.
    """

    scale: tuple[float, ...]
    n_envelope: int = 0
    signal: bool = True
    noise: bool = True
    is_paper: bool = False

    def basis(self, n_waves: int) -> TwoSpectra:
        if not self.n_envelope:
            return Matched()
        return Grid(self.n_stationary(n_waves), self.n_envelope, is_summed=self.is_paper)

    def n_stationary(self, n_waves: int) -> int:
        return max(1, n_waves // self.n_envelope) if self.n_envelope else n_waves

    def precision(self, n_waves: int) -> float:
        # The paper's features are not divided by the root of their number.
        made = self.n_stationary(n_waves) * max(1, self.n_envelope)
        return _PAPER_PRECISION / made if self.is_paper else _START_PRECISION

    def start(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior
    ) -> tuple[Array, FrequencyPrior]:
        # A stream of its own: without amplitudes the chain is that of frequencies alone.
        rng = rng.spawn(1)[0]
        basis = self.basis(len(omega) * max(1, self.n_envelope))
        size = basis.n_amplitudes(len(omega))
        v, envelope = self._envelope(rng, size)
        both = TwoSpectraPrior(basis, prior, envelope)
        return basis.joined(omega, v, both.phases(rng, size)), both

    def _envelope(self, rng: np.random.Generator, size: int) -> tuple[Array, FrequencyPrior]:
        """Return ``v`` (size, d) to start from, and their prior."""
        scale = np.array(self.scale)
        if not self.signal:
            return np.zeros((size, len(scale))), NoEnvelope(len(scale))
        if self.is_paper:
            return paper_start(rng, scale, size)
        prior = sparse_envelope(scale, _SCARCITY)
        v = np.zeros((size, len(scale)))
        if self.n_envelope:
            # Shared amplitudes must differ to begin with, but for one that is constant.
            active = replace(prior, inclusion=np.full(len(scale), max(0.5, 1.0 / len(scale))))
            v[1:] = active.sample(rng, size - 1)
        return v, prior

    def chain_of_numbers(self, rows: SummedRows, sampler: str, structure: str) -> Chain:
        moves = moves_of(sampler, structure)
        if self.is_paper:
            return RegressionChain(rows, _PAPER_NOISE, replace(moves, precision_prior=None))
        if not self.noise:
            return RegressionChain(rows, _NOISE, moves)
        prior = sparse_envelope(np.array(self.scale), _NOISE_SCARCITY)
        return VaryingNoiseChain(rows, _NOISE, moves, partial(NoiseField.start, prior=prior))

    def chain_of_labels(self, rows: SummedRows, sampler: str, structure: str) -> Chain:
        moves = moves_of(sampler, structure)
        if self.is_paper and isinstance(rows, TrainingData):
            return LeastSquaresChain(rows, moves)
        return LogisticChain(rows, moves)


def sparse_envelope(scale: Array, scarcity: float) -> SparsePrior:
    """Return a law of frequencies that act on few inputs, and mostly on none at all.

    Parameters
    ----------
    scale : ndarray of shape (d,)
        Typical angular frequencies of the inputs.
    scarcity : float
        How much likelier it is, before data are seen, that a frequency is zero than not.
    """
    d = len(scale)
    prior = SparsePrior.start(SparseHyper(scale, inclusion=(1.0, scarcity * d)))
    return replace(prior, inclusion=np.full(d, 1.0 / (1.0 + scarcity * d)))


def moves_of(sampler: str, structure: str) -> Moves:
    """Return the moves of a sampler for a structure."""
    if sampler == "hmc":
        # Toggles and swaps change which inputs are active; trajectories cannot.
        return Moves(replacements=structure == "sparse", hamiltonian=HamiltonianSettings())
    return Moves()
