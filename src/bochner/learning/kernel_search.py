"""Choosing a kernel, its length scales and its interactions by evidence, for a table."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress, silent
from bochner.kernels import Kernel
from bochner.learning.criteria import ExactEvidence, PairCriterion
from bochner.learning.families import FAMILIES, Family

_LOG_ALPHA_START = np.log(0.1)
_LOG_ALPHA_BOUNDS = (np.log(1e-6), np.log(1e4))
_PARAMETER_RANGE = 6.0
_PAIR_BUDGET = 6_000_000
_FEWEST_ROWS = 100
_FIRST_ROWS, _FIRST_STEPS = 300, 12
_FINAL_ROWS, _FINAL_STEPS, _FINALISTS = 800, 30, 3


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
    loss : float
        The criterion, penalised by the prior of the parameters.
    """

    encoding: int
    family: Family
    theta: Array
    loss: float

    @property
    def kernels(self) -> list[Kernel]:
        """The kernel at the fitted parameters, then ever richer ones to try with features."""
        return self.family.ladder(self.theta[:-1])


def minimise(
    criterion: PairCriterion, family: Family, steps: int, *, start: Array | None = None
) -> tuple[Array, float]:
    """Return the parameters (and log alpha) of least penalised loss, and that loss.

    Parameters
    ----------
    criterion : PairCriterion
    family : Family
    steps : int
        At most this many iterations of L-BFGS.
    start : ndarray, default=None
        Where to begin; ``None`` means at the prior's mean.
    """
    dim = len(criterion.lags)
    mean = np.append(family.start(dim), _LOG_ALPHA_START)
    precision = np.append(family.precision(dim), 0.0)

    def loss(theta: Array) -> tuple[float, Array]:
        correlation, pullback = family.correlation(criterion.lags, theta[:-1])
        value, gradient, slope = criterion.loss(correlation, theta[-1])
        shift = theta - mean
        penalty = 0.5 * float(precision @ shift**2)
        return value + penalty, np.append(pullback(gradient), slope) + precision * shift

    bounds = [(x - _PARAMETER_RANGE, x + _PARAMETER_RANGE) for x in mean[:-1]]
    result = minimize(
        loss,
        mean if start is None else start,
        jac=True,
        method="L-BFGS-B",
        bounds=[*bounds, _LOG_ALPHA_BOUNDS],
        options={"maxiter": steps},
    )
    return result.x, float(result.fun)


def search_kernel(
    encodings: Sequence[Array],
    Y: Array,
    rng: np.random.Generator,
    *,
    families: Sequence[Family] = FAMILIES,
    criterion: type[PairCriterion] = ExactEvidence,
    progress: Progress = silent,
) -> list[Candidate]:
    """Return fitted kernels for the best families and encodings, best first.

    Every family is fitted to every encoding on a few hundred rows; the three best are fitted
    again, from where they ended, on up to 800. Rows are the
    first of one random order, fewer where an encoding is wide.

    Parameters
    ----------
    encodings : sequence of ndarray of shape (n, d)
        Alternative encodings of the same inputs, of order-one scale.
    Y : ndarray of shape (n, t)
        Standardised targets, or class indicators.
    rng : numpy.random.Generator
        Chooses the rows.
    families : sequence of Family
    criterion : subclass of PairCriterion
        :class:`ExactEvidence`, or :class:`LeaveOneOut` for class indicators.
    progress : callable
        Told what is being fitted.
    """
    order = rng.permutation(len(Y))

    def on_rows(encoding: int, n_rows: int) -> PairCriterion:
        X = encodings[encoding]
        # Time grows with pairs times inputs: wide tables get fewer rows.
        affordable = int(np.sqrt(2.0 * _PAIR_BUDGET / X.shape[1]))
        rows = order[: min(n_rows, max(affordable, _FEWEST_ROWS))]
        return criterion.of(X[rows], Y[rows])

    candidates = []
    for encoding in range(len(encodings)):
        first = on_rows(encoding, _FIRST_ROWS)
        for family in families:
            progress(f"comparing kernels: {family}")
            candidates.append(Candidate(encoding, family, *minimise(first, family, _FIRST_STEPS)))
    candidates.sort(key=lambda candidate: candidate.loss)
    final = []
    for candidate in candidates[:_FINALISTS]:
        progress(f"fitting length scales: {candidate.family}")
        last = on_rows(candidate.encoding, _FINAL_ROWS)
        fitted = minimise(last, candidate.family, _FINAL_STEPS, start=candidate.theta)
        final.append(Candidate(candidate.encoding, candidate.family, *fitted))
    return sorted(final, key=lambda candidate: candidate.loss)
