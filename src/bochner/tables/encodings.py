"""How one column becomes features: a state in plain JSON, and a pure map that reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypedDict

import numpy as np
from scipy.special import ndtri

from bochner.tables.columns import WORDS, Column, FloatArray, each_kind, labels

Knots = tuple[FloatArray, FloatArray]


class NumericState(TypedDict):
    """A piecewise-linear map `points` -> `scores`, constant outside; `fill` where missing."""

    name: str
    kind: Literal["numeric", "date"]
    fill: float
    indicator: bool
    points: list[float]
    scores: list[float]


class TextState(TypedDict):
    """One output per level, and one for whatever is not among them."""

    name: str
    kind: Literal["text"]
    levels: list[str]


class DroppedState(TypedDict):
    """A column that said nothing at fit: one value throughout, or none."""

    name: str
    kind: Literal["constant", "empty"]


State = NumericState | TextState | DroppedState


def standard_knots(values: FloatArray, clip: float) -> Knots:
    """Knots of (x - mean)/sd, clipped at ±clip.

    >>> points, scores = standard_knots(np.array([0.0, 2.0]), clip=3.0)
    >>> points.tolist(), scores.tolist()
    ([-2.0, 4.0], [-3.0, 3.0])
    """
    centre = values.mean()
    deviations = values - centre
    largest = np.abs(deviations).max()
    scale = largest * np.sqrt(np.mean((deviations / largest) ** 2))
    scores = np.array([-clip, clip])
    return centre + scale * scores, scores


def normal_knots(values: FloatArray, clip: float, n_quantiles: int) -> Knots:
    """Knots of Φ⁻¹(F(x)), clipped at ±clip, where F is the mid-rank distribution of `values`.

    F(v) = (number below v + half the number equal to v) / n, at no more than `n_quantiles`
    distinct values, evenly spread in F.

    >>> points, scores = normal_knots(np.array([1.0, 5.0, 5.0, 9.0]), clip=3.0, n_quantiles=10)
    >>> points.tolist(), scores.round(2).tolist()
    ([1.0, 5.0, 9.0], [-1.15, 0.0, 1.15])
    """
    points, counts = np.unique(values, return_counts=True)
    rank = (np.cumsum(counts) - 0.5 * counts) / values.size
    if points.size > n_quantiles:
        wanted = np.linspace(rank[0], rank[-1], n_quantiles)
        kept = np.unique(np.searchsorted(rank, wanted))
        points, rank = points[kept], rank[kept]
    return points, np.clip(ndtri(rank), -clip, clip)


def fit_state(column: Column, knots_of: Callable[[FloatArray], Knots]) -> State:
    """Learn the state of one readable column.

    Parameters
    ----------
    column : Column
        A column of numbers, dates, text or nothing.
    knots_of : callable
        Takes the present numbers, returns the knots of their map.

    Returns
    -------
    dict
        Plain JSON: text, numbers, booleans and lists of them.
    """
    if column.kind == "empty":
        return DroppedState(name=column.name, kind="empty")
    present = column.values[column.present]
    complete = present.size == column.values.size
    if column.kind == "text":
        levels = sorted(set(present.tolist()))
        if complete and len(levels) == 1:
            return DroppedState(name=column.name, kind="constant")
        return TextState(name=column.name, kind="text", levels=levels)
    varies = bool(present.min() < present.max())
    if complete and not varies:
        return DroppedState(name=column.name, kind="constant")
    points, scores = knots_of(present) if varies else (np.empty(0), np.empty(0))
    return NumericState(
        name=column.name,
        kind="date" if column.kind == "date" else "numeric",
        fill=float(np.median(present)),
        indicator=not complete,
        points=points.tolist(),
        scores=scores.tolist(),
    )


def output_names(state: State, name: str | None = None) -> list[str]:
    """Names of the features a column becomes.

    >>> output_names({"name": "x", "kind": "text", "levels": ["a", "b"]})
    ['x_a', 'x_b', 'x_<unknown>']
    """
    name = state["name"] if name is None else name
    if state["kind"] == "text":
        return [f"{name}_{level}" for level in [*state["levels"], "<unknown>"]]
    if state["kind"] == "constant" or state["kind"] == "empty":
        return []
    return [name] * bool(state["points"]) + [f"{name}_<missing>"] * state["indicator"]


def encode(state: State, column: Column) -> FloatArray:
    """Map one column, of a kind its state accepts, to its features, shape (n, width)."""
    if state["kind"] == "text":
        return _one_hot(state["levels"], column)
    if state["kind"] == "constant" or state["kind"] == "empty":
        return np.empty((column.raw.shape[0], 0))
    parts = []
    if state["points"]:
        filled = np.where(column.present, column.values, state["fill"]).astype(np.float64)
        parts.append(np.interp(filled, state["points"], state["scores"]))
    if state["indicator"]:
        parts.append(np.where(column.present, 0.0, 1.0))
    return np.column_stack(parts)


def changed_kind(state: State, column: Column) -> str | None:
    """Tell what a column held at fit and holds now, or None where the state can read it."""
    if state["kind"] == "constant" or state["kind"] == "empty":
        return None
    if column.kind in ("empty", state["kind"]):
        return None
    if state["kind"] == "text" and column.kind == "numeric" and _number_like(state["levels"]):
        return None
    example = each_kind(column) if column.kind == "mixed" else column.first()
    return f"{WORDS[state['kind']]} at fit, now {WORDS[column.kind]}, {example}"


def _one_hot(levels: list[str], column: Column) -> FloatArray:
    code = {level: position for position, level in enumerate(levels)}
    text = labels(column.raw, column.present)
    codes = np.fromiter((code.get(entry, len(levels)) for entry in text), np.intp, text.size)
    out = np.zeros((text.size, len(levels) + 1))
    out[np.arange(text.size), codes] = 1.0
    return out


def _number_like(levels: list[str]) -> bool:
    """Whether a file with few rows could hold only levels that read as numbers or booleans."""
    return any(level in ("True", "False") or _reads_as_number(level) for level in levels)


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
