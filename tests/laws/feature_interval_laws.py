"""Coverage of intervals of models on random features, for draws of the kernel itself."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from bochner import KreinRidge, kernels

LEVELS = np.array([0.5, 0.8, 0.9])
ALLOWED = 0.04
"""Error of the mean coverage that the check features may cause: the standard deviation of their
variance is a tenth, which changes the coverage of a 90 % interval by 0.02 at one row."""
PLACES = {"same": slice(0, 80), "gap": slice(80, 120), "far": slice(120, 160)}

KERNELS = {
    "gaussian": kernels.Gaussian(1.0),
    "short gaussian": kernels.Gaussian(0.5),
    "matern12": kernels.Matern(0.5, nu=0.5),
    "matern32": kernels.Matern(0.5, nu=1.5),
    "matern52": kernels.Matern(0.5, nu=2.5),
    "long matern52": kernels.Matern(1.0, nu=2.5),
    "cauchy": kernels.Cauchy(0.7),
    "laplacian": kernels.Laplacian(1.0),
    "exponential": kernels.Exponential(1.0),
    "rational": kernels.RationalQuadratic(0.7),
    "sum": 0.5 * kernels.Gaussian(2.0) + 0.5 * kernels.Matern(0.4, nu=1.5),
    "product": kernels.Gaussian(2.0) * kernels.Matern(1.0, nu=0.5),
}


@dataclass(frozen=True)
class Draws:
    """Functions of a process at rows of training, then of the three places, as columns."""

    rows: NDArray[np.float64]
    new: NDArray[np.float64]
    y: NDArray[np.float64]
    f_new: NDArray[np.float64]
    y_new: NDArray[np.float64]


@cache
def draws(name, d, noise, n, seed, count=300):
    """Rows uniform around a hole, new rows of the same law, in the hole, and far away."""
    rng = np.random.default_rng(seed)
    half = 0.5 if d <= 2 else 1.5  # Half the width of the hole

    def around(size):
        X = rng.uniform(-3.0, 3.0, size=(3 * size + 50, d))
        return X[np.abs(X - 1.0).max(axis=1) >= half][:size]

    far = rng.uniform(-3.0, 3.0, size=(40, d))
    far[:, 0] = rng.choice([-1.0, 1.0], 40) * (3.0 + 3.0 * 0.7)
    hole = 1.0 + half * rng.uniform(-1.0, 1.0, size=(40, d))
    rows, new = around(n), np.vstack((around(80), hole, far))
    both = np.vstack((rows, new))
    # The jitter is far below the variance of the noise.
    root = np.linalg.cholesky(KERNELS[name](both) + 1e-9 * np.eye(len(both)))
    f = root @ rng.normal(size=(len(both), count))
    y = f + np.sqrt(noise) * rng.normal(size=f.shape)
    return Draws(rows, new, y[:n], f[n:], y[n:])


def coverages(mean, std, values):
    """Coverage (places, levels) of central normal intervals."""
    z = np.abs(values - mean) / std
    half = norm.ppf(0.5 + LEVELS / 2.0)
    return np.array([(z[rows][..., None] <= half).mean(axis=(0, 1)) for rows in PLACES.values()])


def check_coverage(found, count, allowed=ALLOWED, label=""):
    """The rows of one draw are dependent, so that each draw counts as one observation."""
    error = 4.0 * np.sqrt(LEVELS * (1.0 - LEVELS) / count)
    gap = np.abs(found - LEVELS)
    assert (gap <= allowed + error).all(), f"{label}: {found.round(3).tolist()}"


def model(name, noise, p=128, residual=None, alpha=None, seed=0):
    alpha = noise if alpha is None else alpha
    return KreinRidge(KERNELS[name], p, alpha=alpha, residual=residual, random_state=seed)


def check_intervals(name="matern52", d=2, noise=0.05, n=300, seeds=2, allowed=ALLOWED, **options):
    """Intervals of the function and of observations, at rows like the training rows or not."""
    found = []
    for seed in range(seeds):
        data = draws(name, d, noise, n, seed)
        ridge = model(name, noise, seed=seed, **options).fit(data.rows, data.y)
        mean, std = ridge.predict(data.new, return_std=True)
        of_function = np.sqrt(np.maximum(std**2 - ridge.noise_variance_, 0.0))
        found.append([coverages(mean, of_function, data.f_new), coverages(mean, std, data.y_new)])
    average = np.mean(found, axis=0)
    count = seeds * data.y.shape[1]
    check_coverage(average[0], count, allowed, "function")
    check_coverage(average[1], count, allowed, "observations")


def check_functions(name="matern12", d=2, noise=0.1, n=300):
    """Intervals between quantiles of drawn functions, which are not computed from variances."""
    data = draws(name, d, noise, n, 0, 100)
    ridge = model(name, noise).fit(data.rows, data.y)
    functions = ridge.sample_functions(200, random_state=1)(data.new)
    ranks = (functions < data.f_new[:, :, None]).mean(axis=2)
    inside = np.abs(ranks - 0.5)[..., None] <= LEVELS / 2.0
    found = np.array([inside[rows].mean(axis=(0, 1)) for rows in PLACES.values()])
    check_coverage(found, 100, label="functions")
