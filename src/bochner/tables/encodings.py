"""Encodings of one column: a state in plain JSON, and the map from entries to features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bochner._base.arrays import Array, as_array
from bochner._base.names import naming
from bochner.files.columns import KIND_NAMES, Column
from bochner.tables.cycles import CycleName, cycle_names, encode_cycles, varying_cycles
from bochner.tables.level_means import Removal, level_scores
from bochner.tables.text_parts import TextParts

Knots = tuple[Array, Array]

_FEWEST_OF_LEVEL = 5
"""Fewest rows of a level that has a feature of its own if the parts of the text have features."""

_LEAST_RARE = 0.05
"""Share of rows with rare texts below which a column has levels, not parts of texts."""

_IDENTIFIER_SHARE = 0.5
"""Share of distinct entries above which text is an identifier: most levels have a single row."""


class State(TypedDict):
    """Encoding of a column, with the keys of its kind only."""

    name: str
    kind: Literal["numeric", "date", "text", "constant", "empty", "identifier"]
    n_missing: NotRequired[int]
    # Numbers and dates: a piecewise-linear map, constant outside its points
    fill: NotRequired[float]  # In place of missing entries
    indicator: NotRequired[bool]  # Whether a feature tells missing entries
    points: NotRequired[list[float]]
    scores: NotRequired[list[float]]
    ends: NotRequired[list[float]]  # Least and greatest entry of the fit
    cycles: NotRequired[list[CycleName]]
    zone: NotRequired[str | None]  # Of the local times of cycles; None: the zone of each date
    # Text: a feature for each level, and one for rare, unknown and missing entries
    levels: NotRequired[list[str]]
    n_rare: NotRequired[int]
    means: NotRequired[dict[str, list[float]]]  # Of the target, by rare level
    parts: NotRequired[TextParts]


def standard_knots(values: Array, clip: float, n_quantiles: int | None = None) -> Knots:
    """Return the two knots of (x - mean)/sd, clipped at ±clip; ``n_quantiles`` is not used."""
    centre = values.mean()
    deviations = values - centre
    largest = np.abs(deviations).max()
    scale = largest * np.sqrt(np.mean((deviations / largest) ** 2))
    scores = np.array([-clip, clip])
    return centre + scale * scores, scores


def normal_knots(values: Array, clip: float, n_quantiles: int) -> Knots:
    """Return at most ``n_quantiles`` knots of Φ⁻¹(F(x)), clipped, with F the mid-ranks."""
    points, counts = np.unique(values, return_counts=True)
    rank = (np.cumsum(counts) - 0.5 * counts) / values.size
    if points.size > n_quantiles:
        wanted = np.linspace(rank[0], rank[-1], n_quantiles)
        places = np.unique(np.searchsorted(rank, wanted))
        points, rank = points[places], rank[places]
    return points, np.clip(ndtri(rank), -clip, clip)


def tail_state(column: Column, clip: float) -> State:
    """Return a linear encoding of a column of numbers or dates if an entry is beyond ``clip``."""
    if column.kind in ("numeric", "date"):
        present = column.values[column.present]
        if present.min() < present.max():
            ends = np.array([present.min(), present.max()])
            points, scores = standard_knots(present, clip)
            end_scores = np.interp(ends, points, scores)
            if np.any(np.abs(end_scores) >= clip):
                slope = (scores[1] - scores[0]) / (points[1] - points[0])
                return _number_state(column, ends, slope * (ends - present.mean()))
    return State(name=column.name, kind="constant")


def _number_state(column: Column, points: Array, scores: Array) -> State:
    present = column.values[column.present]
    return State(
        name=column.name,
        kind="date" if column.kind == "date" else "numeric",
        fill=float(np.median(present)),
        indicator=False,
        points=points.tolist(),
        scores=scores.tolist(),
        ends=[float(present.min()), float(present.max())],
        n_missing=column.values.size - present.size,
    )


def fit_state(column: Column, knots_of: Callable[[Array], Knots], max_levels: int) -> State:
    """Learn the encoding of a column; ``knots_of`` maps present numbers to their knots."""
    if column.kind == "empty":
        return State(name=column.name, kind="empty")
    present = column.values[column.present]
    n_missing = column.values.size - present.size
    if column.kind == "text":
        return _text_state(column.name, Counter(present.tolist()), n_missing, max_levels)
    varies = bool(present.min() < present.max())
    if not n_missing and not varies:
        return State(name=column.name, kind="constant")
    state = _number_state(column, *(knots_of(present) if varies else (np.empty(0), np.empty(0))))
    state["indicator"] = n_missing > 0
    if column.kind == "date" and (cycles := varying_cycles(column.wall_times())):
        state["cycles"], state["zone"] = cycles, column.zone
    if column.is_time_of_day and varies:
        state["cycles"], state["zone"] = ["hour"], None
    return state


def _text_state(name: str, counts: Counter[str], n_missing: int, max_levels: int) -> State:
    if not n_missing and len(counts) == 1:
        return State(name=name, kind="constant")
    if len(counts) > max(max_levels, _IDENTIFIER_SHARE * counts.total()):
        return State(name=name, kind="identifier")
    # Ties go to the alphabetically first levels, so that the order of rows does not matter.
    ordered = sorted(counts, key=lambda level: (-counts[level], level))
    n_rare = sum(counts[level] for level in ordered[max_levels:])
    levels = sorted(ordered[:max_levels])
    return State(name=name, kind="text", levels=levels, n_missing=n_missing, n_rare=n_rare)


def add_means(state: State, column: Column, targets: Array, clip: float, removal: Removal) -> Array:
    """Add means of targets (n, t) at rare levels to a state; return out-of-fold scores (n, w)."""
    rare = sorted(set(column.raw[column.present]).difference(state["levels"]))
    codes = codes_of(column.raw, rare)
    rows = np.flatnonzero(codes < len(rare))
    part = removal.part(rows)
    level_means = (
        [level_scores(codes[rows], y[rows], clip, part) for y in targets.T] if rare else []
    )
    usable = [scores for scores in level_means if scores is not None]
    if usable:
        scores = np.column_stack([scores for scores, _ in usable])
        state["means"] = dict(zip(rare, scores.tolist(), strict=True))
    out_of_fold = np.zeros((column.raw.shape[0], len(usable)))
    for i, (_, scores) in enumerate(usable):
        out_of_fold[rows, i] = scores
    return out_of_fold


def recurs(column: Column) -> bool:
    """Return whether nearly all texts of a column are those of levels with enough rows."""
    _, which, counts = np.unique(
        column.texts()[column.present], return_inverse=True, return_counts=True
    )
    return bool(np.mean(counts[which] < _FEWEST_OF_LEVEL) < _LEAST_RARE)


def with_parts(state: State, column: Column, parts: TextParts) -> State:
    """Return the state of a text column or identifier with the features of its parts."""
    if state.get("n_rare"):
        return State(**{**state, "parts": parts})
    texts = column.texts()[column.present].tolist()
    counts = Counter(texts)
    # Levels of few rows have no feature, so that new texts are encoded like them.
    levels = [level for level in state.get("levels", []) if counts[level] >= _FEWEST_OF_LEVEL]
    return State(
        name=column.name,
        kind="text",
        levels=levels,
        n_missing=len(column.raw) - len(texts),
        n_rare=len(texts) - sum(counts[level] for level in levels),
        parts=parts,
    )


def output_names(state: State, name: str | None = None) -> list[str]:
    """Return the names of a column's features."""
    name = state["name"] if name is None else name
    if state["kind"] == "text":
        width = len(next(iter(state.get("means", {}).values()), []))
        means = [f"<target {i}>" for i in range(width)]
        parts = [f"<part {i}>" for i in range(n_parts(state))]
        return [f"{name}_{level}" for level in [*state["levels"], "<unknown>", *means, *parts]]
    cycles = state.get("cycles")
    extra = [*(cycle_names(cycles) if cycles else ()), *["<missing>"] * state.get("indicator", 0)]
    return [name] * bool(state.get("points")) + [f"{name}_{part}" for part in extra]


def is_free_text(state: State) -> bool:
    """Return whether a column is text of which only the parts have features."""
    return "parts" in state and not state["levels"]


def n_parts(state: State) -> int:
    """Return the number of features of the parts of text, which are the last of the column."""
    return len(state["parts"].centre) if "parts" in state else 0


def scale_numbers(states: Sequence[State]) -> NDArray[np.intp]:
    """Return the length-scale index of each feature; levels share one, parts a negative one."""
    of_columns = [_scale_numbers(state) for state in states]
    ends = np.cumsum([0] + [len(numbers) for numbers in of_columns])
    pairs = zip(ends, of_columns, strict=False)
    return np.concatenate([np.where(index < 0, index - end, index + end) for end, index in pairs])


def _scale_numbers(state: State) -> NDArray[np.intp]:
    n_shared = len(state["levels"]) + 1 if state["kind"] == "text" else 1
    features = np.arange(len(output_names(state)))
    numbers = np.maximum(features - n_shared + 1, 0)
    return np.where(features < len(features) - n_parts(state), numbers, -1)


def cycle_places(state: State) -> NDArray[np.intp]:
    """Return the first feature and the number of features (c, 2) of each cycle of a column."""
    widths = [len(cycle_names([cycle])) for cycle in state.get("cycles", [])]
    starts = np.cumsum([bool(state.get("points")), *widths])[:-1]
    return np.column_stack((starts, widths)).astype(np.intp).reshape(-1, 2)


def values_of(state: State, column: Column) -> Array:
    """Convert the entries of a column that the state can read to numbers (n,)."""
    if state["kind"] == "text":
        return as_array(level_codes(column, state["levels"]))
    if "fill" in state:
        return np.where(column.present, column.values, state["fill"]).astype(np.float64)
    return np.zeros(column.raw.shape[0])


def encode(state: State, column: Column, out_of_fold: Array | None = None) -> Array:
    """Return the features (n, width) of a column, perhaps with other scores of rare levels."""
    if state["kind"] == "text":
        levels = np.eye(len(state["levels"]) + 1)[values_of(state, column).astype(np.intp)]
        parts = np.empty((len(levels), 0))
        if "parts" in state:
            parts, is_known = state["parts"](column)
            if not state["levels"]:
                levels = np.where(is_known, 0.0, 1.0)[:, None]
        if "means" not in state:
            return np.hstack([levels, parts])
        if out_of_fold is None:
            learned_means = as_array(list(state["means"].values()))
            means = np.vstack([learned_means, np.zeros(learned_means.shape[1])])
            out_of_fold = means[level_codes(column, list(state["means"]))]
        return np.hstack([levels, out_of_fold, parts])
    features = [np.empty((column.raw.shape[0], 0))]
    if points := state.get("points"):
        numbers = np.interp(values_of(state, column), points, state["scores"])
        features.append(numbers[:, None])
    if cycles := state.get("cycles"):
        times = column.wall_times(state["zone"]) if "zone" in state else column.times()
        features.append(encode_cycles(cycles, times, column.present))
    if state.get("indicator"):
        features.append(np.where(column.present, 0.0, 1.0)[:, None])
    return np.hstack(features)


def codes_of(text: NDArray[np.generic], levels: list[str]) -> NDArray[np.intp]:
    """Return the index of each text in ``levels``, or ``len(levels)`` if it is absent."""
    code = {level: position for position, level in enumerate(levels)}
    codes = map(code.get, text.tolist(), repeat(len(code)))
    return np.fromiter(codes, dtype=np.intp, count=text.size)


def level_codes(column: Column, levels: list[str]) -> NDArray[np.intp]:
    """Return the codes of the entries of a column, computed once for encoders of equal levels."""
    if (key := tuple(levels)) not in column.memo:
        column.memo[key] = codes_of(column.texts(), levels)
    codes: NDArray[np.intp] = column.memo[key]
    return codes


def grid(
    state: State, values: Array, features: Array, most: int
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return frequent levels, or numbers at even ranks (NaN last), each with the index of a row."""
    if state.get("indicator"):
        is_missing = features[:, len(output_names(state)) - 1]
        values = np.where(is_missing == 1.0, np.nan, values)
    if "parts" in state:
        values = as_array(features[:, : len(state["levels"]) + 1].argmax(axis=1))
    entries, rows, counts = np.unique(values, return_index=True, return_counts=True)
    if state["kind"] == "text":
        chosen = np.sort(np.argsort(-counts, kind="stable")[:most])
        levels = np.array([*state["levels"], "<unknown>"], dtype=object)
        return levels[entries[chosen].astype(np.intp)], rows[chosen]
    ranks = np.linspace(0, len(values) - 1, most if len(entries) > most else len(values))
    chosen = np.unique(np.searchsorted(np.cumsum(counts), ranks, side="right"))
    return entries[chosen], rows[chosen]


def changed_kind(state: State, column: Column) -> str | None:
    """Describe the kinds of a column at fit and now, or return None if the state can read it."""
    if state["kind"] in ("constant", "empty", "identifier") or column.kind == "empty":
        return None
    if column.kind == state["kind"]:
        had_times = state["kind"] == "numeric" and "cycles" in state
        is_same = had_times == column.is_time_of_day or column.kind != "numeric"
        before, now = ("times of day", "numbers") if had_times else ("numbers", "times of day")
        return None if is_same else f"{before} at fit, now {now}, {column.first()}"
    # A small file may hold only levels of a text column that can be read as numbers.
    if (
        state["kind"] == "text"
        and column.kind == "numeric"
        and any(map(_is_number_or_truth, state["levels"]))
    ):
        return None
    names: dict[Any, str] = KIND_NAMES
    return f"{names[state['kind']]} at fit, now {names[column.kind]}, {column.examples()}"


def _is_number_or_truth(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ("True", "False")
    return True


def refuse_changed_kinds(read: Sequence[tuple[State, Column]]) -> None:
    """Raise ValueError for columns that the encoding learned at fit cannot read."""
    changes = ((column.name, changed_kind(state, column)) for state, column in read)
    changed = [(name, change) for name, change in changes if change is not None]
    if changed:
        raise ValueError(
            f"Changed kind of {naming(changed)}: expected the kind of the training table. "
            "Convert the entries, or leave unknown ones empty."
        )


@dataclass(frozen=True, slots=True, eq=False)
class KnownEntries:
    """Entries (n, d) of a table as numbers, with masks of missing and new entries."""

    values: Array  # (n, d): Numbers, decimal years, or codes of levels; NaN for unknown entries
    is_missing: NDArray[np.bool_]  # (n, d)
    is_new: NDArray[np.bool_]  # (n, d): Text that no row of the fit had
    beyond: Array  # (n, d): Signed distance from the range of the fit

    @classmethod
    def of(cls, states: Sequence[State], columns: Sequence[Column]) -> KnownEntries:
        """Return the entries of new rows, compared with the encodings learned at fit."""
        shape = len(columns[0].raw), len(columns)
        values, beyond = np.zeros(shape), np.zeros(shape)
        is_missing, is_new = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        for j, (state, column) in enumerate(zip(states, columns, strict=True)):
            if not output_names(state):
                continue
            is_missing[:, j] = ~column.present
            if state["kind"] == "text":
                values[:, j], is_new[:, j] = _levels(state, column)
            else:
                numbers = np.where(column.present, column.values, np.nan).astype(np.float64)
                low, high = state["ends"]
                over, under = np.maximum(numbers - high, 0.0), np.minimum(numbers - low, 0.0)
                values[:, j] = numbers
                if state["points"]:
                    beyond[:, j] = np.nan_to_num(over + under)
        values[is_missing | is_new] = np.nan
        return cls(values, is_missing, is_new, beyond)


def filled_values(states: Sequence[State], values: Array) -> Array:
    """Return values (n, d) with unknown entries replaced by the median or an extra level code."""
    filled = values.copy()
    for j, state in enumerate(states):
        fill = len(state["levels"]) if has_codes(state) else state.get("fill", 0.0)
        filled[np.isnan(values[:, j]), j] = fill
    return filled


def has_codes(state: State) -> bool:
    """Return whether the values of a column are level codes; text with parts has scores."""
    return state["kind"] == "text" and "parts" not in state


def _levels(state: State, column: Column) -> tuple[Array, NDArray[np.bool_]]:
    """Return codes or scores (n,), and a mask (n,) of levels that did not occur in the fit."""
    levels = state["levels"]
    codes = level_codes(column, levels)
    if "parts" in state:
        scores, is_known = state["parts"](column)
        return scores[:, 0], column.present & ~is_known & (codes == len(levels))
    # Without stored means, rare levels are unknown: a new text may be a rare level.
    if state["n_rare"] and "means" not in state:
        return as_array(codes), np.zeros(len(codes), dtype=bool)
    known = [*levels, *state.get("means", {})]
    return as_array(codes), column.present & (level_codes(column, known) == len(known))
