"""Kernels and rows of all sorts, for inference that has to cope with any of them."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from bochner import kernels
from bochner.learned.dirichlet_mixture import NormalInverseWishart

DIMS = (1, 2, 3, 7, 60)
SIZES = (2, 2, 3, 5, 9, 14)


@dataclass(frozen=True)
class Problem:
    """A kernel, or similarities, and rows, all of which are looked at, and parameters."""

    kernel: object
    X: np.ndarray
    similarity: np.ndarray | None
    truncation: int
    noise: float | None
    n_starts: int


def problem(seed):
    """Return a random problem; kinds of kernels, sizes and widths go round with the seed."""
    rng = np.random.default_rng(seed)
    n, dim = int(rng.choice(SIZES)), DIMS[seed % len(DIMS)]
    X = rows(rng, n, dim)
    kernel = KINDS[seed // len(DIMS) % len(KINDS)](rng, dim)
    similarity = None
    if kernel == "precomputed":
        similarity = random_similarity(rng, n)
    noise = (None, None, 0.05, 1.0)[rng.integers(4)]
    truncation, n_starts = (int(number) for number in rng.integers(1, 4, 2))
    return Problem(kernel, X, similarity, truncation, noise, n_starts)


def rows(rng, n, dim):
    """Return rows of any size, some of them repeated, perhaps all of them equal or on a line."""
    X = rng.normal(size=(n, dim)) * np.exp(rng.uniform(-5.0, 5.0))
    kind = rng.integers(6)
    if kind == 0:
        X = X[rng.integers(0, n, n)]
    elif kind == 1:
        X[:] = X[0]
    elif kind == 2:
        X = X[:, :1] * np.ones(dim)
    elif kind == 3:
        X = X + 1e3 * rng.normal(size=dim)
    return X


def random_similarity(rng, n):
    """Return a symmetric matrix of random entries, of any scale, perhaps with zero diagonal."""
    matrix = rng.normal(size=(n, n)) * np.exp(rng.uniform(-8.0, 8.0))
    matrix = matrix + matrix.T
    kind = rng.integers(3)
    if kind == 0:
        np.fill_diagonal(matrix, 0.0)
    elif kind == 1:
        np.fill_diagonal(matrix, -np.abs(matrix).max())
    return matrix


def unit_of(X):
    return float(np.median(cdist(X, X))) or 1.0


def scaled(kernel):
    """Return a kernel of rows in units of their median distance, as a function."""

    def of_scaled(X, Y):
        unit = unit_of(X)
        return np.asarray(kernel(X / unit, Y / unit))

    return of_scaled


def difference(rng, dim):
    first, second = (kernels.Gaussian(np.exp(rng.uniform(-1.5, 1.5))) for _ in range(2))
    return scaled(rng.uniform(0.1, 3.0) * first - rng.uniform(0.1, 3.0) * second)


def mixture(rng, dim):
    parts = [
        kernels.SpectralMixture(
            rng.uniform(0.1, 1.0, 2), rng.normal(size=(2, dim)), rng.uniform(0.01, 2.0, (2, dim))
        )
        for _ in range(2)
    ]
    return scaled(parts[0] - rng.uniform(0.0, 2.0) * parts[1])


def constant(value):
    return lambda X, Y: np.full((len(X), len(Y)), value)


def polynomial(power, shift):
    return scaled(lambda X, Y: (X @ Y.T + shift) ** power)


def powers(power):
    """A power of the distance, whose diagonal is zero but for rounding."""
    return scaled(lambda X, Y: -1e-13 - cdist(X, Y) ** power)


# Kinds of kernels, of a generator and a width.
KINDS = (
    difference,
    mixture,
    lambda rng, dim: scaled(
        -np.exp(rng.uniform(-3.0, 3.0)) * kernels.Gaussian(np.exp(rng.normal()))
    ),
    lambda rng, dim: scaled(kernels.Laplacian(np.exp(rng.normal()))),
    lambda rng, dim: scaled(kernels.TL1(rng.uniform(0.2, 1.0) * dim)),
    lambda rng, dim: scaled(kernels.Tanh(rng.uniform(0.1, 2.0))),
    lambda rng, dim: polynomial(int(rng.integers(1, 5)), rng.uniform(-2.0, 2.0)),
    lambda rng, dim: powers(rng.uniform(0.3, 2.0)),
    lambda rng, dim: constant(rng.choice([-3.0, 1e-6, 1.0, 1e6])),
    lambda rng, dim: lambda X, Y: rng.choice([-1.0, 2.0]) * (cdist(X, Y) == 0.0),
    *[lambda rng, dim: "precomputed"] * 2,
)


def component_law(prior, scale):
    """The law of one component with expected covariance ``scale`` times identity."""
    matrix = prior.stiffness * scale * np.eye(prior.dim)
    return NormalInverseWishart(np.zeros(prior.dim), prior.strength, matrix, prior.dof)
