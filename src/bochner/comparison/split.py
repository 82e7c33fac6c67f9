"""Training and test rows of a table."""

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from bochner._base.arrays import Floats
from bochner.files.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training and test rows of a table, and the task: ``"regression"`` or ``"classification"``.

    Targets have shape (n,), or (n, t) for several targets. Weights, groups and times belong to the
    training rows, ``groups_test`` to the test rows.
    """

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    task: str
    weight: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    groups_test: NDArray[Any] | None = None

    def of_target(self, number: int) -> "Split":
        """Return the split with one of several targets."""
        if self.y.ndim == 1:
            return self
        return replace(self, y=self.y[:, number], y_test=self.y_test[:, number])


def split_rows(
    features: "pd.DataFrame",
    target: "pd.Series | pd.DataFrame",
    task: str,
    test_size: float,
    seed: int,
    *,
    weight: Floats | None = None,
    groups: NDArray[np.generic] | None = None,
    time: NDArray[np.generic] | None = None,
) -> Split:
    """Split rows into training and test rows: at random, by whole groups, or the latest for tests.

    Classes have equal shares in both if rows are split at random. Weights, groups and times have an
    entry for each row.

    Raises InputError if a part has too few rows or groups or lacks a class, or the training target
    is constant.
    """
    if not 0.0 < test_size < 1.0:
        raise InputError(f"--test-size must lie between 0 and 1, got {test_size}.")
    is_random = groups is None and time is None
    y = target.to_numpy()
    n_classes = len(set(y)) if task == "classification" and is_random else 1
    names = np.arange(len(target)) if groups is None else np.unique(groups)
    n_test = ceil(test_size * len(names))
    n_fit, fewest = len(names) - n_test, max(2, n_classes)
    if n_fit < fewest or n_test < n_classes:
        classes = f", for {n_classes} classes" if n_classes > 1 else ""
        unit = "rows" if groups is None else "groups"
        raise InputError(
            f"--test-size {test_size:g} of {len(names)} {unit} leaves {n_fit} to fit and {n_test} "
            f"to test: expected at least {fewest} and {n_classes}{classes}. Choose another "
            f"--test-size, or add {unit}."
        )
    if time is not None:
        order = np.argsort(time, kind="stable")
        fit, test = np.sort(order[:-n_test]), np.sort(order[-n_test:])
    else:
        fit, test = train_test_split(
            names, test_size=test_size, random_state=seed, stratify=y if n_classes > 1 else None
        )
        if groups is not None:
            fit, test = (np.flatnonzero(np.isin(groups, part)) for part in (fit, test))
    for column in y[fit].reshape(len(fit), -1).T:
        if len(set(column)) == 1:
            raise InputError(
                f"The rows to fit all have the target {column[0]}: choose another --seed or "
                "--test-size, or add rows."
            )
    fit_classes = set(y[fit]) if y.ndim == 1 else set()
    if task == "classification" and (lacking := sorted(set(y[test]) - fit_classes)):
        raise InputError(
            f"No row to fit has the class {lacking[0]}, which rows to test have: choose another "
            "--seed or --test-size, or add rows."
        )
    fit_columns = [None if part is None else part[fit] for part in (weight, groups, time)]
    fit_columns.append(None if groups is None else groups[test])
    return Split(features.iloc[fit], y[fit], features.iloc[test], y[test], task, *fit_columns)
