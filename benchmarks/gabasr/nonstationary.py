"""Exact Gaussian processes of other non-stationary kernels: Gibbs's, warped inputs, a deep one."""

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from benchmarks.gabasr.design import DEEP, GIBBS
from bochner._base.arrays import Array, as_array

_DEGREE = 3  # Degree of polynomials of an input: a scale may fall, rise and fall again
_ITERATIONS = 60  # Steps of L-BFGS, after which evidences change by less than one
_STARTS = (-3.0, -2.0, -1.0)  # Logarithms of length scales over the range of an input
_LEAST_NOISE = 1e-3  # Standard deviation, over that of the target
_WARP_DEVIATION = 0.5  # Logarithms of exponents (Snoek, Swersky, Zemel and Adams, 2014)

_HIDDEN, _LATENT = 64, 2  # Units of both hidden layers of the deep kernel, and its outputs
_ADAM_STEPS, _ADAM_RATE = 400, 0.01  # A rate of GPyTorch's examples, and steps until losses settle


class Process(ABC):
    """A process with the parameters of greatest evidence, times a prior of most of them.

    Inputs are in units of their ranges, targets in units of their deviation.
    """

    def fit(self, X: Array, y: Array) -> "Process":
        """Learn parameters from rows (n, d) and targets (n,)."""
        self.low, self.range = X.min(axis=0), np.ptp(X, axis=0)
        self.centre, self.unit = float(y.mean()), float(y.std())
        self.X, self.y = self._scaled(X), (y - self.centre) / self.unit
        ends = [
            minimize(self._loss, start, method="L-BFGS-B", options={"maxiter": _ITERATIONS})
            for start in self._starts(X.shape[1])
        ]
        self.theta = min(ends, key=lambda end: float(end.fun)).x
        return self

    def predict(self, X: Array, *, return_std: bool = True) -> tuple[Array, Array]:
        """Return means and standard deviations (n,) of new targets."""
        new, noise = self._scaled(X), self._noise(self.theta)
        factor = cho_factor(self._gram(self.theta, self.X, self.X) + noise * np.eye(len(self.y)))
        cross = self._gram(self.theta, new, self.X)
        mean = cross @ cho_solve(factor, self.y)
        explained = np.einsum("ij,ji->i", cross, cho_solve(factor, cross.T))
        variance = self._variance(self.theta, new) - explained + noise
        return self.centre + self.unit * mean, self.unit * np.sqrt(variance)

    def _scaled(self, X: Array) -> Array:
        return as_array((X - self.low) / self.range)

    def _noise(self, theta: Array) -> float:
        return float(np.exp(2.0 * theta[-1])) + _LEAST_NOISE**2

    def _loss(self, theta: Array) -> float:
        gram = self._gram(theta, self.X, self.X) + self._noise(theta) * np.eye(len(self.y))
        try:
            factor = cho_factor(gram)
        except np.linalg.LinAlgError:
            return 1e10
        fit = 0.5 * float(self.y @ cho_solve(factor, self.y))
        return fit + float(np.sum(np.log(np.diagonal(factor[0])))) + self._penalty(theta)

    @abstractmethod
    def _starts(self, d: int) -> list[Array]:
        """Return parameters at which searches start; the last is the log of the noise."""

    @abstractmethod
    def _gram(self, theta: Array, A: Array, B: Array) -> Array:
        """Return values of the kernel."""

    @abstractmethod
    def _variance(self, theta: Array, A: Array) -> Array:
        """Return values (n,) of the kernel of rows with themselves."""

    @abstractmethod
    def _penalty(self, theta: Array) -> float:
        """Return the negative log prior."""


class GibbsProcess(Process):
    r"""A kernel whose length scale and deviation are exponentials of polynomials of the inputs.

    .. math:: s(x) s(x') \Big(\frac{2 \ell \ell'}{\ell^2 + \ell'^2}\Big)^{d/2}
              \exp\Big(-\frac{\|x - x'\|^2}{\ell^2 + \ell'^2}\Big)

    (Gibbs, "Bayesian Gaussian processes for regression and classification", 1997). Coefficients of
    powers have a standard normal prior.
    """

    def _starts(self, d: int) -> list[Array]:
        size = 1 + _DEGREE * d
        starts = np.zeros((len(_STARTS), 2 * size + 1))
        starts[:, 0], starts[:, -1] = _STARTS, -1.0
        return list(starts)

    def _fields(self, theta: Array, A: Array) -> tuple[Array, Array]:
        """Return logarithms of length scales and deviations (n,)."""
        powers = [legvander(2.0 * column - 1.0, _DEGREE)[:, 1:] for column in A.T]
        basis = np.hstack([np.ones((len(A), 1)), *powers])
        scale, deviation = np.split(theta[:-1], 2)
        return basis @ scale, basis @ deviation

    def _gram(self, theta: Array, A: Array, B: Array) -> Array:
        (left_scale, left_amplitude), (right_scale, right_amplitude) = (
            self._fields(theta, A),
            self._fields(theta, B),
        )
        square = np.exp(2.0 * left_scale)[:, None] + np.exp(2.0 * right_scale)
        ratio = 2.0 * np.exp(left_scale[:, None] + right_scale) / square
        decay = np.exp(-cdist(A, B, "sqeuclidean") / square)
        return as_array(
            np.exp(left_amplitude[:, None] + right_amplitude) * ratio ** (0.5 * A.shape[1]) * decay
        )

    def _variance(self, theta: Array, A: Array) -> Array:
        return as_array(np.exp(2.0 * self._fields(theta, A)[1]))

    def _penalty(self, theta: Array) -> float:
        scale, deviation = np.split(theta[:-1], 2)
        return 0.5 * float(scale[1:] @ scale[1:] + deviation[1:] @ deviation[1:])


class WarpedProcess(Process):
    r"""A Gaussian kernel of inputs that are warped by :math:`1 - (1 - x^a)^b`, one by one.

    After Snoek, Swersky, Zemel and Adams, "Input warping for Bayesian optimization of
    non-stationary functions", 2014, with the distribution of Kumaraswamy in place of the beta one.
    """

    def _starts(self, d: int) -> list[Array]:
        return [np.r_[np.zeros(2 * d), np.full(d, start), 0.0, -1.0] for start in _STARTS]

    def _placed(self, theta: Array, A: Array) -> Array:
        a, b, scale = np.split(theta[:-2], 3)
        inside = np.clip(A, 1e-9, 1.0 - 1e-9)
        return as_array((1.0 - (1.0 - inside ** np.exp(a)) ** np.exp(b)) / np.exp(scale))

    def _gram(self, theta: Array, A: Array, B: Array) -> Array:
        square = cdist(self._placed(theta, A), self._placed(theta, B), "sqeuclidean")
        return as_array(np.exp(2.0 * theta[-2] - 0.5 * square))

    def _variance(self, theta: Array, A: Array) -> Array:
        return np.full(len(A), np.exp(2.0 * theta[-2]))

    def _penalty(self, theta: Array) -> float:
        warp = theta[: 2 * self.X.shape[1]] / _WARP_DEVIATION
        return 0.5 * float(warp @ warp)


class DeepProcess(Process):
    """A Gaussian kernel of the outputs of a network, all learned by Adam.

    After Wilson, Hu, Salakhutdinov and Xing, "Deep kernel learning", 2016. Needs torch.
    """

    def __init__(self, seed: int) -> None:
        """Start from the weights of a seed."""
        self.seed = seed

    def fit(self, X: Array, y: Array) -> "DeepProcess":
        """Learn the network and the noise."""
        import torch

        self.low, self.range = X.min(axis=0), np.ptp(X, axis=0)
        self.centre, self.unit = float(y.mean()), float(y.std())
        self.X, self.y = self._scaled(X), (y - self.centre) / self.unit
        torch.manual_seed(self.seed)
        sizes = (X.shape[1], _HIDDEN, _HIDDEN, _LATENT)
        layers: list[Any] = []
        for first, last in pairwise(sizes):
            layers += [torch.nn.Linear(first, last, dtype=torch.float64), torch.nn.Tanh()]
        self.network = torch.nn.Sequential(*layers[:-1])
        logs = torch.tensor([-1.0, 0.0, -1.0], dtype=torch.float64, requires_grad=True)
        rows, target = torch.as_tensor(2.0 * self.X - 1.0), torch.as_tensor(self.y)[:, None]
        optimiser = torch.optim.Adam([*self.network.parameters(), logs], lr=_ADAM_RATE)
        for _ in range(_ADAM_STEPS):
            optimiser.zero_grad()
            square = torch.cdist(*(self.network(rows) / torch.exp(logs[0]),) * 2) ** 2
            noise = torch.exp(2.0 * logs[2]) + _LEAST_NOISE**2
            gram = torch.exp(2.0 * logs[1] - 0.5 * square) + noise * torch.eye(len(rows))
            lower = torch.linalg.cholesky(gram)
            half = torch.linalg.solve_triangular(lower, target, upper=False)
            loss = 0.5 * (half**2).sum() + torch.log(torch.diagonal(lower)).sum()
            loss.backward()
            optimiser.step()
        self.theta = logs.detach().numpy()
        return self

    def _starts(self, d: int) -> list[Array]:
        return []

    def _gram(self, theta: Array, A: Array, B: Array) -> Array:
        square = cdist(self._placed(A), self._placed(B), "sqeuclidean")
        return as_array(np.exp(2.0 * theta[1] - 0.5 * square))

    def _placed(self, A: Array) -> Array:
        import torch

        with torch.no_grad():
            outputs = self.network(torch.as_tensor(2.0 * A - 1.0)).numpy()
        return as_array(outputs / np.exp(self.theta[0]))

    def _variance(self, theta: Array, A: Array) -> Array:
        return np.full(len(A), np.exp(2.0 * theta[1]))

    def _penalty(self, theta: Array) -> float:
        return 0.0


def process(method: str, seed: int) -> Process:
    """Return the process of a method."""
    if method == DEEP:
        return DeepProcess(seed)
    return GibbsProcess() if method == GIBBS else WarpedProcess()
