"""Tables whose rows are not exchangeable: groups, times, weights and text of many levels."""

import numpy as np
import pandas as pd
from laws.honest_numbers import normal_inputs
from laws.honest_tables import Drawn, Rows, independent, kind, words
from numpy.random import Generator
from scipy.special import expit

_ROWS_PER_GROUP = 4
"""Rows of a group: few, so that the mean of a group's targets is mostly known to its own rows."""


def _grouped(with_column: bool, std: float, of_classes: bool):
    """Return what draws groups with a level of their own, of which new rows have new ones."""

    def draw(n: int, rng: Generator) -> Drawn:
        def rows(n: int, rng: Generator, first: int) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
            group = first + np.repeat(np.arange(-(-n // _ROWS_PER_GROUP)), _ROWS_PER_GROUP)[:n]
            levels = std * rng.normal(size=group[-1] - first + 1)
            X = normal_inputs(n, rng, 1)
            mean = X["a"].to_numpy() + levels[group - first]
            y = mean + rng.normal(size=n)
            if of_classes:
                y = (rng.random(n) < expit(mean)).astype(np.int64)
            names = words("order ", group)
            return (X.assign(order=names) if with_column else X), y, names

        def fresh(n: int, rng: Generator) -> Rows:
            return rows(n, rng, 1_000_000)[:2]

        X, y, names = rows(n, rng, 0)
        best = np.nan if of_classes else std**2 + 1.0
        return Drawn(X, y, fresh, best, {"groups": np.array(names)})

    return draw


kind("numbers", "groups with their names", n=400, has_units=True)(_grouped(True, 1.6, False))
kind("numbers", "groups without names", n=400, has_units=True)(_grouped(False, 1.6, False))
kind("classes", "groups of labels with names", n=400, has_units=True)(_grouped(True, 2.0, True))
kind("classes", "groups of labels without names", n=400, has_units=True)(_grouped(False, 2.0, True))

_YEAR_STD = 3.2
"""Standard deviation of the years' levels, many times that of rows within a year."""


@kind("numbers", "ties in time", n=300, has_units=True, levels=())
def _ties(n: int, rng: Generator) -> Drawn:
    """Four years, each with a level of its own; new rows are of the fifth.

    One year is scored, so that no interval can have its coverage.
    """
    levels = _YEAR_STD * rng.normal(size=5)

    def rows(year: np.ndarray, rng: Generator) -> Rows:
        X = normal_inputs(len(year), rng, 1).assign(year=2001 + year)
        return X, X["a"].to_numpy() + levels[year] + 0.25 * rng.normal(size=len(year))

    X, y = rows(np.repeat(np.arange(4), n // 4), rng)
    fit = {"time": X["year"].to_numpy()}
    return Drawn(X, y, lambda n, rng: rows(np.full(n, 4), rng), 0.0625, fit)


@kind("numbers", "drift", n=300, has_units=True)
def _drift(n: int, rng: Generator) -> Drawn:
    """A slope that grows in time; new rows are of the next fifth of the time."""

    def rows(time: np.ndarray, rng: Generator) -> Rows:
        X = normal_inputs(len(time), rng, 1)
        y = (1.0 + time) * X["a"].to_numpy() + 0.5 * rng.normal(size=len(time))
        return X.assign(time=time), y

    X, y = rows(np.arange(n) / n, rng)
    return Drawn(
        X,
        y,
        lambda n, rng: rows(1.0 + 0.2 * rng.random(n), rng),
        0.25,
        {"time": X["time"].to_numpy()},
    )


def _text(n_levels: int):
    """Return what draws texts whose levels have an effect each."""

    def draw(n: int, rng: Generator) -> Drawn:
        effects = rng.normal(size=n_levels)

        def rows(n: int, rng: Generator) -> Rows:
            level = rng.integers(0, n_levels, n)
            X = normal_inputs(n, rng, 1).assign(text=words("text ", level))
            return X, X["a"].to_numpy() + effects[level] + rng.normal(size=n)

        return independent(n, rng, rows, 1.0)

    return draw


kind("numbers", "text of 10 levels", is_gaussian=True)(_text(10))
kind("numbers", "text of 300 levels", n=600)(_text(300))
kind("numbers", "text of 3000 levels", n=1000)(_text(3000))


@kind("classes", "labels of 300 texts", n=600)
def _text_labels(n: int, rng: Generator) -> Drawn:
    p = expit(1.5 * rng.normal(size=300))

    def rows(n: int, rng: Generator) -> Rows:
        level = rng.integers(0, len(p), n)
        X = normal_inputs(n, rng, 1).assign(text=words("text ", level))
        return X, (rng.random(n) < p[level]).astype(np.int64)

    both = np.stack([p, 1.0 - p])
    return independent(n, rng, rows, float(-np.mean(np.sum(both * np.log(both), axis=0))))


def _weighted(weights, of_cells: bool = False):
    """Return what draws rows of noise variance 1 / weight; new rows have the mean weight, one."""

    def draw(n: int, rng: Generator) -> Drawn:
        def rows(n: int, rng: Generator, weight: np.ndarray) -> Rows:
            X = normal_inputs(n, rng, 2)
            if of_cells:
                X = X.clip(-1.2, 1.2).round()
            y = np.sin(2.0 * X["a"]) + X["b"] + rng.normal(size=n) / np.sqrt(weight)
            return X, y.to_numpy()

        weight = weights(n, rng)
        weight /= weight.mean()
        X, y = rows(n, rng, weight)
        return Drawn(X, y, lambda n, rng: rows(n, rng, np.ones(n)), 1.0, {"sample_weight": weight})

    return draw


kind("numbers", "weights over two decades", n=300, has_units=True, is_gaussian=True)(
    _weighted(lambda n, rng: 10.0 ** rng.uniform(-1.0, 1.0, n))
)
kind("numbers", "weights of cells", n=300, has_units=True, is_gaussian=True)(
    _weighted(lambda n, rng: 10.0 ** rng.uniform(-1.0, 1.0, n), of_cells=True)
)
kind("numbers", "weights of three values", n=300, has_units=True, is_gaussian=True)(
    _weighted(lambda n, rng: rng.choice([0.25, 1.0, 4.0], n))
)


def _counted(of_classes: bool):
    """Return what draws cells with the number of their rows as weight."""

    def draw(n: int, rng: Generator) -> Drawn:
        means = rng.normal(size=(2, 3))

        def rows(n: int, rng: Generator) -> Rows:
            a, b = rng.integers(0, 2, n), rng.integers(0, 3, n)
            y = np.round(2.0 * (means[a, b] + rng.normal(size=n))) / 2.0
            if of_classes:
                y = (rng.random(n) < expit(2.0 * means[a, b])).astype(np.int64)
            return pd.DataFrame({"a": a, "b": words("b", b)}), y

        X, y = rows(n, rng)
        counted = X.assign(y=y).value_counts(sort=False).reset_index(name="count")
        p = expit(2.0 * means)
        labels = float(-np.mean(p * np.log(p) + (1.0 - p) * np.log1p(-p)))
        return Drawn(
            counted[["a", "b"]],
            counted["y"].to_numpy(),
            rows,
            labels if of_classes else 1.0 + 1.0 / 48.0,
            {"sample_weight": counted["count"].to_numpy(dtype=np.float64)},
            are_counts=True,
        )

    return draw


kind("numbers", "counts as weights", has_units=True, has_atoms=True)(_counted(False))
kind("classes", "counts of labels as weights", has_units=True)(_counted(True))


@kind("classes", "survey", n=400, has_units=True)
def _survey(n: int, rng: Generator) -> Drawn:
    """Cells that are drawn at unequal rates, whose reciprocals are the weights."""
    p = expit(1.5 * rng.normal(size=6))
    rate = np.array([0.3, 0.45, 0.7, 1.1, 1.6, 1.85])
    rate = rate * len(rate) / rate.sum()

    def rows(n: int, rng: Generator, share: np.ndarray) -> tuple[np.ndarray, Rows]:
        cell = rng.choice(len(p), n, p=share / share.sum())
        y = (rng.random(n) < p[cell]).astype(np.int64)
        return cell, (pd.DataFrame({"cell": words("cell ", cell)}), y)

    cell, (X, y) = rows(n, rng, rate)
    best = float(-np.mean(p * np.log(p) + (1.0 - p) * np.log1p(-p)))
    return Drawn(
        X,
        y,
        lambda n, rng: rows(n, rng, np.ones(len(p)))[1],
        best,
        {"sample_weight": 1.0 / rate[cell]},
    )
