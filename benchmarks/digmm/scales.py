r"""Length scales by input of least leave-one-out error, for class indicators on a few rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from bochner._base.arrays import Array, row_blocks
from bochner.kernels import Gaussian, Kernel, Matern

# Initial noise, in variances of the kernel, and its bounds.
_LOG_ALPHA_START, _LOG_ALPHA_BOUNDS = np.log(0.1), (np.log(1e-6), np.log(1e4))
# Greatest change of a log scale: a factor of 400, beyond which the loss is flat.
_PARAMETER_RANGE = 6.0
# Pairs whose few temporaries stay in a core's cache: larger blocks are several times slower.
_PAIRS = 1024


@dataclass(frozen=True, slots=True)
class Family:
    r"""Kernels of :math:`q = \sum_i (\Delta_i/\ell_i)^2`; the parameters are :math:`\log\ell_i`."""

    name: str
    at: Callable[[Array], tuple[Array, Array]]  # From q to v(q) and -2 v'(q)
    of_scales: Callable[[tuple[float, ...]], Kernel]

    def correlation(self, lags: Array, theta: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Return correlations (n_pairs,) at lags (d, n_pairs), and the pullback of gradients."""
        value, slope = np.empty(lags.shape[1]), np.empty(lags.shape[1])
        squares = np.empty_like(lags)
        scales = np.exp(theta)[:, None]
        for block in row_blocks(lags.shape[1], _PAIRS):
            np.square(lags[:, block] / scales, out=squares[:, block])
            value[block], slope[block] = self.at(squares[:, block].sum(axis=0))
        return value, lambda gradient: squares @ (gradient * slope)

    def kernel(self, theta: Array) -> Kernel:
        """Return the kernel with such parameters (d,)."""
        return self.of_scales(tuple(np.exp(theta).tolist()))

    def __str__(self) -> str:
        return self.name


def _gaussian(square: Array) -> tuple[Array, Array]:
    value = np.exp(-0.5 * square)
    return value, value


def _matern(square: Array) -> tuple[Array, Array]:
    u = np.sqrt(3.0 * square)
    decay = np.exp(-u)
    return (1.0 + u) * decay, 3.0 * decay


GAUSSIAN = Family("Gaussian", _gaussian, Gaussian)
MATERN = Family("Matern 3/2", _matern, Matern)


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut:
    r"""The log of the leave-one-out squared error, in the units of a log likelihood.

    :math:`\tfrac{nt}2 \log(\sum_{it} r_{it}^2 / nt)` with the residuals of every row predicted from
    the others, :math:`r_i = (C^{-1} y)_i / (C^{-1})_{ii}`, where :math:`C = K + \alpha I`. The
    evidence of class indicators is greatest for a kernel that interpolates them.
    """

    lags: Array  # (d, n_pairs): Absolute differences of inputs of the pairs i < j
    targets: Array  # (n, t): Centred

    @classmethod
    def of(cls, X: Array, Y: Array) -> "LeaveOneOut":
        """Return the criterion on the rows of ``X`` (n, d) and ``Y`` (n, t)."""
        i, j = np.triu_indices(len(X), k=1)
        return cls(np.abs(X[i] - X[j]).T.copy(), Y - Y.mean(axis=0))

    def loss(self, correlation: Array, log_alpha: float) -> tuple[float, Array, float]:
        """Return the loss and its gradients by the correlations (n_pairs,) and by log alpha.

        The loss is infinite if the matrix is not numerically positive definite.
        """
        n, alpha = len(self.targets), float(np.exp(log_alpha))
        upper = np.triu_indices(n, k=1)
        C = np.zeros((n, n), order="F")
        C[upper] = correlation
        np.fill_diagonal(C, 1.0 + alpha)
        factor, failed = lapack.dpotrf(C, lower=0, overwrite_a=1)
        if failed:
            return np.inf, np.zeros_like(correlation), 0.0
        inverse, _ = lapack.dpotri(factor, lower=0, overwrite_c=1)
        inverse = np.triu(inverse, k=1) + np.triu(inverse).T
        loss, gradient = self._loss(inverse)
        return loss, (gradient + gradient.T)[upper], alpha * float(np.trace(gradient))

    def _loss(self, inverse: Array) -> tuple[float, Array]:
        """Return the loss and its gradient with respect to ``C``, all entries independent."""
        precision = np.diagonal(inverse)[:, None]
        solved = inverse @ self.targets
        residual = solved / precision
        total = max(float(np.sum(residual**2)), np.finfo(np.float64).tiny)
        pull = residual / precision
        by_precision = np.sum(pull * residual, axis=1)
        gradient = (inverse * by_precision) @ inverse - (inverse @ pull) @ solved.T
        scale = residual.size / total
        return 0.5 * residual.size * float(np.log(total / residual.size)), scale * gradient


def minimise(
    criterion: LeaveOneOut, family: Family, steps: int, *, start: Array | None = None
) -> Array:
    """Return log scales and log alpha (d + 1,) of least penalised loss.

    L-BFGS makes at most ``steps`` iterations from ``start``, by default the prior's mean.
    """
    dim = len(criterion.lags)
    mean = np.append(np.full(dim, 0.5 * np.log(2.0 * dim)), _LOG_ALPHA_START)
    precision = np.append(np.full(dim, 0.5), 0.0)

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
    parameters: Array = result.x
    return parameters
