"""Laplace's approximation of an exact process, by brute force in the space of latent values."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln


@dataclass(frozen=True)
class Oracle:
    """Posterior moments (n,) of the latent function at new rows, and the evidence."""

    mean: np.ndarray
    variance: np.ndarray
    evidence: float


def log_density(law, y, f):
    if law == "bernoulli":
        return -np.logaddexp(0.0, -(2.0 * y - 1.0) * f)
    return y * f - np.exp(f) - gammaln(y + 1.0)


def slope_and_curvature(law, y, f):
    p = expit(f) if law == "bernoulli" else np.exp(f)
    return y - p, p * (1.0 - p) if law == "bernoulli" else p


def exact_laplace(law, kernel, X, y, new, variance, centre):
    """Rasmussen and Williams (2006), Algorithms 3.1 and 3.2, with dense inverses."""
    K, cross = variance * kernel(X), variance * kernel(new, X)
    a, size = np.zeros(len(y)), len(y)

    def log_joint(a):
        return log_density(law, y, K @ a + centre).sum() - 0.5 * a @ K @ a

    value, gain = log_joint(a), np.inf
    while gain > 1e-11:
        f = K @ a
        slope, curvature = slope_and_curvature(law, y, f + centre)
        target = curvature * f + slope
        inverse = np.linalg.solve(np.eye(size) + curvature[:, None] * K, np.eye(size))
        step = target - curvature * (K @ (inverse @ target)) - a
        share = 1.0
        while share > 1e-9 and not log_joint(a + share * step) >= value:
            share /= 2.0
        gain = log_joint(a + share * step) - value
        a, value = a + share * step, value + gain
    slope, curvature = slope_and_curvature(law, y, K @ a + centre)
    root = np.sqrt(curvature)
    B = np.eye(len(y)) + root[:, None] * K * root
    explained = np.einsum("ij,ji->i", cross * root, np.linalg.solve(B, root[:, None] * cross.T))
    evidence = value - 0.5 * np.linalg.slogdet(B)[1]
    return Oracle(cross @ slope + centre, variance * kernel.diag(new) - explained, evidence)
