"""Errors of classifiers: ROC curves and confused classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve

from bochner._base.arrays import Array, as_array
from bochner.plot.display import Display, PanelLayout
from bochner.plot.grids import name_columns
from bochner.plot.predicted import check_labels, probabilities
from bochner.plot.style import FULL_WIDTH, MODEL, SMALL, WIDTH, Theme, look_of
from bochner.plot.text_labels import (
    finish,
    legend,
    legend_height,
    name_rows,
    percent_ticks,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES = 6
"""Most classes with a curve: more cannot be told apart."""

_MOST_NUMBERED = 8
"""Most classes for which the cells of a confusion matrix show numbers."""

_MOST_CLASSES = 30
"""Most classes in a table of confused classes, the most frequent ones."""

_CELL = 0.17
"""Inches of a cell at least: the height of a line of its name, and half of it again."""

_DARK_CELL = 0.55
"""Share from which on a cell is dark, and its number white."""


@dataclass(frozen=True, slots=True, eq=False)
class RocDisplay(Display):
    """ROC curves: how many rows of a class are found, at how many false alarms.

    :func:`bochner.plot.roc` returns it, and has an example.

    Parameters
    ----------
    curves : mapping of str to tuple of two ndarrays of shape (k,)
        False and true positive rates by the name of the class.
    areas : mapping of str to float
        Areas under the curves.
    """

    curves: dict[str, tuple[Array, Array]]
    areas: dict[str, float]

    @classmethod
    def from_probabilities(cls, y: ArrayLike, probability: ArrayLike, classes: ArrayLike) -> Self:
        """Return one-versus-rest curves of classes; for two classes, the curve of the second.

        If there are more than six classes, the classes with the most rows have a curve.

        Parameters
        ----------
        y : array-like of shape (n,)
            Observed classes.
        probability : array-like of shape (n, C)
            Predicted probabilities.
        classes : array-like of shape (C,)
            Classes of the rows.

        Raises
        ------
        ValueError
            If the rows have fewer than two classes.
        """
        labels, class_labels, predicted = np.asarray(y), np.asarray(classes), as_array(probability)
        check_labels(labels, class_labels, len(predicted))
        counts = np.array([np.sum(labels == c) for c in class_labels])
        if np.sum(counts > 0) < 2:
            raise ValueError("y must have rows of at least two classes, got those of one.")
        chosen = (
            [1] if len(class_labels) == 2 else np.argsort(-counts, kind="stable")[:_MOST_CURVES]
        )
        curves, areas = {}, {}
        for k in sorted(int(place) for place in chosen if counts[place]):
            happened = labels == class_labels[k]
            false, true, _ = roc_curve(happened, predicted[:, k])
            curves[str(class_labels[k])] = as_array(false), as_array(true)
            areas[str(class_labels[k])] = float(roc_auc_score(happened, predicted[:, k]))
        return cls(curves, areas)

    def describe(self) -> str:
        parts = ", ".join(f"{name} {area:.3f}" for name, area in self.areas.items())
        return f"ROC curves; areas under them: {parts}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=0.85 * WIDTH + legend_height(self._names(), WIDTH))

    def _names(self) -> list[str]:
        return [f"{name} (area {area:.3f})" for name, area in self.areas.items()]

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        axis.plot([0.0, 100.0], [0.0, 100.0], color=theme.ink, lw=0.7, zorder=1)
        handles = []
        for place, (false, true) in enumerate(self.curves.values()):
            look = look_of(place)
            line = axis.plot(100.0 * false, 100.0 * true, color=look.color, ls=look.dashes)
            handles += line
        axis.set(xlim=(-1.0, 101.0), ylim=(-1.0, 101.0))
        finish(axis, "false positive rate (%)", "true positive rate (%)", ticks="")
        percent_ticks(axis)
        legend(axes, handles, self._names())


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
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    display : RocDisplay

    Raises
    ------
    TypeError
        If the model has no probabilities.
    ValueError
        If the rows have a class that is absent from the training rows, or have a single class.

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
    probability, labels, classes = probabilities(model, X, y)
    return RocDisplay.from_probabilities(labels, probability, classes).plot(ax, theme=theme)


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionDisplay(Display):
    """Confusion matrix: numbers of rows by true class and predicted class.

    :func:`bochner.plot.confusion` returns it, and has an example.

    Parameters
    ----------
    counts : ndarray of shape (C, C)
        Numbers of rows by observed and by predicted class.
    classes : sequence of C str
        Names of the classes.
    """

    counts: NDArray[np.int64]
    classes: Sequence[str]

    @classmethod
    def from_predictions(cls, y: ArrayLike, predicted: ArrayLike) -> Self:
        """Return the counts of observed and predicted classes, each of shape (n,).

        If there are more than thirty classes, the classes with the most rows are kept, and the
        remaining classes are merged into one.
        """
        observed, predictions = np.asarray(y).astype(str), np.asarray(predicted).astype(str)
        labels = np.unique(np.concatenate([np.asarray(y), np.asarray(predicted)]))
        names = [str(name) for name in labels]
        if len(names) > _MOST_CLASSES:
            kinds, sizes = np.unique(observed, return_counts=True)
            frequent = set(kinds[np.argsort(-sizes, kind="stable")[: _MOST_CLASSES - 1]])
            names = [name for name in names if name in frequent]
            merged_name = f"{len(labels) - len(names)} others"
            observed, predictions = (
                np.where(np.isin(part, names), part, merged_name)
                for part in (observed, predictions)
            )
            names.append(merged_name)
        return cls(confusion_matrix(observed, predictions, labels=names), names)

    def describe(self) -> str:
        right = np.trace(self.counts) / max(self.counts.sum(), 1)
        return (
            f"Observed against predicted classes of {self.counts.sum()} rows and "
            f"{len(self.classes)} classes: {100.0 * right:.1f} % are right."
        )

    def _layout(self) -> PanelLayout:
        side = float(np.clip(1.2 + _CELL * len(self.classes), WIDTH, FULL_WIDTH))
        return PanelLayout(width=side, height=0.92 * side)

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        size = len(self.classes)
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        axis.imshow(
            np.ones_like(shares), alpha=shares, cmap=_one_color(MODEL), vmin=0.0, vmax=1.0,
            aspect="auto", interpolation="nearest",
        )  # fmt: skip
        if size <= _MOST_NUMBERED:
            for i, j in np.ndindex(size, size):
                ink = "white" if shares[i, j] > _DARK_CELL else theme.ink
                axis.text(j, i, f"{self.counts[i, j]}", ha="center", va="center", color=ink,
                          fontsize=SMALL)  # fmt: skip
        name_rows(axis, list(self.classes), 0.25)
        axis.set_ylim(size - 0.5, -0.5)
        name_columns(axis, list(self.classes), 0.7 * width_of(axis))
        axis.grid(visible=False)
        finish(axis, "predicted class", "observed class", ticks="")


def _one_color(color: str) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([color])


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

    Returns
    -------
    display : ConfusionDisplay

    Raises
    ------
    ValueError
        If there are no rows, or if the number of classes differs from the number of rows.

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
    if observed.shape != predicted.shape or not len(observed):
        raise ValueError(
            f"y must have one class for each of {len(predicted)} rows, at least one, got "
            f"{observed.shape}."
        )
    return ConfusionDisplay.from_predictions(observed, predicted).plot(ax, theme=theme)
