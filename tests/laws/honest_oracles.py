"""Means and frequencies of cells: predictors whose left-out errors take a sum and a difference."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from laws.honest_tables import Array

_PRIOR_ROWS = 1.0
"""Rows that the mean of all rows counts as in a cell, so that new levels have a prediction."""

Leaves = Literal["units", "rows", "copies", "nothing"]
"""What is left out to predict a row: what belongs together, the row alone, all rows equal to it in
columns and target, or nothing. Only the first gives the error of new rows."""


def _codes(values: Any) -> Array:
    return np.unique(np.asarray(values), return_inverse=True)[1]


@dataclass
class _Cells:
    """Sums of targets (n, t) in cells, and the same without what is left out with each row."""

    leaves: Leaves = "units"
    columns: list[str] | None = None  # Names of columns whose values are a cell; None: all

    def _fit(self, X: pd.DataFrame, Y: Array, weights: Array, groups: Any, time: Any) -> Array:
        """Store predictions for all cells, and return those (n, t) of rows that are left out.

        A row that is not scored has no prediction: NaN.
        """
        keys = self._keys(X)
        cell = keys.factorize()[0]
        labels = np.arange(len(X))
        if self.leaves == "units" and groups is not None:
            labels = _codes(groups)
        if self.leaves == "units" and time is not None:
            labels = np.where(np.asarray(time) < _latest(time), 0, 1)
        if self.leaves == "copies":
            labels = _codes(cell + (cell.max() + 1) * _codes(Y @ np.arange(1.0, 1 + Y.shape[1])))
        weights_left = 0.0 * weights if self.leaves == "nothing" else weights
        both = _codes(cell + (cell.max() + 1) * labels)
        removed = _sums(both, weights_left, Y), _sums(labels, weights_left, Y)
        in_cell, in_all = _sums(cell, weights, Y), _sums(0 * cell, weights, Y)
        predicted = _shrunk(in_cell - removed[0], in_all - removed[1])
        first = np.unique(cell, return_index=True)[1]
        self.table = pd.DataFrame(_shrunk(in_cell, in_all)[first], index=keys[first])
        total = in_all[0]
        self.rest = total[1:] / total[0]
        if time is not None and self.leaves == "units":
            predicted[labels == 0] = np.nan
        return predicted

    def _keys(self, X: pd.DataFrame) -> pd.MultiIndex:
        return pd.MultiIndex.from_frame(X if self.columns is None else X[self.columns])

    def _at(self, X: pd.DataFrame) -> Array:
        at = self.table.reindex(self._keys(X)).to_numpy()
        return np.where(np.isnan(at), self.rest, at)


def _sums(labels: Array, weights: Array, Y: Array) -> Array:
    """Return the sums (n, 1 + t) of weights and weighted targets over rows of the same label."""
    columns = [np.bincount(labels, weights * y)[labels] for y in (np.ones(len(Y)), *Y.T)]
    return np.stack(columns, axis=1)


def _shrunk(cell: Array, total: Array) -> Array:
    overall = total[:, 1:] / np.maximum(total[:, :1], 1e-12)
    return (cell[:, 1:] + _PRIOR_ROWS * overall) / (cell[:, :1] + _PRIOR_ROWS)


def _latest(time: Any) -> float:
    """Return the first time of the latest fifth, of which each time is wholly in or out."""
    times = np.sort(np.asarray(time))
    return float(times[-(len(times) // 5)])


def _repeated(X: pd.DataFrame, y: Array, weights: Array | None) -> tuple[pd.DataFrame, Array]:
    """Return a row for each unit of weights that are counts."""
    if weights is None or (weights != np.round(weights)).any():
        return X, y
    rows = np.repeat(np.arange(len(y)), weights.astype(np.int64))
    return X.iloc[rows].reset_index(drop=True), y[rows]


@dataclass
class CellMeans(_Cells):
    """Regression by means of cells, shrunk towards the mean of all rows."""

    spread: float = 1.0  # Factor of the intervals' half widths

    def fit(
        self, X: pd.DataFrame, y: Array, sample_weight: Any = None, groups: Any = None, time=None
    ) -> Self:
        full, y_full = _repeated(X, y, sample_weight)
        weights = np.ones(len(full)) if len(full) > len(X) else sample_weight
        weights = np.ones(len(full)) if weights is None else weights
        left_out = self._fit(full, y_full[:, None], weights, groups, time)[:, 0]
        residuals = np.sqrt(weights) * (y_full - left_out)
        self.residuals_ = np.sort(np.abs(residuals[~np.isnan(residuals)]))
        self.score_ = float(np.sqrt(np.mean(self.residuals_**2)))
        return self

    def predict(self, X: pd.DataFrame) -> Array:
        return self._at(X)[:, 0]

    def predict_interval(self, X: pd.DataFrame, level: float) -> tuple[Array, Array]:
        n = len(self.residuals_)
        half = self.spread * self.residuals_[min(int(np.ceil((n + 1) * level)), n) - 1]
        mean = self.predict(X)
        return mean - half, mean + half


@dataclass
class CellFrequencies(_Cells):
    """Classification by frequencies of cells, shrunk towards those of all rows."""

    def fit(
        self, X: pd.DataFrame, y: Array, sample_weight: Any = None, groups: Any = None, time=None
    ) -> Self:
        full, y_full = _repeated(X, y, sample_weight)
        weights = np.ones(len(full)) if len(full) > len(X) else sample_weight
        weights = np.ones(len(full)) if weights is None else weights
        self.classes_, label = np.unique(y_full, return_inverse=True)
        left_out = self._fit(full, np.eye(len(self.classes_))[label], weights, groups, time)
        p = self._positive(left_out)[np.arange(len(label)), label]
        self.score_ = float(np.average(-np.log(p), weights=weights))
        return self

    def predict_proba(self, X: pd.DataFrame) -> Array:
        return self._positive(self._at(X))

    def _positive(self, p: Array) -> Array:
        """Return probabilities that no class has lost, by Laplace's rule with a hundredth row."""
        p = p + 0.01
        return p / p.sum(axis=1, keepdims=True)
