"""Errors of several methods, with their uncertainty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner.comparison.outcomes import Outcome, Score
from bochner.plot.display import Display, PanelLayout
from bochner.plot.style import Theme, looks_of
from bochner.plot.text_labels import finish, name_rows, rows_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREATER_IS_BETTER = ("r2", "auc", "accuracy")
"""Metrics whose greatest values are on top."""

_NAMES = {
    "rmse": "RMSE",
    "mae": "mean absolute error",
    "error": "error",
    "r2": "R²",
    "log_loss": "log loss (nats)",
    "auc": "area under the ROC curve",
    "coverage": "coverage of 90 % intervals",
    "width": "width of 90 % intervals",
    "fit_seconds": "seconds to fit",
}
"""Labels of metrics."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonDisplay(Display):
    """Errors of methods as dots, with standard errors as whiskers.

    :func:`bochner.plot.comparison` returns it, and has an example.

    Parameters
    ----------
    methods : sequence of k str
        From top to bottom.
    values : ndarray of shape (k,)
    std_error : ndarray of shape (k,)
        Standard errors; ``nan`` where there is none.
    xlabel : str, default="error"
    """

    methods: Sequence[str]
    values: Array
    std_error: Array
    xlabel: str = "error"

    def describe(self) -> str:
        shown = zip(self.methods, self.values, strict=True)
        return f"{self.xlabel}: {', '.join(f'{name} {value:.4g}' for name, value in shown)}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=rows_height(len(self.methods)))

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        for row, look in enumerate(looks_of(list(self.methods))):
            axis.errorbar(
                self.values[row], row, xerr=np.nan_to_num(self.std_error[row]), color=look.color,
                marker=look.marker, mfc=look.line()["mfc"], ms=4.5, elinewidth=1.2,
            )  # fmt: skip
        axis.margins(x=0.08)
        name_rows(axis, list(self.methods))
        finish(axis, self.xlabel, "", ticks="x")


def comparison(
    results: Mapping[str, object],
    metric: str = "rmse",
    *,
    xlabel: str | None = None,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ComparisonDisplay:
    """Draw the errors of methods with their standard errors, the best on top.

    Parameters
    ----------
    results : mapping of str to number, sequence of numbers, Score, Outcome or mapping
        Result of each method: the value of the metric; its values on several splits, whose mean and
        standard error are drawn; a score; an outcome with predictions of test rows; or a mapping
        from names of metrics to values, splits or scores. Methods without the metric are left out.
    metric : str, default="rmse"
        Name of the metric, such as ``"rmse"``, ``"log_loss"`` or ``"auc"``.
    xlabel : str, default=None
        Label of the errors; by default the metric's name.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    display : ComparisonDisplay

    Raises
    ------
    ValueError
        If no method has the metric.

    Examples
    --------
    >>> from bochner import plot
    >>> display = plot.comparison({"linear model": [3.0, 5.0], "bochner": [1.0, 2.0]})
    >>> display.methods, display.std_error.tolist()
    (['bochner', 'linear model'], [0.5, 1.0])
    """
    scores = {name: score for name, result in results.items() if (score := _score(result, metric))}
    if not scores:
        raise ValueError(f"No method has the metric {metric!r}: {', '.join(results) or 'none'}.")
    sign = -1.0 if metric in _GREATER_IS_BETTER else 1.0
    order = sorted(scores, key=lambda name: sign * scores[name].value)
    values, errors = (
        as_array([getattr(scores[name], part) for name in order]) for part in ("value", "std_error")
    )
    label = _NAMES.get(metric, metric.replace("_", " ")) if xlabel is None else xlabel
    return ComparisonDisplay(order, values, errors, label).plot(ax, theme=theme)


def _score(result: Any, metric: str) -> Score | None:
    """Return the metric of one method, or None if it has none."""
    if isinstance(result, Outcome):
        return result.scores().get(metric)
    if isinstance(result, Mapping):
        return _score(result[metric], metric) if metric in result else None
    if isinstance(result, Score):
        return result
    values = np.atleast_1d(as_array(result))
    if len(values) < 2:
        return Score(float(values[0])) if len(values) else None
    return Score(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))
