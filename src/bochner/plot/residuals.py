"""Residuals against predictions, columns or time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner.files.columns import labels
from bochner.plot.display import Display, PanelLayout
from bochner.plot.model_inputs import column_of
from bochner.plot.predicted import mean_and_std, observed
from bochner.plot.scatter import cloud
from bochner.plot.style import BAND, DATA, HEIGHT, MISSED, MODEL, Theme
from bochner.plot.text_labels import (
    date_ticks,
    finish,
    legend,
    name_rows,
    panel_points,
    rows_height,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WINDOWS = 20
"""Most windows of the running quartiles."""

_WINDOW_ROWS = 25
"""Fewest rows of a window: the standard error of its median is a quarter of a deviation."""

_CENTRAL = (0.005, 0.995)
"""Quantiles of the residuals that the axis has at least: the central 99 %."""

_ROOM, _STRETCHED = 0.25, 2.0
"""Margins of the axis in central ranges, and the ratio of the whole range to the axis from which
the axis is limited: the other residuals would have less than half of the height."""

_MOST_LEVELS = 20
"""Most levels of text that are shown, the most frequent ones."""


@dataclass(frozen=True, slots=True, eq=False)
class ResidualsDisplay(Display):
    """Residuals with running quartiles.

    :func:`bochner.plot.residuals` returns it, and has an example.

    Parameters
    ----------
    residuals : ndarray of shape (n,)
        Observations minus predictions, or these residuals over their standard deviations.
    against : ndarray of shape (n,)
        Numbers, ``datetime64`` times, or levels of text; missing ones are left out.
    xlabel : str, default="predicted"
    ylabel : str, default="residual"

    Raises
    ------
    ValueError
        If shapes differ, or there are no rows.
    """

    residuals: Array
    against: NDArray[Any]
    xlabel: str = "predicted"
    ylabel: str = "residual"

    def __post_init__(self) -> None:
        shapes = self.residuals.shape, self.against.shape
        if len(shapes[0]) != 1 or not shapes[0][0] or shapes[0] != shapes[1]:
            raise ValueError(
                f"residuals and against must have one shape (n,), with n > 0, got {shapes[0]} and "
                f"{shapes[1]}."
            )

    @property
    def is_text(self) -> bool:
        """Whether residuals are drawn by levels of text."""
        return self.against.dtype.kind not in "fiubM"

    @property
    def limits(self) -> tuple[float, float] | None:
        """Ends of the axis of residuals where few of them would stretch it, else ``None``."""
        low, high = np.quantile(self.residuals, _CENTRAL)
        room = _ROOM * float(high - low)
        if self.is_text or np.ptp(self.residuals) <= _STRETCHED * (high - low + 2.0 * room):
            return None
        return float(low) - room, float(high) + room

    @property
    def n_beyond(self) -> int:
        """Number of residuals beyond the axis, which are drawn at its edge."""
        if self.limits is None:
            return 0
        low, high = self.limits
        return int(np.sum((self.residuals < low) | (self.residuals > high)))

    def windows(self) -> tuple[NDArray[np.generic], Array]:
        """Return middles (w,) of windows of equally many rows, and quartiles (w, 3) in them."""
        is_present = ~np.isnat(self.against) if self.against.dtype.kind == "M" else np.isfinite(
            self.against.astype(np.float64))  # fmt: skip
        order = np.flatnonzero(is_present)[np.argsort(self.against[is_present], kind="stable")]
        count = int(np.clip(len(order) // _WINDOW_ROWS, 1, _WINDOWS))
        parts = [part for part in np.array_split(order, count) if len(part)]
        middles = [np.sort(self.against[part])[len(part) // 2] for part in parts]
        quartiles = [np.quantile(self.residuals[part], (0.25, 0.5, 0.75)) for part in parts]
        return np.array(middles), as_array(quartiles).reshape(-1, 3)

    def levels(self) -> tuple[list[str], Array]:
        """Return the most frequent levels, and the quartiles (k, 3) of their residuals."""
        texts = self._texts()
        names, number, counts = np.unique(texts, return_inverse=True, return_counts=True)
        most_frequent = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
        # By number: NumPy would compare a name without the null characters at its end.
        quartiles = [
            np.quantile(self.residuals[number == level], (0.25, 0.5, 0.75))
            for level in most_frequent
        ]
        return [str(name) for name in names[most_frequent]], as_array(quartiles)

    def level_means(self) -> Array:
        """Return the means (k,) of the residuals of the most frequent levels."""
        texts = [str(name) for name in self._texts()]
        return as_array(
            [np.mean(self.residuals[[text == name for text in texts]]) for name in self.levels()[0]]
        )

    def _texts(self) -> NDArray[np.generic]:
        return np.array(["missing" if v is None else str(v) for v in self.against], dtype=object)

    def describe(self) -> str:
        lower, middle, upper = np.quantile(self.residuals, (0.25, 0.5, 0.75))
        return (
            f"{self.ylabel.capitalize()} against {self.xlabel} of {len(self.residuals)} rows: "
            f"median {middle:.3g}, quartiles {lower:.3g} and {upper:.3g}."
        )

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=rows_height(len(self.levels()[0])) if self.is_text else HEIGHT)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        if self.is_text:
            names, quartiles = self.levels()
            rows = np.arange(len(names))
            axis.hlines(rows, *quartiles[:, [0, 2]].T, color=MODEL, alpha=2.0 * BAND, lw=3.0)
            # Means, which sentences and tests on levels are about.
            axis.plot(self.level_means(), rows, "o", color=MODEL)
            axis.axvline(0.0, color=theme.ink, lw=0.7, zorder=1)
            name_rows(axis, names)
            finish(axis, f"{self.ylabel}: mean and quartiles", self.xlabel, ticks="x")
            return
        self._points(axis)
        axis.axhline(0.0, color=theme.ink, lw=0.7, zorder=1)
        at, (lower, middle, upper) = self.windows()[0], self.windows()[1].T
        band = axis.fill_between(at, lower, upper, color=MODEL, alpha=BAND, lw=0)
        line = axis.plot(at, middle, color=MODEL)[0]
        is_date = self.against.dtype.kind == "M"
        finish(axis, self.xlabel, self.ylabel, ticks="y" if is_date else "xy")
        if is_date:
            times = self.against[~np.isnat(self.against)]
            date_ticks(axis.xaxis, times, panel_points(axis)[0], self.xlabel)
        legend(axes, [line, band], ["running median", "quartiles"])

    def _points(self, axis: "Axes") -> None:
        """Draw a point for each row, and triangles at the edges for those beyond."""
        low, high = (-np.inf, np.inf) if self.limits is None else self.limits
        below, above = self.residuals < low, self.residuals > high
        shown = np.where(below | above, np.nan, self.residuals)
        axis.plot(self.against, shown, "o", color=DATA, ms=2.0, **cloud(len(self.against)))
        for rows, edge, marker in ((below, low, "v"), (above, high, "^")):
            if rows.any():
                ends = np.full(int(rows.sum()), edge)
                axis.plot(self.against[rows], ends, marker, color=MISSED, ms=3.0, clip_on=False)
        if self.limits is not None:
            axis.set_ylim(low, high)


def residuals(
    model: BaseEstimator,
    X: object,
    y: ArrayLike,
    column: object = None,
    *,
    target: int | None = None,
    unit: str = "",
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ResidualsDisplay:
    """Draw residuals against predictions, a column or time, with their running quartiles.

    Residuals are observations less predictions. They are divided by the predictive standard
    deviations of models that have them, so that they are about normal with variance one if the
    model is right, everywhere.

    Parameters
    ----------
    model : fitted regressor
    X, y, target, unit, ax, theme
        As in :func:`predictions`.
    column : str, int or array-like of shape (n,), default=None
        Horizontal axis of the residuals: a column of ``X`` by name or number, or values such as
        times; ``None`` means predictions. Dates get an axis of dates; each level of text gets a
        row.

    Returns
    -------
    display : ResidualsDisplay

    Raises
    ------
    ValueError
        If there are no rows, if the column is missing, or if there are several targets and
        ``target`` is ``None``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from bochner import plot
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> model = LinearRegression().fit(X, X[:, 0] ** 2)
    >>> display = plot.residuals(model, X, X[:, 0] ** 2, column=0)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('x0', 'residual')
    """
    values = observed(y, target)
    mean, std = mean_and_std(model, X, target)
    errors, label = values - mean, f"residual ({unit})" if unit else "residual"
    if std is not None:
        errors, label = errors / np.maximum(std, np.finfo(np.float64).tiny), "residual / std"
    if column is None:
        return ResidualsDisplay(
            errors, mean, f"predicted ({unit})" if unit else "predicted", label
        ).plot(ax, theme=theme)
    read_values = column_of(model, X, column)
    if read_values.kind == "date":
        against: NDArray[np.generic] = np.full(len(errors), np.datetime64("NaT"), dtype="M8[us]")
        against[read_values.present] = read_values.wall_times()
    elif read_values.kind in ("numeric", "empty"):
        against = read_values.values
    else:
        against = labels(read_values.raw, read_values.present)
    return ResidualsDisplay(errors, against, read_values.name, label).plot(ax, theme=theme)
