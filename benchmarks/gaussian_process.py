"""Gaussian process regression with a known kernel and known noise: the best there is."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from bochner._numerics.arrays import Array
from bochner.kernels import Kernel


def posterior(
    kernel: Kernel, noise: float, X: Array, y: Array, X_test: Array
) -> tuple[Array, Array]:
    """Return mean and standard deviation, noise included, of observations at test rows."""
    factor = cho_factor(kernel(X) + noise**2 * np.eye(len(X)))
    cross = kernel(X_test, X)
    mean: Array = cross @ cho_solve(factor, y)
    explained = np.einsum("ij,ji->i", cross, cho_solve(factor, cross.T))
    prior = float(kernel(X_test[:1])[0, 0])
    return mean, np.sqrt(prior - explained + noise**2)
