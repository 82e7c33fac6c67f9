"""The papers' models with independence proposals, as printed."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bochner._numerics.arrays import Array
from bochner.learning.inference.basis import PLAIN, Basis
from bochner.learning.inference.dense import DensePrior
from bochner.learning.inference.driver import Chain
from bochner.learning.inference.evidence import InverseGammaNoise
from bochner.learning.inference.likelihood import GaussianLikelihood
from bochner.learning.inference.models import Amplitudes, Model
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.start import Start, Structure, dense_hyper
from bochner.learning.inference.training_data import SummedRows, TrainingData
from bochner.learning.mixture import sample_prior
from bochner.learning.moves import Move, PriorParameters, ReplacementSweep
from bochner.learning.published.joint_pairs import JointPairChain
from bochner.learning.published.least_squares_labels import LeastSquaresChain

FIXED_PRECISION_MOVES: tuple[Move, ...] = (ReplacementSweep(), PriorParameters())
"""A round where the precision of the weights is fixed, as in GaBaSR."""

_NOISE = InverseGammaNoise(shape=1e-3, rate=1e-3)
"""GaBaSR's prior of the noise variance, as printed."""

_PRECISION = 1e-6
"""GaBaSR's precision of the weights, whose features are not divided by the root of their number."""


@dataclass(frozen=True, slots=True)
class IndependentStructure(Structure):
    """Dense frequencies with the papers' independence proposals, started from the prior."""

    name: ClassVar[str] = "dense"
    is_discrete: ClassVar[bool] = False

    def start(
        self, rng: np.random.Generator, scale: Array, n_frequencies: int, X: Array, y: Array
    ) -> Start:
        return independent_start(rng, scale, n_frequencies)


def independent_start(rng: np.random.Generator, scale: Array, n_frequencies: int) -> Start:
    """Return a draw of the dense prior (m, d), which proposes independent draws of itself."""
    hyper = dense_hyper(scale)
    mixture, omega = sample_prior(rng, hyper, n_frequencies)
    return omega, DensePrior(hyper, mixture, correlations=(0.0,), jumps=0.0)


@dataclass(frozen=True, slots=True)
class PublishedBaNK(Model):
    """BaNK; labels have the paper's joint moves of a frequency and its weights.

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016.
    """

    labels_in_memory: ClassVar[bool] = True

    def basis(self, n_waves: int) -> Basis:
        return PLAIN

    def chain_of_labels(self, rows: SummedRows, moves: tuple[Move, ...]) -> Chain:
        return JointPairChain(repeated(rows))


@dataclass(frozen=True, slots=True)
class PublishedGaBaSR(Amplitudes):
    r"""GaBaSR: waves of the frequencies :math:`s_n + v_k / 2` with independent weights.

    Its priors are the paper's, noise is constant, and labels have least-squares weights.

    References
    ----------
    "Gaussian mixture Bayesian nonparametric kernel learning using spectral representation".
    """

    labels_in_memory: ClassVar[bool] = True
    is_summed: ClassVar[bool] = True

    def precision(self, n_waves: int) -> float:
        return _PRECISION / (self.n_stationary(n_waves) * max(1, self.n_envelope))

    def envelope(self, rng: np.random.Generator, size: int) -> tuple[Array, FrequencyPrior]:
        return independent_start(rng, np.array(self.scale), size)

    def likelihood(self) -> GaussianLikelihood:
        return GaussianLikelihood(_NOISE)

    def chain_of_labels(self, rows: SummedRows, moves: tuple[Move, ...]) -> Chain:
        return LeastSquaresChain(repeated(rows))


def repeated(rows: SummedRows) -> TrainingData:
    """Return rows of integer weights as often as they count, without weights.

    Other weights, and rows that are not in memory, raise ``ValueError``.
    """
    if not isinstance(rows, TrainingData):
        raise ValueError("The paper's classification needs its rows in memory; use sampler='auto'.")
    if rows.weight is None:
        return rows
    times = np.rint(rows.weight).astype(np.intp)
    if not np.array_equal(times, rows.weight):
        raise ValueError(
            "The paper's sampler takes weights that are whole numbers, repetitions of rows, in a "
            "classification; use sampler='auto' and, where there is a choice, "
            "likelihood='logistic'."
        )
    index = np.repeat(np.arange(len(times)), times)
    target = (rows.target / np.maximum(rows.weight, 1.0))[index]
    return replace(
        rows,
        inputs=np.ascontiguousarray(rows.inputs[:, index]),
        target=target,
        fixed=np.ascontiguousarray(rows.fixed[:, index]),
        weight=None,
    )
