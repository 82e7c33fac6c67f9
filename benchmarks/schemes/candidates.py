"""Other ways to choose frequencies, next to the schemes, on rows that were not used for it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Protocol

import numpy as np
from scipy.linalg import solve

from benchmarks.harness import Cell, Options, Part, grid
from benchmarks.results import Row, median_table
from benchmarks.schemes.control import controlled
from benchmarks.schemes.couplings import CoupledNorms
from benchmarks.schemes.cubature import product_rule, shifted_grid, sparse_rule
from benchmarks.schemes.selected import by_leverage, herded, pool, pursued
from bochner import FourierFeatures, kernels, spectral_measure
from bochner._base.arrays import Array
from bochner.features.parameters import median_distance
from bochner.kernels import Kernel
from bochner.spectral import Scheme
from bochner.spectral.energy import spread_directions
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.laws import BlockLaw
from bochner.spectral.schemes import generating_vector

_INPUTS = (1, 2, 3, 5, 10, 20, 50, 200)  # From a line to more inputs than directions are spread in
_FEATURES = (64, 256, 1_024)  # From an eighth of the default to twice as many
_SEEDS = 8  # Draws of each, with other rows
_ROWS = 400  # Half of them for choosing and fitting, half held out
_NOISE = 0.1  # Deviation of the noise; functions have deviation one
_SHOWN = (1, 2, 3, 10, 50)  # Inputs in the tables of regressions and short length scales
_FAR = 10.0  # Length scales that are shorter by this factor make lags of this size

GAUSSIAN, RATIONAL = "Gaussian", "rational quadratic"
_KERNELS: Mapping[str, Kernel] = {
    GAUSSIAN: kernels.Gaussian(1.0),
    "Matérn 3/2": kernels.Matern(1.0, nu=1.5),
    "Laplacian": kernels.Laplacian(1.0),
    RATIONAL: kernels.RationalQuadratic(1.0, alpha=0.5),
}


class Estimate(Protocol):
    """A kernel that stands for another one."""

    def gram(self, X: Array, Y: Array, /) -> Array:
        """Return values (n, n2)."""
        ...


@dataclass(frozen=True, slots=True)
class Problem:
    """A kernel, rows to choose frequencies for and to fit, and the number of frequencies."""

    kernel: Kernel
    X: Array
    m: int

    def drawn(self, scheme: str | Scheme, rng: np.random.Generator) -> Frequencies:
        """Return frequencies of a scheme."""
        return spectral_measure(self.kernel, self.X.shape[1]).sample(self.m, rng, scheme)


Choose = Callable[[Problem, np.random.Generator], Estimate]


def _of_scheme(scheme: str | Scheme) -> Choose:
    return lambda problem, rng: problem.drawn(scheme, rng)


def _with_taylor(scheme: str) -> Choose:
    def choose(problem: Problem, rng: np.random.Generator) -> Estimate:
        moments = np.eye(problem.X.shape[1])  # Those of the Gaussian and the rational quadratic law
        frequencies = problem.drawn(scheme, rng)
        return controlled(problem.kernel, moments, problem.X, frequencies, rng)

    return choose


def _fitted(problem: Problem, rng: np.random.Generator) -> Estimate:
    seed = int(rng.integers(2**31))
    features = FourierFeatures(
        problem.kernel,
        2 * problem.m,
        scheme="energy",
        weights="least_squares",
        random_state=seed,
    )
    frequencies: Frequencies = features.fit(problem.X).frequencies_
    return frequencies


def _grid(problem: Problem, rng: np.random.Generator) -> Estimate:
    law = spectral_measure(problem.kernel, problem.X.shape[1]).parts[0].law
    if not isinstance(law, BlockLaw):
        raise TypeError(f"A grid needs a law of blocks, got {law!r}.")
    return shifted_grid(law, problem.m, rng)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to choose frequencies, and the kernels and numbers of inputs that it is for."""

    choose: Choose
    most_inputs: int = _INPUTS[-1]
    kernels: tuple[str, ...] = tuple(_KERNELS)

    def serves(self, dataset: str, inputs: int) -> bool:
        """Return whether the candidate applies to a kernel with the number of inputs."""
        return dataset in self.kernels and inputs <= self.most_inputs


_GAUSSIAN, _SMOOTH = (GAUSSIAN,), (GAUSSIAN, RATIONAL)
CANDIDATES: Mapping[str, Candidate] = {
    "iid": Candidate(_of_scheme("iid")),
    "orthogonal": Candidate(_of_scheme("orthogonal")),
    "energy": Candidate(_of_scheme("energy")),
    "lattice": Candidate(_of_scheme("lattice"), 20),
    "coupled norms": Candidate(_of_scheme(CoupledNorms())),
    "coupled strata": Candidate(_of_scheme(CoupledNorms(are_stratified=True))),
    "leverage": Candidate(lambda p, rng: by_leverage(p.kernel, p.X, p.m, rng)),
    "herding": Candidate(lambda p, rng: herded(pool(p.kernel, p.X, p.m, rng), p.m)),
    "pursuit": Candidate(lambda p, rng: pursued(pool(p.kernel, p.X, p.m, rng), p.m)),
    "fitted": Candidate(_fitted),
    # In four inputs and more a grid of 512 points has four or fewer in each coordinate.
    "grid": Candidate(_grid, 3),
    "Hermite": Candidate(lambda p, rng: product_rule(p.X.shape[1], p.m), 5, _GAUSSIAN),
    "sparse": Candidate(lambda p, rng: sparse_rule(p.X.shape[1], p.m), 20, _GAUSSIAN),
    "iid + Taylor": Candidate(_with_taylor("iid"), kernels=_SMOOTH),
    "energy + Taylor": Candidate(_with_taylor("energy"), kernels=_SMOOTH),
}


def _cells(options: Options) -> Iterable[Cell]:
    inputs, features, seeds = (
        ((2, 10), _FEATURES[:1], 2) if options.quick else (_INPUTS, _FEATURES, _SEEDS)
    )
    return [
        cell
        for cell in grid(_KERNELS, CANDIDATES, seeds, inputs=inputs, features=features)
        if CANDIDATES[cell.method].serves(cell.dataset, int(cell.settings["inputs"]))
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    """Rows, exact kernel values of all, a function's values with noise, and the exact error."""

    X: Array
    gram: Array
    truth: Array
    y: Array
    error: float


@lru_cache(4)
def _data(dataset: str, inputs: int, seed: int) -> _Data:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((_ROWS, inputs))
    X /= median_distance(X, rng)
    gram = _KERNELS[dataset](X)
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    truth = root @ rng.standard_normal(_ROWS)
    y = truth + _NOISE * rng.standard_normal(_ROWS)
    half = _ROWS // 2
    exact = _ridge_error(gram[:half, :half], gram[half:, :half], truth, y)
    return _Data(X, gram, truth, y, exact)


def _ridge_error(gram: Array, cross: Array, truth: Array, y: Array) -> float:
    """Return the root mean square error of kernel ridge regression on held-out rows."""
    half = len(gram)
    coefficient = solve(gram + _NOISE**2 * np.eye(half), y[:half], assume_a="sym")
    return float(np.sqrt(np.mean((cross @ coefficient - truth[half:]) ** 2)))


def _measure(cell: Cell, options: Options) -> Mapping[str, float]:
    inputs, m = int(cell.settings["inputs"]), int(cell.settings["features"]) // 2
    data, half = _data(cell.dataset, inputs, cell.seed), _ROWS // 2
    fit, held = data.X[:half], data.X[half:]
    problem = Problem(_KERNELS[cell.dataset], fit, m)
    spread_directions.cache_clear()  # Every draw pays for its directions and lattices
    generating_vector.cache_clear()
    start = perf_counter()
    estimate = CANDIDATES[cell.method].choose(problem, np.random.default_rng((cell.seed, 1)))
    seconds = perf_counter() - start
    exact = data.gram[half:, half:]
    error = np.linalg.norm(estimate.gram(held, held) - exact) / np.linalg.norm(exact)
    ridge = _ridge_error(estimate.gram(fit, fit), estimate.gram(held, fit), data.truth, data.y)
    return {
        "relative_error": float(error),
        "far_error": _far_error(estimate, problem.kernel, _FAR * held),
        "ridge_error": ridge / data.error,
        "seconds": seconds,
    }


def _far_error(estimate: Estimate, kernel: Kernel, X: Array) -> float:
    """Return the root mean square error over pairs of rows that differ."""
    squares = (estimate.gram(X, X) - kernel(X)) ** 2
    return float(np.sqrt((squares.sum() - np.trace(squares)) / (squares.size - len(squares))))


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "**Other ways to choose frequencies.** Relative error ‖K̂ − K‖_F / ‖K‖_F on 200 normal rows "
        "that were not used to choose or weight frequencies, the length scale the median distance: "
        "median over seeds, and its ratio to that of *energy*."
    )
    yield from _by_kernel(rows, "relative_error")
    some = [row for row in rows if row["inputs"] in _SHOWN]
    yield (
        "**Kernel ridge regression** with these kernels on 200 other rows of a function drawn from "
        "the exact kernel, noise 0.1: error on the held-out rows relative to that with the exact "
        "kernel, median over seeds."
    )
    yield from _by_kernel(some, "ridge_error", ratio=False)
    yield (
        "**Short length scales.** Root mean square error over pairs of rows with a length scale of "
        "a tenth of the median distance: median over seeds, and its ratio to that of *energy*."
    )
    yield from _by_kernel(some, "far_error")
    yield "**Seconds** to choose frequencies: median over seeds and kernels."
    pooled = [{**row, "dataset": "all"} for row in rows]
    yield median_table(pooled, index=["inputs", "features"], metric="seconds", digits=2)


def _by_kernel(rows: Sequence[Row], metric: str, *, ratio: bool = True) -> Iterator[str]:
    for name in dict.fromkeys(row["dataset"] for row in rows):
        yield f"{name} kernel:"
        yield median_table(
            [row for row in rows if row["dataset"] == name],
            index=["inputs", "features"],
            metric=metric,
            digits=2,
            ratio_to="energy" if ratio else None,
        )


CANDIDATES_PART = Part("candidates", _cells, _measure, _tables)
