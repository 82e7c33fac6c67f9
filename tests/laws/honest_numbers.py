"""Tables of independent rows with numbers as targets."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from laws.honest_tables import Array, Drawn, Rows, independent, kind, words
from numpy.random import Generator
from scipy.stats import norm

INPUTS = ("a", "b", "c", "d")


def normal_inputs(n: int, rng: Generator, d: int) -> pd.DataFrame:
    """Return columns of independent standard normal numbers."""
    return pd.DataFrame(rng.normal(size=(n, d)), columns=INPUTS[:d])


def _noisy(
    columns: Callable[[int, Generator], pd.DataFrame],
    mean: Callable[[pd.DataFrame], Array],
    std: float,
) -> Callable[[int, Generator], Rows]:
    def rows(n: int, rng: Generator) -> Rows:
        X = columns(n, rng)
        return X, np.asarray(mean(X)) + std * rng.normal(size=n)

    return rows


@kind("numbers", "two cells", is_gaussian=True, tags=frozenset({"few"}))
def _two_cells(n: int, rng: Generator) -> Drawn:
    def columns(n: int, rng: Generator) -> pd.DataFrame:
        return pd.DataFrame({"a": words("level ", rng.integers(0, 2, n))})

    return independent(n, rng, _noisy(columns, lambda X: 1.0 * (X["a"] == "level 1"), 1.0), 1.0)


@kind("numbers", "six cells", is_gaussian=True, tags=frozenset({"few"}))
def _six_cells(n: int, rng: Generator) -> Drawn:
    def columns(n: int, rng: Generator) -> pd.DataFrame:
        return pd.DataFrame(
            {"a": words("a", rng.integers(0, 2, n)), "b": words("b", rng.integers(0, 3, n))}
        )

    means = pd.Series(rng.normal(size=6), index=[f"a{i}b{j}" for i in range(2) for j in range(3)])
    rows = _noisy(columns, lambda X: means[X["a"] + X["b"]].to_numpy(), 1.0)
    return independent(n, rng, rows, 1.0)


@kind("numbers", "thirty cells", n=300, is_gaussian=True)
def _thirty_cells(n: int, rng: Generator) -> Drawn:
    def columns(n: int, rng: Generator) -> pd.DataFrame:
        return pd.DataFrame({"a": rng.integers(0, 5, n), "b": rng.integers(0, 6, n)})

    means = rng.normal(size=(5, 6))
    return independent(n, rng, _noisy(columns, lambda X: means[X["a"], X["b"]], 1.0), 1.0)


@kind("numbers", "ratings", has_atoms=True)
def _ratings(n: int, rng: Generator) -> Drawn:
    """Ratings of one to five stars of three by three levels."""
    means = 3.0 + rng.normal(size=(3, 3))

    def rows(n: int, rng: Generator) -> Rows:
        a, b = rng.integers(0, 3, (2, n))
        stars = np.clip(np.round(means[a, b] + rng.normal(size=n)), 1.0, 5.0)
        return pd.DataFrame({"a": words("a", a), "b": words("b", b)}), stars

    stars = np.arange(1.0, 6.0)
    ends = norm.cdf(np.r_[-np.inf, 1.5:5.0, np.inf] - means[..., None])
    p = np.diff(ends, axis=-1)
    return independent(n, rng, rows, float(np.mean(p @ stars**2 - (p @ stars) ** 2)))


ZERO_INFLATED = (1.0, 2.0, 2.5, 3.5, 4.5)
"""Means of five groups of a target that is zero in half of all rows, far enough apart to tell."""


@kind("numbers", "zero-inflated", n=300, has_atoms=True, tags=frozenset({"few"}))
def _zero_inflated(n: int, rng: Generator) -> Drawn:
    means = np.array(ZERO_INFLATED)

    def rows(n: int, rng: Generator) -> Rows:
        group = rng.integers(0, len(means), n)
        y = (rng.random(n) < 0.5) * rng.gamma(4.0, 0.5 * means[group])
        return pd.DataFrame({"g": words("group ", group)}), y

    # Half of the rows have the mean 2 m and the variance m**2.
    return independent(n, rng, rows, float(np.mean(0.5 * 5.0 * means**2 - means**2)))


@kind("numbers", "rounded", has_atoms=True)
def _rounded(n: int, rng: Generator) -> Drawn:
    """Inputs rounded to halves, and targets to whole numbers."""

    def rows(n: int, rng: Generator) -> Rows:
        X = (2.0 * normal_inputs(n, rng, 2)).round() / 2.0
        return X, np.round(2.0 * np.sin(X["a"]) + X["b"] + rng.normal(size=n)).to_numpy()

    return independent(n, rng, rows, 1.0 + 1.0 / 12.0)


@kind("numbers", "counts", has_atoms=True)
def _counts(n: int, rng: Generator) -> Drawn:
    def rows(n: int, rng: Generator) -> Rows:
        X = pd.DataFrame({"a": rng.poisson(2.0, n), "b": rng.integers(0, 4, n)})
        return X, rng.poisson(np.exp(0.2 * X["a"] + 0.2 * X["b"])).astype(np.float64)

    # The variance is the mean: exp(2 (exp(0.2) - 1)) times that of b.
    best = np.exp(2.0 * np.expm1(0.2)) * np.mean(np.exp(0.2 * np.arange(4)))
    return independent(n, rng, rows, float(best))


@kind("numbers", "smooth", is_gaussian=True)
def _smooth(n: int, rng: Generator) -> Drawn:
    rows = _noisy(
        lambda n, rng: normal_inputs(n, rng, 3),
        lambda X: (np.sin(2.0 * X["a"]) + X["b"] * X["c"] / 2.0).to_numpy(),
        0.5,
    )
    return independent(n, rng, rows, 0.25)


@kind("numbers", "one column", is_gaussian=True)
def _one_column(n: int, rng: Generator) -> Drawn:
    rows = _noisy(
        lambda n, rng: normal_inputs(n, rng, 1), lambda X: np.sin(2.0 * X["a"]).to_numpy(), 0.5
    )
    return independent(n, rng, rows, 0.25)


@kind("numbers", "skewed")
def _skewed(n: int, rng: Generator) -> Drawn:
    """Errors of a gamma law, whose two tails differ, with inputs of very different scales."""

    def rows(n: int, rng: Generator) -> Rows:
        X = normal_inputs(n, rng, 2)
        X["b"] = np.exp(2.0 * X["b"])
        return X, (X["a"] + np.log(X["b"])).to_numpy() + rng.gamma(2.0, 0.5, n)

    return independent(n, rng, rows, 0.5)


@kind("numbers", "growing errors")
def _growing_errors(n: int, rng: Generator) -> Drawn:
    """Normal errors whose deviation grows with the square of a column."""

    def rows(n: int, rng: Generator) -> Rows:
        X = pd.DataFrame({"a": rng.uniform(0.0, 3.0, n), "b": rng.normal(size=n)})
        spread = 0.1 + 0.7 * X["a"] ** 2
        return X, (4.0 * X["a"] + X["b"] + spread * rng.normal(size=n)).to_numpy()

    # Means of a**2 and a**4 are 3 and 81 / 5.
    return independent(n, rng, rows, 0.01 + 0.14 * 3.0 + 0.49 * 81.0 / 5.0)


@kind("numbers", "noise", is_gaussian=True)
def _noise(n: int, rng: Generator) -> Drawn:
    """Targets that nothing predicts."""
    rows = _noisy(lambda n, rng: normal_inputs(n, rng, 3), lambda X: 0.0 * X["a"], 1.0)
    return independent(n, rng, rows, 1.0)
