"""Models whose expected errors, intervals and probabilities are compared with new rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from laws.honest_oracles import CellFrequencies, CellMeans
from laws.honest_tables import Array, Kind
from scipy.stats import norm

from bochner import (
    KernelGLMClassifier,
    KernelGLMRegressor,
    KreinRidge,
    KreinRidgeClassifier,
    LearnedKernelClassifier,
    LearnedKernelRegressor,
    TableClassifier,
    TableRegressor,
)
from bochner.learned import Chains


@dataclass(frozen=True)
class Model:
    """How a model is made for a seed, and what it states about new rows."""

    name: str
    task: Literal["numbers", "classes"]
    build: Callable[[int], Any]
    has_score: bool = True
    has_intervals: bool = True
    takes: Callable[[Kind], bool] = lambda kind: True  # Kinds that the model is made for
    most_rows: int = 20_000  # Of kinds with more rows than this a smaller table is drawn
    rounding: float = 1e-4  # Relative change of predictions by rounding, as in other units
    kinds: tuple[str, ...] | None = None  # Those of the slow tests; None: all that it takes
    n_seeds: int = 20  # Of the slow tests
    is_sampled: bool = False  # Whether classes in another order are other draws of Markov chains


MODELS: dict[str, Model] = {}


def model(task: Literal["numbers", "classes"], name: str, build, **settings: Any) -> None:
    """Register a model."""
    MODELS[name] = Model(name, task, build, **settings)


class Encoded:
    """A model of numbers on the standardised columns and the one-hot levels of a table."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def fit(self, X: pd.DataFrame, y: Array, sample_weight: Any = None) -> "Encoded":
        raw = self._raw(X)
        mean = np.average(raw, axis=0, weights=sample_weight)
        std = np.sqrt(np.average((raw - mean) ** 2, axis=0, weights=sample_weight))
        self.columns, self.mean, self.std = raw.columns, mean, np.where(std > 0.0, std, 1.0)
        self.shift = float(np.average(y, weights=sample_weight)) if y.dtype.kind == "f" else None
        target = y if self.shift is None else y - self.shift
        self.inner.fit(self._numbers(X), target, sample_weight=sample_weight)
        return self

    @property
    def score_(self) -> float:
        return self.inner.score_

    @property
    def classes_(self) -> Array:
        return self.inner.classes_

    def predict(self, X: pd.DataFrame) -> Array:
        shift = 0.0 if self.shift is None else self.shift
        return shift + self.inner.predict(self._numbers(X))

    def predict_proba(self, X: pd.DataFrame) -> Array:
        return self.inner.predict_proba(self._numbers(X))

    def predict_interval(self, X: pd.DataFrame, level: float) -> tuple[Array, Array]:
        numbers, shift = self._numbers(X), self.shift
        if hasattr(self.inner, "predict_interval"):
            lower, upper = self.inner.predict_interval(numbers, level=level)
            return shift + lower, shift + upper
        mean, std = self.inner.predict(numbers, return_std=True)
        half = norm.ppf(0.5 + 0.5 * level) * std
        return shift + mean - half, shift + mean + half

    def _raw(self, X: pd.DataFrame) -> pd.DataFrame:
        return pd.get_dummies(X, dtype=float).astype(float)

    def _numbers(self, X: pd.DataFrame) -> Array:
        raw = self._raw(X).reindex(columns=self.columns, fill_value=0.0)
        return ((raw - self.mean) / self.std).to_numpy()


def _encoded(model_class: Any, **settings: Any) -> Callable[[int], Encoded]:
    return lambda seed: Encoded(model_class(**settings, random_state=seed))


def _is_numeric(kind: Kind) -> bool:
    """Return whether a model of a few numbers can take a table: no groups, times or many texts."""
    return not any(word in kind.name for word in ("text", "group", "time", "drift"))


def _takes_normal(kind: Kind) -> bool:
    return kind.is_gaussian and _is_numeric(kind)


_SOME = (
    *("six cells", "smooth", "weights over two decades", "weights of cells", "noise"),
    *("titanic", "smooth classes", "imbalanced", "coin flips", "parity with errors"),
)
"""Kinds of the slow tests of models that take a second: the others repeat what these tell."""
_GROUPED = ("groups with their names", "text of 300 levels", "groups of labels with names")
_FEW = ("one column", "weights over two decades", "six cells of labels", "coin flips")
"""Kinds of the slow tests of Markov chains, which take some seconds."""
model("numbers", "table quick", lambda s: TableRegressor(effort="quick", random_state=s))
model("classes", "table classes quick", lambda s: TableClassifier(effort="quick", random_state=s))
_all_efforts = {"kinds": _SOME + _GROUPED, "n_seeds": 8}
model("numbers", "table default", lambda s: TableRegressor(random_state=s), **_all_efforts)
model("classes", "table classes default", lambda s: TableClassifier(random_state=s), **_all_efforts)
_few = {"takes": _is_numeric, "most_rows": 300, "kinds": _FEW, "n_seeds": 8}
_evidence = {"alpha": "evidence", "length_scale": "evidence", "n_components": 256}
model(
    "numbers",
    "krein ridge",
    _encoded(KreinRidge, **_evidence),
    has_score=False,
    takes=_takes_normal,
    kinds=_SOME,
)
model(
    "numbers",
    "kernel glm",
    _encoded(KernelGLMRegressor, length_scale="evidence", n_components=128),
    has_score=False,
    takes=_takes_normal,
    kinds=_SOME,
)
model(
    "classes",
    "krein ridge classes",
    _encoded(KreinRidgeClassifier, **_evidence),
    has_score=False,
    takes=_is_numeric,
    kinds=_SOME,
)
model(
    "classes",
    "kernel glm classes",
    _encoded(KernelGLMClassifier, length_scale="evidence", n_components=128),
    has_score=False,
    takes=_is_numeric,
    kinds=_SOME,
    rounding=2e-3,  # Logarithms of length scales are rounded to a thousandth
)
_bank = {"n_frequencies": 30, "chains": Chains(n_burn_in=20, n_samples=20, n_chains=6)}
model("numbers", "bank", _encoded(LearnedKernelRegressor, **_bank), **_few)
model(
    "classes", "bank classes", _encoded(LearnedKernelClassifier, **_bank), is_sampled=True, **_few
)


_NUMERIC = ("smooth", "drift", "weights over", "weights of three")
"""Beginnings of names of kinds whose rows all differ, and of which means of cells know nothing."""


def _takes_cells(kind: Kind) -> bool:
    return not kind.name.startswith(_NUMERIC)


def _oracle(task: Literal["numbers", "classes"], **settings: Any) -> Model:
    made = CellMeans if task == "numbers" else CellFrequencies
    return Model(f"cells {settings}", task, lambda seed: made(**settings), takes=_takes_cells)


ORACLES = {f"cells of {task}": _oracle(task) for task in ("numbers", "classes")}
"""Predictors that the battery must pass."""

_BY_NAME = {"leaves": "rows", "columns": ["order"]}
FALSE: dict[str, tuple[Model, str]] = {
    "in-sample errors": (_oracle("numbers", leaves="nothing"), "thirty cells"),
    "in-sample log loss": (_oracle("classes", leaves="nothing"), "twenty cells of labels"),
    "equal rows left out": (_oracle("numbers", leaves="copies"), "ratings"),
    "equal labels left out": (_oracle("classes", leaves="copies"), "two cells of labels"),
    "rows of groups left out": (_oracle("numbers", **_BY_NAME), "groups with their names"),
    "labels of groups left out": (_oracle("classes", **_BY_NAME), "groups of labels with names"),
    "ties split": (_oracle("numbers", leaves="rows", columns=["year"]), "ties in time"),
    "narrow intervals": (_oracle("numbers", spread=0.85), "six cells"),
}
"""Predictors that leave the wrong rows out, with a kind on which the battery must fail them."""
