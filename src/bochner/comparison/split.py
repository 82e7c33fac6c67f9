"""Training and test rows of a table."""

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from bochner.tables.refusals import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Training and test rows of a table, and the task: ``"regression"`` or ``"classification"``."""

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    task: str


def split_rows(
    features: "pd.DataFrame", target: "pd.Series", task: str, test_size: float, seed: int
) -> Split:
    """Split rows at random into training and test rows; classes have equal shares in both.

    Raises InputError if a part has too few rows or lacks a class, or the training target is
    constant.
    """
    if not 0.0 < test_size < 1.0:
        raise InputError(f"--test-size must lie between 0 and 1, got {test_size}.")
    n_rows, n_classes = len(target), target.nunique() if task == "classification" else 1
    n_test = ceil(test_size * n_rows)
    n_fit, fewest = n_rows - n_test, max(2, n_classes)
    if n_fit < fewest or n_test < n_classes:
        classes = f", for {n_classes} classes" if n_classes > 1 else ""
        raise InputError(
            f"--test-size {test_size:g} of {n_rows} rows leaves {n_fit} to fit and {n_test} to "
            f"test: expected at least {fewest} and {n_classes}{classes}. Choose another "
            "--test-size, or add rows."
        )
    X, X_test, y, y_test = train_test_split(
        features,
        target.to_numpy(),
        test_size=test_size,
        random_state=seed,
        stratify=target if task == "classification" else None,
    )
    if len(set(y)) == 1:
        raise InputError(
            f"The rows to fit all have the target {y[0]}: choose another --seed or --test-size, "
            "or add rows."
        )
    return Split(X, y, X_test, y_test, task)
