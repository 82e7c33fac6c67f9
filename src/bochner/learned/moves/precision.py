"""A random walk of the ratio of noise variance to weight variance."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from scipy.linalg import LinAlgError

from bochner._base.limits import LARGEST_ENTRY
from bochner._base.registry import register
from bochner.learned.chain_evidence import log_evidence_at, solved
from bochner.learned.moves.move import Move
from bochner.learned.state import ChainState, Info


@register
@dataclass(frozen=True, slots=True)
class LogNormalPrecision:
    r"""The prior :math:`\log \lambda_0 \sim N(\text{mean}, \text{std}^2)`.

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

        ``level`` is the log likelihood at the start.
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
