"""Data sets as ``.npz`` files: arrays and strings only, never pickles.

A file has ``X`` (n, d) and ``y`` (n,), or ``X_train``, ``y_train``, ``X_test`` and ``y_test``. It
may have ``feature_names`` (d,), ``is_categorical`` (d,), ``class_names``, and the strings
``categories`` (JSON: column name to list of levels), ``target_name``, ``task``, ``source``,
``license`` and ``notes``.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bochner.datasets.dataset import Dataset, Task, infer_task

Arrays = Mapping[str, NDArray[Any]]

_LAYOUTS = (("X", "y"), ("X_train", "y_train"))
_STRINGS = ("source", "license", "notes")


def read_npz(path: Path, content: bytes | None = None) -> Dataset:
    """Return the data set in an ``.npz`` file (or its bytes); ``ValueError`` if it is damaged."""
    arrays = _read_arrays(path, path.read_bytes() if content is None else content)
    layout = next((names for names in _LAYOUTS if set(names) <= set(arrays)), None)
    if layout is None:
        raise ValueError(
            f"{path} must hold the arrays X and y, or X_train and y_train; "
            f"it holds {', '.join(sorted(arrays)) or 'nothing'}."
        )
    try:
        return _to_dataset(path.stem, arrays, *layout)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a usable data set: {error}") from error


def write_npz(dataset: Dataset, path: Path) -> None:
    """Write a data set so that :func:`read_npz` gives it back."""
    arrays: dict[str, Any] = {
        "feature_names": np.array(dataset.feature_names),
        "categories": json.dumps({name: list(texts) for name, texts in dataset.levels.items()}),
        "target_name": dataset.target_name,
        "task": dataset.task,
        **{name: getattr(dataset, name) for name in _STRINGS},
    }
    if dataset.X_test is None:
        arrays |= {"X": dataset.X, "y": dataset.y}
    else:
        arrays |= {"X_train": dataset.X, "y_train": dataset.y}
        arrays |= {"X_test": dataset.X_test, "y_test": dataset.y_test}
    if dataset.categorical:
        arrays["is_categorical"] = np.array(dataset.categorical)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _read_arrays(path: Path, content: bytes) -> dict[str, NDArray[np.generic]]:
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(
            f"{path} is not an .npz file, or is damaged; copy it again from its source."
        )
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except ValueError as error:
        if "pickle" not in str(error).lower():
            raise ValueError(f"{path} is damaged ({error}); copy it again.") from error
        raise ValueError(
            f"{path} has pickled objects, which could run code when read; "
            "save plain numbers and strings instead."
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise ValueError(f"{path} is damaged ({error}); copy it again.") from error


def _to_dataset(name: str, arrays: Arrays, X_name: str, y_name: str) -> Dataset:
    y = arrays[y_name]
    task = cast(Task, _string(arrays, "task")) or infer_task(y)
    if "class_names" in arrays:
        task = "classification"
    target_name = _string(arrays, "target_name") or "target"
    feature_names = tuple(map(str, arrays.get("feature_names", ())))
    levels = _levels(arrays, target_name)
    categorical = tuple(map(bool, arrays.get("is_categorical", ())))
    if not categorical and levels.keys() & set(feature_names):
        categorical = tuple(feature in levels for feature in feature_names)
    return Dataset(
        name=name,
        X=arrays[X_name].astype(np.float64),
        y=_target(y, task),
        task=task,
        feature_names=feature_names,
        target_name=target_name,
        X_test=arrays["X_test"].astype(np.float64) if "X_test" in arrays else None,
        y_test=_target(arrays["y_test"], task) if "y_test" in arrays else None,
        categorical=categorical,
        levels=levels,
        **{key: _string(arrays, key) for key in _STRINGS},
    )


def _target(y: NDArray[np.generic], task: Task) -> NDArray[np.generic]:
    return y.astype(np.float64) if task == "regression" else y


def _levels(arrays: Arrays, target_name: str) -> dict[str, tuple[str, ...]]:
    categories = json.loads(_string(arrays, "categories") or "{}")
    levels = {column: tuple(map(str, texts)) for column, texts in categories.items()}
    if "class_names" in arrays:
        levels[target_name] = tuple(map(str, arrays["class_names"]))
    return levels


def _string(arrays: Arrays, key: str) -> str:
    return str(arrays[key]) if key in arrays else ""
