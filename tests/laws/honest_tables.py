"""Tables of a known law, on which an expected error is compared with the error on new rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

Array = NDArray[Any]
Rows = tuple[pd.DataFrame, Array]
"""Columns and targets of rows."""

LEVELS = (0.5, 0.8, 0.9)
"""Coverages of the intervals that are compared with new rows: middle, usual and wide."""


@dataclass(frozen=True)
class Drawn:
    """A table that was drawn, with more rows of the same law."""

    X: pd.DataFrame
    y: Array
    fresh: Callable[[int, Generator], Rows]  # New rows: for groups of new groups, for times later
    best: float  # Expected squared error, or log loss, of the predictor that knows the law
    fit: Mapping[str, Any] = field(default_factory=dict)  # Keywords of fit
    are_counts: bool = False  # Whether weights say how many observations a row represents


@dataclass(frozen=True)
class Kind:
    """A law of tables.

    ``draw(n, rng)`` draws the parameters of the law, a table of about ``n`` rows, and returns both.
    """

    name: str
    task: Literal["numbers", "classes"]
    draw: Callable[[int, Generator], Drawn]
    n: int = 200  # Rows of the usual test
    levels: tuple[float, ...] = LEVELS  # Coverages that intervals can be expected to have
    has_atoms: bool = False  # Whether targets have equal values, so that intervals may cover more
    is_gaussian: bool = False  # Whether targets are a function plus normal noise of one variance
    has_units: bool = False  # Whether groups, times or weights are given to fit
    tags: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.task == "classes":
            object.__setattr__(self, "levels", ())

    def drawn(self, n: int, seed: int) -> tuple[Drawn, Generator]:
        """Return the table of a seed, and a generator for new rows."""
        rng = np.random.default_rng([seed, n, *self.name.encode()])
        table_rng, fresh_rng = rng.spawn(2)
        return self.draw(n, table_rng), fresh_rng


KINDS: dict[str, Kind] = {}


def kind(task: Literal["numbers", "classes"], name: str, **settings: Any) -> Callable[..., Any]:
    """Register what draws a table as a kind."""

    def register(draw: Callable[[int, Generator], Drawn]) -> Callable[[int, Generator], Drawn]:
        if name in KINDS:
            raise ValueError(f"There is a kind {name!r} already: choose another name.")
        KINDS[name] = Kind(name, task, draw, **settings)
        return draw

    return register


def independent(
    n: int, rng: Generator, rows: Callable[[int, Generator], Rows], best: float, **fit: Any
) -> Drawn:
    """Return a table of independent rows, whose new rows come from the same function."""
    X, y = rows(n, rng)
    return Drawn(X, y, rows, best, fit)


def chosen(probabilities: Array, rng: Generator) -> NDArray[np.int64]:
    """Return a class (n,) for each row of probabilities (n, C)."""
    ends = np.cumsum(probabilities, axis=1)
    return (rng.random(len(ends))[:, None] * ends[:, -1:] > ends[:, :-1]).sum(axis=1)


def entropy(probabilities: Array) -> float:
    """Return the mean over rows of the entropy of probabilities (n, C), in nats."""
    p = np.clip(probabilities, np.finfo(np.float64).tiny, 1.0)
    return float(-np.mean(np.sum(p * np.log(p), axis=1)))


def words(prefix: str, numbers: Array) -> list[str]:
    """Return a text for each number."""
    return [f"{prefix}{number}" for number in numbers]
