"""ROC curves and confusion matrices of classifiers; calibration of probabilities and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve

from bochner._base.arrays import Array, as_array
from bochner.comparison.outcomes import calibrated_range, coverage_of, mean_and_std
from bochner.plot import axis_texts
from bochner.plot.display import Display, PanelLayout
from bochner.plot.regression_errors import observed_target, of_target
from bochner.plot.style import BAND, DATA, FULL_WIDTH, MODEL, SMALL, WIDTH, Theme, draw_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES = 6
"""Largest number of classes with a curve."""

_MOST_NUMBERED = 8
"""Largest number of classes in a confusion matrix with counts in its cells."""

_CELL, _LARGE_CELL, _FEWEST_CELLS = 0.17, 0.36, 4
"""Smallest height of a cell in inches, one and a half lines of text, that of few cells, and the
number of cells below which the height stays, so that the axis label has room."""

_NAMES, _LETTERS, _LABELS = 95.0, 20, 24.0
"""Largest length of class names in points and in letters, and the room for an axis label."""


def probabilities_of(
    model: BaseEstimator, X: object, y: ArrayLike
) -> tuple[NDArray[Any], Array, NDArray[Any]]:
    """Return observed classes (n,), probabilities (n, C) and all classes (C,), or raise errors."""
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} predicts no probabilities: expected a classifier with "
            "predict_proba."
        )
    return np.asarray(y), as_array(model.predict_proba(X)), np.asarray(model.classes_)


def check_labels(y: NDArray[Any], classes: NDArray[Any], n_samples: int) -> None:
    """Raise ValueError unless labels (n_samples,) are among the classes."""
    if y.shape != (n_samples,) or not n_samples:
        raise ValueError(
            f"y must have one class for each of {n_samples} rows, at least one, got {y.shape}."
        )
    if len(unknown := np.setdiff1d(y, classes)):
        raise ValueError(f"y has the class {str(unknown[0])!r:.60}, which the model does not know.")


@dataclass(frozen=True, slots=True, eq=False)
class RocDisplay(Display):
    """ROC curves (false and true positive rates) and areas under the curves, by class name."""

    curves: dict[str, tuple[Array, Array]]
    areas: dict[str, float]
    labels: tuple[str, str] = ("false positive rate", "true positive rate")

    @classmethod
    def from_probabilities(cls, y: ArrayLike, probability: ArrayLike, classes: ArrayLike) -> Self:
        """Return one-versus-rest curves of observed classes (n,) and probabilities (n, C).

        Two classes have the curve of the second one; of more than six, the most frequent have one.
        """
        labels, names, predicted = np.asarray(y), np.asarray(classes), as_array(probability)
        check_labels(labels, names, len(predicted))
        counts = np.array([np.sum(labels == name) for name in names])
        if np.sum(counts > 0) < 2:
            raise ValueError("y must have rows of at least two classes, got those of one.")
        chosen = [1] if len(names) == 2 else np.argsort(-counts, kind="stable")[:_MOST_CURVES]
        curves, areas = {}, {}
        for k in sorted(int(place) for place in chosen if counts[place]):
            is_class = labels == names[k]
            false, true, _ = roc_curve(is_class, predicted[:, k])
            curves[str(names[k])] = as_array(false), as_array(true)
            areas[str(names[k])] = float(roc_auc_score(is_class, predicted[:, k]))
        return cls(curves, areas)

    @classmethod
    def gains(cls, is_class: ArrayLike, probability: Array, name: str) -> Self:
        """Return the share of a class in the first rows, by decreasing probability (n,) of it."""
        false, true, _ = roc_curve(is_class, probability, drop_intermediate=False)
        share = float(np.asarray(is_class).mean())
        curve = as_array(share * true + (1.0 - share) * false), as_array(true)
        labels = "share of rows, the riskiest first", f"share of the rows with {name}"
        return cls({name: curve}, {name: float(roc_auc_score(is_class, probability))}, labels)

    def describe(self) -> str:
        parts = ", ".join(f"{name} {area:.3f}" for name, area in self.areas.items())
        return (
            f"{self.labels[1].capitalize()} by {self.labels[0]}; areas under ROC curves: {parts}."
        )

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=0.85 * WIDTH + axis_texts.legend_height(self._names(), WIDTH))

    def _names(self) -> list[str]:
        return [f"{name} (area {area:.3f})" for name, area in self.areas.items()]

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        axis.plot([0.0, 1.0], [0.0, 1.0], color=theme.ink, lw=0.7, zorder=1)
        handles = draw_curves(axis, self.curves.values())
        axis.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        axis_texts.finish(axis, *self.labels, ticks="")
        axis_texts.percent_ticks(axis)
        axis_texts.legend(axes, handles, self._names())


def roc(
    model: BaseEstimator,
    X: object,
    y: ArrayLike,
    *,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> RocDisplay:
    """Draw ROC curves of a classifier, each class against all others.

    Parameters
    ----------
    model : fitted classifier
        With ``predict_proba``.
    X : table or array-like of shape (n, d)
        Held-out rows, which were not used to fit the model.
    y : array-like of shape (n,)
        Classes of the rows.
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bochner import plot
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> display = plot.roc(model, X[1::2], y[1::2])
    >>> list(display.areas)
    ['0', '1', '2']
    """
    return RocDisplay.from_probabilities(*probabilities_of(model, X, y)).plot(ax, theme=theme)


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionDisplay(Display):
    """Numbers of rows (C, C) by observed and by predicted class, and names of the classes."""

    counts: NDArray[np.int64]
    classes: Sequence[str]

    @classmethod
    def from_predictions(cls, y: ArrayLike, predicted: ArrayLike) -> Self:
        """Return counts of observed and predicted classes (n,)."""
        observed, predictions = np.asarray(y).astype(str), np.asarray(predicted).astype(str)
        names = np.unique(np.r_[observed, predictions])
        return cls(confusion_matrix(observed, predictions, labels=names), names.tolist())

    def describe(self) -> str:
        right = np.trace(self.counts) / max(self.counts.sum(), 1)
        return (
            f"Observed against predicted classes of {self.counts.sum()} rows and "
            f"{len(self.classes)} classes: {100.0 * right:.1f} % are right."
        )

    def _layout(self) -> PanelLayout:
        size = len(self.classes)
        width = float(np.clip(_NAMES / 72.0 + _CELL * size, WIDTH, FULL_WIDTH))
        names = axis_texts.columns_height(self.classes, self._across(width), _NAMES)
        cell = _LARGE_CELL if size <= _MOST_NUMBERED else _CELL
        return PanelLayout(width=width, height=0.6 + names + cell * max(size, _FEWEST_CELLS))

    def _across(self, width: float) -> float:
        """Return the width of all cells in points, in a picture with a width in inches."""
        widest = max((min(axis_texts.text_width(name), _NAMES) for name in self.classes), default=0)
        return 72.0 * width - widest - _LABELS

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        (axis,) = axes
        size = len(self.classes)
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        clear = LinearSegmentedColormap.from_list("shares", [(MODEL, 0.0), MODEL])
        axis.imshow(shares, cmap=clear, vmin=0.0, vmax=1.0, aspect="auto")
        for i, j in np.ndindex(size, size) if size <= _MOST_NUMBERED else ():
            color, text = "white" if shares[i, j] > 0.5 else theme.ink, str(self.counts[i, j])
            axis.text(j, i, text, ha="center", va="center", color=color, fontsize=SMALL)
        width = axis_texts.width_of(axis)
        shown = [axis_texts.drawable(name) for name in self.classes]
        axis_texts.name_rows(axis, shown, _NAMES / width)
        axis.set_ylim(size - 0.5, -0.5)
        across = self._across(width / 72.0)
        axis_texts.name_columns(axis, list(self.classes), across, _NAMES)
        ends = (axis.yaxis, 72.0 * _LARGE_CELL), (axis.xaxis, across / size)
        for side, points in ends if size <= _MOST_NUMBERED else ():
            if len(side.get_ticklabels()) == size:  # Long names of few classes have several lines
                n_lines = max(1, int(points / (1.1 * SMALL)))
                names = [wrap(name, _LETTERS, max_lines=n_lines, placeholder="…") for name in shown]
                side.set_ticklabels(["\n".join(lines) for lines in names], linespacing=0.9)
        axis.grid(visible=False)
        axis_texts.finish(axis, "predicted class", "observed class", ticks="")


def confusion(
    model: BaseEstimator,
    X: object,
    y: ArrayLike,
    *,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ConfusionDisplay:
    """Draw the confusion matrix of a classifier.

    The darker a cell, the larger its share of the rows of the observed class. Up to eight classes
    have counts in the cells.

    Parameters
    ----------
    model : fitted classifier
    X, y, ax, theme
        As in :func:`roc`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bochner import plot
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> plot.confusion(model, X[1::2], y[1::2]).counts.sum(axis=1)
    array([25, 25, 25])
    """
    predicted, observed = np.ravel(model.predict(X)), np.asarray(y)
    check_labels(observed, observed, len(predicted))
    return ConfusionDisplay.from_predictions(observed, predicted).plot(ax, theme=theme)


LEVELS = tuple(np.linspace(0.05, 0.95, 19).round(2).tolist())
"""Nominal levels of the intervals whose coverage is counted."""

_BINS, _FEWEST = 10, 5
"""Number of bins of predicted probabilities, and smallest number of predictions in a drawn bin: the
standard error of a share is then below 0.25."""

_NEARLY_ALL, _SMALL = 0.99, 0.5
"""Quantile below which nearly all probabilities are, and its size below which the axes are cut: the
class is rare, or there are many classes."""

_ABOVE = 1.05
"""Ratio of the end of cut axes to the largest share, so that its point is whole."""

_COUNTS = (0.0, 1.04, 1.0, 0.2)
"""Bounds (x, y, width, height) of the panel of counts, in axes coordinates of the main panel."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationDisplay(Display):
    """Observed shares (k,) against predicted shares (k,), from n rows.

    ``lower`` and ``upper`` (k,) are the ends of the 95 % range of calibrated predictions;
    ``counts`` (b,) are numbers of predictions in equal bins up to the largest probability shown,
    ``None`` for intervals.
    """

    predicted: Array
    observed: Array
    lower: Array
    upper: Array
    counts: Array | None = None
    xlabel: str = "nominal level of intervals"
    ylabel: str = "observed coverage"
    n: int = 0
    top: float = 1.0  # Upper end of both axes
    largest: float = 1.0  # Upper end of the last bin of ``counts``

    @classmethod
    def from_intervals(
        cls,
        y: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        levels: ArrayLike,
        clusters: NDArray[np.generic] | None = None,
    ) -> Self:
        """Return the coverage of observations (n,) by intervals (n, k) of nominal levels (k,).

        Observations with equal ``clusters`` (n,) are dependent.
        """
        values, nominal = as_array(y)[:, None], as_array(levels)
        covered = (as_array(lower) <= values) & (values <= as_array(upper))
        parts = zip(covered.T, nominal.tolist(), strict=True)
        found = [coverage_of(part, level, clusters) for part, level in parts]
        shares = as_array([(each.observed, each.lower, each.upper) for each in found])
        observed, low, high = shares.T
        return cls(nominal, observed, low, high, n=len(values))

    @classmethod
    def from_probabilities(cls, y: ArrayLike, probability: ArrayLike, classes: ArrayLike) -> Self:
        """Return frequencies of classes (n,) in bins of their predicted probabilities (n, C).

        Several classes are pooled. Bins of fewer than five predictions have no point. If nearly all
        probabilities are small, bins have equally many predictions instead of equal widths.
        """
        labels, names, predicted = np.asarray(y), np.asarray(classes), as_array(probability)
        check_labels(labels, names, len(predicted))
        first = 1 if len(names) == 2 else 0
        is_class = labels[:, None] == names[first:]
        flat, hits = predicted[:, first:].ravel(), is_class.ravel()
        top, edges = 1.0, np.linspace(0.0, 1.0, _BINS + 1)
        if (most := float(np.quantile(flat, _NEARLY_ALL))) < _SMALL:
            n_bins = int(np.clip(hits.sum() // _FEWEST, 2, _BINS))
            top, edges = most, np.unique(np.quantile(flat, np.linspace(0.0, 1.0, n_bins + 1)))
        number = np.clip(np.searchsorted(edges, flat, side="right") - 1, 0, max(len(edges) - 2, 0))
        sizes = np.bincount(number)
        used = sizes >= _FEWEST
        mean, share = (np.bincount(number, w)[used] / sizes[used] for w in (flat, hits))
        xlabel = f"predicted probability of {names[1] if first else 'a class'}"
        ends = calibrated_range(sizes[used], mean)
        counts = as_array(np.histogram(np.minimum(flat, top), _BINS, (0.0, top))[0])
        shown = _ABOVE * max(top, *ends[1], *share) if top < 1.0 else top
        return cls(mean, share, *ends, counts, xlabel, "observed share", len(labels), shown, top)

    @property
    def outside(self) -> NDArray[np.intp]:
        """Indices of points outside of the range, the largest difference first."""
        order = np.argsort(-np.abs(self.observed - self.predicted), kind="stable")
        is_inside = (self.lower <= self.observed) & (self.observed <= self.upper)
        return order[~is_inside[order]]

    def describe(self) -> str:
        if not len(self.observed):
            return f"{self.ylabel.capitalize()}: too few rows."
        worst, n = int(np.argmax(np.abs(self.observed - self.predicted))), len(self.observed)
        return (
            f"{self.ylabel.capitalize()} against {self.xlabel}: {n - len(self.outside)} of {n} "
            f"points are in the 95 % range of calibrated predictions; the largest difference is "
            f"{100.0 * self.observed[worst]:.1f} % at {100.0 * self.predicted[worst]:.1f} %."
        )

    def _layout(self) -> PanelLayout:
        # Equal scales on both axes
        return PanelLayout(width=WIDTH, height=WIDTH * (0.8 if self.counts is None else 0.95))

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        line = axis.plot([0.0, 1.0], [0.0, 1.0], color=theme.ink, lw=0.7, zorder=1)[0]
        points = axis.plot(self.predicted, self.observed, color=MODEL, marker="o", ms=3.0)[0]
        axis.set(xlim=(0.0, self.top), ylim=(0.0, self.top))
        axis_texts.finish(axis, self.xlabel, self.ylabel, ticks="")
        axis_texts.percent_ticks(axis, self.top)
        ends = self.predicted, self.lower, self.upper
        if self.counts is None:
            band = axis.fill_between(*ends, color=DATA, alpha=BAND, lw=0)
            names = ["observed", "calibrated", f"95 % range, n = {self.n:,}"]
            axis_texts.legend(axes, [points, line, band], names)
            return
        axis.vlines(*ends, color=DATA, alpha=2.0 * BAND, lw=4.0)
        points.set(linestyle="none", markersize=3.5)
        above, most = axis.inset_axes(_COUNTS), int(self.counts.max())
        edges = np.linspace(0.0, self.largest, len(self.counts) + 1)
        above.bar(edges[:-1], self.counts, np.diff(edges), align="edge", color=DATA, alpha=0.6)
        above.set(xlim=(0.0, self.top), ylabel="count")
        above.tick_params(labelbottom=False)
        above.set_yticks([most], [f"{most:,}"])


def calibration(
    model: BaseEstimator,
    X: object,
    y: ArrayLike,
    *,
    levels: ArrayLike = LEVELS,
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
        raise ValueError(f"levels must be between 0 and 1, such as 0.9, got {levels!r:.60}.")
    ends = central_intervals(model, X, nominal, target)
    return CalibrationDisplay.from_intervals(values, *ends, nominal).plot(ax, theme=theme)


def central_intervals(
    model: BaseEstimator, X: object, levels: Array, target: int | None
) -> tuple[Array, Array]:
    """Return lower and upper ends (n, k) of central intervals at k levels, or raise TypeError."""
    below, above = 0.5 - 0.5 * levels, 0.5 + 0.5 * levels
    if hasattr(model, "predict_quantiles"):
        quantiles = as_array(model.predict_quantiles(X, np.concatenate([below, above])))
        if quantiles.ndim > 2:
            quantiles = quantiles[:, target or 0]
        return quantiles[:, : len(levels)], quantiles[:, len(levels) :]
    mean, std = (of_target(part, target) for part in mean_and_std(model, X))
    if std is None:
        raise TypeError(
            f"{type(model).__name__} predicts no intervals: calibration takes a regressor with "
            "predict_quantiles or predict(X, return_std=True), or a classifier with predict_proba."
        )
    return mean[:, None] + np.outer(std, ndtri(below)), mean[:, None] + np.outer(std, ndtri(above))
