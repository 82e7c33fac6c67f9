"""The base class of moves of a chain over frequencies, and the simplest move."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bochner._base.registry import register
from bochner.learned.state import ChainState, Info


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
    >>> model = LearnedKernelRegressor(5, sampler=sampler, n_burn_in=10, n_samples=30,
    ...                                random_state=0).fit(X, np.sin(X[:, 0]))
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
        """Move the state in place; return acceptances and other numbers for the trace."""


@register
@dataclass(frozen=True, slots=True)
class PriorParameters(Move):
    """Draw the parameters of the prior given the frequencies; always accepted."""

    name: ClassVar[str] = "prior"

    def __call__(self, rng: np.random.Generator, state: ChainState) -> Info:
        state.prior = state.prior.refresh(rng, state.omega)
        return {}
