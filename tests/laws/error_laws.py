"""Errors of predictions on random features under another kernel, by dense matrices."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class DenseErrors:
    """Means (m, t), error covariances (m, m, t) and noise variances (t,) of predictions."""

    mean: NDArray[np.float64]
    cov: NDArray[np.float64]
    noise: NDArray[np.float64]

    @property
    def std(self):
        """Deviations (m, t) of new observations."""
        return np.sqrt(np.einsum("iit->it", self.cov) + self.noise)


def dense_errors(K, truth, y, alpha, *, weight=None, degrees=None, fit_intercept=False):
    """Errors of kriging with the matrix ``K`` if the kernel matrix is ``truth``.

    The matrices (n + m, n + m) are of ``n`` rows of targets ``y`` (n, t), then of ``m`` new rows.
    """
    n = len(y)
    weight = np.ones(n) if weight is None else weight
    inverse = np.linalg.inv(K[:n, :n] / alpha + np.diag(1.0 / weight))
    ones = np.ones(n)
    constant = np.zeros(n)
    G = inverse
    if fit_intercept:
        constant = ones @ inverse / inverse.sum()
        G = inverse - np.outer(inverse @ ones, constant)
    # Weights of the targets in predictions
    W = K[n:, :n] / alpha @ G + constant
    form = np.einsum("it,ij,jt->t", y, G, y)
    degrees = weight.sum() - fit_intercept if degrees is None else degrees
    of_noise = degrees - (n - fit_intercept - np.trace(G / weight))
    noise = form / (of_noise + np.trace(G @ truth[:n, :n]) / alpha)
    cross = W @ truth[:n, n:]
    prior = truth[n:, n:] - cross - cross.T + W @ truth[:n, :n] @ W.T
    cov = prior / alpha + (W / weight) @ W.T
    return DenseErrors(W @ y, cov[:, :, None] * noise, noise)
