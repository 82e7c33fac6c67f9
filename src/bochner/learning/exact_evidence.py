r"""The exact evidence of a kernel on few rows, with its gradient.

For targets with the prior :math:`y \sim N(0, s^2 (K + \alpha I))`, the scale :math:`s^2` at its
maximum-likelihood value, the negative log evidence of ``t`` targets on ``n`` rows is, up to a
constant,

.. math:: \tfrac n2 \sum_t \log(y_t^\top C^{-1} y_t) + \tfrac t2 \log|C|, \qquad C = K + \alpha I.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from bochner._numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class ExactEvidence:
    """The evidence on a few rows, as a function of the correlations of their pairs.

    Parameters
    ----------
    lags : ndarray of shape (d, n_pairs)
        Absolute differences of every input over the pairs ``i < j``, row by row.
    targets : ndarray of shape (n, t)
        Centred.
    """

    lags: Array
    targets: Array

    @classmethod
    def of(cls, X: Array, Y: Array) -> "ExactEvidence":
        """Return the evidence on the rows of ``X`` (n, d) and ``Y`` (n, t)."""
        i, j = np.triu_indices(len(X), k=1)
        return cls(np.abs(X[i] - X[j]).T.copy(), Y - Y.mean(axis=0))

    def loss(self, correlation: Array, log_alpha: float) -> tuple[float, Array, float]:
        """Return the negative log evidence and its gradients.

        Parameters
        ----------
        correlation : ndarray of shape (n_pairs,)
            Off-diagonal kernel values; the diagonal is one.
        log_alpha : float

        Returns
        -------
        loss : float
            Infinite where the matrix is not numerically positive definite.
        gradient : ndarray of shape (n_pairs,)
            With respect to ``correlation``.
        slope : float
            With respect to ``log_alpha``.
        """
        n, t = self.targets.shape
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
        solved = inverse @ self.targets
        fit = np.maximum(np.sum(self.targets * solved, axis=0), np.finfo(np.float64).tiny)
        gradient = 0.5 * t * inverse - 0.5 * n * (solved / fit) @ solved.T
        loss = 0.5 * n * float(np.sum(np.log(fit / n))) + 0.5 * t * log_determinant
        return loss, 2.0 * gradient[upper], alpha * float(np.trace(gradient))
