"""Validation of rows, targets and labels of users, with error messages in plain words.

Numbers are bounded so that squares and products stay finite floats: by `LARGEST_ENTRY` for rows, by
`LARGEST_TARGET` and its inverse for targets. All other checks are scikit-learn's validation, to
whose messages the name of the argument is added if it is missing.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _get_feature_names, validate_data

from bochner._base.arrays import Array
from bochner._base.converted import (
    NUMBERS,
    complex_words,
    is_frame,
    not_numbers,
    refuse_complex,
    refuse_masked,
    refuse_no_rows,
    shown,
)
from bochner._base.limits import LARGEST_ENTRY, LARGEST_TARGET, LARGEST_WEIGHT
from bochner._base.naming import refuse_repeated

_FOREIGN = ("could not convert", "float() argument", "setting an array element", "Cannot cast")
"""Beginnings of NumPy's conversion errors, which do not name the converted argument."""

_FLAT = re.compile(r"Expected 2D array, got \w+ array instead:")
"""Beginning of scikit-learn's error for arrays of fewer dimensions."""

_TABLES_MASKED = " TableRegressor, TableClassifier and TableEncoder take masked entries."
_TABLES = " TableRegressor, TableClassifier and TableEncoder take text and dates."


def check_rows_given(X: object, name: str = "X", **options: object) -> Any:
    """Return ``check_array(X, **options)`` of at most `LARGEST_ENTRY` in size, or raise."""
    refuse_foreign(name, X)
    with named(name):
        rows = check_array(in_memory(X), input_name=name, **options)
    check_size(name, rows)
    return rows


def in_memory(values: Any) -> Any:
    """Return an array of another library, such as a torch tensor, as a NumPy array."""
    is_foreign = hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray | np.generic)
    return np.asarray(values) if is_foreign else values


def column_names(X: object) -> list[str] | None:
    """Return the names of the columns of a data frame, or ``None`` if there are none in text."""
    names = _get_feature_names(X)
    return None if names is None else [str(name) for name in names]


def validated(model: object, X: object, **options: Any) -> Any:
    """Return scikit-learn's ``validate_data`` of rows for ``model``, or raise in plain words."""
    refuse_foreign("X", X)
    with named("X"):
        rows = validate_data(model, in_memory(X), **options)
    check_size("X", rows, fitted=options.get("reset", True))
    return rows


def validated_with_numbers(
    model: object, X: object, y: object, **options: Any
) -> tuple[Any, NDArray[Any]]:
    """Return rows and numeric targets (n,) or (n, t), both checked, or raise in plain words."""
    refuse_foreign("X", X)
    y = numbers(y)
    with named("X"):
        rows, targets = validate_data(model, in_memory(X), y, y_numeric=True, **options)
    check_size("X", rows, fitted=options.get("reset", True))
    check_targets(targets)
    return rows, targets


def validated_with_labels(
    model: object, X: object, y: object, **options: Any
) -> tuple[Any, NDArray[Any]]:
    """Return rows and the labels (n,) of classes, both checked, or raise in plain words."""
    refuse_foreign("X", X)
    y = labels(y)
    with named("X"):
        rows, checked_labels = validate_data(model, in_memory(X), y, **options)
    check_size("X", rows, fitted=options.get("reset", True))
    check_classes(checked_labels)
    return rows, checked_labels


def numbers(y: object) -> Any:
    """Return targets; raise for non-numeric entries that scikit-learn does not check."""
    if y is None:
        return y
    values = _entries(y)
    if values.dtype.kind == "m":
        raise ValueError(
            "y must hold numbers for a regression, got durations. Divide them by their unit, such "
            "as np.timedelta64(1, 's') for seconds."
        )
    if values.dtype.kind in "OUSMV":
        for entry in values.ravel():
            if not isinstance(entry, NUMBERS):
                plain = entry.item() if isinstance(entry, np.generic) else entry
                raise ValueError(
                    f"y must hold numbers for a regression, got {shown(plain)} of type "
                    f"{type(plain).__name__}. Labels are learned by a classifier."
                )
        with named("y"):
            return values.astype(np.float64)
    return y


_WHAT_LABELS_ARE = "text, booleans or whole numbers of 64 bits"

_NO_LABELS = "mMSV"
"""Kinds of arrays that hold no labels: durations, dates, bytes and records."""


def labels(y: object, name: str = "y") -> Any:
    """Return class labels; raise if labels are not classes or cannot be compared.

    Numbers and booleans in object arrays, or in columns of pandas extension types, become an array
    of the matching NumPy type.
    """
    if y is None:
        return y
    values = _entries(y, name)
    if values.dtype.kind == "U" and not hasattr(y, "dtype"):
        # NumPy makes text of all that a list with a text holds: of NaN, of numbers, of None.
        values = np.asarray(y, dtype=object)
    is_long_float = values.dtype.kind == "f" and values.dtype.itemsize > 8
    if values.dtype.kind in _NO_LABELS or is_long_float:
        raise ValueError(
            f"{name} must hold labels that are {_WHAT_LABELS_ARE}, got "
            f"{values.dtype}, which model files cannot hold. Convert them to text."
        )
    if values.dtype.kind != "O":
        return of_numpy(y)
    kinds: dict[type, Any] = {}
    for entry in values.ravel():
        kinds.setdefault(_kind_of_label(entry), entry)
    if len(kinds) > 1 or type(None) in kinds:
        examples = " and ".join(shown(entry) for entry in list(kinds.values())[:3])
        raise ValueError(
            f"{name} must hold labels of one kind, such as text or whole numbers, without missing "
            f"ones; got {examples}."
        )
    if Real in kinds:
        plain = np.array(values.tolist())
        is_whole = all(isinstance(entry, Integral | np.bool_) for entry in values.flat)
        if plain.dtype.kind in ("biu" if is_whole else "biuf"):  # as floats, two may be equal
            return plain
    return y


def _kind_of_label(entry: object) -> type:
    """Return the type of a label: one for all numbers, for all text, and for all missing labels."""
    if isinstance(entry, Real | np.bool_):
        return Real
    if isinstance(entry, str):
        return str
    equals_itself = entry == entry  # pandas: NaT does not; NA is neither true nor false
    is_missing = not isinstance(equals_itself, bool | np.bool_) or not equals_itself
    return type(None) if is_missing else type(entry)


def of_numpy(y: Any) -> Any:
    """Convert integers and booleans of pandas extension types to NumPy types.

    scikit-learn would convert ``boolean`` and ``Int64`` to floats. Other targets are returned
    unchanged.
    """
    dtypes = y.dtypes if is_frame(y) else [getattr(y, "dtype", None)]
    if not any(hasattr(dtype, "na_value") for dtype in dtypes):
        return y
    values = np.asarray(y)
    return values if values.dtype.kind in "biu" else y


def check_classes(y: NDArray[np.generic]) -> None:
    """Raise ValueError unless targets are labels of classes."""
    entry = y.flat[0] if isinstance(y, np.ndarray) and y.dtype.kind == "O" else ""
    if not isinstance(entry, str):
        raise ValueError(
            f"y must hold labels that are {_WHAT_LABELS_ARE}, got {shown(entry)} of type "
            f"{type(entry).__name__}. Convert them to text."
        )
    with np.errstate(invalid="ignore"):  # the cast to integers overflows for large floats
        is_continuous = type_of_target(y, input_name="y").startswith("continuous")
        if is_continuous:  # scikit-learn's checks of estimators search for these first words
            fraction = np.ravel(y)[np.ravel(y != np.asarray(y).astype(np.int64))][0]
            raise ValueError(
                f"Unknown label type: continuous. y must hold labels that are {_WHAT_LABELS_ARE}, "
                f"got {shown(fraction)}. Learn numbers with a regressor, or convert labels to text."
            )
        check_classification_targets(y)


def check_size(name: str, values: object, *, fitted: bool = False) -> None:
    """Raise ValueError if a number is greater than `LARGEST_ENTRY` in size; NaN passes.

    ``fitted`` is whether a model learns from the rows: then one must not be smaller than the
    inverse, unless all are zero.
    """
    largest = largest_size(values)
    if largest > LARGEST_ENTRY:
        raise ValueError(
            f"Entries of {name} must be at most {LARGEST_ENTRY:g} in size, because they are "
            f"squared; got {largest:.3g}. Change the unit of the column, or remove the row."
        )
    if fitted and 0.0 < largest < 1.0 / LARGEST_ENTRY:
        raise ValueError(
            f"The largest entry of {name} must be at least {1.0 / LARGEST_ENTRY:g} in size, "
            f"because entries are squared; got {largest:.3g}. Change the unit of the columns."
        )


def check_targets(y: object) -> None:
    """Raise ValueError if targets are so large or so small that squares over- or underflow."""
    largest = largest_size(y)
    if largest > LARGEST_TARGET or 0.0 < largest < 1.0 / LARGEST_TARGET:
        raise ValueError(
            f"y must have its largest number between {1.0 / LARGEST_TARGET:g} and "
            f"{LARGEST_TARGET:g} in size, because targets are squared; got {largest:.3g}. Change "
            f"the unit of y."
        )


def check_weights(weight: Array) -> None:
    """Raise ValueError if a weight is not zero and its square is not a normal float."""
    present = weight[weight > 0.0]
    if not present.size:
        return
    ends = float(present.min()), float(present.max())
    if ends[0] < 1.0 / LARGEST_WEIGHT or ends[1] > LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight must be zero or between {1.0 / LARGEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g}; got {ends[0]:.3g} to {ends[1]:.3g}."
        )


def refuse_foreign(name: str, X: Any) -> None:
    """Raise for inputs that scikit-learn would read as numbers or reject without explanation."""
    refuse_no_rows(name, X)
    refuse_masked(name, X, _TABLES_MASKED if name == "X" else "")
    if is_frame(X):
        refuse_repeated(list(map(str, X.columns)))
    with named(name):
        foreign_entries = not_numbers(X)
    if foreign_entries:
        also = _TABLES if name == "X" else " Convert it."
        raise ValueError(f"{name} must hold numbers, got {foreign_entries}.{also}")


def _entries(y: object, name: str = "y") -> NDArray[np.generic]:
    if sparse.issparse(y):
        raise TypeError(f"{name} is sparse, and dense targets were expected: {name}.toarray().")
    refuse_no_rows(name, y)
    refuse_masked(name, y)
    with named(name):
        values = np.asarray(y)
    refuse_complex(name, values)
    return values


def largest_size(values: Any) -> float:
    """Return the size of the largest entry, dense or sparse; zero without any."""
    values = getattr(values, "data", values) if sparse.issparse(values) else values
    values = np.asarray(values)
    if values.size == 0 or values.dtype.kind not in "fiu":
        return 0.0
    return max(float(np.max(values)), -float(np.min(values)))


@contextmanager
def named(name: str) -> Iterator[None]:
    """Add the name of the argument to NumPy's conversion errors, and drop its warnings."""
    try:
        # Sums that tell whether all is finite overflow; a cast to float32 makes infinity, refused.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except OverflowError as error:
        raise ValueError(f"{name} must hold numbers that fit into a float: {error}.") from error
    except (TypeError, ValueError) as error:
        message = str(error)
        if message.startswith("Complex data not supported\n"):
            raise ValueError(complex_words(name)) from None
        if flat := _FLAT.match(message):  # and then the whole array
            raise ValueError(
                f"{flat[0]} {name} must have shape (n, d). Reshape your data either using "
                f"{name}.reshape(-1, 1) if it has a single feature or {name}.reshape(1, -1) if it "
                f"is a single sample."
            ) from None
        if message.startswith(f"Input {name} contains NaN.\n"):
            # What follows recommends models of scikit-learn.
            raise ValueError(
                f"Input {name} contains NaN. Impute missing entries, as "
                f"sklearn.impute.SimpleImputer does, or use TableRegressor or TableClassifier, "
                f"which take them."
            ) from None
        if not message.startswith(_FOREIGN):
            raise
        also = _TABLES if name == "X" else ""
        raise type(error)(f"{name} must hold numbers: {message.rstrip('.')}.{also}") from error
