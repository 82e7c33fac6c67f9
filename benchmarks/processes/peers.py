"""Proposals of BoTorch, which it needs."""

from typing import Any

import botorch
import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.thompson_sampling import PathwiseThompsonSampling
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from bochner._base.arrays import Array

_RESTARTS, _SAMPLES = 4, 1000  # Starts and random points of each acquisition, as for our draws


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
