"""Exact draws of processes with their posterior, and tables with standardised rows."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from sklearn.preprocessing import StandardScaler

from benchmarks import datasets
from benchmarks.processes import design
from benchmarks.real.reading import read
from bochner._base.arrays import Array

_JITTER = 1e-10  # Variance added to functions at test rows, so that their factor exists
_BLOCK = 1_000  # Rows of the Gram matrix that are computed at once


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Means (n2,) and standard deviations (n2,) of new observations, and the log evidence."""

    mean: Array
    std: Array
    evidence: float = np.nan


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Training rows and test rows.

    ``f_test`` is the function at the test rows of a draw, and the target of a table; ``exact`` is
    the posterior of the kernel that made a draw.
    """

    X: Array  # (n, d)
    y: Array  # (n,)
    X_test: Array  # (n2, d)
    y_test: Array  # (n2,)
    f_test: Array  # (n2,)
    draw: design.Draw | None = None
    exact: Posterior | None = None


@lru_cache(maxsize=1)
def drawn(name: str, n: int, n_test: int, seed: int) -> Problem:
    """Return a draw of a process at random rows, by one factor of the joint covariance."""
    draw, rng = design.DRAWS[name], np.random.default_rng([seed, n])
    X = rng.uniform(-design.HALF_SIDE, design.HALF_SIDE, size=(n + n_test, draw.n_inputs))
    joint = np.empty((len(X), len(X)), order="F")
    for start in range(0, len(X), _BLOCK):
        columns = slice(start, start + _BLOCK)
        joint[:, columns] = draw.kernel(X, X[columns])
    joint.ravel(order="K")[:: len(X) + 1] += np.repeat([draw.noise**2, _JITTER], [n, n_test])
    root = cholesky(joint, lower=True, overwrite_a=True, check_finite=False)
    white = rng.normal(size=len(X))
    mean, conditional = root[n:, :n] @ white[:n], root[n:, n:]
    f_test = mean + conditional @ white[n:]
    log_root = np.log(np.diag(root)[:n]).sum()
    evidence = -0.5 * white[:n] @ white[:n] - log_root - 0.5 * n * np.log(2.0 * np.pi)
    std = np.sqrt(np.sum(conditional**2, axis=1) + draw.noise**2)
    y_test = f_test + draw.noise * rng.normal(size=n_test)
    exact = Posterior(mean, std, float(evidence))
    return Problem(X[:n], root[:n, :n] @ white[:n], X[n:], y_test, f_test, draw, exact)


@lru_cache(maxsize=1)
def table(name: str, seed: int, folder: Path | None) -> Problem:
    """Return a table with a tenth of its rows to test on, standardised by its training rows."""
    X, y, is_test = _split(name, seed, folder)
    scaler = StandardScaler().fit(X[~is_test])
    y = (y - y[~is_test].mean()) / y[~is_test].std()
    X_train, X_test = (np.asarray(scaler.transform(X[part])) for part in (~is_test, is_test))
    return Problem(X_train, y[~is_test], X_test, y[is_test], y[is_test])


def _split(name: str, seed: int, folder: Path | None) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return numbers, target, and which rows are tested: those of a published split, or random."""
    if name in design.PUBLISHED and folder:
        with np.load(folder / "published_splits" / f"{name}.npz") as file:
            return file["X"], file["y"], file["is_test"][seed]
    if name == "diamonds":
        frame, y = read(name, folder)
        X = frame.select_dtypes("number").to_numpy(dtype=np.float64)
    else:
        dataset = datasets.load(name, folder)
        X, y = np.asarray(dataset.X, dtype=np.float64), np.asarray(dataset.y, dtype=np.float64)
    is_test = np.zeros(len(y), dtype=bool)
    order = np.random.default_rng(seed).permutation(len(y))
    is_test[order[: int(design.TEST_SHARE * len(y))]] = True
    return X, y, is_test
