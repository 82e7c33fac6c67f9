r"""GaBaSR: a learned, locally stationary kernel, as printed.

"Gaussian mixture Bayesian nonparametric kernel learning using spectral representation". The kernel
:math:`\kappa_1((x + x')/2)\, \kappa_s(x - x')` has two spectral distributions, both mixtures of
Gaussians; BaNK's sampler moves the frequencies of both.

====================  ==============================================================================
In the paper          Here
====================  ==============================================================================
Eq. (1)               a kernel's Gram matrix, ``kernel(X)``
Eq. (2)               :class:`bochner.kernels.LocallyStationary`
Eqs. (3), (4)         :class:`bochner.FourierFeatures`
Eqs. (5), (6)         :class:`bochner.learned.basis.Grid` with ``is_summed``: waves of the
                      frequencies :math:`\omega_n + v_k / 2`
Eqs. (7) to (9)       a bound, not computed
Eq. (10)              :meth:`bochner.learned.chain_state.ChainEvidence.log_evidence`, with
                      :math:`V_0` a precision; :func:`sampler` has the vague priors
Eq. (11)              :class:`LeastSquaresChain`
Eqs. (12), (13)       the benchmark ``gabasr``, part ``mixture``
Tables 1 to 3         the benchmark ``gabasr``, part ``accuracy``: areas under the curve
Tables 4 to 6         the benchmark ``gabasr``, part ``accuracy``: errors of regressions
Figures 1 to 4        the benchmark ``gabasr``: ``xor``, ``mixture``, ``accuracy``
====================  ==============================================================================

Weights of the waves are independent in the paper, so that its learned kernel is stationary after
all; :class:`bochner.LocallyStationaryRegressor` multiplies waves by amplitudes in their place.

Examples
--------
>>> from sklearn.datasets import make_moons
>>> from bochner import LocallyStationaryClassifier
>>> from bochner.learned import Chains
>>> from bochner.papers import gabasr
>>> X, y = make_moons(60, noise=0.2, random_state=0)
>>> model = LocallyStationaryClassifier(
...     20, sampler=gabasr.sampler(n_envelope=4), chains=Chains(4, 4), random_state=0
... )
>>> model.fit(X, y).predict_proba(X).shape
(60, 2)
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bochner._base.arrays import Array, Floats, as_count
from bochner._base.registry import register
from bochner.learned.chain_models import AmplitudeModel
from bochner.learned.chain_plan import Sampler
from bochner.learned.chain_run import Chain
from bochner.learned.chain_state import ConstantNoise, Info, InverseGammaNoise, StepSizes
from bochner.learned.draws import ChainDraw, point_draw
from bochner.learned.frequency_priors import FrequencyPrior
from bochner.learned.moves import Move, PriorParameters, ReplacementSweep, acceptances
from bochner.learned.training_data import TrainingData
from bochner.papers.bank import IndependentStructure, independent_start, log_likelihood, repeated

_NOISE = InverseGammaNoise(shape=1e-3, rate=1e-3)
"""GaBaSR's prior of the noise variance, as printed."""
_PRECISION = 1e-6
"""GaBaSR's precision of the weights, for features that are not divided by the square root of their
number."""
_LEAST_SHARE = 1e-12
"""Least ridge, as a share of the trace of the Gram matrix: with less, rounding errors dominate."""


@register
@dataclass(frozen=True, slots=True)
class GaBaSR(AmplitudeModel):
    r"""GaBaSR: waves of the frequencies :math:`s_n + v_k / 2` with independent weights.

    The priors are the paper's, noise is constant, and labels have least-squares weights.
    """

    is_summed: ClassVar[bool] = True

    def precision(self, n_waves: int) -> float:
        return _PRECISION / (self.n_stationary(n_waves) * max(1, self.n_envelope))

    def envelope(self, rng: Generator, size: int) -> tuple[Array, FrequencyPrior]:
        return independent_start(rng, np.array(self.scale), size)

    def likelihood(self) -> ConstantNoise:
        return ConstantNoise(_NOISE)

    def chain_of_labels(self, rows: TrainingData, moves: tuple[Move, ...]) -> Chain:
        return LeastSquaresChain(repeated(rows))


def sampler(n_envelope: int = 8) -> Sampler:
    """Return the sampler as printed, with ``n_envelope`` frequencies ``v`` of the envelope.

    It is for ``LocallyStationaryRegressor`` and ``LocallyStationaryClassifier``.
    """
    model = GaBaSR(n_envelope=as_count("n_envelope", n_envelope))
    return Sampler(
        (ReplacementSweep(), PriorParameters()), structure=IndependentStructure(), model=model
    )


@dataclass(slots=True, eq=False)
class LeastSquaresState:
    """State of a :class:`LeastSquaresChain`, which changes it in place."""

    omega: Array  # (k, D)
    prior: FrequencyPrior
    steps: StepSizes  # Empty: no move has a step size
    precision: float  # precision of the weights, fixed
    Z: Floats  # (p, n): Features and fixed columns
    gram: Array  # (p, p)
    coef: Array  # (p,): Least-squares weights of the labels zero and one
    value: float  # Log likelihood


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquaresChain:
    r"""Samples frequencies by the likelihood of least-squares weights; equation (11) of the paper.

    .. math:: \prod_i P_i^{y_i} (1 - P_i)^{1 - y_i}, \quad P_i = 1/(1 + e^{-w_N \cdot \phi(x_i)}).

    :math:`w_N = (\Phi^\top \Phi + V_0)^{-1} \Phi^\top y` is the ridge regression of the labels 0
    and 1. Its values are near the labels, so that the logistic function of them is between one half
    and three quarters. This is therefore no likelihood of a model, and probabilities are not
    calibrated; the chain is for comparison only. Every proposal needs a factorisation, as in
    section 3.2.3 of the paper (see :class:`bochner.LocallyStationaryClassifier`). Its :math:`V_0`
    is a precision.
    """

    rows: TrainingData  # targets y - 1/2, no weights

    def init(
        self, rng: Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> LeastSquaresState:
        Z = self.rows.features(omega)
        wide = Z.astype(np.float64, copy=False)
        gram = wide @ wide.T
        fit = self._fitted(Z, gram, precision)
        return LeastSquaresState(omega.copy(), prior, StepSizes({}), precision, Z, gram, *fit)

    def step(self, rng: Generator, state: LeastSquaresState, *, adapting: bool = False) -> Info:
        kinds = state.prior.kinds
        tried, accepted = np.zeros(len(kinds)), np.zeros(len(kinds))
        for group in self.rows.basis.groups(len(state.omega)):
            for j in rng.permutation(group):
                index = np.array([j])
                suggestion = state.prior.suggest(rng, state.omega, index)
                threshold = float(np.log(rng.random()) - suggestion.log_ratio[0])
                decided = self._exchange(state, index, suggestion.omega, threshold)
                if decided:
                    accepted_one = np.ones(1, dtype=np.bool_)
                    state.prior = state.prior.decided(index, suggestion, accepted_one)
                tried[suggestion.kind[0]] += 1
                accepted[suggestion.kind[0]] += decided
        state.prior = state.prior.refresh(rng, state.omega)
        return acceptances(kinds, tried, accepted) | {"log_likelihood": state.value}

    def draw(self, state: LeastSquaresState, info: Info, *, in_full: bool) -> ChainDraw:
        """Return what is stored of a state; its weights have no covariance."""
        fitted = state.omega, state.coef, state.precision, state.value
        return point_draw(*fitted, state.prior, in_full=in_full)

    def rebuild(self, state: LeastSquaresState) -> None:
        state.Z = self.rows.features(state.omega)
        wide = state.Z.astype(np.float64, copy=False)
        state.gram = wide @ wide.T
        state.coef, state.value = self._fitted(state.Z, state.gram, state.precision)

    def _exchange(
        self, state: LeastSquaresState, index: NDArray[np.intp], values: Array, threshold: float
    ) -> bool:
        """Set the unit ``index`` to proposed values if they are accepted; return the decision."""
        basis, n_units = self.rows.basis, len(state.omega)
        waves = basis.proposed(state.omega, index, values)
        touched = basis.touched(index, n_units).ravel()
        columns = (2 * touched[:, None] + np.arange(2)).ravel()
        Z = state.Z.copy()
        Z[columns] = waves.features(self.rows.inputs, 1.0 / np.sqrt(basis.n_waves(n_units)))
        # A rejected proposal must leave the state unchanged.
        gram = state.gram.copy()
        sums = (Z @ Z[columns].T).astype(np.float64, copy=False)
        gram[:, columns] = sums
        gram[columns] = sums.T
        try:
            coef, value = self._fitted(Z, gram, state.precision)
        except LinAlgError:
            return False
        if not threshold < value - state.value:
            return False
        state.omega[index] = values
        state.Z, state.gram, state.coef, state.value = Z, gram, coef, value
        return True

    def _fitted(self, Z: Floats, gram: Array, precision: float) -> tuple[Array, float]:
        """Return the least-squares weights (p,) of the labels, and the log likelihood they have."""
        ridge = gram.copy()
        features = np.arange(len(Z) - self.rows.n_fixed)
        ridge[features, features] += max(precision, _LEAST_SHARE * float(np.trace(gram)))
        labels = self.rows.target + 0.5
        coef = cho_solve(cho_factor(ridge, lower=True), Z @ labels)
        return coef, log_likelihood(self.rows.target, coef @ Z)
