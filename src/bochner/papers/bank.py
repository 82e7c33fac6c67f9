r"""BaNK: Bayesian nonparametric kernel learning, as printed.

Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning", 2016.
The spectral distribution of the kernel is a Dirichlet-process mixture of Gaussians; frequencies
``W``, labels ``Z`` and components are sampled, weights are integrated out.

======================  ============================================================================
In the paper            Here
======================  ============================================================================
Eqs. (1) to (3), (6)    :meth:`bochner.learned.training_data.TrainingData.features`
Eqs. (4), (5)           :class:`bochner.kernels.SpectralMixture`; ``kernel_`` of a fitted model
Eq. (7), Figure 2       :class:`bochner.LearnedKernelRegressor`, with the priors of
                        :class:`~bochner.learned.dirichlet_mixture.NormalInverseWishart` and
                        :class:`~bochner.learned.dirichlet_mixture.MixturePrior`
Eq. (8)                 :func:`bochner.learned.dirichlet_mixture.sample_labels`
Eqs. (9) to (11)        :meth:`bochner.learned.dirichlet_mixture.NormalInverseWishart.posterior`
Eqs. (12), (13), (15)   :func:`bochner.learned.moves.replace_frequencies`, one frequency at a time
Eq. (14)                :meth:`bochner.learned.chain_state.ChainEvidence.log_evidence`
Eq. (16)                :func:`laplace`, whose mode is an arg max; the constant is of 2m weights
Eqs. (17) to (19)       :class:`JointPairChain`
Section 3.4, Figure 4   the benchmark ``bank``, part ``scaling``
Figure 3                the benchmark ``bank``, part ``kernel``
Tables 1 and 2          the benchmark ``bank``, part ``accuracy``
Figure 5                ``fit_seconds`` of the benchmark ``bank``
======================  ============================================================================

``LearnedKernelRegressor(sampler=bank.SAMPLER)`` and ``LearnedKernelClassifier`` with it have the
printed proposals: independent draws of the prior. The default sampler makes local moves.

Examples
--------
>>> import numpy as np
>>> from bochner import LearnedKernelRegressor
>>> from bochner.learned import Chains
>>> from bochner.papers import bank
>>> X = np.linspace(0.0, 6.0, 60)[:, None]
>>> chains = Chains(n_burn_in=40, n_samples=20, n_chains=2)
>>> model = LearnedKernelRegressor(20, sampler=bank.SAMPLER, chains=chains, random_state=0)
>>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.95)
True
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array, Floats
from bochner._base.registry import register
from bochner.learned.basis import PLAIN, Basis
from bochner.learned.chain_models import Model, Start, Structure, dense_hyper
from bochner.learned.chain_plan import Sampler
from bochner.learned.chain_run import Chain
from bochner.learned.chain_state import Info, StepSizes
from bochner.learned.dirichlet_mixture import sample_prior
from bochner.learned.draws import ChainDraw, point_draw
from bochner.learned.frequency_priors import DensePrior, FrequencyPrior
from bochner.learned.moves import LOCAL_MOVES, LogNormalPrecision, Move, PrecisionWalk, acceptances
from bochner.learned.training_data import TrainingData
from bochner.spectral.wave_formulas import MemoryLayout, wave_features

_WALK = PrecisionWalk()
"""The walk of the precision, with its default number of steps, step size and acceptance target."""
_JITTER = 1e-10
"""Ridge of Hessians, as a share of the columns' mean square, far below relevant curvatures."""


@register
@dataclass(frozen=True, slots=True)
class IndependentStructure(Structure):
    """Structure of the papers: dense frequencies, independent proposals, a start from the prior."""

    name: ClassVar[str] = "dense"
    is_discrete: ClassVar[bool] = False

    def start(self, rng: Generator, scale: Array, n_frequencies: int, X: Array, y: Array) -> Start:
        return independent_start(rng, scale, n_frequencies)


def independent_start(rng: Generator, scale: Array, n_frequencies: int) -> Start:
    """Return frequencies (m, d) drawn from the dense prior, and the prior, which proposes draws."""
    hyper = dense_hyper(scale)
    mixture, omega = sample_prior(rng, hyper, n_frequencies)
    return omega, DensePrior(hyper, mixture, correlations=(0.0,), jumps=0.0)


@register
@dataclass(frozen=True, slots=True)
class BaNK(Model):
    """The model of BaNK; if targets are labels, a frequency and its weights move jointly."""

    def basis(self, n_waves: int) -> Basis:
        return PLAIN

    def chain_of_labels(self, rows: TrainingData, moves: tuple[Move, ...]) -> Chain:
        return JointPairChain(repeated(rows))


SAMPLER = Sampler(LOCAL_MOVES, structure=IndependentStructure(), model=BaNK())
"""The sampler as printed, for ``LearnedKernelRegressor`` and ``LearnedKernelClassifier``."""


def repeated(rows: TrainingData) -> TrainingData:
    """Return the rows without weights, each repeated as often as its integer weight says.

    Raises ``ValueError`` for fractional weights.
    """
    if rows.weight is None:
        return rows
    times = np.rint(rows.weight).astype(np.intp)
    if not np.array_equal(times, rows.weight):
        raise ValueError(
            "In a classification, the paper's sampler needs whole-number weights, which are "
            "repetitions of rows; use sampler='auto' for others."
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


@dataclass(frozen=True, slots=True, eq=False)
class Laplace:
    """The normal distribution N(mode, A^{-1}), with ``A`` the negative log density's Hessian."""

    mode: Array  # (k,)
    lower: Floats  # (k, k): Cholesky factor of A

    def sample(self, rng: Generator) -> Array:
        """Return one draw (k,)."""
        return self.mode + np.linalg.solve(self.lower.T, rng.normal(size=len(self.mode)))

    def log_density(self, beta: Array) -> float:
        """Return the log density at ``beta`` (k,), with its constant."""
        whitened = (beta - self.mode) @ self.lower
        half_log_determinant = float(np.sum(np.log(np.diagonal(self.lower))))
        constant = half_log_determinant - 0.5 * len(beta) * np.log(2.0 * np.pi)
        return float(constant - 0.5 * (whitened @ whitened))


def log_likelihood(target: Array, activation: Array) -> float:
    r"""Return :math:`\sum_i \kappa_i \eta_i - \log(2 \cosh(\eta_i / 2))`, without overflow.

    With :math:`\kappa = y - 1/2` this is :math:`\log p(y \mid \eta)` of a logistic regression.
    ``target`` (n,) is ``kappa`` and ``activation`` (n,) ``eta``, the log odds of a one.
    """
    size = np.abs(activation)
    return float(target @ activation - 0.5 * size.sum() - np.log1p(np.exp(-size)).sum())


def laplace(
    Z: Array, target: Array, offset: Array, precision: float, n_newton: int, tolerance: float = 1e-5
) -> Laplace:
    r"""Return the Laplace approximation of :math:`p(\beta \mid y)`, :math:`\beta` (k,).

    The log odds are :math:`\text{offset} + Z^\top \beta`, the prior is
    :math:`N(0, I / \text{precision})`, flat if the precision is zero. ``Z`` has shape (k, n), and
    ``target`` is :math:`\kappa = y - 1/2`. Newton's method starts at zero and halves steps that
    would decrease the log density. The result is a function of the arguments only, as the
    reversibility of the chain requires. There are at most ``n_newton`` steps, and the search ends
    when the next step would gain no more than ``tolerance`` in log density.
    """
    beta: Array = np.zeros(len(Z))
    eta = offset
    value = log_likelihood(target, eta)
    gradient, hessian = _derivatives(Z, target, eta, beta, precision)
    for _ in range(n_newton):
        step = np.linalg.solve(hessian, gradient)
        while True:
            if 0.5 * float(gradient @ step) <= tolerance:
                return Laplace(beta, np.linalg.cholesky(hessian))
            trial = beta + step
            trial_eta = offset + trial @ Z
            reached = log_likelihood(target, trial_eta) - 0.5 * precision * float(trial @ trial)
            if reached >= value:
                break
            step = 0.5 * step
        beta, eta, value = trial, trial_eta, reached
        gradient, hessian = _derivatives(Z, target, eta, beta, precision)
    return Laplace(beta, np.linalg.cholesky(hessian))


def _derivatives(
    Z: Array, target: Array, eta: Array, beta: Array, precision: float
) -> tuple[Array, Array]:
    """Return the gradient (k,) of the log posterior by ``beta``, and its negative Hessian."""
    half = 0.5 * np.tanh(0.5 * eta)
    gradient: Array = Z @ (target - half) - precision * beta
    hessian: Array = (Z * (0.25 - half * half)) @ Z.T
    diagonal = np.arange(len(Z))
    # Without a prior there is no curvature if all rows are predicted with certainty.
    jitter = _JITTER * (float(np.vdot(Z, Z)) / len(Z) + 1.0)
    hessian[diagonal, diagonal] += precision + jitter
    return gradient, hessian


@dataclass(slots=True, eq=False)
class JointPairState:
    """State of a :class:`JointPairChain`, which changes it in place."""

    omega: Array  # (m, d)
    beta: (
        Array  # (2m + q,): Weights of cosine and sine of every frequency in turn, of fixed columns
    )
    activation: Array  # (n,): eta = Phi beta, the log odds of a one
    precision: float  # lambda_0: weights of features are N(0, 1/lambda_0)
    prior: FrequencyPrior
    steps: StepSizes


@dataclass(frozen=True, slots=True, eq=False)
class JointPairChain:
    r"""Samples the posterior of :math:`P(y = 1 \mid x) = 1/(1 + e^{-\beta \cdot \phi(x)})`.

    A frequency :math:`\omega_j` and its two weights :math:`\beta_j` are proposed together: the
    frequency by the prior, the weights from the Laplace approximation of their posterior given all
    other unknowns. If the prior proposes independent draws, the acceptance ratio is

    .. math:: \frac{p(y \mid \omega^*, \beta^*)\, p(\beta_j^*)\, L(\beta_j \mid \omega_j)}
              {p(y \mid \omega, \beta)\, p(\beta_j)\, L(\beta_j^* \mid \omega_j^*)},

    where ``L`` is the density of the approximation. The approximations depend only on the weights
    of other frequencies, so that the chain is exact even if they are rough. A proposal costs
    :math:`O(nd)`. It is the move of section 3.3.2 of the paper (see
    :class:`bochner.LearnedKernelClassifier`), where the mode of equation (16) is an arg max.
    """

    rows: TrainingData  # target holds kappa = y - 1/2; without weights
    precision_prior: LogNormalPrecision = field(default_factory=LogNormalPrecision)
    n_newton: int = 8  # Largest number of steps to the mode of an approximation

    def init(
        self, rng: Generator, omega: Array, prior: FrequencyPrior, precision: float
    ) -> JointPairState:
        beta = np.zeros(2 * len(omega) + self.rows.n_fixed)
        activation = np.zeros(self.rows.n_samples)
        steps = StepSizes({_WALK.name: _WALK.step_size})
        return JointPairState(omega.copy(), beta, activation, precision, prior, steps)

    def step(self, rng: Generator, state: JointPairState, *, adapting: bool = False) -> Info:
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
        # Recomputed once per round, so that rounding errors do not accumulate.
        self._set_activation(state)
        info["log_likelihood"] = log_likelihood(self.rows.target, state.activation)
        return info

    def _set_activation(self, state: JointPairState) -> None:
        rows, m = self.rows, len(state.omega)
        activation = state.beta[2 * m :] @ rows.fixed
        scale = 1.0 / np.sqrt(m)
        for part in rows.blocks(2 * m):
            Z = wave_features(
                rows.inputs[:, part], state.omega, MemoryLayout.BY_WAVE, amplitude=scale
            )
            activation[part] += state.beta[: 2 * m].astype(Z.dtype) @ Z
        state.activation = activation

    def draw(self, state: JointPairState, info: Info, *, in_full: bool) -> ChainDraw:
        """Return what is stored of a state; its weights are sampled and have no covariance."""
        fitted = state.omega, state.beta, state.precision, info["log_likelihood"]
        return point_draw(*fitted, state.prior, in_full=in_full)

    def rebuild(self, state: JointPairState) -> None:
        self._set_activation(state)

    def _sweep(self, rng: Generator, state: JointPairState) -> Info:
        """Propose each frequency with its weights, in random order; return acceptance rates."""
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

    def _move_fixed(self, rng: Generator, state: JointPairState) -> float:
        columns = self.rows.fixed
        here = slice(2 * len(state.omega), None)
        threshold = float(np.log(rng.random()))
        return float(self._exchange(rng, state, here, columns, columns, 0.0, threshold))

    def _exchange(
        self,
        rng: Generator,
        state: JointPairState,
        here: slice,
        old: Array,
        new: Array,
        precision: float,
        threshold: float,
    ) -> bool:
        """Propose features ``new`` (k, n) with weights in place of ``old``; return the decision."""
        beta = state.beta[here]
        offset = state.activation - beta @ old
        # The same approximation at the old columns gives the density of the reverse proposal.
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
        """Return the features (2, n) of one frequency (d,): its cosine and sine."""
        scale = 1.0 / np.sqrt(len(state.omega))
        Z = wave_features(self.rows.inputs, omega[None], MemoryLayout.BY_WAVE, amplitude=scale)
        return np.asarray(Z, np.float64)

    def _approximation(self, columns: Array, offset: Array, precision: float) -> Laplace:
        return laplace(columns, self.rows.target, offset, precision, self.n_newton)

    def _log_posterior(self, activation: Array, beta: Array, precision: float) -> float:
        fit = log_likelihood(self.rows.target, activation)
        return fit - 0.5 * precision * float(beta @ beta)


def weight_precision_step(
    rng: Generator, weights: Array, precision: float, prior: LogNormalPrecision, step_size: float
) -> tuple[float, float]:
    r"""Return :math:`\lambda_0` after random-walk moves of its logarithm, and their acceptance.

    Given the weights (2m,), whose prior is :math:`N(0, 1/\lambda_0)`, the posterior of
    :math:`\lambda_0` does not depend on the data.
    """
    square = float(weights @ weights)

    def log_likelihood(log_precision: float) -> float:
        return 0.5 * (len(weights) * log_precision - float(np.exp(log_precision)) * square)

    start = float(np.log(precision))
    walk = PrecisionWalk(prior)
    reached, share = walk.walked(rng, step_size, start, log_likelihood(start), log_likelihood)
    return float(np.exp(reached)), share
