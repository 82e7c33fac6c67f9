"""Whether intervals cover, and classes occur, as often as predicted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner.comparison.coverage import calibrated_range
from bochner.plot.display import Display, PanelLayout
from bochner.plot.predicted import central_intervals, check_labels, observed, probabilities
from bochner.plot.style import BAND, DATA, MODEL, WIDTH, Theme
from bochner.plot.text_labels import finish, legend, percent_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = tuple(np.linspace(0.05, 0.95, 19).round(2).tolist())
"""Nominal levels of the intervals whose coverage is counted."""

_BINS = 10
"""Bins of predicted probabilities."""

_FEWEST = 5
"""Fewest predictions in a bin that is drawn: the standard error of a share is below a quarter."""

_COUNTS = (0.0, 1.04, 1.0, 0.2)
"""Place of the panel of counts above the other one, in shares of that one's width and height."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationDisplay(Display):
    """Observed shares against predicted ones.

    :func:`bochner.plot.calibration` returns it, and has an example.

    Parameters
    ----------
    predicted : ndarray of shape (k,)
        Nominal levels of intervals, or mean predicted probabilities of bins.
    observed : ndarray of shape (k,)
        Shares of rows whose targets lie in the intervals, or that belong to the class.
    lower, upper : ndarray of shape (k,)
        Central 95 % range of these shares if the predictions are calibrated: a binomial law.
    counts : ndarray of shape (b,) or None, default=None
        Numbers of predictions in b bins of probabilities of equal width, in a panel above.
    xlabel, ylabel : str
        Labels of both axes.
    n : int, default=0
        Number of rows.
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
        """Return the coverage of intervals.

        Parameters
        ----------
        y : array-like of shape (n,)
            Observations.
        lower, upper : array-like of shape (n, k)
            Ends of intervals.
        levels : array-like of shape (k,)
            Their nominal levels.

        Examples
        --------
        >>> from bochner.plot import CalibrationDisplay
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
        """Return how often classes occur by their predicted probabilities.

        With more than two classes, the probabilities of all of them are pooled. Bins with fewer
        than five predictions are counted, but have no point.

        Parameters
        ----------
        y : array-like of shape (n,)
            Observed classes.
        probability : array-like of shape (n, C)
            Predicted probabilities.
        classes : array-like of shape (C,)
            Classes of the rows.
        """
        labels, class_labels, predicted = np.asarray(y), np.asarray(classes), as_array(probability)
        check_labels(labels, class_labels, len(predicted))
        happened, class_name = labels[:, None] == class_labels, "a class"
        if len(class_labels) == 2:
            predicted, happened, class_name = (
                predicted[:, 1:],
                happened[:, 1:],
                str(class_labels[1]),
            )
        flat, hits = predicted.ravel(), happened.ravel()
        number = np.minimum((_BINS * flat).astype(np.intp), _BINS - 1)
        counts = np.bincount(number, minlength=_BINS)
        used = counts >= _FEWEST
        mean, share = (np.bincount(number, w, _BINS)[used] / counts[used] for w in (flat, hits))
        ends = calibrated_range(counts[used], mean)
        texts = f"predicted probability of {class_name}", "observed share"
        return cls(mean, share, *ends, as_array(counts), *texts, len(labels))

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
        # Both axes have the same unit.
        return PanelLayout(width=WIDTH, height=WIDTH * (0.8 if self.counts is None else 0.95))

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        predicted, observed = 100.0 * self.predicted, 100.0 * self.observed
        lower, upper = 100.0 * self.lower, 100.0 * self.upper
        band: Any
        line = axis.plot([0.0, 100.0], [0.0, 100.0], color=theme.ink, lw=0.7, zorder=1)[0]
        if self.counts is None:
            band = axis.fill_between(predicted, lower, upper, color=DATA, alpha=BAND, lw=0)
            points = axis.plot(predicted, observed, color=MODEL, marker="o", ms=3.0)[0]
        else:
            band = axis.vlines(predicted, lower, upper, color=DATA, alpha=2.0 * BAND, lw=4.0)
            points = axis.plot(predicted, observed, color=MODEL, marker="o", ls="")[0]
            _bars(axis.inset_axes(_COUNTS), self.counts, theme)
        axis.set(xlim=(0.0, 100.0), ylim=(0.0, 100.0))
        finish(axis, f"{self.xlabel} (%)", f"{self.ylabel} (%)", ticks="")
        percent_ticks(axis)
        if self.counts is None:
            names = ["observed", "calibrated", f"95 % range, n = {self.n:,}"]
            legend(axes, [points, line, band], names)


def _bars(above: "Axes", counts: Array, theme: Theme) -> None:
    """Draw numbers of predictions by bin, above the panel of shares."""
    edges = np.linspace(0.0, 100.0, len(counts) + 1)
    above.bar(edges[:-1], counts, np.diff(edges), align="edge", color=DATA, alpha=0.6)
    above.set_xlim(0.0, 100.0)
    above.tick_params(labelbottom=False)
    most = int(counts.max())
    above.set_yticks([most], [f"{most:,}"])
    above.set_ylabel("count")


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

    Returns
    -------
    display : CalibrationDisplay

    Raises
    ------
    TypeError
        If the model predicts neither intervals nor probabilities.
    ValueError
        If there are no rows, if there are several targets and ``target`` is ``None``, if a class is
        unknown, or if a level is outside of (0, 1).

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
        probability, labels, classes = probabilities(model, X, y)
        display = CalibrationDisplay.from_probabilities(labels, probability, classes)
        return display.plot(ax, theme=theme)
    nominal, values = np.sort(as_array(levels).ravel()), observed(y, target)
    if not len(nominal) or not ((nominal > 0.0) & (nominal < 1.0)).all():
        raise ValueError(f"levels must be between 0 and 1, such as 0.9, got {levels!r}.")
    ends = central_intervals(model, X, nominal, target)
    return CalibrationDisplay.from_intervals(values, *ends, nominal).plot(ax, theme=theme)
