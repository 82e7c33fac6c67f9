"""Steps from the average prediction to the prediction of one row, a column each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, RandomState
from bochner.files.columns import rows_of
from bochner.plot.contributed import (
    MOST_COLUMNS,
    columns_at,
    decimals_of,
    explained,
    fixed,
    name_right,
    with_entry,
)
from bochner.plot.display import Display, PanelLayout
from bochner.plot.style import MISSED, MODEL, Theme
from bochner.plot.text_labels import finish, name_rows, number_ticks, panel_points, rows_height
from bochner.tables.contributions import Contributions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BAR = 0.66
"""Height of a bar in rows: a third is left between bars."""

_MARGIN = 0.04
"""Share of the range of a picture that is left free on both sides: half a point's width or more."""

_LOWER, _HIGHER = MISSED, MODEL
"""Colours of contributions below and above zero, which differ for colour-blind readers, too."""


@dataclass(frozen=True, slots=True, eq=False)
class WaterfallDisplay(Display):
    """Steps from the average prediction to the prediction of one row.

    :func:`bochner.plot.waterfall` returns it, and has an example.

    The steps begin at ``base``, go down the page, and end at ``base + steps.sum()``.

    Parameters
    ----------
    names : sequence of k str
        Names of the steps: columns with their entries, and the number of further columns.
    steps : ndarray of shape (k,)
        Contributions of the columns.
    base : float
        Average prediction.
    label : str, default="prediction"
        Explained quantity.
    """

    names: Sequence[str]
    steps: Array
    base: float
    label: str = "prediction"

    @property
    def ends(self) -> Array:
        """Predictions (k + 1,) before the first step and after every step."""
        return self.base + np.concatenate([[0.0], np.cumsum(self.steps)])

    def describe(self) -> str:
        decimals = decimals_of(self.steps)
        parts = (
            f"{name} {fixed(step, decimals, '+')}"
            for name, step in zip(self.names, self.steps, strict=True)
        )
        first, last = (fixed(self.ends[i], decimals) for i in (0, -1))
        return f"The {self.label} is {last}: {first} on average, {', '.join(parts)}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=rows_height(len(self.names) + 2))

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        ends, places = self.ends, np.arange(1, len(self.steps) + 1)
        colors = np.where(self.steps < 0.0, _LOWER, _HIGHER).tolist()
        axis.barh(places, self.steps, left=ends[:-1], height=_BAR, color=colors, alpha=0.85)
        # The end of a row is the start of the next one.
        rows = np.arange(len(ends))
        axis.vlines(ends, rows, rows + 1, color=theme.ink, lw=0.7, zorder=1)
        last = len(ends)
        axis.plot(ends[[0, -1]], [0, last], "o", color=theme.ink, ms=3.5, zorder=3)
        name_rows(axis, ["average prediction", *self.names, "prediction"])
        decimals = decimals_of(self.steps)
        steps = (fixed(step, decimals, "+") for step in self.steps)
        texts = [fixed(ends[0], decimals), *steps, fixed(ends[-1], decimals)]
        points = name_right(axis, texts)
        finish(axis, self.label, "", ticks="")
        low, high = float(ends.min()), float(ends.max())
        room = _MARGIN * ((high - low) or 1.0)  # Bars would end at the limits
        axis.set_xlim(low - room, high + room)
        number_ticks(axis.xaxis, panel_points(axis)[0] - points)


def waterfall(
    model: BaseEstimator | Contributions,
    X: Any = None,
    row: int = 0,
    *,
    output: object = None,
    most: int = MOST_COLUMNS,
    label: str | None = None,
    random_state: RandomState = None,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> WaterfallDisplay:
    """Draw the contributions of columns to one prediction, the largest on top.

    The bars lead from the average prediction to the prediction of the row, and their lengths are
    Shapley values. Columns beyond the first ten have one bar together.

    Parameters
    ----------
    model : TableRegressor, TableClassifier or Contributions
        A fitted table model, whose ``contributions`` are computed at the row, or their result.
    X : table or array-like of shape (n, d), default=None
        Rows of the table. ``None`` means a picture without entries of the row, for contributions
        that are given.
    row : int, default=0
        Number of the row, from 0.
    output : object, default=None
        Class or name of a target; ``None`` means the most probable class, or the first target.
    most : int, default=10
        Most columns with a bar.
    label : str, default=None
        Explained quantity, with its unit; by default "prediction" or "probability of" a class.
    random_state : int, RandomState instance or None, default=None
        Seed of the contributions.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    display : WaterfallDisplay

    Raises
    ------
    TypeError
        If the model has no contributions.
    ValueError
        If there is no such row or output.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3)).round(2)
    >>> model = TableRegressor("gaussian", 64, random_state=0).fit(X, X[:, 1] - X[:, 2])
    >>> display = plot.waterfall(model, X, row=2, random_state=0)
    >>> sorted(display.names)
    ['x0 = 1.3', 'x1 = 0.95', 'x2 = −0.7']
    >>> bool(np.isclose(display.ends[-1], model.predict(X[2:3])[0]))
    True
    """
    of_row, given = _one_row(model, X, row)
    found = explained(given, of_row, output, random_state)
    shown, others = found.largest(most)
    columns = [None] * len(shown) if of_row is None else columns_at(found.names, of_row, shown)
    names = [
        with_entry(found.names[i], column, 0) for i, column in zip(shown, columns, strict=True)
    ]
    steps = found.values[0, shown]
    if len(others):
        names.append(f"{len(others)} more columns")
        steps = np.append(steps, found.values[0, others].sum())
    display = WaterfallDisplay(names, steps, found.base, label or found.label)
    return display.plot(ax, theme=theme)


def _one_row(model: Any, X: Any, row: int) -> tuple[Any, Any]:
    """Return a table of one row, and the model or the contributions to its prediction."""
    is_given = isinstance(model, Contributions)
    if X is None and not is_given:
        raise ValueError("X must be a table with the row to explain, got None.")
    n_rows = len(model.values) if is_given else len(X)
    if X is not None and len(X) != n_rows:
        raise ValueError(f"X must have the {n_rows} rows of the contributions, got {len(X)}.")
    is_number = isinstance(row, int | np.integer) and not isinstance(row, bool)
    if not is_number or not -n_rows <= row < n_rows:
        raise ValueError(f"row must be a whole number below {n_rows}, got {row!r}.")
    place = np.array([int(row) % n_rows])
    if is_given:
        parts = {
            name: getattr(model, name)[place] for name in ("values", "std_error", "prediction")
        }
        model = replace(model, **parts)
    return None if X is None else rows_of(X, place), model
