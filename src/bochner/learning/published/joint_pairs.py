"""The paper's chain of a binary classification: frequencies move along with their weights."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.frequencies.waves import Layout, wave_features
from bochner.learning.inference.draws import Draw, point_draw
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.state import Info, StepSizes
from bochner.learning.inference.training_data import TrainingData
from bochner.learning.moves.precision import LogNormalPrecision, PrecisionWalk
from bochner.learning.moves.replacement import acceptances
from bochner.learning.published.laplace import Laplace, laplace, log_likelihood

_WALK = PrecisionWalk()
"""Whose number of steps, step size and target acceptance the walk given the weights has."""


@dataclass(slots=True, eq=False)
class JointPairState:
    r"""A state of the chain, which owns it and changes it in place."""

    omega: Array  # (m, d)
    # (p,): Weights of cosine and sine of every frequency in turn, then of the q fixed columns; p =
    # 2m + q
    beta: Array
    activation: Array  # (n,): eta = Phi beta, the log odds of a one
    precision: float  # lambda_0: weights of features are N(0, 1/lambda_0)
    prior: FrequencyPrior
    steps: StepSizes


@dataclass(frozen=True, slots=True, eq=False)
class JointPairChain:
    r"""Sampling the posterior of :math:`P(y = 1 \mid x) = 1/(1 + e^{-\beta \cdot \phi(x)})`.

    A frequency :math:`\omega_j` and its two weights :math:`\beta_j` are proposed together, the
    frequency by the prior, the weights from the Laplace approximation of their posterior given
    all else. With a prior that proposes its own independent draws the ratio of acceptance is

    .. math:: \frac{p(y \mid \omega^*, \beta^*)\, p(\beta_j^*)\, L(\beta_j \mid \omega_j)}
              {p(y \mid \omega, \beta)\, p(\beta_j)\, L(\beta_j^* \mid \omega_j^*)},

    where ``L`` is the approximation's density. The approximations depend on the weights of the
    other frequencies only, so the chain is exact however rough they are. A proposal costs
    :math:`O(nd)`.

    Rows with weights raise ``ValueError``.

    Notes
    -----
    Section 3.3.2 of Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric
    kernel-learning", 2016; the mode of its equation (16) is an arg max.
    """

    rows: TrainingData  # target holds kappa = y - 1/2; without weights
    precision_prior: LogNormalPrecision = field(default_factory=LogNormalPrecision)
    n_newton: int = 8  # Most steps towards the mode of an approximation

    def __post_init__(self) -> None:
        if self.rows.weight is not None:
            raise ValueError(
                "Expected rows without weights, got rows with weights; "
                "repeat rows instead, or use LogisticLabels, which counts them."
            )

    def init(
        self, rng: np.random.Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> JointPairState:
        beta = np.zeros(2 * len(omega) + self.rows.n_fixed)
        activation = np.zeros(self.rows.n_samples)
        steps = StepSizes({_WALK.name: _WALK.step_size})
        return JointPairState(omega.copy(), beta, activation, precision, prior, steps)

    def step(
        self, rng: np.random.Generator, state: JointPairState, *, adapting: bool = False
    ) -> Info:
        info = self._sweep(rng, state)
        if self.rows.n_fixed:
            info["acceptance_fixed"] = self._move_fixed(rng, state)
        weights = state.beta[: 2 * len(state.omega)]
        state.precision, info["acceptance_precision"] = weight_precision_step(
            rng, weights, state.precision, self.precision_prior, state.steps[_WALK.name]
        )
        state.prior = state.prior.refresh(rng, state.omega)
        if adapting:
            state.steps.adapt({_WALK.name: _WALK.target_acceptance}, info)
        # Computed afresh once a round, so that rounding does not add up.
        self._set_activation(state)
        info["log_likelihood"] = log_likelihood(self.rows.target, state.activation)
        return info

    def _set_activation(self, state: JointPairState) -> None:
        rows, m = self.rows, len(state.omega)
        activation = state.beta[2 * m :] @ rows.fixed
        scale = 1.0 / np.sqrt(m)
        for part in rows.blocks(2 * m):
            Z = wave_features(rows.inputs[:, part], state.omega, Layout.BY_WAVE, amplitude=scale)
            activation[part] += state.beta[: 2 * m].astype(Z.dtype) @ Z
        state.activation = activation

    def draw(self, state: JointPairState, info: Info, *, in_full: bool) -> Draw:
        """Return what is kept of a state: its weights are a draw, with nothing left to spread."""
        fitted = state.omega, state.beta, state.precision, info["log_likelihood"]
        return point_draw(*fitted, state.prior, in_full=in_full)

    def saved(self, state: JointPairState) -> dict[str, Any]:
        return {
            "omega": state.omega,
            "precision": state.precision,
            "prior": state.prior.state(),
            "step_sizes": dict(state.steps.values),
            "n_adapted": state.steps.n_adapted,
            "beta": state.beta,
        }

    def restored(self, saved: Mapping[str, Any], prior: FrequencyPrior) -> JointPairState:
        state = JointPairState(
            np.array(saved["omega"]),
            np.array(saved["beta"]),
            np.zeros(self.rows.n_samples),
            saved["precision"],
            prior.restored(saved["prior"]),
            StepSizes(dict(saved["step_sizes"]), saved["n_adapted"]),
        )
        self._set_activation(state)
        return state

    def _sweep(self, rng: np.random.Generator, state: JointPairState) -> Info:
        """Propose every frequency with its weights, in random order; return acceptances."""
        kinds = state.prior.kinds
        order = rng.permutation(len(state.omega))
        suggestion = state.prior.suggest(rng, state.omega, order)
        log_uniform = np.log(rng.random(len(order)))
        decided = np.zeros(len(order), dtype=np.bool_)
        for k, j in enumerate(order):
            old, new = self._pair(state, state.omega[j]), self._pair(state, suggestion.omega[k])
            here, threshold = slice(2 * j, 2 * j + 2), log_uniform[k] - suggestion.log_ratio[k]
            decided[k] = self._exchange(rng, state, here, old, new, state.precision, threshold)
            if decided[k]:
                state.omega[j] = suggestion.omega[k]
        tried = np.bincount(suggestion.kind, minlength=len(kinds))
        accepted = np.bincount(suggestion.kind[decided], minlength=len(kinds))
        state.prior = state.prior.decided(order, suggestion, decided)
        return acceptances(kinds, tried, accepted)

    def _move_fixed(self, rng: np.random.Generator, state: JointPairState) -> float:
        columns = self.rows.fixed
        here = slice(2 * len(state.omega), None)
        threshold = float(np.log(rng.random()))
        return float(self._exchange(rng, state, here, columns, columns, 0.0, threshold))

    def _exchange(
        self,
        rng: np.random.Generator,
        state: JointPairState,
        here: slice,
        old: Array,
        new: Array,
        precision: float,
        threshold: float,
    ) -> bool:
        """Propose columns ``new`` (k, n) with weights for ``old``; say whether they replace it."""
        beta = state.beta[here]
        offset = state.activation - beta @ old
        backward = self._approximation(old, offset, precision)
        forward = backward if new is old else self._approximation(new, offset, precision)
        proposed = forward.sample(rng)
        activation = offset + proposed @ new
        log_ratio = (
            self._log_posterior(activation, proposed, precision)
            - self._log_posterior(state.activation, beta, precision)
            + backward.log_density(beta)
            - forward.log_density(proposed)
        )
        if not threshold < log_ratio:
            return False
        state.beta[here] = proposed
        state.activation = activation
        return True

    def _pair(self, state: JointPairState, omega: Array) -> Array:
        """Return cosine and sine of one frequency (d,), of shape (2, n)."""
        scale = 1.0 / np.sqrt(len(state.omega))
        Z = wave_features(self.rows.inputs, omega[None], Layout.BY_WAVE, amplitude=scale)
        return np.asarray(Z, np.float64)

    def _approximation(self, columns: Array, offset: Array, precision: float) -> Laplace:
        return laplace(columns, self.rows.target, offset, precision, self.n_newton)

    def _log_posterior(self, activation: Array, beta: Array, precision: float) -> float:
        fit = log_likelihood(self.rows.target, activation)
        return fit - 0.5 * precision * float(beta @ beta)


def weight_precision_step(
    rng: np.random.Generator,
    weights: Array,
    precision: float,
    prior: LogNormalPrecision,
    step_size: float,
) -> tuple[float, float]:
    r"""Return :math:`\lambda_0` after random-walk moves of its logarithm, and their acceptance.

    Given weights (2m,) of law :math:`N(0, 1/\lambda_0)` the data say nothing more.
    """
    square = float(weights @ weights)

    def log_density(log_precision: float) -> float:
        fit = 0.5 * (len(weights) * log_precision - float(np.exp(log_precision)) * square)
        return fit + prior.log_density(log_precision)

    log_precision, n_accepted = float(np.log(precision)), 0
    for _ in range(_WALK.n_steps):
        proposal = log_precision + step_size * float(rng.normal())
        if np.log(rng.random()) < log_density(proposal) - log_density(log_precision):
            log_precision, n_accepted = proposal, n_accepted + 1
    return float(np.exp(log_precision)), n_accepted / _WALK.n_steps
