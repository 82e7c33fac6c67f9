"""One noun for every data set, whatever its source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Task = Literal["regression", "classification"]

_MAX_CLASSES = 50
_MIN_MEAN_CLASS_SIZE = 10


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of inputs and one target, with its provenance.

    Parameters
    ----------
    name : str
    X : ndarray of shape (n, d), float64
    y : ndarray of shape (n,)
        float64 for a regression; class labels, as the source gives them, for a classification.
    task : {"regression", "classification"}
    feature_names : tuple of d str, default=()
        Empty means ``x0, x1, …``.
    target_name : str, default="target"
    X_test, y_test : ndarray, optional
        The test part, where the source ships a split.
    categorical : tuple of d bool, default=()
        True for columns of codes. Empty means that no column is categorical.
    levels : mapping from a column's name to a tuple of str, default={}
        What the codes ``0, 1, …`` of a column (the target included) stand for.
    source, license, notes : str
        Where the data come from, on what terms, and what to know before using them.

    Raises
    ------
    ValueError
        If shapes, names or the task do not fit together.

    Examples
    --------
    >>> from bochner import datasets
    >>> datasets.load("diabetes")
    Dataset('diabetes', 442 x 10, regression)
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    task: Task
    feature_names: tuple[str, ...] = ()
    target_name: str = "target"
    X_test: NDArray[np.float64] | None = None
    y_test: NDArray[Any] | None = None
    categorical: tuple[bool, ...] = ()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    license: str = ""
    notes: str = ""

    def __post_init__(self) -> None:
        _check_pair(self.name, "X", self.X, "y", self.y)
        if not self.feature_names:
            names = tuple(f"x{i}" for i in range(self.X.shape[1]))
            object.__setattr__(self, "feature_names", names)
        self._check_test_part()
        self._check_columns()
        if self.task not in ("regression", "classification"):
            raise ValueError(
                f"Data set {self.name!r}: task must be 'regression' or 'classification', "
                f"got {self.task!r}."
            )

    def _check_test_part(self) -> None:
        if self.X_test is None and self.y_test is None:
            return
        if self.X_test is None or self.y_test is None:
            raise ValueError(
                f"Data set {self.name!r}: X_test and y_test come together or not at all."
            )
        _check_pair(self.name, "X_test", self.X_test, "y_test", self.y_test)
        if self.X_test.shape[1] != self.X.shape[1]:
            raise ValueError(
                f"Data set {self.name!r}: X has {self.X.shape[1]} columns, "
                f"but X_test has {self.X_test.shape[1]}."
            )

    def _check_columns(self) -> None:
        d = self.X.shape[1]
        for what, values in (
            ("feature_names", self.feature_names),
            ("categorical", self.categorical),
        ):
            if values and len(values) != d:
                raise ValueError(
                    f"Data set {self.name!r}: X has {d} columns, "
                    f"but {what} has {len(values)} entries."
                )
        columns = (*self.feature_names, self.target_name)
        if len(set(columns)) != len(columns):
            raise ValueError(f"Data set {self.name!r}: column names must differ, got {columns}.")

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"{type(self).__name__}({self.name!r}, {n} x {d}, {self.task})"

    def to_frame(self, part: Literal["train", "test"] = "train") -> "pd.DataFrame":
        """Return a pandas frame of the features, then the target.

        Codes with known levels become text, other codes integers, and a column that single
        precision holds exactly is given in it, so that a written CSV shows the source's digits.

        Parameters
        ----------
        part : {"train", "test"}, default="train"
            Where the source ships no split, "train" is everything.

        Returns
        -------
        frame : pandas.DataFrame of shape (n, d + 1)

        Raises
        ------
        ValueError
            If ``part`` is "test" and there is no test part, or is neither word.
        """
        import pandas as pd

        if part not in ("train", "test"):
            raise ValueError(f"part must be 'train' or 'test', got {part!r}.")
        X, y = (self.X, self.y) if part == "train" else (self.X_test, self.y_test)
        if X is None or y is None:
            raise ValueError(f"Data set {self.name!r} has no test part; use part='train'.")
        categorical = self.categorical or (False,) * X.shape[1]
        frame = {
            name: _readable(column, is_code, self.levels.get(name, ()))
            for name, column, is_code in zip(self.feature_names, X.T, categorical, strict=True)
        }
        is_code = self.task == "classification"
        frame[self.target_name] = _readable(y, is_code, self.levels.get(self.target_name, ()))
        return pd.DataFrame(frame)


def infer_task(y: NDArray[Any]) -> Task:
    """Return "classification" for text, booleans and integers with few, repeated values."""
    if y.dtype.kind in "USb":
        return "classification"
    if y.dtype.kind in "iu":
        n_values = len(np.unique(y))
        if n_values <= min(_MAX_CLASSES, len(y) // _MIN_MEAN_CLASS_SIZE):
            return "classification"
    return "regression"


def _check_pair(dataset: str, X_name: str, X: NDArray[Any], y_name: str, y: NDArray[Any]) -> None:
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise ValueError(
            f"Data set {dataset!r}: {X_name} must have shape (n, d) and {y_name} shape (n,), "
            f"got {X.shape} and {y.shape}."
        )
    if X.size == 0:
        raise ValueError(f"Data set {dataset!r}: {X_name} is empty, its shape is {X.shape}.")
    if X.dtype != np.float64 or y.dtype.kind not in "fiubUS":
        raise ValueError(
            f"Data set {dataset!r}: {X_name} must be float64 and {y_name} numbers or text, "
            f"got {X.dtype} and {y.dtype}."
        )


def _readable(column: NDArray[Any], is_code: bool, levels: tuple[str, ...]) -> NDArray[Any]:
    if column.dtype.kind not in "fiu":
        return column
    if is_code and np.array_equal(column, np.trunc(column)):
        codes = column.astype(np.int64)
        if levels and codes.min() >= 0 and codes.max() < len(levels):
            return np.array(levels, dtype=object)[codes]
        return codes
    if column.dtype.kind == "f":
        single = column.astype(np.float32)
        if np.array_equal(single, column, equal_nan=True):
            return single
    return column
