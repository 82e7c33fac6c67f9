"""The paper's chain of a binary classification: least-squares weights in a logistic function."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from bochner._numerics.arrays import Array
from bochner.learning.inference.draws import Draw, point_draw
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.state import Info, StepSizes
from bochner.learning.inference.training_data import TrainingData
from bochner.learning.moves.replacement import acceptances
from bochner.learning.published.laplace import log_likelihood

_LEAST_SHARE = 1e-12
"""Least ridge as a share of the Gram matrix's trace; below it, rounding decides."""


@dataclass(slots=True, eq=False)
class LeastSquaresState:
    """A state of the chain, which owns it and changes it in place."""

    omega: Array  # (k, D)
    prior: FrequencyPrior
    steps: StepSizes  # Empty: no move has a step size
    precision: float  # precision of the weights, fixed
    Z: NDArray[Any]  # (p, n): Features and fixed columns
    gram: Array  # (p, p)
    coef: Array  # (p,): Least-squares weights of the labels zero and one
    value: float  # Log likelihood


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquaresChain:
    r"""Sampling frequencies by the likelihood of least-squares weights; equation (11) of the paper.

    .. math:: \prod_i P_i^{y_i} (1 - P_i)^{1 - y_i}, \quad P_i = 1/(1 + e^{-w_N \cdot \phi(x_i)}).

    :math:`w_N = (\Phi^\top \Phi + V_0)^{-1} \Phi^\top y` is the ridge regression of the labels 0
    and 1: it lies near the labels, where the logistic function is near one half to three quarters.
    So this is no likelihood of any model, and its probabilities say little; the chain is here to be
    compared with. Every proposal is decided with a factorisation of its own, as published.

    References
    ----------
    "Gaussian mixture Bayesian nonparametric kernel learning using spectral representation"
    (GaBaSR), section 3.2.3. Its :math:`V_0` is a precision.
    """

    rows: TrainingData  # targets y - 1/2, no weights

    def init(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> LeastSquaresState:
        Z = self.rows.features(omega)
        wide = Z.astype(np.float64, copy=False)
        gram = wide @ wide.T
        fit = self._fitted(Z, gram, precision)
        return LeastSquaresState(omega.copy(), prior, StepSizes({}), precision, Z, gram, *fit)

    def step(
        self, rng: np.random.Generator, state: LeastSquaresState, *, adapting: bool = False
    ) -> Info:
        kinds = state.prior.kinds
        tried, accepted = np.zeros(len(kinds)), np.zeros(len(kinds))
        for group in self.rows.basis.groups(len(state.omega)):
            for j in rng.permutation(group):
                index = np.array([j])
                suggestion = state.prior.suggest(rng, state.omega, index)
                threshold = float(np.log(rng.random()) - suggestion.log_ratio[0])
                decided = self._exchange(state, index, suggestion.omega, threshold)
                if decided:
                    yes = np.ones(1, dtype=np.bool_)
                    state.prior = state.prior.decided(index, suggestion, yes)
                tried[suggestion.kind[0]] += 1
                accepted[suggestion.kind[0]] += decided
        state.prior = state.prior.refresh(rng, state.omega)
        return acceptances(kinds, tried, accepted) | {"log_likelihood": state.value}

    def draw(self, state: LeastSquaresState, info: Info, *, in_full: bool) -> Draw:
        """Return what is kept of a state; nothing is known of the spread of its weights."""
        fitted = state.omega, state.coef, state.precision, state.value
        return point_draw(*fitted, state.prior, in_full=in_full)

    def saved(self, state: LeastSquaresState) -> dict[str, Any]:
        own = {"omega": state.omega, "precision": state.precision}
        return {**own, "prior": state.prior.state()}

    def restored(self, saved: Mapping[str, Any], prior: FrequencyPrior) -> LeastSquaresState:
        rng, prior = np.random.default_rng(0), prior.restored(saved["prior"])
        return self.init(rng, np.array(saved["omega"]), prior, saved["precision"])

    def _exchange(
        self, state: LeastSquaresState, index: NDArray[np.intp], values: Array, threshold: float
    ) -> bool:
        """Give a unit other values, in place, unless the ratio of likelihoods forbids it."""
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
        try:
            coef, value = self._fitted(Z, gram, state.precision)
        except LinAlgError:
            return False
        if not threshold < value - state.value:
            return False
        state.omega[index] = values
        state.Z, state.gram, state.coef, state.value = Z, gram, coef, value
        return True

    def _fitted(self, Z: NDArray[Any], gram: Array, precision: float) -> tuple[Array, float]:
        """Return the least-squares weights of the labels, and their log likelihood."""
        ridge = gram.copy()
        features = np.arange(len(Z) - self.rows.n_fixed)
        ridge[features, features] += max(precision, _LEAST_SHARE * float(np.trace(gram)))
        labels = self.rows.target + 0.5
        coef = cho_solve(cho_factor(ridge, lower=True), Z @ labels)
        return coef, log_likelihood(self.rows.target, coef @ Z)
