"""Points for the contributions of columns to many predictions, coloured by the columns' entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, RandomState
from bochner.files.columns import Column
from bochner.plot.contributed import MOST_COLUMNS, columns_at, explained, name_right
from bochner.plot.display import Display, PanelLayout
from bochner.plot.scatter import MOST_VECTORS
from bochner.plot.style import BLUE, FONT, ORANGE, PALE, VIOLET, Theme
from bochner.plot.text_labels import (
    finish,
    fitted,
    legend,
    name_rows,
    number_ticks,
    panel_points,
    rows_height,
    text_width,
)
from bochner.tables.contributions import Contributions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINT = 2.2
"""Diameter of a point in points: four of them lie above each other in a row."""

_SPREAD = 0.8
"""Share of the height of a row that the points of many predictions take."""

_ROW = 1.5
"""Height of a row in rows of bars: points of many rows need more room than a bar."""

_LOW, _MIDDLE, _HIGH, _GREY = BLUE, VIOLET, ORANGE, PALE
"""Colours of the lowest, middle and highest entry of a column, and of text and missing entries."""


@dataclass(frozen=True, slots=True, eq=False)
class BeeswarmDisplay(Display):
    """Contributions of columns to many predictions, the column of largest mean size on top.

    :func:`bochner.plot.beeswarm` returns it, and has an example.

    Parameters
    ----------
    names : sequence of k str
        Names of the columns; the last may be the number of further columns.
    values : ndarray of shape (n, k)
        Contributions to n predictions.
    share : ndarray of shape (k,)
        Mean sizes of the contributions, divided by their sum over all rows of the picture.
    rank : ndarray of shape (n, k)
        Ranks of the entries of each column, from 0 for the lowest to 1 for the highest; NaN for
        text and missing entries.
    n_left_out : int, default=0
        Number of columns that are together in the last row.
    label : str, default="prediction"
        Explained quantity.
    """

    names: Sequence[str]
    values: Array
    share: Array
    rank: Array
    n_left_out: int = 0
    label: str = "prediction"

    def describe(self) -> str:
        parts = ", ".join(
            f"{name} {100.0 * share:.1f} %"
            for name, share in zip(self.names, self.share, strict=True)
        )
        return f"Contributions to {len(self.values)} predictions, shares of mean sizes: {parts}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=rows_height(round(_ROW * len(self.names)) + 1))

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        (axis,) = axes
        colors = LinearSegmentedColormap.from_list("entries", [_LOW, _MIDDLE, _HIGH])
        name_rows(axis, list(self.names))
        texts = [f"{100.0 * share:.0f} %" for share in self.share]
        points = name_right(axis, texts, "share of mean size")
        across = panel_points(axis)[0] - points
        bin_width = (float(np.ptp(self.values)) or 1.0) * _POINT / max(across, _POINT)
        axis.axvline(0.0, color=theme.ink, lw=0.7, zorder=1)
        options: Any = {"s": _POINT**2, "lw": 0.0, "zorder": 2}
        options["rasterized"] = self.values.size > MOST_VECTORS
        for row, (values, rank) in enumerate(zip(self.values.T, self.rank.T, strict=True)):
            at = row + _offsets(values, bin_width)
            has_rank = np.isfinite(rank)
            axis.scatter(values[~has_rank], at[~has_rank], color=_GREY, **options)
            shade = {"c": rank[has_rank], "cmap": colors, "vmin": 0.0, "vmax": 1.0}
            axis.scatter(values[has_rank], at[has_rank], **shade, **options)
        entries = [(_LOW, "low entry"), (_HIGH, "high entry"), (_GREY, "text or missing")]
        n_single = len(self.names) - (self.n_left_out > 0)
        entries = entries if np.isnan(self.rank[:, :n_single]).any() else entries[:2]
        handles = [axis.plot([], [], "o", color=color)[0] for color, _ in entries]
        finish(axis, "", "", ticks="")
        parts = [f"contribution to the {self.label}"]
        if text_width(parts[0], FONT) > across:
            parts = ["contribution to the", self.label]
        text = "\n".join(fitted(part, across, FONT) for part in parts)
        axis.xaxis.set_label_text(text, parse_math=False, fontsize=FONT)
        axis.margins(x=0.04)
        number_ticks(axis.xaxis, across)
        legend(axes, handles, [text for _, text in entries])


def beeswarm(
    model: BaseEstimator | Contributions,
    X: Any,
    *,
    output: object = None,
    most: int = MOST_COLUMNS,
    label: str | None = None,
    random_state: RandomState = None,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> BeeswarmDisplay:
    """Draw the contributions of columns to many predictions, a point for each row of the table.

    The colour of a point is the rank of the column's entry in that row, from low to high: a column
    whose points change from one colour to the other along the axis has a monotone effect. The
    column of largest mean size is on top. Columns beyond the first ten are one row together.

    Parameters
    ----------
    model : TableRegressor, TableClassifier or Contributions
        A fitted table model, whose ``contributions`` are computed at the rows, or their result.
    X : table or array-like of shape (n, d)
        Rows of the table. A hundred show the shape; thousands take minutes.
    output : object, default=None
        Class or name of a target; ``None`` means the class of largest mean probability, or the
        first target.
    most : int, default=10
        Most columns with a row of their own.
    label, random_state, ax, theme
        As in :func:`waterfall`.

    Returns
    -------
    display : BeeswarmDisplay

    Raises
    ------
    TypeError
        If the model has no contributions.
    ValueError
        If there are no rows, if given contributions are of other rows, or for an unknown output.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = TableRegressor("gaussian", 64, random_state=0).fit(X, X[:, 1] - 0.1 * X[:, 2])
    >>> display = plot.beeswarm(model, X[:50], random_state=0)
    >>> display.names[:2], display.values.shape
    (['x1', 'x2'], (50, 3))
    """
    found = explained(model, X, output, random_state)
    n_rows = len(found.values)
    if not n_rows or len(X) != n_rows:
        raise ValueError(
            f"X must have the rows of the contributions, at least one: {n_rows} and {len(X)} rows."
        )
    shown, others = found.largest(most)
    names = [found.names[i] for i in shown]
    values = found.values[:, shown]
    rank = np.column_stack([_ranks(column) for column in columns_at(found.names, X, shown)])
    if len(others):
        names.append(f"{len(others)} more columns")
        values = np.column_stack([values, found.values[:, others].sum(axis=1)])
        rank = np.column_stack([rank, np.full(n_rows, np.nan)])
    mean_size = np.abs(values).mean(axis=0)
    share = mean_size / (mean_size.sum() or 1.0)
    parts = names, values, share, rank, len(others), label or found.label
    return BeeswarmDisplay(*parts).plot(ax, theme=theme)


def _ranks(column: Column) -> Array:
    """Return ranks (n,) of the entries from 0 to 1, NaN for text and missing entries."""
    ranks = np.full(len(column.present), np.nan)
    if column.kind not in ("numeric", "date"):
        return ranks
    entries = column.values[column.present]
    if len(entries):  # Equal entries have one rank; if all are equal, it is in the middle
        places = rankdata(entries)
        spread = np.ptp(places)
        ranks[column.present] = (places - places.min()) / spread if spread else 0.5
    return ranks


def _offsets(values: Array, bin_width: float) -> Array:
    """Return heights (n,) of points, in rows, such that equal values lie above each other."""
    bins = np.floor((values - values.min()) / bin_width).astype(np.intp)
    counts = np.bincount(bins)
    order = np.argsort(bins, kind="stable")
    places = np.empty(len(values))
    starts = np.cumsum(counts) - counts
    places[order] = np.arange(len(values)) - starts[bins[order]]
    # The fullest bin takes the height of the row; few points lie closer together.
    step = min(_SPREAD / max(counts.max() - 1, 1), 0.25 * _SPREAD)
    return np.asarray(step * (places - 0.5 * (counts[bins] - 1)))
