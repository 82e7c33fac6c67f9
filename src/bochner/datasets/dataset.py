"""The one form of all data sets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Task = Literal["regression", "classification"]

# Integers are labels if they have at most this many different values: years, counts and ids of many
# rows have more. Twice takes ages in years for labels, half takes numbered states for amounts.
_MAX_CLASSES = 50

# Rows that each value must have on average, so that a class has two in each of five folds.
_MIN_MEAN_CLASS_SIZE = 10


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of inputs and one target, with its provenance.

    Parameters
    ----------
    name : str
    X : ndarray of shape (n, d), float64
    y : ndarray of shape (n,)
        float64 for a regression; class labels, as the source has them, for a classification.
    task : {"regression", "classification"}
    feature_names : tuple of d str, default=()
        Empty means ``x0, x1, …``.
    target_name : str, default="target"
    X_test, y_test : ndarray, optional
        Test part, if the source has a split.
    categorical : tuple of d bool, default=()
        True for columns of codes. Empty means that no column is categorical.
    levels : mapping from a column's name to a tuple of str, default={}
        Meaning of the codes ``0, 1, …`` of a column (or of the target).
    source, license, notes : str

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
        self._check_pair("X", self.X, "y", self.y)
        d = self.X.shape[1]
        if not self.feature_names:
            object.__setattr__(self, "feature_names", tuple(f"x{i}" for i in range(d)))
        if (self.X_test is None) != (self.y_test is None):
            raise self._error("X_test and y_test must be given together.")
        if self.X_test is not None and self.y_test is not None:
            self._check_pair("X_test", self.X_test, "y_test", self.y_test)
            if self.X_test.shape[1] != d:
                raise self._error(f"X has {d} columns, but X_test has {self.X_test.shape[1]}.")
        for attribute in ("feature_names", "categorical"):
            if (length := len(getattr(self, attribute))) not in (0, d):
                raise self._error(f"X has {d} columns, but {attribute} has {length} entries.")
        columns = (*self.feature_names, self.target_name)
        if len(set(columns)) != len(columns):
            raise self._error(f"column names must differ, got {columns}.")
        if self.task not in ("regression", "classification"):
            raise self._error(f"task must be 'regression' or 'classification', got {self.task!r}.")

    def _check_pair(
        self, X_name: str, X: NDArray[np.generic], y_name: str, y: NDArray[np.generic]
    ) -> None:
        if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
            raise self._error(
                f"{X_name} must have shape (n, d) and {y_name} shape (n,), "
                f"got {X.shape} and {y.shape}."
            )
        if X.size == 0:
            raise self._error(f"{X_name} is empty, its shape is {X.shape}.")
        if X.dtype != np.float64 or y.dtype.kind not in "fiubUS":
            raise self._error(
                f"{X_name} must be float64 and {y_name} numbers or text, "
                f"got {X.dtype} and {y.dtype}."
            )

    def _error(self, message: str) -> ValueError:
        return ValueError(f"Data set {self.name!r}: {message}")

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"{type(self).__name__}({self.name!r}, {n} x {d}, {self.task})"

    def to_frame(self, part: Literal["train", "test"] = "train") -> "pd.DataFrame":
        """Return a pandas frame of the features, then the target, of shape (n, d + 1).

        Codes with known levels become text, other codes integers. A column that float32
        represents exactly becomes float32, so that a written CSV has the source's digits. Without
        a split in the source, "train" is all rows, and "test" raises ``ValueError``.
        """
        import pandas as pd

        if part not in ("train", "test"):
            raise ValueError(f"part must be 'train' or 'test', got {part!r}.")
        X, y = (self.X, self.y) if part == "train" else (self.X_test, self.y_test)
        if X is None or y is None:
            raise self._error("there is no test part; use part='train'.")
        names = (*self.feature_names, self.target_name)
        coded = (*(self.categorical or (False,) * X.shape[1]), self.task == "classification")
        columns = zip(names, (*X.T, y), coded, strict=True)
        readable = {
            name: _readable(x, code, self.levels.get(name, ())) for name, x, code in columns
        }
        return pd.DataFrame(readable)


def of_bunch(
    name: str,
    bunch: Any,
    task: Task,
    *,
    source: str,
    license: str,
    notes: str = "",
    target_name: str | None = None,
    levels: Mapping[str, tuple[str, ...]] | None = None,
) -> Dataset:
    """Convert the result of a scikit-learn loader or fetcher to a data set."""
    features = tuple(map(str, bunch.feature_names))
    levels, y = levels or {}, np.asarray(bunch.target)
    coded = tuple(feature in levels for feature in features)
    return Dataset(
        name=name,
        X=np.asarray(bunch.data, dtype=np.float64),
        y=y.astype(np.float64) if task == "regression" else y,
        task=task,
        feature_names=features,
        target_name=target_name or str(bunch.target_names[0]),
        categorical=coded if any(coded) else (),
        levels=levels,
        source=source,
        license=license,
        notes=notes,
    )


def infer_task(y: NDArray[np.generic]) -> Task:
    """Return "classification" for text, booleans and integers with few, repeated values."""
    if y.dtype.kind in "USb":
        return "classification"
    most = min(_MAX_CLASSES, len(y) // _MIN_MEAN_CLASS_SIZE)
    if y.dtype.kind in "iu" and len(np.unique(y)) <= most:
        return "classification"
    return "regression"


def _readable(
    column: NDArray[np.generic], is_code: bool, levels: tuple[str, ...]
) -> NDArray[np.generic]:
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
