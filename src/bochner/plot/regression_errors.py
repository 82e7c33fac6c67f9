"""Predictions of regressors against observations, and their residuals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array, as_level
from bochner.comparison.outcomes import mean_and_std, with_ends, within
from bochner.plot import axis_texts
from bochner.plot.display import Display, PanelLayout
from bochner.plot.drawn_inputs import (
    Limits,
    are_skewed,
    central_limits,
    column_of,
    draw_points,
    drawn_values,
    n_beyond,
)
from bochner.plot.style import BAND, DATA, MISSED, MODEL, MOST_VECTORS, WIDTH, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPAQUE, _FAINT = 100, 0.15
"""Number of points up to which points are opaque, and the smallest opacity of more points."""

_WINDOWS, _WINDOW_ROWS = 20, 25
"""Largest number of windows for running quartiles, and smallest number of rows per window."""

_MOST_LEVELS = 20
"""Largest number of text levels shown, in order of frequency."""


def observed_target(y: ArrayLike, target: int | None) -> Array:
    """Return a single target (n,) as numbers, or raise ValueError."""
    values = np.asarray(y)
    if values.ndim == 2:
        count = values.shape[1]
        if count > 1 and (target is None or not -count <= target < count):
            raise ValueError(
                f"y has {count} targets: choose one with target=0, 1, ..., got {target!r:.60}."
            )
        values = values[:, 0 if count == 1 else target]
    if values.ndim != 1 or not len(values):
        raise ValueError(f"y must have shape (n,) or (n, t), with n > 0, got {values.shape}.")
    return as_array(values)


def of_target(values: Array | None, target: int | None) -> Any:
    """Select predictions (n,) of one target from an array (n,) or (n, t)."""
    return values if values is None or values.ndim == 1 else values[:, target or 0]


def _cloud(count: int) -> dict[str, Any]:
    """Return plot options for ``count`` points, with lower opacity for more points."""
    alpha = float(np.clip(np.sqrt(_OPAQUE / max(count, 1)), _FAINT, 0.8))
    return {"alpha": alpha, "mew": 0.0, "rasterized": count > MOST_VECTORS}


@dataclass(frozen=True, slots=True, eq=False)
class PredictionsDisplay(Display):
    """Predictions (n,) against observations (n,), with ends of intervals of a nominal level."""

    observed: Array
    predicted: Array
    lower: Array | None = None
    upper: Array | None = None
    level: float = 0.9
    unit: str = ""

    @property
    def covered(self) -> NDArray[np.bool_] | None:
        """Mask (n,) of the observations within their intervals; ``None`` without intervals."""
        return within(self.observed, self.lower, self.upper)

    @property
    def is_logarithmic(self) -> bool:
        """Whether both axes are logarithmic, because positive observations are skewed."""
        return min(self.observed.min(), self.predicted.min()) > 0.0 and are_skewed(self.observed)

    @property
    def limits(self) -> tuple[Limits, Limits]:
        """Limits of both axes if extreme numbers would stretch them, else ``None``."""
        if self.is_logarithmic:
            return None, None
        ends = central_limits(np.concatenate([self.observed, self.predicted]))
        return ends, ends

    @property
    def n_beyond(self) -> int:
        """Number of rows beyond the axes, which are drawn at the edge."""
        return n_beyond(self.observed, self.predicted, self.limits)

    def describe(self) -> str:
        rmse = np.sqrt(np.mean((self.observed - self.predicted) ** 2))
        text = f"Predictions against observations of {len(self.observed)} rows: RMSE {rmse:.4g}"
        if (covered := self.covered) is not None:
            text += f", {100.0 * self.level:g} % intervals cover {100.0 * covered.mean():.1f} %"
        return f"{text}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=0.85 * WIDTH)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        covered = self.covered
        if covered is None:
            self._points(axis, np.ones(len(self.observed), dtype=np.bool_), MODEL)
        else:
            parts = (covered, MODEL), (~covered, MISSED)
            handles = [self._points(axis, rows, color) for rows, color in parts]
            share, level = 100.0 * covered.mean(), f"{100.0 * self.level:g} %"
            names = [f"in {level} interval: {share:.1f} %", f"outside: {100.0 - share:.1f} %"]
            axis_texts.legend(axes, handles, names)
        middle = float(self.observed.mean())
        if self.is_logarithmic:
            axis.set(xscale="log", yscale="log")
            axis.axline((middle, middle), (2.0 * middle, 2.0 * middle), **self._line(theme))
        else:
            axis.axline((middle, middle), slope=1.0, **self._line(theme))
        low, high = (pick(axis.get_xlim() + axis.get_ylim()) for pick in (min, max))
        axis.set(xlim=(low, high), ylim=(low, high), box_aspect=1.0)
        unit = f" ({self.unit})" if self.unit else ""
        axis_texts.finish(axis, f"observed{unit}", f"predicted{unit}")

    @staticmethod
    def _line(theme: Theme) -> dict[str, Any]:
        return {"color": theme.ink, "lw": 0.7, "zorder": 1}

    def _points(self, axis: "Axes", rows: NDArray[np.bool_], color: str) -> Any:
        """Draw the rows of a mask with one colour, and return their legend handle."""
        options = _cloud(len(self.observed))
        x, y = self.observed[rows], self.predicted[rows]
        if self.lower is not None and self.upper is not None:
            # One path with gaps, because separate paths would multiply the size of an SVG.
            gap = np.full(len(x), np.nan)
            ends = np.column_stack([self.lower[rows], self.upper[rows], gap]).ravel()
            faint = {"alpha": 0.5 * options["alpha"], "rasterized": options["rasterized"]}
            axis.plot(np.repeat(x, 3), ends, color=color, lw=0.7, scaley=False, **faint)
        draw_points(axis, x, y, self.limits, color=color, ms=2.5, **options)
        return axis.plot([], [], "o", color=color)[0]


def predictions(
    model: BaseEstimator,
    X: object,
    y: ArrayLike,
    *,
    level: float = 0.9,
    target: int | None = None,
    unit: str = "",
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> PredictionsDisplay:
    """Draw predictions against observations, with intervals where the model has them.

    Observations in their interval and outside have different colours. Beyond 2,000 rows, points
    are drawn as an image.

    Parameters
    ----------
    model : fitted regressor
        With ``predict_interval`` or, for normal intervals, ``predict(X, return_std=True)``; without
        either, only predictions are drawn.
    X : table or array-like of shape (n, d)
        Held-out rows, which were not used to fit the model.
    y : array-like of shape (n,) or (n, t)
        Targets of the rows.
    level : float, default=0.9
        Nominal level of the intervals.
    target : int, default=None
        Index of the target if the model has several targets.
    unit : str, default=""
        Unit of the target.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from bochner import plot
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> model = GaussianProcessRegressor(alpha=0.1).fit(X[::2], X[::2, 0])
    >>> display = plot.predictions(model, X[1::2], X[1::2, 0], unit="V")
    >>> display.ax_.get_ylabel(), len(display.observed)
    ('predicted (V)', 25)
    """
    as_level(level)
    values = observed_target(y, target)
    mean, lower, upper = (of_target(part, target) for part in with_ends(model, X, level))
    display = PredictionsDisplay(values, mean, lower, upper, level, unit)
    return display.plot(ax, theme=theme)


@dataclass(frozen=True, slots=True, eq=False)
class ResidualsDisplay(Display):
    """Residuals (n,) with running quartiles, against numbers, ``datetime64`` or levels of text."""

    residuals: Array
    against: NDArray[Any]
    xlabel: str = "predicted"
    ylabel: str = "residual"

    @property
    def is_text(self) -> bool:
        """Whether residuals are drawn by levels of text."""
        return self.against.dtype.kind not in "fiubM"

    @property
    def limits(self) -> tuple[Limits, Limits]:
        """Limits of both axes if extreme numbers would stretch them, else ``None``."""
        if self.is_text:
            return None, None
        is_spread = are_skewed(self.against)  # By a logarithmic axis
        return None if is_spread else central_limits(self.against), central_limits(self.residuals)

    @property
    def n_beyond(self) -> int:
        """Number of rows beyond the axes, which are drawn at the edge."""
        return n_beyond(self.against, self.residuals, self.limits)

    def windows(self) -> tuple[NDArray[np.generic], Array]:
        """Return midpoints (w,) of windows of equally many rows, and residual quartiles (w, 3)."""
        is_present = np.isfinite(self.against)
        order = np.flatnonzero(is_present)[np.argsort(self.against[is_present], kind="stable")]
        count = int(np.clip(len(order) // _WINDOW_ROWS, 1, _WINDOWS))
        parts = [part for part in np.array_split(order, count) if len(part)]
        middles = [np.sort(self.against[part])[len(part) // 2] for part in parts]
        quartiles = [np.quantile(self.residuals[part], (0.25, 0.5, 0.75)) for part in parts]
        return np.array(middles), as_array(quartiles).reshape(-1, 3)

    def levels(self) -> tuple[list[str], Array]:
        """Return the k most frequent levels, with mean and quartiles (k, 3) of their residuals."""
        texts = np.array(["missing" if v is None else str(v) for v in self.against], dtype=object)
        names, number, counts = np.unique(texts, return_inverse=True, return_counts=True)
        most_frequent = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
        # Compare by index, because NumPy strips trailing null characters of names.
        parts = [self.residuals[number == level] for level in most_frequent]
        rows = [(np.mean(part), *np.quantile(part, (0.25, 0.75))) for part in parts]
        return [str(name) for name in names[most_frequent]], as_array(rows)

    def describe(self) -> str:
        lower, middle, upper = np.quantile(self.residuals, (0.25, 0.5, 0.75))
        return (
            f"{self.ylabel.capitalize()} against {self.xlabel} of {len(self.residuals)} rows: "
            f"median {middle:.3g}, quartiles {lower:.3g} and {upper:.3g}."
        )

    def _layout(self) -> PanelLayout:
        if self.is_text:
            return PanelLayout(height=axis_texts.rows_height(len(self.levels()[0])))
        return PanelLayout()

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        if self.is_text:
            names, values = self.levels()
            rows = np.arange(len(names))
            axis.hlines(rows, *values[:, 1:].T, color=MODEL, alpha=2.0 * BAND, lw=3.0)
            # Means, because tests and texts on levels are about means.
            axis.plot(values[:, 0], rows, "o", color=MODEL)
            axis.axvline(0.0, color=theme.ink, lw=0.7, zorder=1)
            axis_texts.name_rows(axis, names)
            axis_texts.finish(axis, f"{self.ylabel}: mean and quartiles", self.xlabel, ticks="x")
            return
        style = {"color": DATA, "ms": 2.0, **_cloud(len(self.against))}
        if are_skewed(self.against):
            axis.set_xscale("log")
        draw_points(axis, self.against, self.residuals, self.limits, **style)
        axis.axhline(0.0, color=theme.ink, lw=0.7, zorder=1)
        at, quartiles = self.windows()
        lower, middle, upper = quartiles.T
        band = axis.fill_between(at, lower, upper, color=MODEL, alpha=BAND, lw=0)
        line = axis.plot(at, middle, color=MODEL)[0]
        are_dates = self.against.dtype.kind == "M"
        axis_texts.finish(axis, self.xlabel, self.ylabel, are_dates=are_dates)
        axis_texts.legend(axes, [line, band], ["running median", "quartiles"])


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

    Residuals are observations minus predictions, divided by predictive standard deviations if the
    model has them. Residuals of a correct model are then about standard normal everywhere.

    Parameters
    ----------
    model : fitted regressor
    X, y, target, unit, ax, theme
        As in :func:`predictions`.
    column : str, int or array-like of shape (n,), default=None
        Horizontal axis of the residuals: a column of ``X`` by name or number, or values such as
        times; ``None`` means predictions. Dates get an axis of dates; each level of text gets a
        row.

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
    values = observed_target(y, target)
    mean, std = (of_target(part, target) for part in mean_and_std(model, X))
    in_unit = f" ({unit})" if unit else ""
    errors, label = values - mean, f"residual{in_unit}"
    if std is not None:
        errors, label = errors / np.maximum(std, np.finfo(np.float64).tiny), "residual / std"
    if column is None:
        display = ResidualsDisplay(errors, mean, f"predicted{in_unit}", label)
        return display.plot(ax, theme=theme)
    chosen = column_of(model, X, column)
    display = ResidualsDisplay(errors, drawn_values(chosen), chosen.name, label)
    return display.plot(ax, theme=theme)
