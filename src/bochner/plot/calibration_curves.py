"""Calibration curves of intervals and of class probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner.comparison.outcomes import calibrated_range
from bochner.plot.axis_texts import finish, legend, percent_ticks
from bochner.plot.class_errors import check_labels, probabilities_of
from bochner.plot.display import Display, PanelLayout
from bochner.plot.regression_errors import mean_and_std, observed_target
from bochner.plot.style import BAND, DATA, MODEL, WIDTH, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = tuple(np.linspace(0.05, 0.95, 19).round(2).tolist())
"""Nominal levels of the intervals whose coverage is counted."""

_BINS, _FEWEST = 10, 5
"""Number of bins of predicted probabilities, and smallest number of predictions in a drawn bin: the
standard error of a share is then below 0.25."""

_COUNTS = (0.0, 1.04, 1.0, 0.2)
"""Bounds (x, y, width, height) of the panel of counts, in axes coordinates of the main panel."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationDisplay(Display):
    """Observed shares (k,) against predicted ones (k,), from n rows.

    ``lower`` and ``upper`` (k,) are the ends of the central 95 % range of the shares of calibrated
    predictions. ``counts`` (b,) are numbers of predictions in bins of equal width, drawn in a panel
    above; ``None`` if the shares are the coverage of intervals.
    """

    predicted: Array
    observed: Array
    lower: Array
    upper: Array
    counts: Array | None = None
    xlabel: str = "nominal level of intervals"
    ylabel: str = "observed coverage"
    n: int = 0

    @classmethod
    def from_intervals(
        cls, y: ArrayLike, lower: ArrayLike, upper: ArrayLike, levels: ArrayLike
    ) -> Self:
        """Return the coverage of observations (n,) by intervals (n, k) of nominal levels (k,).

        >>> ends = [[-1.0], [-1.0]], [[1.0], [1.0]]
        >>> CalibrationDisplay.from_intervals([0.5, 2.0], *ends, levels=[0.6]).observed
        array([0.5])
        """
        values, nominal = as_array(y)[:, None], as_array(levels)
        covered = np.mean((as_array(lower) <= values) & (values <= as_array(upper)), axis=0)
        ends = calibrated_range(len(values), nominal)
        return cls(nominal, covered, *ends, n=len(values))

    @classmethod
    def from_probabilities(cls, y: ArrayLike, probability: ArrayLike, classes: ArrayLike) -> Self:
        """Return the frequency of classes (n,) as a function of predicted probabilities (n, C).

        With more than two classes, the probabilities of all of them are pooled. Bins with fewer
        than five predictions are counted, but have no point.
        """
        labels, names, predicted = np.asarray(y), np.asarray(classes), as_array(probability)
        check_labels(labels, names, len(predicted))
        first = 1 if len(names) == 2 else 0
        is_class = labels[:, None] == names[first:]
        flat, hits = predicted[:, first:].ravel(), is_class.ravel()
        number = np.minimum((_BINS * flat).astype(np.intp), _BINS - 1)
        counts = np.bincount(number, minlength=_BINS)
        used = counts >= _FEWEST
        mean, share = (np.bincount(number, w, _BINS)[used] / counts[used] for w in (flat, hits))
        xlabel = f"predicted probability of {names[1] if first else 'a class'}"
        ends = calibrated_range(counts[used], mean)
        return cls(mean, share, *ends, as_array(counts), xlabel, "observed share", len(labels))

    def describe(self) -> str:
        if not len(self.observed):
            return f"{self.ylabel.capitalize()}: too few rows."
        worst = int(np.argmax(np.abs(self.observed - self.predicted)))
        inside = np.sum((self.lower <= self.observed) & (self.observed <= self.upper))
        return (
            f"{self.ylabel.capitalize()} against {self.xlabel}: {inside} of {len(self.observed)} "
            f"points are in the 95 % range of calibrated predictions; the largest difference is "
            f"{100.0 * self.observed[worst]:.1f} % at {100.0 * self.predicted[worst]:.1f} %."
        )

    def _layout(self) -> PanelLayout:
        # Equal scales on both axes
        return PanelLayout(width=WIDTH, height=WIDTH * (0.8 if self.counts is None else 0.95))

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        band: Any
        line = axis.plot([0.0, 1.0], [0.0, 1.0], color=theme.ink, lw=0.7, zorder=1)[0]
        points = axis.plot(self.predicted, self.observed, color=MODEL, marker="o", ms=3.0)[0]
        ends = self.predicted, self.lower, self.upper
        if self.counts is None:
            band = axis.fill_between(*ends, color=DATA, alpha=BAND, lw=0)
        else:
            band = axis.vlines(*ends, color=DATA, alpha=2.0 * BAND, lw=4.0)
            points.set(linestyle="none", markersize=3.5)
            _bars(axis.inset_axes(_COUNTS), self.counts)
        axis.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
        finish(axis, self.xlabel, self.ylabel, ticks="")
        percent_ticks(axis)
        if self.counts is None:
            names = ["observed", "calibrated", f"95 % range, n = {self.n:,}"]
            legend(axes, [points, line, band], names)


def _bars(above: "Axes", counts: Array) -> None:
    """Draw a histogram of predictions above the panel of shares."""
    edges, most = np.linspace(0.0, 1.0, len(counts) + 1), int(counts.max())
    above.bar(edges[:-1], counts, np.diff(edges), align="edge", color=DATA, alpha=0.6)
    above.set(xlim=(0.0, 1.0), ylabel="count")
    above.tick_params(labelbottom=False)
    above.set_yticks([most], [f"{most:,}"])


def calibration(
    model: BaseEstimator,
    X: object,
    y: ArrayLike,
    *,
    levels: ArrayLike = _LEVELS,
    target: int | None = None,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> CalibrationDisplay:
    """Draw how often intervals cover, or classes occur, against how often they should.

    Parameters
    ----------
    model : fitted estimator
        A regressor with ``predict_quantiles``, or with ``predict(X, return_std=True)`` for normal
        intervals, or a classifier with ``predict_proba``.
    X, y, target, ax, theme
        As in :func:`predictions`.
    levels : array-like of shape (k,), default=0.05, 0.1, ..., 0.95
        Nominal levels of the intervals of a regressor.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from bochner import plot
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> y = X[:, 0] + np.random.default_rng(0).normal(size=50)
    >>> model = GaussianProcessRegressor(alpha=1.0).fit(X[::2], y[::2])
    >>> plot.calibration(model, X[1::2], y[1::2], levels=[0.5, 0.9]).predicted
    array([0.5, 0.9])
    """
    if hasattr(model, "predict_proba"):
        display = CalibrationDisplay.from_probabilities(*probabilities_of(model, X, y))
        return display.plot(ax, theme=theme)
    nominal, values = np.sort(as_array(levels).ravel()), observed_target(y, target)
    if not len(nominal) or not ((nominal > 0.0) & (nominal < 1.0)).all():
        raise ValueError(f"levels must be between 0 and 1, such as 0.9, got {levels!r}.")
    ends = _central_intervals(model, X, nominal, target)
    return CalibrationDisplay.from_intervals(values, *ends, nominal).plot(ax, theme=theme)


def _central_intervals(
    model: BaseEstimator, X: object, levels: Array, target: int | None
) -> tuple[Array, Array]:
    """Return lower and upper ends (n, k) of central intervals at k levels, or raise TypeError."""
    below, above = 0.5 - 0.5 * levels, 0.5 + 0.5 * levels
    if hasattr(model, "predict_quantiles"):
        quantiles = as_array(model.predict_quantiles(X, np.concatenate([below, above])))
        if quantiles.ndim > 2:
            quantiles = quantiles[:, 0 if target is None else target]
        return quantiles[:, : len(levels)], quantiles[:, len(levels) :]
    mean, std = mean_and_std(model, X, target)
    if std is None:
        raise TypeError(
            f"{type(model).__name__} predicts no intervals: calibration takes a regressor with "
            "predict_quantiles or predict(X, return_std=True), or a classifier with predict_proba."
        )
    return mean[:, None] + np.outer(std, ndtri(below)), mean[:, None] + np.outer(std, ndtri(above))
