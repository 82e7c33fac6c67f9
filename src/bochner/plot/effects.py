"""Averaged predictions along columns of a table, as curves or as a map."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array
from bochner.plot import axis_texts
from bochner.plot.display import Display, PanelLayout
from bochner.plot.style import BAND, HEIGHT, WIDTH, Look, Theme, look_of
from bochner.tables.sensitivity import Effect

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = "cividis"
"""Colour map of numbers, perceptually uniform and suitable for colour-blind readers."""

_ROW_SHARE = 0.28
"""Largest share of a picture's width for the row names of a map."""

_COLUMN_POINTS = 48.0
"""Largest height in points of the rotated column names of a map, about ten characters."""


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """Grid values along one axis of a map: numbers, times, or names of levels."""

    name: str
    values: NDArray[Any]

    @property
    def is_text(self) -> bool:
        """Whether the values are names of levels."""
        return self.values.dtype.kind not in "fiuM"

    def places(self) -> NDArray[Any]:
        """Return the axis coordinates of the values."""
        from matplotlib import dates

        number_of: Any = dates.date2num  # matplotlib.dates has no type annotations
        if self.values.dtype.kind == "M":
            return np.asarray(number_of(self.values))
        return np.arange(len(self.values)) if self.is_text else self.values


def _draw_map(axis: "Axes", x: _Side, y: _Side, values: Array, label: str) -> None:
    """Draw a colour map of numbers (ny, nx) over the values of both axes, with a colour bar."""
    for side, side_axis in ((x, axis.xaxis), (y, axis.yaxis)):
        if side.values.dtype.kind == "M":
            side_axis.axis_date()
    mesh = axis.pcolormesh(
        x.places(), y.places(), values, cmap=_COLORS, shading="nearest", rasterized=True
    )
    axis.grid(visible=False)
    bar = axis.figure.colorbar(mesh, ax=axis, pad=0.02, aspect=25)
    bar.outline.set_visible(False)
    up = axis_texts.panel_points(axis)[1] - (_COLUMN_POINTS if x.is_text else 0.0)
    axis_texts.number_ticks(bar.ax.yaxis, up)
    axis_texts.name_axis(bar.ax.yaxis, label, up)
    axis_texts.finish(axis, x.name, y.name, ticks="")
    for side, side_axis, points in (
        (x, axis.xaxis, 0.8 * axis_texts.panel_points(axis)[0]),
        (y, axis.yaxis, up),
    ):
        names = [str(value) for value in side.values]
        if side.values.dtype.kind == "M":
            axis_texts.date_ticks(side_axis, points, side.name)
        elif not side.is_text:
            axis_texts.number_ticks(side_axis, points)
        elif side is x:
            axis_texts.name_columns(axis, names, axis_texts.panel_points(axis)[0], _COLUMN_POINTS)
        else:
            axis_texts.name_rows(axis, names, _ROW_SHARE)
            axis.set_ylim(-0.5, len(names) - 0.5)


_MOST_CURVES = 6
"""Largest number of classes or levels with separate curves."""

_SPREAD = 0.5
"""Share of a row's height over which points of different curves are spread vertically."""

_OTHER = {"<unknown>": "other or missing"}
"""Display name of the level that stands for entries unseen in training."""


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """One curve: averages (v,) along a column, with quartiles over rows or None."""

    label: str
    mean: Array
    look: Look = field(default_factory=lambda: look_of(0))
    lower: Array | None = None
    upper: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EffectDisplay(Display):
    """Averaged predictions along one column, or over two.

    Effects of numbers and dates are lines with a band between the quartiles over rows; effects of
    levels of text are points with bars between the quartiles. For classes, the curves of the at
    most six classes that vary most are drawn, without bands. The effect of two columns is drawn as
    one curve for each level of a column with at most six levels, or else as a map; for classes it
    shows the class that varies most.
    """

    effect: Effect
    dates: Sequence[str] = ()  # Columns whose values are decimal years of dates
    label: str = "average prediction"

    def describe(self) -> str:
        mean, columns = self.effect.mean, " and ".join(self.effect.columns)
        span = f"from {mean.min():.4g} to {mean.max():.4g}"
        return f"{self.label.capitalize()} by {columns}: {span}."

    def _layout(self) -> PanelLayout:
        single = len(self.effect.columns) == 1
        lines, along = (None, 0) if single else self._lines_along()
        names = [curve.label for curve in self._class_curves()] if single else []
        if lines is not None:
            names = [*map(_text, self.effect.values[lines])]
        above = axis_texts.legend_height(names, WIDTH) if len(names) > 1 else 0.0
        sides = [along] if lines is not None or single else [0, 1]
        rows = [
            axis_texts.rows_height(len(self.effect.values[i])) for i in sides if self._is_text(i)
        ]
        if lines is None and not single:
            rows.append(HEIGHT)
        return PanelLayout(height=max(rows, default=HEIGHT) + above)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        if len(self.effect.columns) == 1:
            curves, label = self._class_curves(), self._label(self._shown_classes())
            self._along(axis, 0, curves, label, theme)
            return
        lines, along = self._lines_along()
        shown = [1 if self._is_binary() else int(np.argmax(np.ptp(self._cells(), axis=0)))]
        values = self._grid(shown[0], along)  # (along, other)
        if lines is not None:
            levels = map(_text, self.effect.values[lines])
            curves = [_Curve(t, values[:, k], look_of(k)) for k, t in enumerate(levels)]
            self._along(axis, along, curves, self._label(shown), theme)
        else:
            present = [self._present(i) for i in (1 - along, along)]
            x, y = self._side(along), self._side(1 - along)
            _draw_map(axis, x, y, values.T[np.ix_(*present)], self._label(shown))

    def _is_text(self, i: int) -> bool:
        return self.effect.values[i].dtype.kind not in "fiu"

    def _present(self, i: int) -> NDArray[np.bool_]:
        values = self.effect.values[i]
        if self._is_text(i):
            return np.ones(len(values), dtype=np.bool_)
        return np.asarray(np.isfinite(values.astype(np.float64)))

    def _places(self, i: int) -> NDArray[Any]:
        """Return the values of a column that are not missing: numbers, times or texts."""
        if self._is_text(i):
            return np.array([*map(_text, self.effect.values[i])], dtype=object)
        values = self.effect.values[i][self._present(i)].astype(np.float64)
        return axis_texts.dates_of(values) if self.effect.columns[i] in self.dates else values

    def _side(self, i: int) -> _Side:
        return _Side(self.effect.columns[i], self._places(i))

    def _cells(self) -> Array:
        """Return averages (n_cells, n_classes); a numeric target counts as one class."""
        size = 1 if self.effect.classes is None else len(self.effect.classes)
        return self.effect.mean.reshape(-1, size)

    def _shown_classes(self) -> list[int]:
        """Return the indices of the classes that vary most; for two classes, the second class."""
        cells = self._cells()
        if self._is_binary():
            return [1]
        varying = np.argsort(-np.ptp(cells, axis=0), kind="stable")
        return sorted(int(k) for k in varying[:_MOST_CURVES])

    def _is_binary(self) -> bool:
        """Whether the averages are probabilities of two classes, not means of two targets."""
        cells = self._cells()
        return cells.shape[1] == 2 and bool(np.allclose(cells.sum(axis=1), 1.0))

    def _label(self, shown: Sequence[int]) -> str:
        classes = self.effect.classes
        if classes is None or len(shown) > 1:
            return self.label
        return f"{self.label} of {classes[shown[0]]}"

    def _class_curves(self) -> list[_Curve]:
        shown, cells, classes = self._shown_classes(), self._cells(), self.effect.classes
        if classes is None:  # Shifted probabilities may leave the range from zero to one
            band = self.effect.lower.ravel(), self.effect.upper.ravel()
            return [_Curve("average", cells[:, 0], look_of(0), *band)]
        return [
            _Curve(str(classes[k]), cells[:, k], look_of(place)) for place, k in enumerate(shown)
        ]

    def _lines_along(self) -> tuple[int | None, int]:
        """Return the columns, by index, with a curve per level (or ``None``) and on the x axis."""
        sizes = [len(values) for values in self.effect.values]
        few = [i for i in (0, 1) if self._is_text(i) and sizes[i] <= _MOST_CURVES]
        if few:
            lines = min(few, key=sizes.__getitem__)
            return lines, 1 - lines
        # The x axis of a map gets the numeric column, or else the column with fewer levels.
        return None, min((0, 1), key=lambda i: (self._is_text(i), sizes[i]))

    def _grid(self, k: int, along: int) -> Array:
        """Return the averages of one class as an array whose first axis is the column ``along``."""
        shape = tuple(map(len, self.effect.values))
        return np.moveaxis(self._cells()[:, k].reshape(shape), along, 0)

    def _along(
        self, axis: "Axes", i: int, curves: Sequence[_Curve], label: str, theme: Theme
    ) -> None:
        """Draw curves along one column, with a legend if there is more than one."""
        names = [curve.label for curve in curves]
        if self._is_text(i):
            handles = _levels(axis, list(self._places(i)), curves)
            axis_texts.finish(axis, label, self.effect.columns[i], ticks="x")
        else:
            handles = self._numbers(axis, i, curves, theme)
            name = self.effect.columns[i]
            axis_texts.finish_along(axis, name, label, are_dates=name in self.dates)
        if len(handles) > 1:
            axis_texts.legend([axis], handles, [*names, "missing"][: len(handles)])

    def _numbers(self, axis: "Axes", i: int, curves: Sequence[_Curve], theme: Theme) -> list[Any]:
        """Draw lines along numbers or dates, and dotted lines for missing entries."""
        present, at = self._present(i), self._places(i)
        handles, missing = [], []
        for curve in curves:
            look, mean = curve.look, curve.mean[present]
            marker = look.marker if len(curves) > 1 else "."
            style = {"color": look.color, "ls": look.dashes, "marker": marker, "ms": 2.5}
            handles += axis.plot(at, mean, **style)
            if curve.lower is not None and curve.upper is not None:
                ends = curve.lower[present], curve.upper[present]
                axis.fill_between(at, *ends, color=look.color, alpha=BAND, lw=0)
            missing += [
                axis.axhline(value, color=look.color, ls=":", lw=1.0)
                for value in curve.mean[~present]
            ]
        if missing and len(curves) > 1:  # One legend entry for all colours
            missing = axis.plot([], [], color=theme.ink, ls=":", lw=1.0)
        return [*handles, *missing]


def _levels(axis: "Axes", levels: Sequence[str], curves: Sequence[_Curve]) -> list[Any]:
    """Draw points in rows, the level of the largest average of the first curve on top."""
    order = np.argsort(-curves[0].mean, kind="stable")
    rows, handles = np.arange(len(levels)), []
    for number, curve in enumerate(curves):
        shift = _SPREAD * ((number + 0.5) / len(curves) - 0.5)
        look, mean = curve.look, curve.mean[order]
        if curve.lower is not None and curve.upper is not None:
            ends = curve.lower[order], curve.upper[order]
            axis.hlines(rows, *ends, color=look.color, alpha=2.0 * BAND, lw=3.0)
        handles += axis.plot(mean, rows + shift, color=look.color, ls="", marker=look.marker)
    axis_texts.name_rows(axis, [levels[i] for i in order])
    return handles


def _text(level: object) -> str:
    return _OTHER.get(str(level), str(level))


def effect(
    model: BaseEstimator,
    column: str,
    column2: str | None = None,
    *,
    n_values: int = 24,
    label: str | None = None,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> EffectDisplay:
    """Draw predictions averaged over rows, along one column or over two.

    Parameters
    ----------
    model : TableRegressor or TableClassifier
        A fitted table model, whose ``effect`` is computed.
    column, column2 : str
        Names of one column or two.
    n_values : int, default=24
        Largest number of values of a column.
    label : str, default=None
        Averaged quantity, with its unit; by default "average prediction", or "average probability"
        for classes.
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, X[:, 1])
    >>> display = plot.effect(model, "x1", label="average output (V)")
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('x1', 'average output (V)')
    """
    if not hasattr(model, "effect"):
        raise TypeError(
            f"effect takes a fitted TableRegressor or TableClassifier, got {type(model).__name__}."
        )
    columns = (column,) if column2 is None else (column, column2)
    computed = model.effect(*columns, n_values=n_values)
    states = getattr(getattr(model, "encoder_", None), "columns_", [])
    dates = [state["name"] for state in states if state["kind"] == "date"]
    usual = "average probability" if hasattr(model, "classes_") else "average prediction"
    return EffectDisplay(computed, dates, label or usual).plot(ax, theme=theme)
