"""Dependence of table models on columns, for importance, effects and contributions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bochner._base.arrays import Array
from bochner._base.limits import LARGEST_ENTRY
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import grid, output_names
from bochner.tables.evaluators import RowFunction, owners_of
from bochner.tables.sensitivity import Dependence
from bochner.tables.table_predictors import Predictor


def dependence_of(
    predictor: Predictor, encoders: Sequence[TableEncoder], background: Array, unit: Any
) -> Dependence:
    """Return predictions as a function of all encoded columns, grouped by the table's columns.

    Predictions are divided by ``unit``.
    """
    states = [state for encoder in encoders for state in encoder.columns_]
    sources = np.array([state["name"] for state in states for _ in output_names(state)])
    groups = {s["name"]: np.flatnonzero(sources == s["name"]) for s in encoders[0].columns_}
    owners = owners_of(groups, background.shape[1])
    function = RowFunction(lambda X: predictor.outputs(X) / unit, owners)
    return Dependence(function, background, groups)


def grids_of(
    dependence: Dependence,
    states: Mapping[str, Any],
    background_values: Array,
    columns: Sequence[str],
    most: int,
) -> dict[str, Any]:
    """Return at most ``most`` values of each of one or two columns at which to compute effects.

    ``states`` are the encoder states of all columns by name, and ``background_values`` (n, d) the
    entries of the columns. Raises ValueError for columns without features.
    """
    are_names = all(isinstance(column, str | int) for column in columns)
    if not are_names or len(columns) not in (1, 2) or len(set(columns)) < len(columns):
        raise ValueError(f"effect takes one column or two different ones, got {columns}.")
    unknown = [name for name in columns if not len(dependence.groups.get(name, ()))]
    if unknown:
        used = ", ".join(repr(name) for name, group in dependence.groups.items() if len(group))
        reason = "had no features at fit" if unknown[0] in states else "is not in the table"
        raise ValueError(f"Column {unknown[0]!r} {reason}. Columns with effects are {used}.")
    values = dict(zip(states, background_values.T, strict=True))
    return {
        name: grid(states[name], values[name], dependence.X[:, dependence.groups[name]], most)
        for name in columns
    }


def check_background(
    encoders: Sequence[TableEncoder], background: Array, values: Array, donors: Array
) -> None:
    """Raise ValueError if background rows do not have the columns of the encoders."""
    n_rows, n_encoded = background.shape
    n_outputs = sum(len(encoder.get_feature_names_out()) for encoder in encoders)
    states = encoders[0].columns_
    shape = (n_rows or 1, len(states))
    if n_encoded != n_outputs or values.shape != shape or donors.shape != shape:
        raise ValueError("the rows kept for importance are not those of the table's columns")
    if np.abs(background).max() > LARGEST_ENTRY:
        raise ValueError("the rows kept for importance are larger than any encoded column")
    for state, entries in zip(states, values.T, strict=True):
        if (
            state["kind"] == "text"
            and not np.isin(entries, np.arange(len(state["levels"]) + 1)).all()
        ):
            raise ValueError(f"the rows kept for importance have no levels of {state['name']}")
