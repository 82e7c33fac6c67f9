"""Predictions against observations, with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_level
from bochner.plot.display import Display, PanelLayout
from bochner.plot.predicted import intervals, observed
from bochner.plot.style import MISSED, MODEL, WIDTH, Theme
from bochner.plot.text_labels import finish, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_VECTORS = 2000
"""Points from which on they are drawn as an image: as shapes they would be megabytes."""

_OPAQUE, _FAINT = 100, 0.15
"""Points up to which they are opaque, and the least opacity of many."""


def cloud(count: int) -> dict[str, Any]:
    """Return plot options for ``count`` points: more transparent for more points."""
    alpha = float(np.clip(np.sqrt(_OPAQUE / max(count, 1)), _FAINT, 0.8))
    return {"alpha": alpha, "mew": 0.0, "rasterized": count > MOST_VECTORS}


@dataclass(frozen=True, slots=True, eq=False)
class PredictionsDisplay(Display):
    """Predictions against observations, with intervals.

    :func:`bochner.plot.predictions` returns it, and has an example.

    Parameters
    ----------
    observed, predicted : ndarray of shape (n,)
    lower, upper : ndarray of shape (n,) or None, default=None
        Ends of prediction intervals.
    level : float, default=0.9
        Nominal level of the intervals.
    unit : str, default=""
        Unit of the target.

    Raises
    ------
    ValueError
        If shapes differ, or there are no rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.plot import PredictionsDisplay
    >>> observed, predicted = np.array([1.0, 2.0]), np.array([1.1, 2.9])
    >>> display = PredictionsDisplay(observed, predicted, predicted - 0.5, predicted + 0.5)
    >>> display.plot().describe()
    'Predictions against observations of 2 rows: RMSE 0.6403, 90 % intervals cover 50.0 %.'
    """

    observed: Array
    predicted: Array
    lower: Array | None = None
    upper: Array | None = None
    level: float = 0.9
    unit: str = ""

    def __post_init__(self) -> None:
        parts = (self.observed, self.predicted, self.lower, self.upper)
        shapes = [np.shape(part) for part in parts if part is not None]
        if len(set(shapes)) > 1 or len(shapes[0]) != 1 or not shapes[0][0]:
            raise ValueError(
                "observed, predicted, lower and upper must have one shape (n,), with n > 0, got "
                f"{', '.join(map(str, shapes))}."
            )

    @property
    def covered(self) -> NDArray[np.bool_] | None:
        """Mask (n,) of the observations in their intervals; ``None`` without intervals."""
        if self.lower is None or self.upper is None:
            return None
        return np.asarray((self.lower <= self.observed) & (self.observed <= self.upper))

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
            legend(axes, handles, names)
        middle = float(self.observed.mean())
        axis.axline((middle, middle), slope=1.0, color=theme.ink, lw=0.7, zorder=1)
        unit = f" ({self.unit})" if self.unit else ""
        finish(axis, f"observed{unit}", f"predicted{unit}")

    def _points(self, axis: "Axes", rows: NDArray[np.bool_], color: str) -> Any:
        """Draw some of the rows, and return their legend handle."""
        options = cloud(len(self.observed))
        x, y = self.observed[rows], self.predicted[rows]
        if self.lower is not None and self.upper is not None:
            # One path with gaps: a path for each would make an SVG several times as large.
            gap = np.full(len(x), np.nan)
            ends = np.column_stack([self.lower[rows], self.upper[rows], gap]).ravel()
            faint = {"alpha": 0.5 * options["alpha"], "rasterized": options["rasterized"]}
            axis.plot(np.repeat(x, 3), ends, color=color, lw=0.7, **faint)
        axis.plot(x, y, "o", color=color, ms=2.5, **options)
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
        Number of the target, where there are several.
    unit : str, default=""
        Unit of the target.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    display : PredictionsDisplay

    Raises
    ------
    ValueError
        If there are no rows, if there are several targets and ``target`` is ``None``, or if
        ``level`` is out of range.

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
    values = observed(y, target)
    mean_and_ends = intervals(model, X, level, target)
    return PredictionsDisplay(values, *mean_and_ends, level, unit).plot(ax, theme=theme)
