"""Methods by name: processes of bochner and scikit-learn; GPyTorch's are in ``torch_processes``."""

from importlib.util import find_spec
from typing import Any, Protocol, Self

import numpy as np
from sklearn import gaussian_process
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, WhiteKernel

from benchmarks.processes import design
from benchmarks.processes.rows import Posterior
from bochner import GaussianProcessRegressor
from bochner._base.arrays import Array

RANDOM, DRAWN = "random search", "sampled functions"
THOMPSON, IMPROVEMENT = "BoTorch, Thompson", "BoTorch, LogEI"

_PACKAGES = {
    design.GPYTORCH: "gpytorch",
    design.SGPR: "gpytorch",
    design.SVGP: "gpytorch",
    THOMPSON: "botorch",
    IMPROVEMENT: "botorch",
}


def installed(method: str) -> bool:
    """Tell whether a method can be run."""
    package = _PACKAGES.get(method)
    return package is None or find_spec(package) is not None


class Method(Protocol):
    """A process of standardised rows."""

    def fit(self, X: Array, y: Array) -> Self:
        """Fit to rows of shape (n, d) and a target of shape (n,)."""

    def predict(self, X: Array) -> Posterior:
        """Return the posterior of new observations."""


class Process:
    """A process with scikit-learn's parameters; ``added_noise`` is not part of its kernel."""

    def __init__(self, model: Any, added_noise: float = 0.0) -> None:
        self.model, self.added_noise = model, added_noise

    def fit(self, X: Array, y: Array) -> Self:
        self.model.fit(X, y)
        return self

    def predict(self, X: Array) -> Posterior:
        mean, std = self.model.predict(X, return_std=True)
        evidence = float(self.model.log_marginal_likelihood_value_)
        return Posterior(mean, np.hypot(std, self.added_noise), evidence)


def method_of(name: str, draw: design.Draw | None, n_inputs: int, seed: int) -> Method:
    """Return an unfitted method for a draw, or for a table without one."""
    if name in (design.GPYTORCH, *design.SPARSE):
        from benchmarks.processes import torch_processes

        return torch_processes.method_of(name, draw, seed)
    if name == design.SKLEARN:
        kernel = _gaussian(n_inputs) if draw is None else draw.learned_kernel
        return Process(gaussian_process.GaussianProcessRegressor(kernel, random_state=seed))
    is_approximate = name in (design.APPROXIMATE, design.GIVEN_APPROXIMATE)
    solver = "approximate" if is_approximate else "auto"
    if name in (design.OURS, design.APPROXIMATE):
        kernel = None if draw is None else draw.learned_kernel
        return Process(GaussianProcessRegressor(kernel, solver=solver, random_state=seed))
    if draw is None:
        raise ValueError(f"{name} needs the kernel of a draw.")
    options: dict[str, Any] = {"alpha": draw.noise**2, "optimizer": None, "random_state": seed}
    return Process(GaussianProcessRegressor(draw.kernel, solver=solver, **options), draw.noise)


def _gaussian(n_inputs: int) -> Kernel:
    """Return a Gaussian kernel with a length scale for each input, and noise."""
    return ConstantKernel() * RBF(np.ones(n_inputs)) + WhiteKernel(0.1)
