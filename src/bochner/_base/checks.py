"""Validation of rows, targets, labels, random states and named choices."""

import datetime
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _get_feature_names, validate_data

from bochner._base.arrays import Array, RandomState
from bochner._base.limits import LARGEST_ENTRY, LARGEST_TARGET, LARGEST_WEIGHT
from bochner._base.names import refuse_repeated, shown

NUMBERS = (Real, Decimal, np.bool_)
"""Types of entries of object arrays that are numbers."""

_NO_NUMBERS = (str, bytes, datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
_TABLES = " TableRegressor, TableClassifier and TableEncoder take text, dates and missing entries."


def check_rows_given(X: object, name: str = "X", **options: object) -> Any:
    """Return ``check_array(X, **options)``; raise if an entry exceeds `LARGEST_ENTRY` in size."""
    refuse_no_numbers(name, X)
    with np.errstate(over="ignore", invalid="ignore"):  # sums test finiteness
        rows = check_array(in_memory(X), input_name=name, **options)
    check_size(name, rows)
    return rows


def validated(model: object, X: object, **options: Any) -> Any:
    """Return rows validated by ``validate_data``; rows to fit remove the attributes of a fit."""
    refuse_no_numbers("X", X)
    is_fit = options.get("reset", True)
    if is_fit:
        unfit(model)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = validate_data(model, in_memory(X), **options)
    check_size("X", rows[0] if isinstance(rows, tuple) else rows, fitted=is_fit)
    return rows


def validated_with_numbers(
    model: object, X: object, y: object, **options: Any
) -> tuple[Any, NDArray[Any]]:
    """Return validated rows and numeric targets (n,) or (n, t)."""
    rows, targets = validated(model, X, y=numbers(y), y_numeric=True, **options)
    check_targets(targets)
    return rows, targets


def validated_with_labels(
    model: object, X: object, y: object, **options: Any
) -> tuple[Any, NDArray[Any]]:
    """Return validated rows and class labels (n,)."""
    rows, checked_labels = validated(model, X, y=labels(y), **options)
    check_classes(checked_labels)
    return rows, checked_labels


def unfit(model: object) -> None:
    """Delete the attributes of an earlier fit, so that a failed fit leaves an unfitted model."""
    for name in tuple(vars(model)):
        if name.endswith("_"):
            delattr(model, name)


def in_memory(values: Any) -> Any:
    """Convert an array of another library, such as a torch tensor, to a NumPy array."""
    is_foreign = hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray | np.generic)
    return np.asarray(values) if is_foreign else values


def column_names(X: object) -> list[str] | None:
    """Return the column names of a data frame; ``None`` if they are not text."""
    names = _get_feature_names(X)
    return None if names is None else [str(name) for name in names]


def is_frame(X: object) -> bool:
    """Return whether ``X`` is a data frame of pandas, polars or a library with the same API."""
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_column"))


def numbers(y: object) -> Any:
    """Return targets unchanged; raise for non-numeric entries that scikit-learn accepts."""
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
        return values.astype(np.float64)
    return y


_WHAT_LABELS_ARE = "text, booleans or whole numbers of 64 bits"

_NO_LABELS = "mMSV"  # Kinds of arrays that hold no labels: durations, dates, bytes and records


def labels(y: object, name: str = "y") -> Any:
    """Return class labels, as a NumPy type if possible; raise if continuous or not comparable."""
    if y is None:
        return y
    values = _entries(y, name)
    if values.dtype.kind == "U" and not hasattr(y, "dtype"):
        # NumPy converts numbers, NaN and None in a list to text if one entry is text.
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
        if plain.dtype.kind in ("biu" if is_whole else "biuf"):  # floats may collide
            return plain
    return y


def _kind_of_label(entry: object) -> type:
    """Return the kind of a label: a type shared by all numbers, text, or missing labels."""
    if isinstance(entry, Real | np.bool_):
        return Real
    if isinstance(entry, str):
        return str
    return type(None) if _is_missing(entry) else type(entry)


def _is_missing(entry: object) -> bool:
    """Return whether an entry is None, NaN, NaT or NA."""
    if isinstance(entry, Decimal):
        return entry.is_nan()  # A signalling NaN raises an error where it is compared
    equals_itself = entry == entry  # False for NaN and NaT; NA for pandas.NA
    return entry is None or not isinstance(equals_itself, bool | np.bool_) or not equals_itself


def of_numpy(y: Any) -> Any:
    """Convert integers and booleans of pandas extension types to NumPy types, not to floats."""
    dtypes = y.dtypes if is_frame(y) else [getattr(y, "dtype", None)]
    if not any(hasattr(dtype, "na_value") for dtype in dtypes):
        return y
    values = np.asarray(y)
    return values if values.dtype.kind in "biu" else y


def check_classes(y: NDArray[np.generic]) -> None:
    """Raise ValueError unless targets are class labels instead of continuous numbers."""
    entry = y.flat[0] if isinstance(y, np.ndarray) and y.dtype.kind == "O" else ""
    if not isinstance(entry, str):
        raise ValueError(
            f"y must hold labels that are {_WHAT_LABELS_ARE}, got {shown(entry)} of type "
            f"{type(entry).__name__}. Convert them to text."
        )
    with np.errstate(invalid="ignore"):  # the cast to integers overflows for large floats
        is_continuous = type_of_target(y, input_name="y").startswith("continuous")
        if is_continuous:  # scikit-learn's estimator checks require these first words
            fraction = np.ravel(y)[np.ravel(y != np.asarray(y).astype(np.int64))][0]
            raise ValueError(
                f"Unknown label type: continuous. y must hold labels that are {_WHAT_LABELS_ARE}, "
                f"got {shown(fraction)}. Learn numbers with a regressor, or convert labels to text."
            )
        check_classification_targets(y)


def check_size(name: str, values: object, *, fitted: bool = False) -> None:
    """Raise ValueError for values beyond `LARGEST_ENTRY` or, if ``fitted``, for tiny ones only."""
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
    """Raise ValueError if the squares of targets would over- or underflow."""
    largest = largest_size(y)
    if largest > LARGEST_TARGET or 0.0 < largest < 1.0 / LARGEST_TARGET:
        raise ValueError(
            f"y must have its largest number between {1.0 / LARGEST_TARGET:g} and "
            f"{LARGEST_TARGET:g} in size, because targets are squared; got {largest:.3g}. Change "
            f"the unit of y."
        )


def check_weights(weight: Array) -> None:
    """Raise ValueError if the square of a nonzero weight would over- or underflow."""
    present = weight[weight > 0.0]
    if not present.size:
        return
    ends = float(present.min()), float(present.max())
    if ends[0] < 1.0 / LARGEST_WEIGHT or ends[1] > LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight must be zero or between {1.0 / LARGEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g}; got {ends[0]:.3g} to {ends[1]:.3g}."
        )


def refuse_no_numbers(name: str, X: Any) -> None:
    """Raise for text, dates or durations among the rows, which are not numbers."""
    if type(X) is np.ndarray and X.dtype.kind in "biuf":
        return
    refuse_no_rows(name, X)
    refuse_masked(name, X)
    if is_frame(X):
        refuse_repeated(list(map(str, X.columns)))
    if entries := not_numbers(X):
        raise ValueError(f"{name} must hold numbers, got {entries}.{_TABLES}")


def not_numbers(values: object) -> str | None:
    """Return a description of the first text, date or duration in the values, or ``None``."""
    for where, part in _parts(values):
        if part.dtype.kind in "mM":
            return f"dates or durations ({part.dtype}){where}"
        for entry in part.flat if part.dtype.kind in "OSU" else ():
            if isinstance(entry, _NO_NUMBERS) or getattr(entry, "is_snan", bool)():
                kind = next((kind for kind in _NO_NUMBERS if isinstance(entry, kind)), type(entry))
                return f"{shown(entry)} of type {kind.__name__}{where}"
    return None


def _parts(values: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of the values that may be non-numeric, with their column name."""
    kinds = "biufc"
    if sparse.issparse(values) or getattr(getattr(values, "dtype", None), "kind", "O") in kinds:
        return
    if not is_frame(values):
        yield "", np.asarray(values)
        return
    for place, (name, dtype) in enumerate(zip(values.columns, values.dtypes, strict=True)):
        if getattr(dtype, "kind", "O") not in kinds:
            column = values.iloc[:, place] if hasattr(values, "iloc") else values[name]
            yield f" in column {shown(str(name))}", np.asarray(column)


def refuse_no_rows(name: str, X: Any) -> None:
    """Raise TypeError if ``X`` is a mapping, a lazy table or text instead of rows."""
    refuse_lazy(name, X)
    if isinstance(X, str | bytes):
        raise TypeError(f"{name} is the text {shown(X)}, not a table: give read_table(path).")
    dtypes = X.dtypes if is_frame(X) else [getattr(X, "dtype", None)]
    if hasattr(X, "to_arrow") and "Int128" in map(str, dtypes):  # Of polars
        raise TypeError(f"{name} has integers of 128 bits: give {name}.cast(polars.Float64).")
    of_rows = isinstance(X, list | tuple) and bool(X) and isinstance(X[0], Mapping)
    # One of SciPy's sparse classes is a dict.
    if of_rows or (isinstance(X, Mapping) and not sparse.issparse(X)):
        description = "a list of dictionaries" if of_rows else f"a {type(X).__name__}"
        raise TypeError(
            f"{name} is {description}: expected an array or a table. Give pandas.DataFrame({name})."
        )


def refuse_lazy(name: str, X: object) -> None:
    """Raise TypeError for a lazy table of polars or a collection of Dask."""
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        raise TypeError(
            f"{name} is a Dask collection: expected rows in memory. Map the method over its "
            f"partitions, as in {name}.map_partitions(model.predict), or give {name}.compute()."
        )
    if hasattr(X, "collect_schema") and not hasattr(X, "get_column"):
        raise TypeError(f"{name} is a lazy table: expected rows in memory. Give {name}.collect().")


def refuse_masked(name: str, values: Any, also: str = "") -> None:
    """Raise ValueError if a masked array has masked entries; the message ends with ``also``."""
    count = int(np.count_nonzero(np.ma.getmaskarray(values))) if np.ma.is_masked(values) else 0
    if count:
        raise ValueError(
            f"{name} must not have masked entries, which count as missing, got {count}. Leave "
            f"their rows out, or fill them in.{also}"
        )


def refuse_missing_targets(y: object, method: str = "fit") -> None:
    """Raise ValueError if targets (n,) or (n, t) are missing; the message names their rows."""
    entries = np.asarray(y if hasattr(y, "dtype") or is_frame(y) else np.asarray(y, dtype=object))
    if entries.dtype.kind not in "Of" or not entries.size:
        return
    missing = np.isnan(entries) if entries.dtype.kind == "f" else np.vectorize(_is_missing)(entries)
    rows = np.flatnonzero(missing.reshape(len(entries), -1).any(axis=1)) + 1
    if rows.size:
        listed = ", ".join([*map(str, rows[:5]), *["..."] * (len(rows) > 5)])  # Enough to find them
        known = "y.notna()" if entries.ndim == 1 else "y.notna().all(axis=1)"
        raise ValueError(
            f"Input y contains NaN: the target is missing in {len(rows):,} of {len(entries):,} "
            f"rows (row{'s' if len(rows) > 1 else ''} {listed}, counting from 1). Leave them out, "
            f"for example known = {known} and {method}(X[known], y[known])."
        )


def refuse_complex(name: str, values: object) -> None:
    """Raise ValueError for an array of complex numbers."""
    if getattr(getattr(values, "dtype", None), "kind", "") == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")


def _entries(y: object, name: str = "y") -> NDArray[np.generic]:
    if sparse.issparse(y):
        raise TypeError(f"{name} is sparse, and dense targets were expected: {name}.toarray().")
    refuse_no_rows(name, y)
    refuse_masked(name, y)
    values = np.asarray(y)
    refuse_complex(name, values)
    return values


def largest_size(values: Any) -> float:
    """Return the largest absolute entry, dense or sparse; zero for an empty array."""
    values = getattr(values, "data", values) if sparse.issparse(values) else values
    values = np.asarray(values)
    if values.size == 0 or values.dtype.kind not in "fiu":
        return 0.0
    return max(float(np.max(values)), -float(np.min(values)))


def generators(random_state: RandomState, n: int) -> list[np.random.Generator]:
    """Return ``n`` independent generators from a scikit-learn ``random_state``."""
    seed = int(check_seed(random_state).randint(np.iinfo(np.int32).max))
    return np.random.default_rng(seed).spawn(n)


def drawn_seed(random_state: RandomState) -> int:
    """Return an integer seed drawn from a scikit-learn ``random_state``."""
    return int(check_seed(random_state).randint(np.iinfo(np.int32).max))


def check_seed(random_state: RandomState) -> np.random.RandomState:
    """Return the random generator of a ``random_state``; raise ``ValueError`` if it is invalid."""
    try:
        state: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            "random_state must be None, a whole number from 0 to 4294967295 or a "
            f"numpy.random.RandomState, got {shown(random_state)}."
        ) from error
    return state


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return a parameter's value unchanged; raise ``ValueError`` unless it is in ``choices``."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {shown(value)}.")
    return value


def check_dtype(dtype: DTypeLike | None, *, is_optional: bool = True) -> Any:
    """Return ``dtype``, float32, float64 or an optional ``None``; else raise ``ValueError``."""
    if dtype is None and is_optional:
        return None
    with suppress(TypeError, ValueError):
        if dtype is not None and np.dtype(dtype) in (np.dtype("float32"), np.dtype("float64")):
            return dtype
    choices = "None, 'float32' or 'float64'" if is_optional else "'float32' or 'float64'"
    raise ValueError(f"dtype must be {choices}, got {shown(dtype)}.")
