"""Data of the benchmark of locally stationary kernels: prepared and generated tables."""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.preprocessing import OneHotEncoder

from benchmarks.datasets import Dataset
from benchmarks.gabasr.design import CALIFORNIA
from benchmarks.rows import loaded
from bochner._base.arrays import Array
from bochner.kernels import Kernel

XOR_SPREAD = 0.5  # Deviation about corners two apart, a guess: the paper names none
LENGTH_SCALE, STATIONARY_NOISE = 0.05, 0.3  # A stationary series of variance one on [0, 1]

_HOUSES_UNIT = 1e5  # Dollars in scikit-learn's unit of a target
# Rows, the noise's deviation at the start, and its ratio at the end: the signal is 0.5 at most.
_DOPPLER_ROWS, _LEAST_NOISE, _NOISE_FACTOR = 400, 0.02, 3.0
# Hills of 0.08 on the unit square, and noise as high as the plain.
_TERRAIN_ROWS, _TERRAIN_NOISE = 600, 0.1


@lru_cache(maxsize=2)
def prepared(name: str, folder: Path | None) -> Dataset:
    """Return a data set as all methods have it.

    Codes of columns with more than two levels become indicators, as codes in the order of their
    spelling mean nothing. California's houses get averages per household and a target in units
    of 100,000 dollars, as scikit-learn has them.
    """
    dataset = loaded(name, folder)
    if name == CALIFORNIA:
        return per_household(dataset)
    return with_indicators(dataset)


def per_household(dataset: Dataset) -> Dataset:
    """Return California's houses with scikit-learn's columns, from totals of every block."""
    if "totalRooms" not in dataset.feature_names:
        return dataset
    column = dict(zip(dataset.feature_names, dataset.X.T, strict=True))
    households = column["households"]
    averages = {
        "MedInc": column["medianIncome"],
        "HouseAge": column["housingMedianAge"],
        "AveRooms": column["totalRooms"] / households,
        "AveBedrms": column["totalBedrooms"] / households,
        "Population": column["population"],
        "AveOccup": column["population"] / households,
        "Latitude": column["latitude"],
        "Longitude": column["longitude"],
    }
    return replace(
        dataset,
        X=np.column_stack(list(averages.values())),
        y=dataset.y / _HOUSES_UNIT,
        feature_names=tuple(averages),
    )


def with_indicators(dataset: Dataset) -> Dataset:
    """Return the data set with an indicator for every level of a column of more than two."""
    is_code = np.array(dataset.categorical, dtype=bool)
    if not is_code.any():
        return dataset
    encoder = OneHotEncoder(drop="if_binary", sparse_output=False)
    indicators = encoder.fit_transform(dataset.X[:, is_code])
    X = np.column_stack([dataset.X[:, ~is_code], indicators])
    return replace(dataset, X=X, feature_names=(), categorical=())


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A series of one input, and the truth behind it where it was generated."""

    dataset: Dataset
    f: Array | None = None  # (n,): the target without noise
    noise: Array | None = None  # (n,): the noise's standard deviation


def doppler(seed: int) -> Series:
    r"""Return a signal of changing frequency and amplitude, with noise that grows.

    .. math:: y(t) = \sqrt{t (1 - t)} \sin(2 \pi \cdot 1.05 / (t + 0.05)) + \sigma(t) \varepsilon,

    at 400 random places of the unit interval, with a deviation of the noise from 0.02 at its
    start to three times as much at its end. The signal is that of Donoho and Johnstone, "Ideal
    spatial adaptation by wavelet shrinkage", 1994.
    """
    rng = np.random.default_rng(seed)
    t = np.sort(rng.random(_DOPPLER_ROWS))
    f = np.sqrt(t * (1.0 - t)) * np.sin(2.0 * np.pi * 1.05 / (t + 0.05))
    noise = _LEAST_NOISE * (1.0 + (_NOISE_FACTOR - 1.0) * t)
    y = f + noise * rng.standard_normal(len(t))
    return Series(Dataset("doppler", t[:, None], y, "regression"), f, noise)


def terrain(seed: int) -> Series:
    r"""Return heights of a surface that is flat and smooth in the west, high and rough in the east.

    A Gaussian process on the unit square, of deviation :math:`s = 0.1 \cdot 10^{x_1}`, whose kernel

    .. math:: s s' \frac{2 \ell \ell'}{\ell^2 + \ell'^2} \exp\Big(-\frac{\|x - x'\|^2}{\ell^2
              + \ell'^2}\Big), \qquad \ell(x) = 0.4 \cdot 0.2^{x_1},

    is that of Gibbs, "Bayesian Gaussian processes for regression and classification", 1997, at 600
    random places, with noise of deviation 0.1.
    """
    rng = np.random.default_rng(seed)
    X = rng.random((_TERRAIN_ROWS, 2))
    scale, deviation = 0.4 * 0.2 ** X[:, 0], 0.1 * 10.0 ** X[:, 0]
    square = scale[:, None] ** 2 + scale**2
    K = np.exp(-cdist(X, X, "sqeuclidean") / square) * 2.0 * np.outer(scale, scale) / square
    # Rounding leaves tiny eigenvalues of either sign.
    f = deviation * (cholesky(K + 1e-8 * np.eye(len(X)), lower=True) @ rng.standard_normal(len(X)))
    noise = np.full(len(X), _TERRAIN_NOISE)
    y = f + noise * rng.standard_normal(len(X))
    return Series(Dataset("terrain", X, y, "regression"), f, noise)


def xor_rows(rng: np.random.Generator, n: int) -> tuple[Array, NDArray[np.intp]]:
    """Return rows (n, 2) and labels of the problem of exclusive or.

    Rows scatter, with standard deviation one half, about the corners of a square of side two; of
    class one are those about a corner whose coordinates have unlike signs.
    """
    corner = rng.choice([-1.0, 1.0], size=(n, 2))
    y = (corner[:, 0] != corner[:, 1]).astype(np.intp)
    return corner + XOR_SPREAD * rng.standard_normal((n, 2)), y


def xor_probability(X: Array) -> Array:
    r"""Return the probability of class one.

    Given a coordinate, its corner's is one with probability :math:`p_i = 1 / (1 + \exp(-2 x_i /
    \sigma^2))`, independently of the other's: the probability is :math:`p_1 (1 - p_2) + p_2 (1 -
    p_1)`.
    """
    first, second = expit(2.0 * X / XOR_SPREAD**2).T
    return np.asarray(first * (1.0 - second) + second * (1.0 - first))


def posterior(
    kernel: Kernel, noise: float, X: Array, y: Array, X_test: Array
) -> tuple[Array, Array]:
    """Return mean and standard deviation, noise included, of observations at test rows."""
    factor = cho_factor(kernel(X) + noise**2 * np.eye(len(X)))
    cross = kernel(X_test, X)
    mean: Array = cross @ cho_solve(factor, y)
    explained = np.einsum("ij,ji->i", cross, cho_solve(factor, cross.T))
    prior = float(kernel(X_test[:1])[0, 0])
    return mean, np.sqrt(prior - explained + noise**2)
