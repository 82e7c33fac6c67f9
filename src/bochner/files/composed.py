"""Pipelines and other models composed of estimators, as a trial of model files takes them apart."""

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline

COMPOSED = (Pipeline, FeatureUnion, ColumnTransformer, TransformedTargetRegressor)
"""Classes of models that are composed of estimators."""


def inside(model: object) -> list[tuple[Any, Any]]:
    """Return pairs of the estimators in a composed model and their columns, or ``None``."""
    return [(part, columns) for _, part, columns in _named(model)]


def _named(model: object) -> list[tuple[str, Any, Any]]:
    """Return names, fitted estimators and columns, without steps such as ``"passthrough"``."""
    named: list[tuple[str, Any, Any]] = []
    idle: tuple[Any, ...] = ()
    if isinstance(model, ColumnTransformer):
        named, idle = getattr(model, "transformers_", []), ("drop",)
    elif isinstance(model, TransformedTargetRegressor):
        names = ("regressor_", "transformer_")
        named = [(name, getattr(model, name), None) for name in names if hasattr(model, name)]
    elif isinstance(model, Pipeline):
        named, idle = [(name, part, None) for name, part in model.steps], ("passthrough", None)
    elif isinstance(model, FeatureUnion):
        parts = model.transformer_list
        named, idle = [(name, part, None) for name, part in parts], ("passthrough", "drop")
    if not all(isinstance(name, str) for name, *_ in named):
        raise ValueError(f"names of the parts of a {type(model).__name__} should be text")
    words = (str, type(None))
    return [each for each in named if not isinstance(each[1], words) or each[1] not in idle]


def estimators(model: object) -> Iterator[Any]:
    """Yield a model and all estimators inside it."""
    yield model
    for part, _ in inside(model):
        yield from estimators(part)


def transformed(model: BaseEstimator, row: NDArray[Any]) -> Any:
    """Transform a row (1, d); columns that a table has by name are taken by number."""
    if not any(map(_takes_names, estimators(model))):
        result = model.transform(row)
        if result.shape[0] != 1:
            raise ValueError(f"{type(model).__name__} makes {result.shape[0]} rows of one")
        return result
    if isinstance(model, Pipeline):
        return reduce(lambda result, part: transformed(part[0], result), inside(model), row)
    blocks: list[Any] = []
    for name, part, columns in _named(model):
        chosen = row if columns is None else row[:, column_numbers(model, columns)]
        if columns is not None and not _is_known(model, name, columns):
            raise ValueError(f"the columns of {name!r} are not {columns}")
        blocks.append(transformed(part, chosen) * (model.transformer_weights or {}).get(name, 1.0))
    if getattr(model, "sparse_output_", False) and not any(map(issparse, blocks)):
        raise ValueError("its output is sparse, and that of its parts is not")
    dense = [block.toarray() if issparse(block) else block for block in blocks]  # type: ignore[attr-defined]
    return np.hstack(dense)


def _takes_names(model: object) -> bool:
    """Tell whether scikit-learn needs a data frame, whose columns are chosen by name."""
    return isinstance(model, ColumnTransformer) and hasattr(model, "feature_names_in_")


def _is_known(model: ColumnTransformer, name: str, columns: object) -> bool:
    numbers = model._transformer_to_input_indices.get(name)
    return bool(numbers == column_numbers(model, columns).tolist())


def column_numbers(model: ColumnTransformer, columns: Any) -> NDArray[np.intp]:
    """Return the numbers of chosen columns: names, numbers, a mask, or a slice of either."""
    numbers = np.arange(model.n_features_in_)
    names = list(getattr(model, "feature_names_in_", []))
    if isinstance(columns, slice):
        start, stop = (
            names.index(end) if isinstance(end, str) else end
            for end in (columns.start, columns.stop)
        )
        # As in pandas, a slice of names includes its end.
        stop = stop + 1 if isinstance(columns.stop, str) else stop
        return numbers[slice(start, stop, columns.step)]
    columns = [columns] if isinstance(columns, str | int) else columns
    chosen = [names.index(each) if isinstance(each, str) else each for each in columns]
    return numbers[chosen] if chosen else numbers[:0]
