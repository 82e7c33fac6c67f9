r"""Exact criteria of a kernel on few rows, with their gradients.

Both are functions of :math:`C = K + \alpha I`, where ``K`` is a Gram matrix with unit diagonal
given by the correlations of its pairs of rows.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lapack

from bochner._numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class PairCriterion(ABC):
    """A loss on a few rows with centred targets (n, t), by the correlations of their pairs.

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
