"""GPyTorch's sparse process, and proposals of BoTorch. Needs both."""

from typing import TYPE_CHECKING, Any

import botorch
import gpytorch
import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.thompson_sampling import PathwiseThompsonSampling
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood, VariationalELBO

from bochner._numerics.arrays import Array

if TYPE_CHECKING:
    from benchmarks.processes.residual import Problem

_STEPS, _RATE = 600, 0.03  # Adam on all rows: minutes with 800 inducing points

_RESTARTS, _SAMPLES = 4, 1000  # Starts and random points of each acquisition, as for our draws


def sparse_posterior(problem: "Problem", count: int, seed: int) -> list[tuple[Array, Array]]:
    """Return means and variances of the function of an SVGP with the kernel of the problem."""
    torch.manual_seed(seed)
    X, y = torch.as_tensor(problem.X), torch.as_tensor(problem.y)
    rows = np.random.default_rng(seed).permutation(len(X))[:count]
    model = _Sparse(X[rows].clone(), problem.length_scale).double()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = problem.noise
    bound = VariationalELBO(likelihood, model, num_data=len(X))
    optimiser = torch.optim.Adam(model.learned(), lr=_RATE)
    for _ in range(_STEPS):
        optimiser.zero_grad()
        (-bound(model(X), y)).backward()
        optimiser.step()
    model.eval()
    with torch.no_grad():
        laws = [model(torch.as_tensor(new)) for new in (problem.near, problem.far)]
        return [(law.mean.numpy(), law.variance.numpy()) for law in laws]


class _Sparse(gpytorch.models.ApproximateGP):
    def __init__(self, inducing: Any, length_scale: float) -> None:
        law = gpytorch.variational.CholeskyVariationalDistribution(len(inducing))
        strategy = gpytorch.variational.VariationalStrategy(self, inducing, law)
        super().__init__(strategy)
        self.mean = gpytorch.means.ZeroMean()
        self.kernel = gpytorch.kernels.MaternKernel(nu=2.5)
        self.kernel.lengthscale = length_scale

    def forward(self, X: Any) -> Any:
        return gpytorch.distributions.MultivariateNormal(self.mean(X), self.kernel(X))

    def learned(self) -> list[Any]:
        """Return the parameters of the variational law and the inducing points."""
        return list(self.variational_strategy.parameters())


def thompson(X: Array, y: Array, rng: np.random.Generator) -> Array:
    """Return the row (1, d) where a function drawn by BoTorch is least."""
    return _best(PathwiseThompsonSampling(_fitted(X, y, rng)), X.shape[1])


def improvement(X: Array, y: Array, rng: np.random.Generator) -> Array:
    """Return the row (1, d) of greatest expected improvement."""
    model = _fitted(X, y, rng)
    return _best(LogExpectedImprovement(model, best_f=float(model.train_targets.max())), X.shape[1])


def _fitted(X: Array, y: Array, rng: np.random.Generator) -> Any:
    torch.manual_seed(int(rng.integers(2**31)))
    targets = torch.as_tensor(-y / y.std(ddof=1))[:, None]
    model = botorch.models.SingleTaskGP(torch.as_tensor(X), targets, outcome_transform=None)
    botorch.fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _best(acquisition: Any, dim: int) -> Array:
    box = torch.tensor([[0.0] * dim, [1.0] * dim], dtype=torch.double)
    point, _ = optimize_acqf(acquisition, box, q=1, num_restarts=_RESTARTS, raw_samples=_SAMPLES)
    best_point: Array = point.numpy()
    return best_point
