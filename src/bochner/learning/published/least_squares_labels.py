"""The paper's chain of a binary classification: least-squares weights in a logistic function."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bochner._numerics.arrays import Array
from bochner.learning.inference.draws import Draw
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.training_data import TrainingData
from bochner.learning.moves.base import Info, Moves, StepSizes
from bochner.learning.published.laplace import log_likelihood

_LEAST_SHARE = 1e-12


@dataclass(slots=True, eq=False)
class LeastSquaresState:
    """A state of the chain, and what follows from it.

    Parameters
    ----------
    omega : ndarray of shape (k, D)
    prior : FrequencyPrior
    sizes : StepSizes
    precision : float
        Of the weights, fixed.
    Z : ndarray of shape (p, n)
        Features and fixed columns.
    gram : ndarray of shape (p, p)
    coef : ndarray of shape (p,)
        Least-squares weights of the labels zero and one.
    value : float
        Log likelihood.
    """

    omega: Array
    prior: FrequencyPrior
    sizes: StepSizes
    precision: float
    Z: NDArray[Any]
    gram: Array
    coef: Array
    value: float


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquaresChain:
    r"""Sampling frequencies by the likelihood of least-squares weights; equation (11) of the paper.

    .. math:: \prod_i P_i^{y_i} (1 - P_i)^{1 - y_i}, \quad P_i = 1/(1 + e^{-w_N \cdot \phi(x_i)}).

    :math:`w_N = (\Phi^\top \Phi + V_0)^{-1} \Phi^\top y` is the ridge regression of the labels 0
    and 1: it lies near the labels, where the logistic function is near one half to three quarters.
    So this is no likelihood of any model, and its probabilities say little; the chain is here to be
    compared with. Every proposal is decided with a factorisation of its own, as published.

    Parameters
    ----------
    rows : TrainingData
        Of targets :math:`y - 1/2`; without weights.
    moves : Moves
        Of which nothing is used but what its prior proposes.

    References
    ----------
    "Gaussian mixture Bayesian nonparametric kernel learning using spectral representation"
    (GaBaSR), section 3.2.3. Its :math:`V_0` is a precision.
    """

    rows: TrainingData
    moves: Moves

    def init(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> LeastSquaresState:
        """Return the state at given units of the basis."""
        Z = self.rows.features(omega)
        wide = Z.astype(np.float64, copy=False)
        return self._state(omega.copy(), prior, precision, Z, wide @ wide.T)

    def step(
        self, rng: np.random.Generator, state: LeastSquaresState, *, adapting: bool = False
    ) -> tuple[LeastSquaresState, Info]:
        """Return the state after one swap of every unit, and of the prior's parameters."""
        prior = state.prior
        tried, accepted = np.zeros(len(prior.kinds)), np.zeros(len(prior.kinds))
        for group in self.rows.basis.groups(len(state.omega)):
            for j in rng.permutation(group):
                index = np.array([j])
                suggestion = prior.suggest(rng, state.omega, index)
                threshold = float(np.log(rng.random()) - suggestion.log_ratio[0])
                proposed = self._exchanged(state, index, suggestion.omega)
                decided = proposed is not None and threshold < proposed.value - state.value
                if proposed is not None and decided:
                    state = proposed
                    prior = prior.decided(index, suggestion, np.ones(1, dtype=np.bool_))
                tried[suggestion.kind[0]] += 1
                accepted[suggestion.kind[0]] += decided
        state = replace(state, prior=prior.refresh(rng, state.omega))
        rates = accepted / np.maximum(tried, 1.0)
        info = {f"acceptance_{name}": float(r) for name, r in zip(prior.kinds, rates, strict=True)}
        return state, info | {"log_likelihood": state.value}

    def rebuilt(self, state: LeastSquaresState) -> LeastSquaresState:
        """Return the state computed afresh."""
        fresh = self.init(np.random.default_rng(0), state.omega, state.prior, state.precision)
        return replace(fresh, sizes=state.sizes)

    def draw(self, state: LeastSquaresState, info: Info, *, in_full: bool) -> Draw:
        """Return what is kept of a state; nothing is known of the spread of its weights."""
        p = len(state.coef)
        return Draw(
            omega=state.omega.copy(),
            coef=state.coef.copy(),
            precision=state.precision,
            noise_variance=1.0,
            log_density=state.value,
            whitener=np.zeros((p, p), dtype=np.float32) if in_full else None,
            components=state.prior.components() if in_full else None,
        )

    def saved(self, state: LeastSquaresState) -> dict[str, Any]:
        """Return what a state consists of beside prior and step sizes."""
        return {"omega": state.omega, "precision": state.precision}

    def restored(
        self, saved: dict[str, Any], prior: FrequencyPrior, sizes: StepSizes
    ) -> LeastSquaresState:
        """Return the state that was saved."""
        omega, precision = np.array(saved["omega"]), float(saved["precision"])
        return replace(self.init(np.random.default_rng(0), omega, prior, precision), sizes=sizes)

    def _exchanged(
        self, state: LeastSquaresState, index: NDArray[np.intp], values: Array
    ) -> LeastSquaresState | None:
        """Return the state with other values of a unit, ``None`` where it has no weights."""
        basis, n_units = self.rows.basis, len(state.omega)
        waves = basis.proposed(state.omega, index, values)
        touched = basis.touched(index, n_units).ravel()
        columns = (2 * touched[:, None] + np.arange(2)).ravel()
        Z = state.Z.copy()
        Z[columns] = waves.features(self.rows.inputs, 1.0 / np.sqrt(basis.n_waves(n_units)))
        gram = state.gram.copy()
        sums = (Z @ Z[columns].T).astype(np.float64, copy=False)
        gram[:, columns] = sums
        gram[columns] = sums.T
        omega = state.omega.copy()
        omega[index] = values
        try:
            return self._state(omega, state.prior, state.precision, Z, gram)
        except LinAlgError:
            return None

    def _state(
        self, omega: Array, prior: FrequencyPrior, precision: float, Z: NDArray[Any], gram: Array
    ) -> LeastSquaresState:
        ridge = gram.copy()
        features = np.arange(len(Z) - self.rows.n_fixed)
        # Below this share of the trace, rounding decides.
        ridge[features, features] += max(precision, _LEAST_SHARE * float(np.trace(gram)))
        labels = self.rows.target + 0.5
        coef = cho_solve(cho_factor(ridge, lower=True), Z @ labels)
        value = log_likelihood(self.rows.target, coef @ Z)
        return LeastSquaresState(omega, prior, StepSizes(), precision, Z, gram, coef, value)
