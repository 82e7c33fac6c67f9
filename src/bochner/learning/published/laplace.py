"""Laplace approximations of the few weights of a logistic regression."""

from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array

_JITTER = 1e-10
"""Ridge as a share of the mean square of the columns: far below any curvature that counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Laplace:
    """The law N(mode, A^{-1}), where ``A`` is the Hessian at the mode."""

    mode: Array  # (k,)
    lower: Array  # (k, k): Cholesky factor of A

    def sample(self, rng: np.random.Generator) -> Array:
        """Return a draw, of shape (k,)."""
        return self.mode + np.linalg.solve(self.lower.T, rng.normal(size=len(self.mode)))

    def log_density(self, beta: Array) -> float:
        """Return the log density at ``beta`` (k,), with its constant."""
        whitened = (beta - self.mode) @ self.lower
        half_log_determinant = float(np.sum(np.log(np.diagonal(self.lower))))
        constant = half_log_determinant - 0.5 * len(beta) * np.log(2.0 * np.pi)
        return float(constant - 0.5 * (whitened @ whitened))


def log_likelihood(target: Array, activation: Array) -> float:
    r"""Return :math:`\sum_i \kappa_i \eta_i - \log(2 \cosh(\eta_i / 2))`, without overflow.

    With :math:`\kappa = y - 1/2` this is :math:`\log p(y \mid \eta)` of a logistic regression.
    ``target`` (n,) is ``kappa`` and ``activation`` (n,) ``eta``, the log odds of a one.
    """
    size = np.abs(activation)
    return float(target @ activation - 0.5 * size.sum() - np.log1p(np.exp(-size)).sum())


def laplace(
    Z: Array, target: Array, offset: Array, precision: float, n_newton: int, tolerance: float = 1e-5
) -> Laplace:
    r"""Return the Laplace approximation of :math:`p(\beta \mid y)`, :math:`\beta` (k,).

    The log odds are :math:`\text{offset} + Z^\top \beta`, the prior is
    :math:`N(0, I / \text{precision})`, flat where that is zero. Newton's method starts at zero
    and halves a step that would descend, so that the result is a function of the arguments alone
    even where it stops before the mode.

    ``Z`` has shape (k, n), ``target`` is :math:`\kappa = y - 1/2`, and steps, at most ``n_newton``,
    end where the next one gains no more than ``tolerance`` in log density, to second order.
    """
    beta: Array = np.zeros(len(Z))
    eta = offset
    value = log_likelihood(target, eta)
    gradient, hessian = _derivatives(Z, target, eta, beta, precision)
    for _ in range(n_newton):
        step = np.linalg.solve(hessian, gradient)
        while True:
            if 0.5 * float(gradient @ step) <= tolerance:
                return _law(beta, hessian)
            trial = beta + step
            trial_eta = offset + trial @ Z
            reached = log_likelihood(target, trial_eta) - 0.5 * precision * float(trial @ trial)
            if reached >= value:
                break
            step = 0.5 * step
        beta, eta, value = trial, trial_eta, reached
        gradient, hessian = _derivatives(Z, target, eta, beta, precision)
    return _law(beta, hessian)


def _law(mode: Array, hessian: Array) -> Laplace:
    lower: Array = np.linalg.cholesky(hessian).astype(np.float64, copy=False)
    return Laplace(mode, lower)


def _derivatives(
    Z: Array, target: Array, eta: Array, beta: Array, precision: float
) -> tuple[Array, Array]:
    """Return the gradient of the log posterior, and its negative Hessian."""
    half = 0.5 * np.tanh(0.5 * eta)
    gradient: Array = Z @ (target - half) - precision * beta
    hessian: Array = (Z * (0.25 - half * half)) @ Z.T
    diagonal = np.arange(len(Z))
    # Without a prior, rows that are all predicted with certainty leave no curvature.
    jitter = _JITTER * (float(np.vdot(Z, Z)) / len(Z) + 1.0)
    hessian[diagonal, diagonal] += precision + jitter
    return gradient, hessian
