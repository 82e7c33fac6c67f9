"""Variational Gaussian processes of GPyTorch with the laws of targets of this benchmark."""

from typing import Any

import gpytorch
import numpy as np
import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import (
    BernoulliLikelihood,
    SoftmaxLikelihood,
    StudentTLikelihood,
)
from gpytorch.likelihoods.likelihood import _OneDimensionalLikelihood
from gpytorch.mlls import VariationalELBO
from gpytorch.variational import (
    CholeskyVariationalDistribution,
    IndependentMultitaskVariationalStrategy,
    VariationalStrategy,
)
from torch.distributions import NegativeBinomial, Normal, Poisson

from benchmarks.glm.data import COUNTS, Problem
from benchmarks.glm.methods import TAILS, Prediction

# Inducing rows, and steps of Adam on all rows with their rate. Twice the rows and 400 steps changed
# log densities of four of these tables by less than 0.002 at thrice the time.
_INDUCING, _STEPS, _RATE = 64, 250, 0.05
_DRAWS = 400  # Draws of latent values, for densities and for intervals
_LARGEST_LOG = 20.0  # Largest log mean of counts: exp of more overflows in early steps


class _Law(_OneDimensionalLikelihood):
    """A law of targets given one latent value, with log exposures as ``offset``."""

    offset: Any = 0.0


class _Poisson(_Law):
    def forward(self, f: Any) -> Any:
        return Poisson(torch.exp((f + self.offset).clamp(max=_LARGEST_LOG)))


class _NegativeBinomial(_Law):
    def __init__(self) -> None:
        super().__init__()
        self.log_size = torch.nn.Parameter(torch.zeros((), dtype=torch.double))

    def forward(self, f: Any) -> Any:
        log_mean = (f + self.offset).clamp(max=_LARGEST_LOG)
        return NegativeBinomial(torch.exp(self.log_size), logits=log_mean - self.log_size)


class _CensoredLaw(Normal):
    def log_prob(self, value: Any) -> Any:
        mass = torch.special.log_ndtr((value - self.loc) / self.scale)
        return torch.where(value <= 0.0, mass, super().log_prob(value))


class _Censored(_Law):
    def __init__(self) -> None:
        super().__init__()
        self.log_scale = torch.nn.Parameter(torch.tensor(-1.0, dtype=torch.double))

    def forward(self, f: Any) -> Any:
        return _CensoredLaw(f, torch.exp(self.log_scale), validate_args=False)


class _OrderedLaw:
    def __init__(self, f: Any, cuts: Any) -> None:
        self.f, self.cuts = f, cuts

    def log_prob(self, y: Any) -> Any:
        ends = torch.cat([self.cuts.new_tensor([-1e6]), self.cuts, self.cuts.new_tensor([1e6])])
        upper, lower = ends[y.long() + 1] - self.f, ends[y.long()] - self.f
        return torch.log((torch.sigmoid(upper) - torch.sigmoid(lower)).clamp(min=1e-12))


class _Ordinal(_Law):
    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.first = torch.nn.Parameter(torch.tensor(-1.0, dtype=torch.double))
        self.steps = torch.nn.Parameter(torch.zeros(n_classes - 2, dtype=torch.double))

    def forward(self, f: Any) -> Any:
        cuts = self.first + torch.cumsum(torch.nn.functional.softplus(self.steps), 0)
        return _OrderedLaw(f, torch.cat([self.first[None], cuts]))


class _Model(gpytorch.models.ApproximateGP):
    def __init__(self, inducing: Any, n_latent: int) -> None:
        shape = torch.Size([n_latent] if n_latent > 1 else [])
        law = CholeskyVariationalDistribution(len(inducing), batch_shape=shape)
        strategy = VariationalStrategy(self, inducing, law)
        if n_latent > 1:
            strategy = IndependentMultitaskVariationalStrategy(strategy, num_tasks=n_latent)
        super().__init__(strategy)
        self.mean = gpytorch.means.ConstantMean(batch_shape=shape)
        base = gpytorch.kernels.RBFKernel(ard_num_dims=inducing.shape[1], batch_shape=shape)
        base.lengthscale = float(np.sqrt(inducing.shape[1]))  # About the distance of rows
        self.kernel = gpytorch.kernels.ScaleKernel(base, batch_shape=shape)

    def forward(self, X: Any) -> Any:
        return MultivariateNormal(self.mean(X), self.kernel(X))


def predicted(law: str, problem: Problem, seed: int) -> Prediction:
    """Return the prediction of a process trained by the evidence lower bound."""
    torch.manual_seed(seed)
    X, X_test = (torch.as_tensor(rows) for rows in (problem.X, problem.X_test))
    y, y_test = (torch.as_tensor(values) for values in (problem.y, problem.y_test))
    likelihood, n_latent = _likelihood(law, problem)
    is_multiclass = n_latent > 1
    y, y_test = (values if is_multiclass else values.double() for values in (y, y_test))
    if law == "labels" and not is_multiclass:
        y = 2.0 * y - 1.0
    inducing = X[torch.randperm(len(X))[:_INDUCING]].clone()
    model = _Model(inducing, n_latent).double()
    likelihood.offset = torch.log(torch.as_tensor(problem.exposure))
    bound = VariationalELBO(likelihood, model, num_data=len(X))
    optimiser = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=_RATE)
    with gpytorch.settings.cholesky_jitter(double_value=1e-6):
        for _ in range(_STEPS):
            optimiser.zero_grad()
            (-bound(model(X), y)).backward()
            optimiser.step()
        model.eval()
        likelihood.eval()
        likelihood.offset = torch.log(torch.as_tensor(problem.exposure_test))
        with torch.no_grad():
            return _drawn(law, problem, likelihood, model(X_test), y_test)


def _likelihood(law: str, problem: Problem) -> tuple[Any, int]:
    if law == "labels" and problem.n_classes > 2:
        n = problem.n_classes
        return SoftmaxLikelihood(num_classes=n, mixing_weights=False).double(), n
    makers = {
        "labels": BernoulliLikelihood,
        "poisson": _Poisson,
        "negative_binomial": _NegativeBinomial,
        "censored": _Censored,
        "ordinal": lambda: _Ordinal(problem.n_classes),
        "student_t": StudentTLikelihood,
    }
    return makers[law]().double(), 1


def _drawn(law: str, problem: Problem, likelihood: Any, latent: Any, y: Any) -> Prediction:
    """Return densities and intervals from draws of the latent values of each row."""
    mean, std = latent.mean, latent.stddev
    f = mean + std * torch.randn((_DRAWS, *mean.shape), dtype=torch.double)
    laws = likelihood.forward(f)
    density = torch.logsumexp(laws.log_prob(y), dim=0) - np.log(_DRAWS)
    if law in ("ordinal", "labels"):
        return Prediction(density.numpy())
    ends = np.quantile(laws.sample().numpy(), TAILS, axis=0)
    if problem.kind == COUNTS:
        ends = np.array([np.floor(ends[0]), np.ceil(ends[1])])
    return Prediction(density.numpy(), ends[0], ends[1])
