"""Contributions of columns to one prediction (waterfall) and to many (beeswarm)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, MatrixLike, RandomState, as_count
from bochner._base.frames import as_frame
from bochner._base.number_texts import PLAIN_ENTRIES, may_be_years, number
from bochner.files.columns import Column, rows_of
from bochner.plot.axis_texts import (
    EQUALS,
    finish,
    legend,
    name_axis,
    name_rows,
    number_ticks,
    panel_points,
    rows_height,
    text_width,
)
from bochner.plot.display import Display, PanelLayout
from bochner.plot.drawn_inputs import column_of
from bochner.plot.style import (
    BLUE,
    FONT,
    MISSED,
    MODEL,
    MOST_VECTORS,
    ORANGE,
    PALE,
    SMALL,
    VIOLET,
    Theme,
)
from bochner.tables.contributions import Contributions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COLUMNS = 10
"""Columns with a row of their own: more are read by few, and are small."""

_DIGITS, _MOST_DECIMALS = 3, 6
"""Digits of the largest contribution, as a fourth one would be below most standard errors, and most
decimals of a contribution."""

_BAR, _MARGIN = 0.66, 0.04
"""Height of a bar in rows, and share of a picture's range that is left free on both sides."""

_LOWER, _HIGHER = MISSED, MODEL
"""Colours of contributions below and above zero, which differ for colour-blind readers, too."""

_POINT, _SPREAD, _ROW = 2.2, 0.8, 1.5
"""Diameter of a point in points, share of a row's height that many points take, and height of a row
in rows of bars."""

_LOW, _MIDDLE, _HIGH, _GREY = BLUE, VIOLET, ORANGE, PALE
"""Colours of the lowest, middle and highest entry of a column, and of text and missing entries."""


@dataclass(frozen=True, slots=True)
class OneOutput:
    """Contributions (n, d) of named columns to one output, which is called ``label``."""

    names: tuple[str, ...]
    base: float
    values: Array
    prediction: Array
    label: str

    def largest(self, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the numbers of the columns of largest mean size, and of the remaining columns.

        A single remaining column takes as much room as the line that counts it, and is shown.
        """
        order = np.argsort(-np.abs(self.values).mean(axis=0), kind="stable")
        most = as_count("most", most)
        n_shown = most if len(order) > most + 1 else len(order)
        return order[:n_shown], order[n_shown:]


def explained(
    model: BaseEstimator | Contributions, X: object, output: object, random_state: RandomState
) -> OneOutput:
    """Return the contributions to one output, computed at rows ``X`` unless they are given."""
    computed: Any = model
    if not isinstance(model, Contributions):
        if not hasattr(model, "contributions"):
            raise TypeError(
                "Contributions are drawn of a fitted TableRegressor or TableClassifier, or of the "
                f"result of its method contributions, got {type(model).__name__}."
            )
        computed = model.contributions(X, random_state=random_state)
    if computed.classes is None:
        if output is not None:
            raise ValueError(f"output must be None for a single target, got {output!r}.")
        parts = computed.base, computed.values, computed.prediction
        return OneOutput(computed.columns, *parts, "prediction")
    labels = computed.classes.tolist()
    sums = computed.prediction.sum(axis=1)
    are_classes = bool(np.allclose(sums, 1.0, rtol=0.0, atol=1e-6))  # Probabilities are rounded
    if output is None:
        place = int(computed.prediction.mean(axis=0).argmax()) if are_classes else 0
    elif output in labels:
        place = labels.index(output)
    else:
        known = ", ".join(map(repr, labels))
        raise ValueError(f"output must be one of {known}, got {output!r}.")
    what = "probability" if are_classes else "prediction"
    parts = computed.base[place], computed.values[..., place], computed.prediction[:, place]
    return OneOutput(computed.columns, *parts, f"{what} of {labels[place]}")


def columns_at(names: Sequence[str], X: MatrixLike, numbers: NDArray[np.intp]) -> list[Column]:
    """Return some columns of a table; an array has columns by number."""
    X = as_frame("X", X)
    has_names = hasattr(X, "columns")
    return [column_of(None, X, names[i] if has_names else int(i)) for i in numbers]


def entry_text(column: Column, row: int) -> str:
    """Return an entry as people write it.

    >>> from bochner.files.columns import read_column
    >>> numbers = read_column("x", [1999.0, 12345.678, None, -0.5])
    >>> [entry_text(numbers, row) for row in range(4)]
    ['1,999', '12,346', 'missing', '−0.5']
    >>> entry_text(read_column("year", [1999.0, 2010.0]), 0)
    '1999'
    >>> entry_text(read_column("day", ["2020-03-01", "2020-03-02T14:30"]), 1)
    '2020-03-02 14:30'
    """
    if not column.present[row]:
        return "missing"
    if column.is_time_of_day and column.clock is not None:
        return _time(column.clock[row])
    if column.kind == "date":
        stamp = np.datetime64(column.clock[row] if column.clock is not None else column.raw[row])
        is_day = stamp == stamp.astype("M8[D]")
        day = str(stamp.astype("M8[D]"))
        return day if is_day else f"{day} {_time(stamp)}"
    entry = column.raw[row]
    if column.kind != "numeric" or isinstance(entry, bool | np.bool_):
        return str(entry)
    present = column.values[column.present]
    text = number(float(column.values[row]), plain=PLAIN_ENTRIES).replace("-", "−")
    return text.replace(",", "") if may_be_years(present) else text


def with_entry(name: str, column: Column | None, row: int) -> str:
    """Return the name of a column, and its entry if it is known."""
    return name if column is None else f"{name}{EQUALS}{entry_text(column, row)}"


def decimals_of(contributions: Array) -> int:
    """Return the number of decimals that shows three digits of the largest contribution."""
    largest = float(np.abs(contributions).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return 0
    return int(np.clip(_DIGITS - 1 - np.floor(np.log10(largest)), 0, _MOST_DECIMALS))


def fixed(value: float, decimals: int, sign: str = "") -> str:
    """Return a number with commas between thousands and that many decimals.

    >>> fixed(-1234.5, 0), fixed(0.25, 2, "+"), fixed(-0.001, 2, "+")
    ('−1,234', '+0.25', '0.00')
    """
    if abs(value) * 10.0**decimals < 0.5:  # It would be a zero with a sign
        return f"{0.0:.{decimals}f}"
    return f"{value:{sign},.{decimals}f}".replace("-", "−")


def name_right(axis: "Axes", texts: Sequence[str], label: str = "") -> float:
    """Write a text on the right of each row, with a name, and return the points that they take."""
    shown = [round(tick) for tick in axis.get_yticks()]  # Some rows only, where room is scarce
    side = axis.secondary_yaxis("right")
    side.set_yticks(shown, [texts[row] for row in shown], parse_math=False)
    side.tick_params(axis="y", length=0.0, labelsize=SMALL, colors=axis.yaxis.label.get_color())
    side.spines["right"].set_visible(False)
    if label:
        name_axis(side.yaxis, label, panel_points(axis)[1])
        side.yaxis.labelpad = 5.0  # About a character
        side.yaxis.label.set_color(axis.yaxis.label.get_color())
    return max(map(text_width, texts)) + (2.0 * FONT if label else 0.0)


def _time(stamp: np.datetime64) -> str:
    moment: Any = stamp.astype("M8[ms]").item()
    return str(moment.strftime("%H:%M:%S" if moment.second else "%H:%M"))


@dataclass(frozen=True, slots=True, eq=False)
class WaterfallDisplay(Display):
    """Steps (k,) from the average prediction ``base`` to the prediction of one row, with names."""

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
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3)).round(2)
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, X[:, 1] - X[:, 2])
    >>> display = plot.waterfall(model, X, row=2, random_state=0)
    >>> sorted(display.names)
    ['x0 = 1.3', 'x1 = 0.95', 'x2 = −0.7']
    >>> bool(np.isclose(display.ends[-1], model.predict(X[2:3])[0]))
    True
    """
    of_row, given = _one_row(model, X, row)
    explanation = explained(given, of_row, output, random_state)
    shown, others = explanation.largest(most)
    columns = (
        [None] * len(shown) if of_row is None else columns_at(explanation.names, of_row, shown)
    )
    names = [
        with_entry(explanation.names[i], column, 0)
        for i, column in zip(shown, columns, strict=True)
    ]
    steps = explanation.values[0, shown]
    if len(others):
        names.append(f"{len(others)} more columns")
        steps = np.append(steps, explanation.values[0, others].sum())
    display = WaterfallDisplay(names, steps, explanation.base, label or explanation.label)
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


@dataclass(frozen=True, slots=True, eq=False)
class BeeswarmDisplay(Display):
    """Contributions of columns to many predictions, the column of largest mean size on top."""

    names: Sequence[str]
    values: Array  # (n, k), the last column perhaps a sum of ``n_left_out`` columns
    share: Array  # (k,) of the mean sizes
    rank: Array  # (n, k) of the entries, from 0 to 1; NaN for text and missing entries
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
        name_axis(axis.xaxis, f"contribution to the {self.label}", across)
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

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, X[:, 1] - 0.1 * X[:, 2])
    >>> display = plot.beeswarm(model, X[:50], random_state=0)
    >>> display.names[:2], display.values.shape
    (['x1', 'x2'], (50, 3))
    """
    explanation = explained(model, X, output, random_state)
    n_rows = len(explanation.values)
    if not n_rows or len(X) != n_rows:
        raise ValueError(
            f"X must have the rows of the contributions, at least one: {n_rows} and {len(X)} rows."
        )
    shown, others = explanation.largest(most)
    names = [explanation.names[i] for i in shown]
    values = explanation.values[:, shown]
    rank = np.column_stack([_ranks(column) for column in columns_at(explanation.names, X, shown)])
    if len(others):
        names.append(f"{len(others)} more columns")
        values = np.column_stack([values, explanation.values[:, others].sum(axis=1)])
        rank = np.column_stack([rank, np.full(n_rows, np.nan)])
    mean_size = np.abs(values).mean(axis=0)
    share = mean_size / (mean_size.sum() or 1.0)
    parts = names, values, share, rank, len(others), label or explanation.label
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
