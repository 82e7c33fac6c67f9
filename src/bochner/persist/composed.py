"""Pipelines and other models composed of estimators, as a trial of model files takes them apart."""

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline

COMPOSED = (Pipeline, FeatureUnion, ColumnTransformer, TransformedTargetRegressor)
"""Classes of models that consist of others."""


def inside(model: Any) -> list[tuple[Any, Any]]:
    """Return the fitted estimators that a model is composed of, each with its columns, if any."""
    found: list[tuple[Any, Any]] = []
    if isinstance(model, ColumnTransformer):
        found = [(part, columns) for _, part, columns in getattr(model, "transformers_", [])]
    elif isinstance(model, TransformedTargetRegressor):
        found = [(getattr(model, name, None), None) for name in ("regressor_", "transformer_")]
    elif isinstance(model, Pipeline | FeatureUnion):
        parts = model.steps if isinstance(model, Pipeline) else model.transformer_list
        found = [(part, None) for _, part in parts]
    idle = ("passthrough", None) if isinstance(model, Pipeline) else ("passthrough", "drop")
    return [
        each for each in found if not (isinstance(each[0], str | type(None)) and each[0] in idle)
    ]


def estimators(model: Any) -> Iterator[Any]:
    """Give a model and all estimators inside it."""
    yield model
    for part, _ in inside(model):
        yield from estimators(part)


def transformed(model: Any, row: NDArray[Any]) -> Any:
    """Transform a row (1, d); columns that a table has by name are taken by number."""
    if isinstance(model, Pipeline):
        return reduce(lambda found, part: transformed(part[0], found), inside(model), row)
    if isinstance(model, FeatureUnion):
        return _side_by_side([transformed(part, row) for part, _ in inside(model)])
    if isinstance(model, ColumnTransformer):
        known = model._transformer_to_input_indices
        for name, _, columns in model.transformers_:
            if column_numbers(model, columns).tolist() != known.get(name):
                raise ValueError(f"the columns of {name!r} are {known.get(name)}")
        chosen = [(part, row[:, column_numbers(model, at)]) for part, at in inside(model)]
        return _side_by_side([transformed(part, columns) for part, columns in chosen])
    found = model.transform(row)
    if found.shape[0] != 1:
        raise ValueError(f"{type(model).__name__} makes {found.shape[0]} rows of one")
    return found


def _side_by_side(blocks: list[Any]) -> Any:
    dense = [block.toarray() if issparse(block) else block for block in blocks]  # type: ignore[attr-defined]
    return np.hstack(dense)


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
