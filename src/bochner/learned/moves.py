"""Moves of a Markov chain over frequencies; :class:`Move` documents how to add one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dgemm

from bochner._base.arrays import Array, Index, Mask
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.registry import register
from bochner.learned.basis import Basis
from bochner.learned.chain_state import (
    ChainEvidence,
    ChainState,
    Info,
    frequency_gradient,
    log_evidence_at,
    solved,
)
from bochner.learned.exchange_loops import decide_exchanges
from bochner.learned.frequency_priors import Whitening
from bochner.learned.modulated_waves import WaveFeatures
from bochner.learned.training_data import TrainingData


class Move(ABC):
    r"""A Markov kernel that leaves the posterior of a chain's state invariant.

    A move changes the state in place and returns numbers for the trace. A round of a chain is a
    sequence of moves; ``LearnedKernelRegressor(sampler=...)`` takes such a sequence.

    Attributes
    ----------
    name : str
        Key of the step size, and part of the names in the trace.
    step_size : float or None, default=None
        Initial step size; the current one is ``state.steps[name]``. ``None`` for a move without a
        step size.
    target_acceptance : float or None, default=None
        Acceptance rate towards which the step size is adapted during burn-in; ``None`` keeps the
        step size. The move reports ``acceptance_<name>``.
    n_copies : int, default=1
        Number of sets of features of all rows in memory during the move, including the state's.

    Examples
    --------
    A Crank-Nicolson step of all frequencies at once, in coordinates in which their prior is
    standard normal, so that the ratio of evidences decides:

    >>> import numpy as np
    >>> from bochner import LearnedKernelRegressor
    >>> from bochner.learned import Chains
    >>> from bochner.learned.moves import LOCAL_MOVES, Move
    >>> class JointCrankNicolson(Move):
    ...     name, step_size, target_acceptance = "joint", 0.1, 0.3
    ...
    ...     def __call__(self, rng, state):
    ...         law = state.prior.whitening(rng, state.omega)
    ...         step = min(state.steps[self.name], 1.0)
    ...         fresh = np.where(law.moving, rng.normal(size=state.omega.shape), 0.0)
    ...         moved = np.sqrt(1.0 - step**2) * law.whiten(state.omega) + step * fresh
    ...         proposed = state.evidence_at(law.colour(moved))
    ...         log_ratio = proposed.log_evidence() - state.evidence.log_evidence()
    ...         if np.log(rng.random()) < log_ratio:
    ...             state.evidence = proposed
    ...         return {"acceptance_joint": float(np.exp(min(log_ratio, 0.0)))}
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> sampler = [JointCrankNicolson(), *LOCAL_MOVES]
    >>> model = LearnedKernelRegressor(5, sampler=sampler, chains=Chains(10, 30), random_state=0)
    >>> model = model.fit(X, np.sin(X[:, 0]))
    >>> sorted(name for name in model.trace_.records if "joint" in name)
    ['acceptance_joint', 'step_size_joint']
    """

    __slots__ = ()

    name: ClassVar[str]
    step_size: ClassVar[float | None] = None
    target_acceptance: ClassVar[float | None] = None
    n_copies: ClassVar[int] = 1

    @abstractmethod
    def __call__(self, rng: np.random.Generator, state: ChainState) -> Info:
        """Move the state in place; return acceptance rates and other values for the trace."""


@register
@dataclass(frozen=True, slots=True)
class PriorParameters(Move):
    """A move that draws the prior's parameters given the frequencies; always accepted."""

    name: ClassVar[str] = "prior"

    def __call__(self, rng: np.random.Generator, state: ChainState) -> Info:
        state.prior = state.prior.refresh(rng, state.omega)
        return {}


@register
@dataclass(frozen=True, slots=True)
class LogNormalPrecision:
    r"""Prior of the weights' precision: :math:`\log \lambda_0 \sim N(\text{mean}, \text{std}^2)`.

    Parameters
    ----------
    mean, std : float
        With the defaults the prior median of the signal variance is a few tens of the noise
        variance, and three standard deviations span thirteen decades.
    """

    mean: float = -4.0
    std: float = 5.0

    def log_density(self, log_precision: Any) -> Any:
        r"""Return the log density of :math:`\log \lambda_0`, elementwise, up to a constant."""
        return -0.5 * ((log_precision - self.mean) / self.std) ** 2


@register
@dataclass(frozen=True, slots=True)
class PrecisionWalk(Move):
    r"""Random-walk moves of :math:`\log \lambda_0`, with weights and noise integrated out.

    Precisions at which rounding makes the posterior precision of the weights indefinite are
    rejected.

    Parameters
    ----------
    prior : LogNormalPrecision, optional
    n_steps : int, default=2
        Steps of a round; each costs one Cholesky factorisation.
    """

    prior: LogNormalPrecision = field(default_factory=LogNormalPrecision)
    n_steps: int = 2

    name: ClassVar[str] = "precision"
    step_size: ClassVar[float] = 0.3
    target_acceptance: ClassVar[float] = 0.4

    def __call__(self, rng: Generator, state: ChainState) -> Info:
        evidence = state.evidence

        def log_likelihood(log_precision: float) -> float:
            if not np.log(evidence.least_precision) <= log_precision <= np.log(LARGEST_ENTRY):
                return -np.inf
            try:
                return log_evidence_at(evidence, float(np.exp(log_precision)))
            except LinAlgError:
                return -np.inf

        start = float(np.log(evidence.precision)), evidence.log_evidence()
        log_precision, share = self.walked(rng, state.steps[self.name], *start, log_likelihood)
        if share:
            state.evidence = solved(evidence, float(np.exp(log_precision)))
        return {"acceptance_precision": share}

    def walked(
        self,
        rng: Generator,
        step: float,
        log_precision: float,
        level: float,
        log_likelihood: Callable[[float], float],
    ) -> tuple[float, float]:
        r"""Return :math:`\log \lambda_0` after all steps, and the share of accepted steps.

        ``log_precision`` is its value at the start, and ``level`` the log likelihood there.
        """
        current, n_accepted = level + self.prior.log_density(log_precision), 0
        for _ in range(self.n_steps):
            proposal = log_precision + step * float(rng.normal())
            # Drawn before the likelihood is evaluated, so that streams do not depend on its value.
            threshold = np.log(rng.random())
            proposed = log_likelihood(proposal) + self.prior.log_density(proposal)
            if threshold < proposed - current:
                log_precision, current, n_accepted = proposal, proposed, n_accepted + 1
        return log_precision, n_accepted / self.n_steps


_DIVERGENCE = 50.0
"""Increase of the energy, in nats, at which a trajectory is rejected early, with e^-50."""


@register
@dataclass(frozen=True, slots=True)
class Hamiltonian(Move):
    """One leapfrog trajectory of all frequencies, along the gradient of the log evidence.

    Positions are whitened coordinates. A gradient costs about as much as a sweep of replacements.

    Parameters
    ----------
    n_steps : int, default=8
        Number of leapfrog steps of a trajectory, one gradient each. With half as many the move is
        close to a random walk; twice as many double the cost.
    jitter : float, default=0.2
        Relative range of the random step size of a trajectory, so that trajectories do not end
        after whole periods of the motion.
    """

    n_steps: int = 8
    jitter: float = 0.2

    name: ClassVar[str] = "hmc"
    step_size: ClassVar[float] = 0.03
    target_acceptance: ClassVar[float] = 0.7
    n_copies: ClassVar[int] = 3

    def __call__(self, rng: Generator, state: ChainState) -> Info:
        whitening = state.prior.whitening(rng, state.omega)
        rows, evidence = state.rows, state.evidence
        step = state.steps[self.name] * (1.0 + self.jitter * rng.uniform(-1.0, 1.0))
        momentum = np.where(whitening.moving, rng.normal(size=state.omega.shape), 0.0)
        threshold = np.log(rng.random())
        position = whitening.whiten(state.omega)
        energy = _energy(evidence, position, momentum)
        force = _force(evidence, rows, whitening, position)
        for _ in range(self.n_steps):
            momentum = momentum + 0.5 * step * force
            position = position + step * momentum
            try:
                evidence = state.evidence_at(whitening.colour(position))
            # Positions far away may make features collinear: such a trajectory is rejected.
            except LinAlgError:
                return {"acceptance_hmc": 0.0}
            force = _force(evidence, rows, whitening, position)
            momentum = momentum + 0.5 * step * force
            if _energy(evidence, position, momentum) - energy > _DIVERGENCE:
                return {"acceptance_hmc": 0.0}
        log_ratio = energy - _energy(evidence, position, momentum)
        if threshold < log_ratio:
            state.evidence = evidence
        return {"acceptance_hmc": float(np.exp(min(log_ratio, 0.0)))}


def _energy(evidence: ChainEvidence, position: Array, momentum: Array) -> float:
    return 0.5 * float(np.sum(position**2) + np.sum(momentum**2)) - evidence.log_evidence()


def _force(
    evidence: ChainEvidence, rows: TrainingData, whitening: Whitening, position: Array
) -> Array:
    return whitening.pull(frequency_gradient(evidence, rows)) - position


_ILL_CONDITIONED = 1e-3
"""Precision, as a share of the mean diagonal of the Gram matrix, below which products with the
covariance are corrected once: sums are then ill-conditioned, and one more matrix product removes
most of their rounding error."""


@register
@dataclass(frozen=True, slots=True)
class ReplacementSweep(Move):
    """A move that proposes new values for all units of the basis, one by one in random order.

    The prior makes the proposals (independent draws, Crank-Nicolson steps, changes of the active
    inputs, new components, amplitudes) and names their kinds in the trace.
    """

    # Number of waves decided between two passes over the rows. Larger blocks make products more
    # efficient, but need larger panels
    block_size: int = 64

    name: ClassVar[str] = "replacement"

    def __call__(self, rng: Generator, state: ChainState) -> Info:
        kinds = state.prior.kinds
        tried, accepted = np.zeros(len(kinds)), np.zeros(len(kinds))
        for index in blocks_of_units(rng, state.rows.basis, len(state.omega), self.block_size):
            suggestion = state.prior.suggest(rng, state.omega, index)
            proposals = Proposals(
                index, suggestion.omega, suggestion.log_ratio, np.log(rng.random(len(index)))
            )
            decided = replace_frequencies(state.evidence, state.rows, proposals)
            state.prior = state.prior.decided(index, suggestion, decided)
            tried += np.bincount(suggestion.kind, minlength=len(tried))
            accepted += np.bincount(suggestion.kind[decided], minlength=len(tried))
        # Solved from the updated sums, so that rounding errors of a sweep do not accumulate.
        state.evidence = solved(state.evidence, state.evidence.precision)
        return acceptances(kinds, tried, accepted)


def acceptances(
    kinds: tuple[str, ...], tried: NDArray[np.number], accepted: NDArray[np.number]
) -> Info:
    """Return the acceptance rate of each kind of proposal; zero for a kind without proposals."""
    rates = accepted / np.maximum(tried, 1.0)
    return {f"acceptance_{kind}": float(rate) for kind, rate in zip(kinds, rates, strict=True)}


def blocks_of_units(rng: Generator, basis: Basis, n_units: int, block_size: int) -> Iterator[Index]:
    """Yield random blocks of units of one group, of one unit or at most ``block_size`` waves."""
    for group in basis.groups(n_units):
        order = group[rng.permutation(len(group))]
        width = basis.touched(group[:1], n_units).size
        step = max(1, block_size // width)
        for start in range(0, len(order), step):
            yield order[start : start + step]


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """Proposed values of some units of a basis, which are accepted or rejected in turn."""

    index: Index  # (B,): The units, of one group of the basis, each at most once
    omega: Array  # (B, D): Their proposed values
    log_ratio: Array  # (B,): Prior and proposal terms of the log acceptance ratio
    log_uniform: Array  # (B,): Logarithms of uniform variates that decide acceptance


def replace_frequencies(evidence: ChainEvidence, rows: TrainingData, proposals: Proposals) -> Mask:
    r"""Accept or reject a block of proposals, updating the evidence in place; return the mask.

    The result is that of one proposal after another, each with its evidence (equation (15) of the
    paper). With the features ``F`` of all proposals it needs three products with the data:
    :math:`C = \Phi^\top W F`, :math:`H = F^\top W F` and :math:`F^\top W y`. Decisions depend on
    :math:`P = A^{-1}` only by its columns at the block's features and by :math:`P C`. These panels
    are updated at every acceptance; ``P`` is updated once at the end, by one product.
    """
    if not len(proposals.index):
        return np.zeros(0, dtype=np.bool_)
    noise = np.array(evidence.noise.coefficients(evidence.degrees))
    touched = rows.basis.touched(proposals.index, len(evidence.omega))
    columns = (2 * touched[:, :, None] + np.arange(2)).ravel()
    waves = rows.basis.proposed(evidence.omega, proposals.index, proposals.omega)
    # Features of the proposals are stored if those of the current state are.
    features = evidence.features
    fresh = None if features is None else rows.room(2 * len(waves))
    products, within, cross = rows.total(
        part_products,
        evidence.omega,
        waves,
        along=(features, fresh),
        n_features=len(evidence.cross),
    )
    panel = _panel(evidence, columns, products, width=2 * touched.shape[1])
    reached = np.array([evidence.explained, evidence.log_determinant])
    # Rows of the low-rank change of P, filled by the compiled loop.
    factors, scaled = np.zeros((2, *panel.shape))
    accepted = np.zeros(len(proposals.log_ratio), dtype=np.bool_)
    decide_exchanges(
        panel,
        products,
        within,
        cross,
        columns,
        evidence.gram,
        evidence.cross,
        evidence.mean,
        proposals.log_ratio,
        proposals.log_uniform,
        evidence.precision,
        evidence.square,
        noise,
        reached,
        factors,
        scaled,
        accepted,
    )
    evidence.explained, evidence.log_determinant = map(float, reached)
    changed = np.flatnonzero(accepted)
    if len(changed):
        of_units = np.repeat(accepted, len(panel) // len(accepted))
        evidence.covariance = dgemm(
            1.0, scaled[of_units].T, factors[of_units].T, 1.0, evidence.covariance, trans_b=1
        )
        evidence.omega[proposals.index[changed]] = proposals.omega[changed]
        if features is not None and fresh is not None:
            of_features = np.repeat(accepted, len(columns) // len(accepted))
            features[columns[of_features]] = fresh[of_features]
    return accepted


def _panel(evidence: ChainEvidence, columns: Index, products: Array, width: int) -> Array:
    """Return the columns of P and P C of a block, as rows in turn for ``width`` features each."""
    covariance = evidence.covariance
    propagated = products @ covariance
    if evidence.precision < _ILL_CONDITIONED * np.mean(np.diagonal(evidence.gram)):
        # Rounding errors of P grow with its condition number: one correction removes most of them.
        propagated += (products - propagated @ evidence.posterior_precision()) @ covariance
    units = (-1, width, len(covariance))
    pair = (covariance[columns].reshape(units), propagated.reshape(units))
    return np.concatenate(pair, axis=1).reshape(-1, len(covariance))


def part_products(
    part: TrainingData,
    Z: NDArray[np.floating] | None,
    fresh: NDArray[np.floating] | None,
    omega: Array,
    proposed: WaveFeatures,
) -> tuple[NDArray[np.floating], NDArray[np.floating], NDArray[np.floating]]:
    """Return C', H and F'Wy of part of the rows; store ``F`` in ``fresh`` unless that is None."""
    scale = 1.0 / np.sqrt(part.basis.n_waves(len(omega)))
    F = proposed.features(part.inputs, scale)
    weighted = F if part.weight is None else F * part.weight.astype(F.dtype)
    if fresh is not None:
        fresh[:] = F
    outer = weighted @ part.features(omega, Z).T
    return outer, F @ weighted.T, F @ part.target.astype(F.dtype)


LOCAL_MOVES: tuple[Move, ...] = (ReplacementSweep(), PrecisionWalk(), PriorParameters())
"""A round of local moves: a sweep of replacements, then the precision and the prior."""

__all__ = [
    "LOCAL_MOVES",
    "ChainState",
    "Hamiltonian",
    "LogNormalPrecision",
    "Move",
    "PrecisionWalk",
    "PriorParameters",
    "ReplacementSweep",
]
