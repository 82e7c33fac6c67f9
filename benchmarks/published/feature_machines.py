"""Recursive feature machines (xRFM), prepared and set as its readme recommends for tables."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xrfm import xRFM

from benchmarks.published.design import THREADS
from bochner._base.arrays import Array

_HELD_OUT = 0.2  # Share of the training rows for validation, as in the readme
_SETTINGS = {
    "model": {
        "kernel": "l2",
        "bandwidth": 10.0,
        "exponent": 1.0,
        "diag": False,
        "bandwidth_mode": "constant",
    },
    "fit": {"reg": 1e-3, "iters": 3, "verbose": False, "early_stop_rfm": True},
}
"""The readme's for a table of numbers and categories."""


class _FeatureMachine(ABC):
    """xRFM behind ``fit`` and ``predict``: numbers standardised, columns of codes one-hot encoded.

    ``categorical`` tells which columns are codes; empty means none.
    """

    def __init__(self, random_state: int, categorical: Sequence[bool] = ()) -> None:
        self.random_state = random_state
        self.categorical = categorical

    def fit(self, X: Array, y: NDArray[Any]) -> Self:
        """Fit to four fifths of the rows; the others choose the iteration."""
        torch.set_num_threads(THREADS)
        codes = np.zeros(X.shape[1], dtype=bool)
        codes[: len(self.categorical)] = self.categorical
        numbers = np.flatnonzero(~codes)
        self._encoder = ColumnTransformer([
            ("numbers", StandardScaler(), numbers),
            ("codes", OneHotEncoder(handle_unknown="ignore", sparse_output=False),
             np.flatnonzero(codes)),
        ])  # fmt: skip
        X, X_held, y, y_held = train_test_split(
            X, self._target(y), test_size=_HELD_OUT, random_state=self.random_state
        )
        self._encoder.fit(X)
        self._machine = xRFM(
            _SETTINGS,
            device=torch.device("cpu"),
            categorical_info=self._blocks(len(numbers)) if codes.any() else None,
            n_threads=THREADS,
            random_state=self.random_state,
            verbose=False,
        )
        self._machine.fit(self._encoded(X), y, self._encoded(X_held), y_held)
        return self

    def _encoded(self, X: Array) -> NDArray[np.float32]:
        return np.asarray(self._encoder.transform(X), dtype=np.float32)

    def _blocks(self, n_numbers: int) -> dict[str, Any]:
        """Return which encoded columns are numbers, and which belong to each column of codes."""
        sizes = [len(levels) for levels in self._encoder.named_transformers_["codes"].categories_]
        columns: Any = torch.arange(n_numbers, n_numbers + sum(sizes))
        return {
            "numerical_indices": torch.arange(n_numbers),
            "categorical_indices": list(columns.split(sizes)),
            "categorical_vectors": [torch.eye(size) for size in sizes],
        }

    @abstractmethod
    def _target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the targets of the machine."""


class FeatureMachineRegressor(_FeatureMachine):
    """xRFM of a standardised target."""

    def _target(self, y: NDArray[Any]) -> NDArray[Any]:
        self._mean, self._std = float(np.mean(y)), float(np.std(y))
        return np.asarray((y - self._mean) / self._std, dtype=np.float32)

    def predict(self, X: Array) -> Array:
        """Return the predicted values of rows."""
        predicted = self._machine.predict(self._encoded(X))[:, 0].astype(np.float64)
        return np.asarray(self._mean + self._std * predicted)


class FeatureMachineClassifier(_FeatureMachine):
    """xRFM of class labels."""

    def _target(self, y: NDArray[Any]) -> NDArray[Any]:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return codes.astype(np.int64)

    def predict(self, X: Array) -> NDArray[Any]:
        """Return the most probable classes of rows."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])

    def predict_proba(self, X: Array) -> Array:
        """Return the probabilities of the classes, of shape (n, number of classes)."""
        return np.asarray(self._machine.predict_proba(self._encoded(X)), dtype=np.float64)
