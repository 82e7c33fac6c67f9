"""Means and variances of features, with and without landmarks, next to the exact process."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from benchmarks.harness import Cell, Options
from benchmarks.processes.methods import FEATURES, LANDMARKS, SPARSE, installed
from bochner import KreinRidge
from bochner._numerics.arrays import Array
from bochner.kernels import Kernel, Matern

_NOISE = 0.01  # Variance, that of the prior being one
_LENGTHS = {"2 inputs": (2, 0.7), "4 inputs": (4, 2.0)}  # Inputs, and length scale
_ROWS, _NEW = 1500, 300  # Rows whose exact process takes a second, and rows to compare at
_SIDE = 2.0  # Half the side of the cube of the rows
_FAR = 3.0  # Length scales from the cube


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows of a draw of a process, new rows inside and far away, and the exact posterior there."""

    length_scale: float
    X: Array
    y: Array
    near: Array
    far: Array
    noise: float = _NOISE

    @classmethod
    def of(cls, name: str, seed: int) -> "Problem":
        """Return the problem of a number of inputs."""
        d, length = _LENGTHS[name]
        rng, kernel = np.random.default_rng(seed), _kernel(length)
        X, near = (rng.uniform(-_SIDE, _SIDE, size=(n, d)) for n in (_ROWS, _NEW))
        far = rng.uniform(-_SIDE, _SIDE, size=(_NEW, d))
        side = rng.integers(d, size=_NEW)
        far[np.arange(_NEW), side] = (_SIDE + _FAR * length) * rng.choice([-1.0, 1.0], _NEW)
        root = np.linalg.cholesky(kernel(X) + _NOISE * np.eye(_ROWS))
        return cls(length, X, root @ rng.normal(size=_ROWS), near, far)

    @property
    def kernel(self) -> Kernel:
        """The kernel of the process, whose variance is one."""
        return _kernel(self.length_scale)

    def exact(self, new: Array) -> tuple[Array, Array]:
        """Return means and variances (n,) of the function."""
        factor = cho_factor(self.kernel(self.X) + _NOISE * np.eye(_ROWS))
        cross = self.kernel(self.X, new)
        explained = np.sum(cross * cho_solve(factor, cross), axis=0)
        return cross.T @ cho_solve(factor, self.y), 1.0 - explained


def _kernel(length_scale: float) -> Kernel:
    return Matern(length_scale, nu=2.5)


def cells(options: Options) -> Iterable[Cell]:
    """Return the cells of all methods."""
    names = list(_LENGTHS)[:1] if options.quick else list(_LENGTHS)
    counts = (64, 256) if options.quick else (64, 256, 1024)
    sizes = (50,) if options.quick else (50, 200, 800)
    for seed in range(1 if options.quick else 3):
        for name in names:
            for p in counts:
                yield Cell(name, FEATURES, seed, {"features": p, "landmarks": 0})
                for q in sizes:
                    yield Cell(name, LANDMARKS, seed, {"features": p, "landmarks": q})
            for q in sizes if installed(SPARSE) and not options.quick else ():
                yield Cell(name, SPARSE, seed, {"features": 0, "landmarks": q})


def run(cell: Cell, options: Options) -> Mapping[str, float]:
    """Return the errors of one method."""
    problem = Problem.of(cell.dataset, cell.seed)
    p, q = int(cell.settings["features"]), int(cell.settings["landmarks"])
    if cell.method == SPARSE:
        from benchmarks.processes.peers import sparse_posterior

        near, far = sparse_posterior(problem, q, cell.seed)
    else:
        near, far = _posterior(problem, p, q, cell.seed)
    exact_mean, exact = problem.exact(problem.near)
    return {
        "mean_error": float(np.sqrt(np.mean((near[0] - exact_mean) ** 2))),
        "std_error": float(np.mean(np.abs(np.sqrt((near[1] + _NOISE) / (exact + _NOISE)) - 1.0))),
        "far_variance": float(np.mean(far[1] / problem.exact(problem.far)[1])),
    }


def _posterior(problem: Problem, p: int, q: int, seed: int) -> list[tuple[Array, Array]]:
    """Return means and variances of the function at both sets of new rows."""
    model = KreinRidge(problem.kernel, p, alpha=_NOISE, residual=q or None, random_state=seed)
    model.fit(problem.X, problem.y)
    moments = []
    for new in (problem.near, problem.far):
        mean, std = model.predict(new, return_std=True)
        moments.append((mean, _NOISE * (std**2 / model.noise_variance_ - 1.0)))
    return moments
