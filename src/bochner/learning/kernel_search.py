"""Choosing a kernel, its length scales and its interactions by evidence, for a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from bochner._numerics.arrays import Array
from bochner.kernels import Kernel
from bochner.learning.exact_evidence import ExactEvidence
from bochner.learning.families import FAMILIES, Family

_LOG_ALPHA_START = np.log(0.1)
_LOG_ALPHA_BOUNDS = (np.log(1e-6), np.log(1e4))
_PARAMETER_RANGE = 6.0
_PAIR_BUDGET = 6_000_000
_FIRST_ROWS, _FIRST_STEPS = 300, 12
_FINAL_ROWS, _FINAL_STEPS, _FINALISTS = 1000, 30, 2


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A fitted kernel of one family on one encoding of the inputs.

    Parameters
    ----------
    encoding : int
        Index of the encoding.
    family : Family
    theta : ndarray
        Parameters of the family, then log alpha.
    log_evidence : float
        Penalised by the prior of the parameters, up to a constant.
    """

    encoding: int
    family: Family
    theta: Array
    log_evidence: float

    @property
    def kernel(self) -> Kernel:
        """The kernel at the fitted parameters."""
        return self.family.kernel(self.theta[:-1])


def maximise_evidence(
    evidence: ExactEvidence, family: Family, theta: Array | None, steps: int
) -> tuple[Array, float]:
    """Return the parameters (and log alpha) of greatest penalised evidence, and its value.

    Parameters
    ----------
    evidence : ExactEvidence
    family : Family
    theta : ndarray or None
        Where to begin; ``None`` means at the prior's mean.
    steps : int
        At most this many iterations of L-BFGS.
    """
    dim = len(evidence.lags)
    mean = np.append(family.start(dim), _LOG_ALPHA_START)
    precision = np.append(family.precision(dim), 0.0)

    def loss(theta: Array) -> tuple[float, Array]:
        correlation, pullback = family.correlation(evidence.lags, theta[:-1])
        value, gradient, slope = evidence.loss(correlation, theta[-1])
        shift = theta - mean
        penalty = 0.5 * float(precision @ shift**2)
        return value + penalty, np.append(pullback(gradient), slope) + precision * shift

    bounds = [(x - _PARAMETER_RANGE, x + _PARAMETER_RANGE) for x in mean[:-1]]
    result = minimize(
        loss,
        mean if theta is None else theta,
        jac=True,
        method="L-BFGS-B",
        bounds=[*bounds, _LOG_ALPHA_BOUNDS],
        options={"maxiter": steps},
    )
    return result.x, -float(result.fun)


def search_kernel(
    encodings: Sequence[Array],
    Y: Array,
    rng: np.random.Generator,
    *,
    families: Sequence[Family] = FAMILIES,
    progress: Callable[[str], None] = lambda message: None,
) -> list[Candidate]:
    """Return fitted kernels for the best families and encodings, best first.

    Every family is fitted to every encoding on a few hundred rows; the two best are fitted
    again, from where they ended, on up to a thousand. All are compared on the same rows.

    Parameters
    ----------
    encodings : sequence of ndarray of shape (n, d)
        Alternative encodings of the same inputs, of order-one scale.
    Y : ndarray of shape (n, t)
        Standardised targets.
    rng : numpy.random.Generator
        Chooses the rows.
    families : sequence of Family
    progress : callable
        Told what is being fitted.
    """
    order = rng.permutation(len(Y))
    first = [_evidence(X, Y, order, _FIRST_ROWS) for X in encodings]
    candidates = []
    for family in families:
        progress(f"comparing kernels: {family}")
        for index, evidence in enumerate(first):
            theta, value = maximise_evidence(evidence, family, None, _FIRST_STEPS)
            candidates.append(Candidate(index, family, theta, value))
    candidates.sort(key=lambda candidate: -candidate.log_evidence)
    final = []
    for candidate in candidates[:_FINALISTS]:
        progress(f"fitting length scales: {candidate.family}")
        evidence = _evidence(encodings[candidate.encoding], Y, order, _FINAL_ROWS)
        theta, value = maximise_evidence(
            evidence, candidate.family, candidate.theta, _FINAL_STEPS
        )
        final.append(Candidate(candidate.encoding, candidate.family, theta, value))
    return sorted(final, key=lambda candidate: -candidate.log_evidence)


def _evidence(X: Array, Y: Array, order: Array, n_rows: int) -> ExactEvidence:
    # Time grows with pairs times inputs: wide tables get fewer rows.
    affordable = int(np.sqrt(2.0 * _PAIR_BUDGET / X.shape[1]))
    rows = order[: min(n_rows, max(affordable, _FIRST_ROWS))]
    return ExactEvidence.of(X[rows], Y[rows])
