"""Methods at their defaults, by name, with the preparation of tables that each asks for."""

import pickle
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import bochner
from benchmarks.environment import with_packages
from benchmarks.real import design
from benchmarks.real.encoding import MOST_LEVELS, Columns, filled
from bochner._base.arrays import Array

Maker = Callable[[int, bool], "Method"]
"""Seed, and whether the target is a number, to a method."""


class Method(ABC):
    """A method on tables: ``predict`` returns numbers (n,), or probabilities (n, classes)."""

    def __init__(self, seed: int, is_regression: bool) -> None:
        self.seed, self.is_regression = seed, is_regression

    @abstractmethod
    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        """Fit to rows with text, dates and gaps."""

    @abstractmethod
    def predict(self, X: pd.DataFrame) -> Array:
        """Return predicted numbers, or probabilities of the classes."""

    def save(self, folder: Path) -> None:
        """Write the model into a folder."""
        with (folder / "model.pickle").open("wb") as file:
            pickle.dump(self, file)

    @property
    def laws(self) -> Any | None:
        """The model, if it has intervals and densities of numbers."""
        return None


class Bochner(Method):
    """A table model with default parameters, on raw columns."""

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        kind = bochner.TableRegressor if self.is_regression else bochner.TableClassifier
        self.model_: Any = kind(n_jobs=design.threads(), random_state=self.seed).fit(X, y)
        return self

    def predict(self, X: pd.DataFrame) -> Array:
        model = self.model_
        return np.asarray(model.predict(X) if self.is_regression else model.predict_proba(X))

    def save(self, folder: Path) -> None:
        bochner.save(self.model_, folder / "model.bochner")

    @property
    def laws(self) -> Any | None:
        return self.model_ if self.is_regression else None


class Encoded(Method):
    """A method of numbers and categories."""

    most_levels: int | None = None

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        self.columns_ = Columns(self.most_levels).fit(X)
        self.model_ = self._fitted(self.columns_.transform(X), y)
        return self

    def predict(self, X: pd.DataFrame) -> Array:
        frame = self._prepared(self.columns_.transform(X))
        return np.asarray(
            self.model_.predict(frame) if self.is_regression else self.model_.predict_proba(frame),
            dtype=np.float64,
        )

    def _prepared(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame

    @abstractmethod
    def _fitted(self, frame: pd.DataFrame, y: NDArray[Any]) -> Any:
        """Return the package's model, fitted."""


class Trees(Encoded):
    """scikit-learn's HistGradientBoosting with categories."""

    most_levels = MOST_LEVELS

    def _fitted(self, frame: pd.DataFrame, y: NDArray[Any]) -> Any:
        regressor, classifier = HistGradientBoostingRegressor, HistGradientBoostingClassifier
        kind = regressor if self.is_regression else classifier
        model = kind(categorical_features="from_dtype", random_state=self.seed)
        return model.fit(frame, y)


class LightGBM(Encoded):
    """LightGBM, on raw categories and missing entries."""

    def _fitted(self, frame: pd.DataFrame, y: NDArray[Any]) -> Any:
        import lightgbm

        kind = lightgbm.LGBMRegressor if self.is_regression else lightgbm.LGBMClassifier
        options = {"random_state": self.seed, "n_jobs": design.threads(), "verbosity": -1}
        return kind(**options).fit(frame, y)


class CatBoost(Encoded):
    """CatBoost, which takes categories as text without gaps."""

    def _fitted(self, frame: pd.DataFrame, y: NDArray[Any]) -> Any:
        import catboost

        kind = catboost.CatBoostRegressor if self.is_regression else catboost.CatBoostClassifier
        self.categories_ = list(frame.columns[frame.dtypes == "category"])
        model = kind(
            random_seed=self.seed,
            thread_count=design.threads(),
            verbose=False,
            allow_writing_files=False,
            cat_features=self.categories_,
        )
        return model.fit(self._prepared(frame), y)

    def _prepared(self, frame: pd.DataFrame) -> pd.DataFrame:
        text = {
            name: frame[name].astype("object").where(frame[name].notna(), "missing")
            for name in self.categories_
        }
        return frame.assign(**text)


class Network(Encoded):
    """A network of pytabkit with its tuned defaults; means take the place of missing numbers.

    Its epoch is chosen by log loss for classes, not by the share of wrong ones.
    """

    names: tuple[str, str]
    for_log_loss: Mapping[str, Any] = {"val_metric_name": "cross_entropy"}

    def _fitted(self, frame: pd.DataFrame, y: NDArray[Any]) -> Any:
        import pytabkit

        self.means_ = frame.mean(numeric_only=True)
        complete = frame[list(self.means_.index)].notna().all()
        self.complete_ = [f"{name}, missing" for name in complete[complete].index]
        kind = getattr(pytabkit, self.names[0 if self.is_regression else 1])
        options = {"random_state": self.seed, "n_threads": design.threads(), "verbosity": 0}
        model = kind(device="cpu", **options, **({} if self.is_regression else self.for_log_loss))
        return model.fit(self._prepared(frame), y)

    def _prepared(self, frame: pd.DataFrame) -> pd.DataFrame:
        return filled(frame, self.means_).drop(columns=self.complete_)


class RealMLP(Network):
    """RealMLP with the defaults tuned by its authors, and their setting for log loss."""

    names = "RealMLP_TD_Regressor", "RealMLP_TD_Classifier"
    for_log_loss: Mapping[str, Any] = {**Network.for_log_loss, "use_ls": False}


class TabM(Network):
    """TabM with its defaults."""

    names = "TabM_D_Regressor", "TabM_D_Classifier"


class AutoGluon(Method):
    """AutoGluon of medium quality within a minute, on raw columns."""

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        from autogluon.tabular import TabularPredictor

        self._folder = tempfile.TemporaryDirectory()
        predictor = TabularPredictor(
            "target to predict",
            path=self._folder.name,
            problem_type=self._problem(y),
            eval_metric="root_mean_squared_error" if self.is_regression else "log_loss",
            verbosity=0,
        )
        self.model_ = predictor.fit(
            X.assign(**{"target to predict": y}),
            presets="medium_quality",
            time_limit=design.TIME_LIMIT,
            num_cpus=design.threads(),
        )
        return self

    def _problem(self, y: NDArray[Any]) -> str:
        if self.is_regression:
            return "regression"
        return "binary" if len(np.unique(y)) == 2 else "multiclass"

    def predict(self, X: pd.DataFrame) -> Array:
        if self.is_regression:
            return np.asarray(self.model_.predict(X), dtype=np.float64)
        probability = self.model_.predict_proba(X)
        return np.asarray(probability[sorted(probability.columns)], dtype=np.float64)

    def save(self, folder: Path) -> None:
        shutil.copytree(self._folder.name, folder / "models")


METHODS: Mapping[str, Maker] = {
    design.OURS: Bochner,
    design.CATBOOST: CatBoost,
    design.LIGHTGBM: LightGBM,
    design.TREES: Trees,
    design.REALMLP: RealMLP,
    design.TABM: TabM,
    design.AUTOGLUON: AutoGluon,
}

_PACKAGES = {
    design.CATBOOST: "catboost",
    design.LIGHTGBM: "lightgbm",
    design.REALMLP: "pytabkit",
    design.TABM: "pytabkit",
    design.AUTOGLUON: "autogluon",
}


def installed(methods: Iterable[str]) -> list[str]:
    """Return the methods whose packages are installed, with a warning about each of the others."""
    return with_packages(methods, _PACKAGES, "opponents")
