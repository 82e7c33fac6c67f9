"""Choosing a kernel, its length scales and its interactions by evidence, for a table."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress, silent
from bochner.kernels import Kernel
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
class PairCriterion(ABC):
    r"""A loss on a few rows with centred targets (n, t), by the correlations of their pairs.

    It is a function of :math:`C = K + \alpha I`, where ``K`` is a Gram matrix with unit diagonal.
    ``lags`` (d, n_pairs) are absolute differences of inputs over the pairs ``i < j``, row by row.
    """

    lags: Array
    targets: Array

    @classmethod
    def of(cls, X: Array, Y: Array) -> Self:
        """Return the criterion on the rows of ``X`` (n, d) and ``Y`` (n, t)."""
        i, j = np.triu_indices(len(X), k=1)
        return cls(np.abs(X[i] - X[j]).T.copy(), Y - Y.mean(axis=0))

    def loss(self, correlation: Array, log_alpha: float) -> tuple[float, Array, float]:
        """Return the loss and its gradients by the correlations (n_pairs,) and by log alpha.

        The loss is infinite if the matrix is not numerically positive definite.
        """
        n = len(self.targets)
        alpha = float(np.exp(log_alpha))
        upper = np.triu_indices(n, k=1)
        C = np.zeros((n, n), order="F")
        C[upper] = correlation
        np.fill_diagonal(C, 1.0 + alpha)
        factor, failed = lapack.dpotrf(C, lower=0, overwrite_a=1)
        if failed:
            return np.inf, np.zeros_like(correlation), 0.0
        log_determinant = 2.0 * float(np.sum(np.log(np.diagonal(factor))))
        inverse, _ = lapack.dpotri(factor, lower=0, overwrite_c=1)
        inverse = np.triu(inverse, k=1) + np.triu(inverse).T
        loss, gradient = self._loss(inverse, log_determinant)
        return loss, (gradient + gradient.T)[upper], alpha * float(np.trace(gradient))

    @abstractmethod
    def _loss(self, inverse: Array, log_determinant: float) -> tuple[float, Array]:
        """Return the loss and its gradient with respect to ``C``, all entries independent."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactEvidence(PairCriterion):
    r"""The negative log evidence, up to a constant.

    For targets with the prior :math:`y \sim N(0, s^2 C)`, the scale :math:`s^2` of each at its
    maximum-likelihood value:
    :math:`\tfrac n2 \sum_t \log(y_t^\top C^{-1} y_t / n) + \tfrac t2 \log|C|`.
    """

    def _loss(self, inverse: Array, log_determinant: float) -> tuple[float, Array]:
        n, t = self.targets.shape
        solved = inverse @ self.targets
        fit = np.maximum(np.sum(self.targets * solved, axis=0), np.finfo(np.float64).tiny)
        loss = 0.5 * n * float(np.sum(np.log(fit / n))) + 0.5 * t * log_determinant
        return loss, 0.5 * t * inverse - 0.5 * n * (solved / fit) @ solved.T


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut(PairCriterion):
    r"""The log of the leave-one-out squared error, in the units of a log likelihood.

    :math:`\tfrac{nt}2 \log(\sum_{it} r_{it}^2 / nt)` with the residuals of every row predicted
    from the others, :math:`r_i = (C^{-1} y)_i / (C^{-1})_{ii}`. Class indicators are not
    Gaussian, and their evidence is greatest for a kernel that interpolates them; this criterion
    measures prediction alone.
    """

    def _loss(self, inverse: Array, log_determinant: float) -> tuple[float, Array]:
        precision = np.diagonal(inverse)[:, None]
        solved = inverse @ self.targets
        residual = solved / precision
        total = max(float(np.sum(residual**2)), np.finfo(np.float64).tiny)
        pull = residual / precision
        by_precision = np.sum(pull * residual, axis=1)
        gradient = (inverse * by_precision) @ inverse - (inverse @ pull) @ solved.T
        scale = residual.size / total
        return 0.5 * residual.size * float(np.log(total / residual.size)), scale * gradient


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A fitted kernel of one family on one encoding of the inputs."""

    encoding: int  # Its index
    family: Family
    theta: Array  # The family's parameters, then log alpha
    loss: float  # Criterion, penalised by the prior of the parameters

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
    mean, precision = family.prior(dim)
    mean, precision = np.append(mean, _LOG_ALPHA_START), np.append(precision, 0.0)

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
    ``encodings`` (n, d) of the same inputs are of order-one scale; ``Y`` (n, t) are standardised
    targets, or class indicators, whose criterion is :class:`LeaveOneOut`. ``progress`` is told the
    current fit; where it is stopped, the kernels fitted until then are returned.
    """
    order = rng.permutation(len(Y))

    def on_rows(encoding: int, n_rows: int) -> PairCriterion:
        X = encodings[encoding]
        # Time grows with pairs times inputs: wide tables get fewer rows.
        affordable = int(np.sqrt(2.0 * _PAIR_BUDGET / X.shape[1]))
        rows = order[: min(n_rows, max(affordable, _FEWEST_ROWS))]
        return criterion.of(X[rows], Y[rows])

    candidates: list[Candidate] = []
    for encoding in range(len(encodings)):
        first = on_rows(encoding, _FIRST_ROWS)
        for family in families:
            if candidates and progress.is_stopped:
                break
            progress(f"comparing kernels: {family}")
            candidates.append(Candidate(encoding, family, *minimise(first, family, _FIRST_STEPS)))
    candidates.sort(key=lambda candidate: candidate.loss)
    final = []
    for candidate in candidates[:_FINALISTS]:
        if progress.is_stopped:
            final.append(candidate)
            continue
        progress(f"fitting length scales: {candidate.family}")
        last = on_rows(candidate.encoding, _FINAL_ROWS)
        fitted = minimise(last, candidate.family, _FINAL_STEPS, start=candidate.theta)
        final.append(Candidate(candidate.encoding, candidate.family, *fitted))
    return sorted(final, key=lambda candidate: candidate.loss)
