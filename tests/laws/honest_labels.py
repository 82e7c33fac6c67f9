"""Tables of independent rows with classes as targets."""

import numpy as np
import pandas as pd
from laws.honest_numbers import normal_inputs
from laws.honest_tables import Array, Drawn, Rows, chosen, entropy, independent, kind, words
from numpy.random import Generator
from scipy.special import expit

TITANIC = pd.DataFrame(
    [
        ("1st", "male", "child", 0, 5),
        ("1st", "female", "child", 0, 1),
        ("1st", "male", "adult", 118, 57),
        ("1st", "female", "adult", 4, 140),
        ("2nd", "male", "child", 0, 11),
        ("2nd", "female", "child", 0, 13),
        ("2nd", "male", "adult", 154, 14),
        ("2nd", "female", "adult", 13, 80),
        ("3rd", "male", "child", 35, 13),
        ("3rd", "female", "child", 17, 14),
        ("3rd", "male", "adult", 387, 75),
        ("3rd", "female", "adult", 89, 76),
        ("crew", "male", "adult", 670, 192),
        ("crew", "female", "adult", 3, 20),
    ],
    columns=["class", "sex", "age", "no", "yes"],
)
"""Persons on board the Titanic by class, sex, age and survival: Dawson, R. J. MacG. (1995), "The
'Unusual Episode' Data Revisited", Journal of Statistics Education 3."""

TITANIC_COLUMNS = ["class", "sex", "age"]


def titanic_rows() -> Rows:
    """Return a row for each of the 2,201 persons."""
    long = TITANIC.melt(TITANIC_COLUMNS, ["no", "yes"], "survived", "count")
    persons = long.loc[long.index.repeat(long["count"])].reset_index(drop=True)
    return persons[TITANIC_COLUMNS], persons["survived"].to_numpy(dtype=str)


def cells_entropy(table: pd.DataFrame) -> float:
    """Return the entropy of the classes "no" and "yes" in cells of known counts."""
    counts = table[["no", "yes"]].to_numpy(dtype=np.float64)
    share = counts.sum(axis=1, keepdims=True)
    p = np.clip(counts / share, 1e-12, 1.0)
    return float(-np.sum(counts * np.log(p)) / counts.sum())


@kind("classes", "titanic", n=600)
def _titanic(n: int, rng: Generator) -> Drawn:
    X, y = titanic_rows()

    def rows(n: int, rng: Generator) -> Rows:
        persons = rng.integers(0, len(X), n)
        return X.iloc[persons].reset_index(drop=True), y[persons]

    return independent(n, rng, rows, cells_entropy(TITANIC))


def _cells(shape: tuple[int, ...], as_text: bool, spread: float):
    def draw(n: int, rng: Generator) -> Drawn:
        p = expit(spread * rng.normal(size=shape))

        def rows(n: int, rng: Generator) -> Rows:
            cell = tuple(rng.integers(0, size, n) for size in shape)
            names = [f"column {j}" for j in range(len(shape))]
            X = pd.DataFrame(
                {
                    name: words("level ", c) if as_text else c
                    for name, c in zip(names, cell, strict=True)
                }
            )
            return X, (rng.random(n) < p[cell]).astype(np.int64)

        return independent(n, rng, rows, entropy(np.stack([p, 1.0 - p], -1).reshape(-1, 2)))

    return draw


kind("classes", "two cells of labels", tags=frozenset({"few"}))(_cells((2,), True, 1.0))
kind("classes", "six cells of labels", tags=frozenset({"few"}))(_cells((2, 3), False, 1.0))
kind("classes", "twenty cells of labels", n=500)(_cells((4, 5), True, 1.5))


def _parity(d: int, flipped: float):
    """Return what draws the parity of columns, with a share of the labels flipped."""

    def draw(n: int, rng: Generator) -> Drawn:
        def rows(n: int, rng: Generator) -> Rows:
            bits = rng.integers(0, 2, (n, d))
            wrong = rng.random(n) < flipped
            X = pd.DataFrame(bits, columns=[f"bit {j}" for j in range(d)])
            return X, (bits.sum(axis=1) + wrong) % 2

        return independent(n, rng, rows, entropy(np.array([[flipped, 1.0 - flipped]])))

    return draw


kind("classes", "exclusive or", tags=frozenset({"few", "exact"}))(_parity(2, 0.0))
kind("classes", "parity of three", tags=frozenset({"exact"}))(_parity(3, 0.0))
kind("classes", "parity with errors", n=400)(_parity(3, 0.1))


def _labels(probabilities) -> Drawn:
    """Return what draws labels whose probabilities (n, C) are a function of normal inputs."""

    def draw(n: int, rng: Generator) -> Drawn:
        def rows(n: int, rng: Generator) -> Rows:
            X = normal_inputs(n, rng, 2)
            return X, chosen(probabilities(X), rng)

        best = entropy(probabilities(normal_inputs(20_000, np.random.default_rng(0), 2)))
        return independent(n, rng, rows, best)

    return draw


def _two(p: Array) -> Array:
    return np.stack([p, 1.0 - p], axis=1)


def _imbalanced(X: pd.DataFrame) -> Array:
    """Return probabilities of which the second is about one in fifty."""
    return _two(1.0 - expit(X["a"].to_numpy() - 4.4))


kind("classes", "smooth classes")(_labels(lambda X: _two(expit(2.0 * np.sin(2.0 * X["a"])))))
kind("classes", "imbalanced", n=800)(_labels(_imbalanced))
kind("classes", "coin flips", n=40, tags=frozenset({"chance"}))(
    _labels(lambda X: np.full((len(X), 2), 0.5))
)
kind("classes", "four random classes", n=60, tags=frozenset({"chance"}))(
    _labels(lambda X: np.full((len(X), 4), 0.25))
)


@kind("classes", "coin flips of levels", n=40, tags=frozenset({"chance"}))
def _coin_levels(n: int, rng: Generator) -> Drawn:
    def rows(n: int, rng: Generator) -> Rows:
        X = pd.DataFrame({"a": rng.integers(0, 3, n), "b": words("b", rng.integers(0, 4, n))})
        return X, rng.integers(0, 2, n)

    return independent(n, rng, rows, float(np.log(2.0)))
