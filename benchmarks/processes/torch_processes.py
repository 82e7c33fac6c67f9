"""Exact and sparse processes of GPyTorch, trained by Adam."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any, Self

import gpytorch
import numpy as np
import torch
from gpytorch.constraints import GreaterThan
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood, VariationalELBO
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy

from benchmarks.processes import design
from benchmarks.processes.rows import Posterior
from bochner._base.arrays import Array

_INDUCING, _BATCH = 512, 1_024  # About those of GPyTorch's tutorial on SVGP, 500 and 1,024
_RATE, _STEPS = 0.1, 200  # Rate of the tutorial on exact processes, and four times its steps
_SPARSE_RATE, _SPARSE_STEPS = 0.03, 1_000  # Three times the tutorial's rate, falling to zero
_START_NOISE = 0.1  # Variance from which all learned processes start
_CAP = 120.0  # Seconds after which no step begins
_DOUBLE_INPUTS = 2  # Where inducing points are so near that single precision has no Cholesky factor
_LEAST_NOISE = 1e-8  # Variance, below the least of a draw; GPyTorch's default of 1e-4 is above it
_SIZE, _TRIES = gpytorch.settings.max_cholesky_size, gpytorch.settings.cholesky_max_tries
_MOST_TRIES = 6  # Ten times more is added to a diagonal for each try, twice the default of three


class Process(ABC):
    """A process with a constant mean and a kernel with a length scale for each input."""

    def __init__(self, draw: design.Draw | None, seed: int) -> None:
        self.draw, self.seed = draw, seed

    has_factor = True
    """Whether factors of Gram matrices have the precision of the rows; SVGP's have double."""

    def fit(self, X: Array, y: Array) -> Self:
        torch.set_num_threads(1)
        is_double = X.shape[1] <= _DOUBLE_INPUTS and self.has_factor
        self.dtype = torch.float64 if is_double else torch.float32
        torch.manual_seed(self.seed)
        rows, targets = self._tensor(X), self._tensor(y)
        self.likelihood = GaussianLikelihood(noise_constraint=GreaterThan(_LEAST_NOISE))
        self.likelihood.to(self.dtype).noise = _START_NOISE
        with _SIZE(design.MOST_LEARNED), _TRIES(_MOST_TRIES):
            self._train(*self._model(rows, targets), rows, targets)
        return self

    def predict(self, X: Array) -> Posterior:
        with torch.no_grad(), _SIZE(design.MOST_LEARNED), _TRIES(_MOST_TRIES):
            laws = [self.likelihood(self.model(x)) for x in self._tensor(X).split(_BATCH)]
            mean, std = (torch.cat([getattr(law, name) for law in laws]).double().numpy()
                         for name in ("mean", "stddev"))  # fmt: skip
        return Posterior(mean, std)

    def _train(self, model: Any, objective: Any, X: Any, y: Any) -> None:
        """Set the model after steps of Adam on all rows."""
        optimiser, start = self._adam(model, _RATE), process_time()
        for _ in range(_STEPS):
            _step(optimiser, objective, X, y)
            if process_time() - start > _CAP:
                break
        self.model = model.eval()
        self.likelihood.eval()

    def _adam(self, model: Any, rate: float) -> Any:
        parameters = {*model.parameters(), *self.likelihood.parameters()}
        return torch.optim.Adam(list(parameters), lr=rate)

    def _tensor(self, values: Array) -> Any:
        return torch.as_tensor(values, dtype=self.dtype)

    def _kernel(self, n_inputs: int) -> Any:
        smoothness = np.inf if self.draw is None else self.draw.smoothness
        if np.isinf(smoothness):
            base = gpytorch.kernels.RBFKernel(ard_num_dims=n_inputs)
        else:
            base = gpytorch.kernels.MaternKernel(nu=smoothness, ard_num_dims=n_inputs)
        return gpytorch.kernels.ScaleKernel(base).to(self.dtype)

    def _inducing(self, X: Any) -> Any:
        return X[torch.randperm(len(X))[:_INDUCING]].clone()

    @abstractmethod
    def _model(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return an untrained model and its objective."""


class Exact(Process):
    """An exact process, whose evidence is computed by a Cholesky factor."""

    def _model(self, X: Any, y: Any) -> tuple[Any, Any]:
        model = _Exact(X, y, self.likelihood, self._kernel(X.shape[1]))
        return model, ExactMarginalLogLikelihood(self.likelihood, model)


class Collapsed(Process):
    """A sparse process with the collapsed bound of Titsias (SGPR)."""

    def _model(self, X: Any, y: Any) -> tuple[Any, Any]:
        kernel = gpytorch.kernels.InducingPointKernel(
            self._kernel(X.shape[1]), inducing_points=self._inducing(X), likelihood=self.likelihood
        )
        model = _Exact(X, y, self.likelihood, kernel)
        return model, ExactMarginalLogLikelihood(self.likelihood, model)


class Stochastic(Process):
    """A stochastic variational process (SVGP), trained on batches."""

    has_factor = False

    def _model(self, X: Any, y: Any) -> tuple[Any, Any]:
        model = _Variational(self._inducing(X), self._kernel(X.shape[1])).to(self.dtype)
        return model, VariationalELBO(self.likelihood, model, num_data=len(X))

    def _train(self, model: Any, objective: Any, X: Any, y: Any) -> None:
        """Set the model after steps on random batches, whose rate falls to zero along a cosine."""
        optimiser, start = self._adam(model, _SPARSE_RATE), process_time()
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, _SPARSE_STEPS)
        for _ in range(_SPARSE_STEPS):
            chosen = torch.randint(len(X), (_BATCH,))
            _step(optimiser, objective, X[chosen], y[chosen])
            schedule.step()
            if process_time() - start > _CAP:
                break
        self.model = model.eval()
        self.likelihood.eval()


def _step(optimiser: Any, objective: Any, X: Any, y: Any) -> None:
    optimiser.zero_grad()
    (-objective(objective.model(X), y)).backward()
    optimiser.step()


class _Exact(gpytorch.models.ExactGP):
    def __init__(self, X: Any, y: Any, likelihood: Any, kernel: Any) -> None:
        super().__init__(X, y, likelihood)
        self.mean, self.kernel = gpytorch.means.ConstantMean().to(X.dtype), kernel

    def forward(self, X: Any) -> Any:
        return MultivariateNormal(self.mean(X), self.kernel(X))


class _Variational(gpytorch.models.ApproximateGP):
    def __init__(self, inducing: Any, kernel: Any) -> None:
        law = CholeskyVariationalDistribution(len(inducing))
        super().__init__(VariationalStrategy(self, inducing, law))
        self.mean, self.kernel = gpytorch.means.ConstantMean(), kernel

    def forward(self, X: Any) -> Any:
        return MultivariateNormal(self.mean(X), self.kernel(X))


def method_of(name: str, draw: design.Draw | None, seed: int) -> Process:
    """Return an untrained process by the name of the method."""
    kinds: Mapping[str, Callable[[design.Draw | None, int], Process]] = {
        design.GPYTORCH: Exact,
        design.SGPR: Collapsed,
        design.SVGP: Stochastic,
    }
    return kinds[name](draw, seed)
