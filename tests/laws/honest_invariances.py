"""Changes of a table that must not change a model, and those that may change it little."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from laws.honest_laws import Trial, refit, trial_on
from laws.honest_models import Model
from laws.honest_tables import Array, Drawn, Kind

LITTLE = 0.1
"""Relative change of an error, on average over seeds, that is more than a column of noise or
another order of the rows may cause: the random halves of the search alone cause some per cent."""

CHANCE = 4.0
"""Standard errors of six seeds that a mean may differ from zero by: one in a hundred is greater."""


def outputs(fitted: Any, X: pd.DataFrame) -> Array:
    """Return what a model predicts, probabilities or means and ends of intervals (n, k)."""
    if getattr(fitted, "classes_", None) is not None:
        return fitted.predict_proba(X)
    return np.column_stack([fitted.predict(X), *fitted.predict_interval(X, 0.8)])


def units_do_not_matter(kind: Kind, model: Model, seed: int, n: int | None = None) -> None:
    """Assert that other units of columns and targets give the same model in these units."""
    drawn, rng = kind.drawn(kind.n if n is None else n, seed)
    X = drawn.fresh(200, rng)[0]
    first = refit(model, seed, drawn.X, drawn.y, are_counts=drawn.are_counts, **drawn.fit)
    scale, shift = (1.0, 0.0) if kind.task == "classes" else (128.0, 1000.0)
    y = drawn.y if kind.task == "classes" else shift + scale * drawn.y
    other = refit(model, seed, _in_units(drawn.X), y, are_counts=drawn.are_counts, **drawn.fit)
    expected = scale * outputs(first, X) + shift
    tolerances = {"rtol": model.rounding, "atol": 0.1 * model.rounding * scale}
    np.testing.assert_allclose(outputs(other, _in_units(X)), expected, **tolerances)
    if model.has_score:
        np.testing.assert_allclose(other.score_, scale * first.score_, rtol=1e-4)


def _in_units(X: pd.DataFrame) -> pd.DataFrame:
    numbers = X.select_dtypes("number").columns
    return X.assign(**{name: 5.0 + 0.25 * X[name] for name in numbers})


def labels_do_not_matter(kind: Kind, model: Model, seed: int, n: int | None = None) -> None:
    """Assert that classes of other names in another order have the same probabilities."""
    before, after, scores = _renamed(kind, model, seed, n)
    np.testing.assert_allclose(after, before, atol=0.02)
    if model.has_score:
        np.testing.assert_allclose(scores[1], scores[0], rtol=0.02)


def labels_do_not_matter_on_average(kind: Kind, model: Model, n_seeds: int, n: int) -> None:
    """Assert that the mean over seeds changes by chance only where classes have other names.

    The other order of classes exchanges the signs of the targets of a Markov chain, but not those
    of its random numbers: two chains of one seed are as different as those of two seeds.
    """
    changes = []
    for seed in range(n_seeds):
        before, after, scores = _renamed(kind, model, seed, n)
        # Sharpness, the share of a class and the expected loss are compared.
        loss = scores[1] - scores[0] if model.has_score else 0.0
        sharpness = np.mean(np.sum(after**2, axis=1) - np.sum(before**2, axis=1))
        changes.append([sharpness, np.mean(after[:, 0] - before[:, 0]), loss])
    mean, error = np.mean(changes, axis=0), np.std(changes, axis=0, ddof=1) / np.sqrt(n_seeds)
    assert (np.abs(mean) <= CHANCE * error + 1e-3).all(), (kind.name, model.name, mean, error)


def _renamed(
    kind: Kind, model: Model, seed: int, n: int | None
) -> tuple[Array, Array, tuple[float, float]]:
    """Return probabilities (n, C) before and after a change of names and order, and the scores."""
    drawn, rng = kind.drawn(kind.n if n is None else n, seed)
    X = drawn.fresh(200, rng)[0]
    first = refit(model, seed, drawn.X, drawn.y, are_counts=drawn.are_counts, **drawn.fit)
    names = np.array([f"class {len(first.classes_) - k}" for k in range(len(first.classes_))])
    y = names[np.searchsorted(first.classes_, drawn.y)]
    other = refit(model, seed, drawn.X, y, are_counts=drawn.are_counts, **drawn.fit)
    scores = (first.score_, other.score_) if model.has_score else (np.nan, np.nan)
    return outputs(first, X), outputs(other, X)[:, ::-1], scores


def _with_noise(drawn: Drawn, rng: np.random.Generator) -> Drawn:
    def noisy(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        return X.assign(noise=1e-6 * rng.normal(size=len(X)))

    def fresh(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Array]:
        X, y = drawn.fresh(n, rng)
        return noisy(X, rng), y

    return replace(drawn, X=noisy(drawn.X, rng), fresh=fresh)


def _in_other_order(drawn: Drawn, rng: np.random.Generator) -> Drawn:
    rows = rng.permutation(len(drawn.y))
    columns = list(rng.permutation(drawn.X.columns))

    def fresh(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, Array]:
        X, y = drawn.fresh(n, rng)
        return X[columns], y

    fit = {name: np.asarray(values)[rows] for name, values in drawn.fit.items()}
    X = drawn.X.iloc[rows].reset_index(drop=True)[columns]
    return replace(drawn, X=X, y=drawn.y[rows], fresh=fresh, fit=fit)


CHANGES = {"a column of noise": _with_noise, "another order": _in_other_order}


def changes_little(
    change: str, kind: Kind, model: Model, n_seeds: int, n: int | None = None
) -> None:
    """Assert that a change of the table changes errors, expected and on new rows, little."""
    trials: list[tuple[Trial, Trial]] = []
    for seed in range(n_seeds):
        drawn, rng = kind.drawn(kind.n if n is None else n, seed)
        other = CHANGES[change](drawn, rng)
        new = int(rng.integers(2**31))
        first, second = (
            trial_on(kind, model, seed, table, np.random.default_rng(new))
            for table in (drawn, other)
        )
        trials.append((first, second))
    for name in ("fresh", *(["score"] if model.has_score else [])):
        values = np.array([[getattr(t, name) for t in pair] for pair in trials]).mean(axis=0)
        before, after = values + 0.02 * np.mean([t.constant for t, _ in trials])
        assert abs(after / before - 1.0) < LITTLE, (
            f"{change}, {kind.name} x {model.name}: {name} {before:.4f} to {after:.4f}"
        )
