"""Averaged predictions along columns of a table, as curves or as a map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, times_of
from bochner.plot import axis_texts
from bochner.plot.display import Display, PanelLayout
from bochner.plot.drawn_inputs import are_skewed
from bochner.plot.style import BAND, HEIGHT, WIDTH, Theme, look_of
from bochner.tables.sensitivity import Effect

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = "cividis"
"""Colour map of numbers, perceptually uniform and suitable for colour-blind readers."""

_ROW_SHARE = 0.28
"""Largest share of a picture's width for the row names of a map."""

_MOST_CURVES = 6
"""Largest number of classes or levels with separate curves."""

_SPREAD = 0.5
"""Share of a row's height over which points of different curves are spread vertically."""

_OTHER = {"<unknown>": "other or missing"}
"""Display name of the level that stands for entries unseen in training."""


@dataclass(frozen=True, slots=True, eq=False)
class EffectDisplay(Display):
    """Averaged predictions along one column, or over two.

    Numbers and dates have lines, levels of text points, each with quartiles over rows. Of several
    classes, the six that vary most are drawn. Two columns are curves by level or a map; of several
    classes they show the one that varies most.
    """

    effect: Effect
    dates: Sequence[str] = ()  # Columns whose values are decimal years of dates
    label: str = "average prediction"
    average: float = np.nan  # Of all rows, a thin line
    limits: tuple[float, float] | None = None  # Ends of the axis of averages
    quantiles: Mapping[str, Array] = field(default_factory=dict)  # From 1 % to 99 % of rows

    @property
    def span(self) -> tuple[float, float]:
        """Smallest and largest number of the curves and their bands; ``nan`` for a map."""
        if self._axis()[1]:
            return np.nan, np.nan
        has_ends = len(self.effect.columns) == 1 and self.effect.classes is None
        parts = [self.effect.lower, self.effect.upper] if has_ends else [self._curves()[1]]
        return float(np.min(parts)), float(np.max(parts))

    def describe(self) -> str:
        mean, columns = self.effect.mean, " and ".join(self.effect.columns)
        span = f"from {mean.min():.4g} to {mean.max():.4g}"
        return f"{self.label.capitalize()} by {columns}: {span}."

    def _layout(self) -> PanelLayout:
        along, is_map = self._axis()
        names = [] if is_map else self._curves()[0]
        above = axis_texts.legend_height(names, WIDTH) if len(names) > 1 else 0.0
        texts = [self._places(i) for i in ((0, 1) if is_map else (along,)) if self._is_text(i)]
        rows = [axis_texts.rows_height(len(n), [] if is_map else n.tolist()) for n in texts]
        return PanelLayout(height=max([*rows, HEIGHT] if is_map else rows or [HEIGHT]) + above)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        along, is_map = self._axis()
        if is_map:
            self._map(axis, along)
            return
        names, means, label = self._curves()
        ends = []
        if len(self.effect.columns) == 1 and self.effect.classes is None:
            ends = [self.effect.lower.ravel(), self.effect.upper.ravel()]
        name = self.effect.columns[along]
        if self._is_text(along):
            handles = _levels(axis, self._places(along), means, ends)
            if np.isfinite(self.average):
                axis.axvline(self.average, color=theme.ink, lw=0.7, zorder=1)
            axis.set_xlim(self.limits)
            axis_texts.finish(axis, label, name, ticks="x")
        else:
            if name not in self.dates and are_skewed(self.effect.values[along]):
                axis.set_xscale("log")
            handles = self._numbers(axis, along, means, ends, theme)
            if np.isfinite(self.average):
                axis.axhline(self.average, color=theme.ink, lw=0.7, zorder=1)
            axis.set_ylim(self.limits)
            if name in self.quantiles:
                at = self.quantiles[name]
                axis.plot(
                    times_of(at) if name in self.dates else at,
                    np.zeros(len(at)), color=theme.ink, ls="", marker="|", ms=5.0, clip_on=False,
                    transform=axis.get_xaxis_transform(),
                )  # fmt: skip
            axis_texts.finish(axis, name, label, are_dates=name in self.dates)
        if len(handles) > 1:
            axis_texts.legend([axis], handles, [*names, "missing"][: len(handles)])

    def _axis(self) -> tuple[int, bool]:
        """Return the index of the column on the x axis, and whether two columns are a map."""
        if len(self.effect.columns) == 1:
            return 0, False
        sizes = [len(values) for values in self.effect.values]
        if few := [i for i in (0, 1) if self._is_text(i) and sizes[i] <= _MOST_CURVES]:
            return 1 - min(few, key=sizes.__getitem__), False
        # The x axis of a map gets the numeric column, or else the column with fewer levels.
        return min((0, 1), key=lambda i: (self._is_text(i), sizes[i])), True

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
        return times_of(values) if self.effect.columns[i] in self.dates else values

    def _curves(self) -> tuple[list[str], Array, str]:
        """Return names and averages (n, c) of curves of classes or levels, and a label."""
        classes, is_single = self.effect.classes, len(self.effect.columns) == 1
        cells = self.effect.mean.reshape(-1, 1 if classes is None else len(classes))
        order = np.argsort(-np.ptp(cells, axis=0), kind="stable")
        shown = sorted(order[: _MOST_CURVES if is_single else 1].tolist())
        if cells.shape[1] == 2 and np.allclose(cells.sum(axis=1), 1.0):  # Probabilities
            shown = [1]
        label = self.label
        if classes is not None and len(shown) == 1:
            label += f" of {classes[shown[0]]}"
        if is_single:
            names = ["average"] if classes is None else [str(classes[k]) for k in shown]
            return names, cells[:, shown], label
        along, shape = self._axis()[0], tuple(map(len, self.effect.values))
        means = np.moveaxis(cells[:, shown[0]].reshape(shape), along, 0)
        return [*map(_text, self.effect.values[1 - along])], means, label

    def _numbers(
        self, axis: "Axes", i: int, means: Array, ends: Sequence[Array], theme: Theme
    ) -> list[Any]:
        """Draw lines along numbers or dates, and dotted lines for missing entries."""
        present, at = self._present(i), self._places(i)
        handles, missing = [], []
        for number, mean in enumerate(means.T):
            look = look_of(number)
            marker = look.marker if means.shape[1] > 1 else "."
            style = {"color": look.color, "ls": look.dashes, "marker": marker, "ms": 2.5}
            handles += axis.plot(at, mean[present], **style)
            if ends:
                lower, upper = (end[present] for end in ends)
                axis.fill_between(at, lower, upper, color=look.color, alpha=BAND, lw=0)
            for value in mean[~present]:
                missing.append(axis.axhline(value, color=look.color, ls=":", lw=1.0))
        if missing and len(handles) > 1:  # One legend entry for all colours
            missing = axis.plot([], [], color=theme.ink, ls=":", lw=1.0)
        return [*handles, *missing]

    def _map(self, axis: "Axes", along: int) -> None:
        """Draw a colour map of averages over two columns, with a colour bar."""
        sides = along, 1 - along
        _, means, label = self._curves()
        x, y = places = [self._places(i) for i in sides]
        at = [np.arange(len(each)) if each.dtype.kind == "O" else each for each in places]
        values = means[np.ix_(*(self._present(i) for i in sides))].T
        mesh = axis.pcolormesh(*at, values, cmap=_COLORS, shading="nearest", rasterized=True)
        axis.grid(visible=False)
        bar = axis.figure.colorbar(mesh, ax=axis, pad=0.02, aspect=25)
        bar.outline.set_visible(False)
        across, up = axis_texts.panel_points(axis)
        up -= axis_texts.COLUMN_POINTS * self._is_text(along)
        axis_texts.number_ticks(bar.ax.yaxis, up)
        axis_texts.name_axis(bar.ax.yaxis, label, up)
        axis_texts.finish(axis, self.effect.columns[along], self.effect.columns[1 - along], "")
        for i, side, points in ((along, axis.xaxis, 0.8 * across), (1 - along, axis.yaxis, up)):
            if self.effect.columns[i] in self.dates:
                axis_texts.date_ticks(side, points, self.effect.columns[i])
            elif not self._is_text(i):
                if (rows := self.quantiles.get(self.effect.columns[i])) is not None:
                    side.axes.set(**{f"{side.axis_name}lim": (rows[0], rows[-1])})
                axis_texts.number_ticks(side, points)
        if self._is_text(along):
            axis_texts.name_columns(axis, x.tolist(), across)
        if self._is_text(1 - along):
            axis_texts.name_rows(axis, y.tolist(), _ROW_SHARE)
            axis.set_ylim(-0.5, len(y) - 0.5)


def _levels(axis: "Axes", levels: NDArray[Any], means: Array, ends: Sequence[Array]) -> list[Any]:
    """Draw points in rows, the level of the largest average of the first curve on top."""
    order = np.argsort(-means[:, 0], kind="stable")
    rows, handles = np.arange(len(levels)), []
    for number, mean in enumerate(means.T):
        shift, look = _SPREAD * ((number + 0.5) / means.shape[1] - 0.5), look_of(number)
        if ends:
            lower, upper = (end[order] for end in ends)
            axis.hlines(rows, lower, upper, color=look.color, alpha=2.0 * BAND, lw=3.0)
        handles += axis.plot(mean[order], rows + shift, color=look.color, ls="", marker=look.marker)
    axis_texts.name_rows(axis, levels[order].tolist())
    return handles


def _text(level: object) -> str:
    return _OTHER.get(str(level), str(level))


def effect(
    model: BaseEstimator | Effect,
    column: str = "",
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
    model : TableRegressor, TableClassifier or Effect
        A fitted table model, whose ``effect`` is computed, or the result of ``effect``.
    column, column2 : str
        Names of one column or two of a model.
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
    if not (isinstance(model, Effect) or hasattr(model, "effect")):
        raise TypeError(
            "effect takes a fitted TableRegressor or TableClassifier, or an Effect, got "
            f"{type(model).__name__}."
        )
    computed = model
    if not isinstance(model, Effect):
        columns = (column,) if column2 is None else (column, column2)
        computed = model.effect(*columns, n_values=n_values)
    are_shares = computed.classes is not None and np.allclose(computed.mean.sum(axis=-1), 1.0)
    usual = "average probability" if are_shares else "average prediction"
    return EffectDisplay(computed, computed.dates, label or usual).plot(ax, theme=theme)
