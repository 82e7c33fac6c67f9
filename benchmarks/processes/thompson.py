"""Minima found with few evaluations: drawn functions, random search and BoTorch."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from benchmarks.harness import Cell, Options
from benchmarks.processes.methods import DRAWN, IMPROVEMENT, RANDOM, THOMPSON, installed
from bochner import KreinRidge
from bochner._base.arrays import Array

_PLACES = (0.25, 0.5, 1.0)  # Shares of the evaluations at which the distance is reported
_FEATURES = 200  # Landmarks are exact at all evaluations; a fit takes some milliseconds
_CANDIDATES, _STARTS = 1000, 4  # Random points for each draw, and starts of its minimisation

# The function of six inputs of Hartmann: rates and centres of its four bumps
_RATES = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
# In units of 1e-4, as printed in the literature
_CENTRES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def _branin(U: Array) -> Array:
    x, y = 15.0 * U[:, 0] - 5.0, 15.0 * U[:, 1]
    bowl = y - 5.1 * x**2 / (4.0 * np.pi**2) + 5.0 * x / np.pi - 6.0
    value: Array = bowl**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x) + 10.0
    return value


def _hartmann(U: Array) -> Array:
    squares = np.sum(_RATES * (U[:, None] - _CENTRES) ** 2, axis=2)
    value: Array = -np.exp(-squares) @ np.array([1.0, 1.2, 3.0, 3.2])
    return value


def _ackley(U: Array) -> Array:
    X = 20.0 * U - 8.3  # The minimum is not in the centre of the cube
    norm, waves = np.sqrt(np.mean(X**2, axis=1)), np.mean(np.cos(2.0 * np.pi * X), axis=1)
    value: Array = 20.0 + np.exp(1.0) - 20.0 * np.exp(-0.2 * norm) - np.exp(waves)
    return value


@dataclass(frozen=True, slots=True)
class Target:
    """A function of the unit cube, its minimum and a number of evaluations."""

    function: Callable[[Array], Array]
    dim: int
    minimum: float
    budget: int


# Minima as in the literature, to six digits; budgets of 10 to 17 evaluations for each input.
TARGETS: Mapping[str, Target] = {
    "Branin, 2 inputs": Target(_branin, 2, 0.397887, 30),
    "Ackley, 3 inputs": Target(_ackley, 3, 0.0, 50),
    "Hartmann, 6 inputs": Target(_hartmann, 6, -3.32237, 60),
}


def cells(options: Options) -> Iterable[Cell]:
    """Return the cells of all methods."""
    methods = (RANDOM, DRAWN) if options.quick else (RANDOM, DRAWN, THOMPSON, IMPROVEMENT)
    for seed in range(1 if options.quick else 5):
        for name in list(TARGETS)[: 1 if options.quick else None]:
            for method in filter(installed, methods):
                budget = TARGETS[name].budget
                yield Cell(name, method, seed, {"n": budget // 2 if options.quick else budget})


def run(cell: Cell, options: Options) -> Mapping[str, float]:
    """Return distances from the minimum on the way."""
    target = TARGETS[cell.dataset]
    rng = np.random.default_rng(cell.seed)
    budget = int(cell.settings["n"])
    X = rng.random((budget if cell.method == RANDOM else 2 * target.dim + 2, target.dim))
    propose = _proposer(cell.method)
    while len(X) < budget:
        y = target.function(X)
        X = np.vstack([X, propose(X, (y - y.mean()) / y.std(), rng)])
    best = np.minimum.accumulate(target.function(X)) - target.minimum
    return {f"distance_at_{place:g}": float(best[int(place * budget) - 1]) for place in _PLACES}


def _proposer(method: str) -> Callable[[Array, Array, Any], Array]:
    if method in (RANDOM, DRAWN):
        return _lowest_of_a_draw
    from benchmarks.processes import peers

    return peers.thompson if method == THOMPSON else peers.improvement


def _lowest_of_a_draw(X: Array, y: Array, rng: np.random.Generator) -> Array:
    """Return the row (1, d) of the unit cube where a drawn function is least."""
    model = KreinRidge(
        "matern52",
        _FEATURES,
        alpha="evidence",
        length_scale="evidence",
        residual=len(X),
        fit_intercept=True,
        random_state=int(rng.integers(2**31)),
    ).fit(X, y)
    function = model.sample_functions(1, random_state=int(rng.integers(2**31)))[0]
    candidates = rng.random((_CANDIDATES, X.shape[1]))
    starts = candidates[np.argsort(function(candidates))[:_STARTS]]

    def total(z: Array) -> tuple[float, Array]:
        points = z.reshape(starts.shape)
        return float(function(points).sum()), function.gradient(points).ravel()

    box = [(0.0, 1.0)] * starts.size
    ends = minimize(total, starts.ravel(), jac=True, method="L-BFGS-B", bounds=box).x
    points = ends.reshape(starts.shape)
    lowest: Array = points[[np.argmin(function(points))]]
    return lowest
