"""Errors of classifiers: ROC curves and confusion matrices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    RocCurveDisplay,
    confusion_matrix,
    roc_auc_score,
    roc_curve,
)

from bochner._base.arrays import Array, as_array
from bochner.plot import axis_texts
from bochner.plot.display import Display, PanelLayout
from bochner.plot.style import FULL_WIDTH, MODEL, SMALL, WIDTH, Theme, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES = 6
"""Largest number of classes with a curve."""

_MOST_NUMBERED, _MOST_CLASSES = 8, 30
"""Largest number of classes in a confusion matrix with counts in its cells, and in any matrix."""

_CELL = 0.17
"""Smallest height of a cell in inches: one and a half lines of text."""


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
        raise ValueError(f"y has the class {str(unknown[0])!r}, which the model does not know.")


@dataclass(frozen=True, slots=True, eq=False)
class RocDisplay(Display):
    """ROC curves (false and true positive rates) and areas under the curves, by class name."""

    curves: dict[str, tuple[Array, Array]]
    areas: dict[str, float]

    @classmethod
    def from_probabilities(cls, y: ArrayLike, probability: ArrayLike, classes: ArrayLike) -> Self:
        """Return one-versus-rest curves of observed classes (n,) and probabilities (n, C).

        For two classes there is one curve, of the second class; for more than six classes, only the
        most frequent classes have a curve.
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

    def describe(self) -> str:
        parts = ", ".join(f"{name} {area:.3f}" for name, area in self.areas.items())
        return f"ROC curves; areas under them: {parts}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=0.85 * WIDTH + axis_texts.legend_height(self._names(), WIDTH))

    def _names(self) -> list[str]:
        return [f"{name} (area {area:.3f})" for name, area in self.areas.items()]

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        axis.plot([0.0, 1.0], [0.0, 1.0], color=theme.ink, lw=0.7, zorder=1)
        handles = []
        for place, (false, true) in enumerate(self.curves.values()):
            look = look_of(place)
            drawn = RocCurveDisplay(fpr=false, tpr=true)
            drawn.plot(axis, curve_kwargs={"color": look.color, "ls": look.dashes})
            handles += np.ravel(drawn.line_).tolist()
        axis.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="auto")
        axis_texts.finish(axis, "false positive rate", "true positive rate", ticks="")
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
        from matplotlib.colors import LinearSegmentedColormap

        (axis,) = axes
        size = len(self.classes)
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        clear = LinearSegmentedColormap.from_list("shares", [(MODEL, 0.0), MODEL])
        drawn = ConfusionMatrixDisplay(shares)
        drawn.plot(
            ax=axis, cmap=clear, colorbar=False, include_values=size <= _MOST_NUMBERED,
            im_kw={"vmin": 0.0, "vmax": 1.0, "aspect": "auto"}, text_kw={"fontsize": SMALL},
        )  # fmt: skip
        if size <= _MOST_NUMBERED:
            for place in np.ndindex(size, size):
                color = "white" if shares[place] > 0.5 else theme.ink
                drawn.text_[place].set(text=str(self.counts[place]), color=color)
        axis_texts.name_rows(axis, list(self.classes), 0.25)
        axis.set_ylim(size - 0.5, -0.5)
        axis_texts.name_columns(axis, list(self.classes), 0.7 * axis_texts.width_of(axis))
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
