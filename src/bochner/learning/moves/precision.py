"""The ratio of noise to signal, sampled with the rest."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from bochner.learning.inference.evidence import Evidence, log_evidence_at, solved


@dataclass(frozen=True, slots=True)
class LogNormalPrecision:
    r"""The prior :math:`\log \lambda_0 \sim N(\text{mean}, \text{std}^2)`.

    Parameters
    ----------
    mean, std : float
        The default is centred on a signal of a few tens of times the noise's variance and spans
        thirteen decades within three standard deviations.
    """

    mean: float = -4.0
    std: float = 5.0

    def log_density(self, log_precision: float) -> float:
        r"""Return the log density of :math:`\log \lambda_0` up to a constant."""
        return -0.5 * ((log_precision - self.mean) / self.std) ** 2

    def sample(self, rng: np.random.Generator) -> float:
        """Return a precision drawn from the prior."""
        return float(np.exp(self.mean + self.std * rng.normal()))


def precision_step(
    rng: np.random.Generator,
    evidence: Evidence,
    prior: LogNormalPrecision,
    step_size: float,
    n_steps: int = 2,
) -> tuple[Evidence, float]:
    """Return the evidence after random-walk moves of the log precision, and their acceptance.

    Weights and noise are integrated out; the data are not met. Precisions that rounding does not
    permit have probability zero.
    """
    log_precision = float(np.log(evidence.precision))
    current = evidence.log_evidence() + prior.log_density(log_precision)
    n_accepted = 0
    for _ in range(n_steps):
        proposal = log_precision + step_size * rng.normal()
        threshold = np.log(rng.random())
        if proposal < np.log(evidence.least_precision):
            continue
        try:
            proposed = log_evidence_at(evidence, float(np.exp(proposal)))
        except LinAlgError:
            continue
        proposed += prior.log_density(proposal)
        if threshold < proposed - current:
            log_precision, current = proposal, proposed
            n_accepted += 1
    if n_accepted:
        evidence = solved(evidence, float(np.exp(log_precision)))
    return evidence, n_accepted / n_steps
