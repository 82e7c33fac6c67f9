"""Tables whose new rows are unlike the training rows, and what a model must state about them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from bochner import TableClassifier, TableRegressor

LEVELS = (0.5, 0.8, 0.9)


@dataclass(frozen=True)
class Kind:
    """A table by its columns and its target; the target of numbers has noise."""

    name: str
    columns: Callable[[np.random.Generator, int], pd.DataFrame]
    mean: Callable[[pd.DataFrame], np.ndarray]
    noise: float

    def draw(self, rng, n):
        X = self.columns(rng, n)
        return X, np.asarray(self.mean(X), dtype=float) + self.noise * rng.normal(size=n)


def _independent(rng, n):
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 5, n).astype(float),
            "c": rng.choice(list("xyz"), n),
        }
    )


def _correlated(rng, n):
    a = rng.normal(size=n)
    c = np.where(a + rng.normal(size=n) > 0.0, "x", "y")
    return pd.DataFrame({"a": a, "b": a + 0.3 * rng.normal(size=n), "c": c})


def _uniform(rng, n):
    frame = pd.DataFrame(rng.uniform(-1.0, 1.0, (n, 3)), columns=list("abd"))
    return frame.assign(c=rng.choice(list("vwxyz"), n))


KINDS = {
    kind.name: kind
    for kind in (
        Kind("linear", _independent, lambda X: 2.0 * X.a + X.b + 3.0 * (X.c == "x"), 0.1),
        Kind("correlated", _correlated, lambda X: X.a + X.b + 2.0 * (X.c == "x"), 0.5),
        Kind(
            "interaction",
            _uniform,
            lambda X: 3.0 * np.where(X.c < "x", X.a, -X.a) + np.sin(3.0 * X.b) + X.d**2,
            0.3,
        ),
    )
}


def hidden(frame, mask):
    """The entries of a mask are missing."""
    return frame.mask(pd.DataFrame(mask, columns=frame.columns, index=frame.index))


def one_gap(column):
    return lambda rng, X: X.assign(**{column: None if column == "c" else np.nan})


def several_gaps(rng, X):
    mask = rng.random(X.shape) < 0.4
    mask[np.arange(len(X)), rng.integers(0, X.shape[1], len(X))] = True
    mask[mask.all(axis=1), 0] = False
    return hidden(X, mask)


def new_level(rng, X):
    return X.assign(c="new")


UNLIKE = {
    "gap in a": one_gap("a"),
    "gap in b": one_gap("b"),
    "gap in c": one_gap("c"),
    "several gaps": several_gaps,
    "new level": new_level,
}


def coverage_of(model, X, y, level):
    low, high = model.predict_interval(X, level)
    return float(np.mean((low <= y) & (y <= high)))


def at_least(coverage: float, level: float, n: int, slack: float = 0.0) -> bool:
    """Whether a coverage of n rows is at least a level, up to binomial error of 1 in 1,000."""
    return coverage >= binom.ppf(1e-3, n, level) / n - slack


def crps(model, X, y):
    """The mean continuous ranked probability score, by pinball losses of 19 quantiles."""
    levels = np.arange(1, 20) / 20.0
    error = y[:, None] - model.predict_quantiles(X, levels)
    return float(np.mean(np.maximum(levels * error, (levels - 1.0) * error)) * 2.0)


def crps_of_marginal(y_train, y):
    levels = np.arange(1, 20) / 20.0
    error = y[:, None] - np.quantile(y_train, levels)
    return float(np.mean(np.maximum(levels * error, (levels - 1.0) * error)) * 2.0)


def fitted(kind: str, seed: int, n: int = 600, **options: Any):
    rng = np.random.default_rng(seed)
    X, y = KINDS[kind].draw(rng, n)
    model = TableRegressor(**{"effort": "quick", "random_state": 0, **options}).fit(X, y)
    return model, X, y, rng


def classes(kind: str, seed: int, n: int = 600, **options: Any):
    rng = np.random.default_rng(seed)
    X, y = KINDS[kind].draw(rng, n)
    X_new, y_new = KINDS[kind].draw(rng, 600)
    edge = np.median(y)
    model = TableClassifier(**{"effort": "quick", "random_state": 0, **options}).fit(X, y > edge)
    return model, X_new, y_new > edge, rng


def over_time(change: str, seed: int, n: int = 300):
    """A table in order of time whose level changes, split into earlier and later rows."""
    rng, m = np.random.default_rng(seed), 3 * n // 2
    day, x = np.arange(m), rng.normal(size=m)
    level = {
        "nothing": np.zeros(m),
        "levels": 2.0 * rng.normal(size=m // 20 + 1)[day // 20],
        "walk": np.cumsum(rng.normal(size=m)) / 8.0,
        "season": 2.0 * np.sin(2.0 * np.pi * day / 60.0),
        "drift": day / n,
    }[change]
    X, y = pd.DataFrame({"day": day, "x": x}), level + x + 0.3 * rng.normal(size=m)
    return X[:n], y[:n], X[n:], y[n:]
