"""Small models of every class that model files hold, and everything that they can be asked."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from fuzz.subjects import SUBJECTS
from laws.registry import FUNCTIONS, PLANE_CASES

import bochner

N_ROWS = 30


@dataclass(frozen=True)
class Saved:
    """A model, and a function that asks it for everything it can say of some rows."""

    model: Any
    ask: Callable[[Any], list[Any]]


def _rows(rng):
    return rng.normal(size=(N_ROWS, 3))


def _table(rng):
    return pd.DataFrame(
        {
            "size": rng.normal(size=N_ROWS),
            "kind": rng.choice(["a", "b", "c"], N_ROWS),
            "day": pd.date_range("2020-01-01", periods=N_ROWS, freq="11D"),
        }
    )


def _estimator(subject):
    rng = np.random.default_rng(0)
    X = _rows(rng)
    given = {} if subject.target is None else {"y": X[:, 0]}
    if subject.target == "labels":
        given["y"] = np.where(X[:, 0] > 0, "a", "b")
    others = {"right": X} if subject.right else {}
    model = subject.build().fit(X, **given, **others)

    def ask(model):
        return _answers(model, X, others)

    return Saved(model, ask)


def _answers(model, X, others):
    """Return predictions, each with a row or an item for every row."""
    found = []
    if hasattr(model, "transform"):
        found.append(model.transform(X))
    for name in ("predict", "predict_proba", "signal_std"):
        if hasattr(model, name):
            found.append(getattr(model, name)(X, **others))
    try:
        found.extend(model.predict(X, return_std=True))
        if hasattr(model, "sample_y"):
            found.append(model.sample_y(X))
    except (AttributeError, TypeError, ValueError) as error:
        if not any(word in str(error) for word in ("return_std", "standard dev", "'predict'")):
            raise
    for name in ("predict_interval", "predict_quantiles"):
        if hasattr(model, name):
            found.extend(np.atleast_3d(getattr(model, name)(X)).reshape(-1, N_ROWS)[:1])
    return found


def _of_table(kind):
    rng = np.random.default_rng(0)
    X = _table(rng)
    y = X["size"].to_numpy() + (X["kind"] == "a")
    labels = kind is bochner.TableClassifier
    model = kind(effort="quick", random_state=0).fit(X, np.where(y > 0, "u", "v") if labels else y)

    def ask(model):
        found = _answers(model, X, {})
        model.importance()
        model.effect("size")
        model.effect("kind")
        model.contributions(X[:2])
        return found

    return Saved(model, ask)


def _forecaster():
    t = np.arange(40.0)
    X = np.cos(t)[:, None]
    y = 0.1 * t + np.sin(t / 2.0) + X[:, 0]
    model = bochner.Forecaster(periods=[12.0], random_state=0).fit(y, X)
    new = np.zeros((N_ROWS, 1))

    def ask(model):
        model.components(N_ROWS, new)
        model.sample(N_ROWS, 2, new, random_state=0)
        return [
            *model.predict(N_ROWS, new, return_std=True),
            *model.predict_interval(N_ROWS, 0.9, new),
        ]

    return Saved(model, ask)


def _kernel(case):
    X = case.points(N_ROWS)
    return Saved(case.kernel, lambda kernel: [kernel(X, X)])


def _frequencies(**settings):
    X = _rows(np.random.default_rng(0))
    features = bochner.FourierFeatures(n_components=8, random_state=0, **settings).fit(X)
    return Saved(features.frequencies_, lambda found: [found.features(X)])


ESTIMATORS = [
    name for name, subject in SUBJECTS.items() if not subject.kind.__name__.endswith("Nystroem")
]
OTHERS = {
    "table of text and dates": lambda: _of_table(bochner.TableRegressor),
    "classes of text and dates": lambda: _of_table(bochner.TableClassifier),
    "forecaster": _forecaster,
    "frequencies": _frequencies,
    "signed frequencies": lambda: _frequencies(kernel=SUBJECTS["ridge, signed"].settings["kernel"]),
}
KERNELS = {
    f"kernel {case}": case
    for case in PLANE_CASES
    if not any(f"({name})" in repr(case.kernel) for name in FUNCTIONS)
}
NAMES = [*ESTIMATORS, *OTHERS, *KERNELS]


@cache
def saved(name):
    """Return the model of a name, fitted once."""
    if name in KERNELS:
        return _kernel(KERNELS[name])
    return OTHERS[name]() if name in OTHERS else _estimator(SUBJECTS[name])
