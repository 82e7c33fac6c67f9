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
"""Initial noise: a tenth of the kernel's variance, as for a target that is mostly explained."""
_LOG_ALPHA_BOUNDS = (np.log(1e-6), np.log(1e4))
"""Noise from that of a deterministic function in float64 to none explained at all."""
_PARAMETER_RANGE = 6.0
"""Greatest change of a log scale or log-odds: a factor of 400, beyond which the loss is flat."""
_PAIR_BUDGET = 6_000_000
"""Pairs of rows times inputs that one evaluation may take; its time grows in proportion."""
_FEWEST_ROWS = 100
"""Fewest rows, however wide the table is: a budget alone would leave too few to choose from."""
_FIRST_ROWS = 300
"""Rows on which all families are compared; a fit costs their cube."""
_FIRST_STEPS = 12
"""Most L-BFGS iterations of the comparison, which ranks families and need not converge."""
_FINAL_ROWS = 800
"""Rows on which the finalists are fitted: by the cube, 19 times the cost of the comparison's."""
_FINAL_STEPS = 30
"""Most L-BFGS iterations of the finalists, which start where the comparison ended."""
_FINALISTS = 3
"""Candidates fitted again, as few rows may rank the best one second or third."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A fitted kernel of one family on one encoding (by index) of the inputs.

    ``theta`` holds the family's parameters, then log alpha; ``loss`` is the criterion, penalised by
    the prior of the parameters.
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

    L-BFGS makes at most ``steps`` iterations from ``start``, by default the prior's mean.
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

    Every family is fitted to every encoding on a few hundred rows; the best three are fitted
    further on up to 800. The rows are the first of one random order, fewer for a wide encoding.

    Parameters
    ----------
    encodings : sequence of ndarray of shape (n, d)
        Alternative encodings of the same inputs, of order-one scale.
    Y : ndarray of shape (n, t)
        Standardised targets, or class indicators.
    rng : numpy.random.Generator
        Generator that chooses the rows.
    families : sequence of Family
    criterion : subclass of PairCriterion
        :class:`ExactEvidence`, or :class:`LeaveOneOut` for class indicators.
    progress : callable
        Function called with a line about the current fit.
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
