"""Contributions of columns to single predictions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array, Index
from bochner.tables.sensitivity import Dependence, aligned
from bochner.tables.shapley import Game


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contributions:
    """Contributions of d columns to the predictions of n rows; the repr is a table.

    For every row, ``base + values.sum(axis=1)`` is its ``prediction`` (n,). ``base`` is the average
    prediction of the background rows, ``values`` (n, d) are Shapley values of the ``columns``, and
    ``std_error`` (n, d) their standard errors, zero if the values are exact. With k ``classes``
    (labels, or names of several targets) the shapes are (k,) for ``base``, (n, d, k) for ``values``
    and ``std_error``, and (n, k) for ``prediction``.

    The repr has the contributions to a single prediction, or mean absolute contributions to
    several predictions, the largest first. ``pandas.DataFrame(contributions)`` has the values
    (n, d) by the names of the columns; with classes, those of all classes below each other.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, 2.0 * X[:, 0])
    >>> found = model.contributions(X[:5], random_state=0)
    >>> first, second = np.abs(found.values).max(axis=0)
    >>> found.values.shape, bool(first > second)
    ((5, 2), True)
    """

    columns: tuple[str, ...]
    base: float | Array
    values: Array
    std_error: Array
    prediction: Array
    classes: NDArray[Any] | None = None

    def averaged(self, n_rows: int, parts: Sequence[tuple[Index, Index]]) -> "Contributions":
        """Return contributions to averages of predictions.

        Each part has indices of r of the ``n_rows`` new rows, and the indices (r, k) of the k rows
        that each of them is the average of.
        """
        # Errors of rows are correlated, because all have the same permutations.
        arrays = self.values, self.std_error, self.prediction
        averages = [np.empty((n_rows, *of_rows.shape[1:])) for of_rows in arrays]
        for rows, index in parts:
            for average, of_rows in zip(averages, arrays, strict=True):
                average[rows] = of_rows[index].mean(axis=1)
        values, errors, prediction = averages
        return replace(self, values=values, std_error=errors, prediction=prediction)

    def plus(self, changes: Array) -> "Contributions":
        """Return contributions and predictions with changes (n, d, k) by each column added."""
        changes = changes[..., 0] if self.classes is None else changes
        prediction = self.prediction + changes.sum(axis=1)
        return replace(self, values=self.values + changes, prediction=prediction)

    def __iter__(self) -> Iterator[dict[str, object]]:
        """Iterate over the records of a table."""
        if self.classes is None:
            for row in self.values.tolist():
                yield dict(zip(self.columns, row, strict=True))
            return
        for number, values in enumerate(np.moveaxis(self.values, 2, 1).tolist()):
            for label, row in zip(self.classes.tolist(), values, strict=True):
                yield {"row": number, "class": label, **dict(zip(self.columns, row, strict=True))}

    def __repr__(self) -> str:
        n, d = self.values.shape[:2]
        sizes = np.abs(self.values).mean(axis=0).reshape(d, -1)
        shown, sign, last = sizes, "", f"mean of {n} predictions"
        heading = ["mean size", "std error per row"]
        if n == 1:
            shown, sign, last = self.values[0].reshape(d, -1), "+", "prediction"
            heading = ["contribution", "std error"]
        base, mean = np.ravel(self.base), np.atleast_1d(self.prediction.mean(axis=0))
        digits = _digits(np.vstack([base, mean, shown]))
        order = np.argsort(-sizes.sum(axis=1), kind="stable")
        rows = [[self.columns[i], *_fixed(shown[i], digits, sign)] for i in order]
        rows.insert(0, ["average prediction", *_fixed(base, digits)])
        rows.append([last, *_fixed(mean, digits)])
        if self.classes is not None:
            return aligned(["column", *map(str, self.classes)], rows)
        errors = np.sqrt(np.mean(self.std_error**2, axis=0))[order]
        cells = ["", *(f"{error:.1g}" for error in errors), ""]
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
        return aligned(["column", *heading], rows)


def contributions(
    dependence: Dependence,
    X: Array,
    rng: Generator,
    n_evaluations: int,
    classes: NDArray[np.generic] | None = None,
) -> Contributions:
    """Return the contributions of the groups to the predictions of rows ``X`` (n, d).

    Every column is in a group. Groups without columns have zero.
    """
    names = tuple(dependence.groups)
    players = [i for i, name in enumerate(names) if len(dependence.groups[name])]

    def exchanged(pool: Array, sources: NDArray[np.intp]) -> Array:
        of_groups = np.zeros((len(sources), len(names)), dtype=np.intp)
        of_groups[:, players] = sources
        return dependence.evaluator.exchanged(pool, of_groups)

    background = rng.permutation(dependence.X)
    game = Game(exchanged, len(players), background, dependence.predict(background))
    outputs = dependence.predict(X)
    values, errors = np.zeros((2, len(X), len(names), outputs.shape[1]))
    values[:, players], errors[:, players] = game.shapley_values(X, outputs, n_evaluations, rng)
    if classes is None:
        single_output = values[..., 0], errors[..., 0], outputs[:, 0]
        return Contributions(names, float(game.base[0]), *single_output)
    return Contributions(names, game.base, values, errors, outputs, classes)


def _digits(numbers: Array) -> list[int]:
    """Return the decimals (k,) that show four digits of the largest of numbers (r, k)."""
    largest = np.maximum(np.abs(numbers).max(axis=0), np.finfo(np.float64).tiny)
    return [max(0, 3 - int(power)) for power in np.floor(np.log10(largest))]


def _fixed(numbers: Array, digits: list[int], sign: str = "") -> list[str]:
    return [f"{x:{sign}.{places}f}" for x, places in zip(numbers, digits, strict=True)]
