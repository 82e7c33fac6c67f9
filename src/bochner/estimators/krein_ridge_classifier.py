"""Classification by ridge regression on random features."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.namespaces import to_numpy
from bochner.estimators.inputs import is_dask, labels_of, lazily, row_chunks
from bochner.estimators.ridge_head import RidgeHead
from bochner.features.chunks import Chunk
from bochner.features.targets import Indicators
from bochner.registry import register


@register
class KreinRidgeClassifier(ClassifierMixin, RidgeHead):
    r"""Classification by ridge regression of class indicators on random features.

    Two classes are one target of :math:`\pm 1`; more are one such target each, all from one
    factorisation. The class of greatest value wins. Indefinite kernels, data larger than memory,
    Dask collections and devices are treated as in :class:`KreinRidge`; labels and all predictions
    are NumPy arrays.

    Parameters
    ----------
    kernel, n_components, length_scale, scheme, weights, decomposition, pairs, random_state
        As in :class:`FourierFeatures`.
    alpha, fit_intercept, associated, solver, tol, memory_limit
        As in :class:`KreinRidge`; the evidence is that of the regression on the targets.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    kernel_, frequencies_, signature_, alpha_, log_evidence_, sums_, n_iter_
        As in :class:`KreinRidge`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bochner import KreinRidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KreinRidgeClassifier(alpha="evidence", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to all rows at once.

        Parameters
        ----------
        X, sample_weight
            As in :meth:`KreinRidge.fit`; chunks are read once more, for their labels.
        y : array-like of shape (n,)
            Class labels, at least two of them; ``None`` with chunks.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`KreinRidge.fit`, and if there is one class only.
        """
        return self._fit_first(X, y, None, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to earlier ones.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array-like, default=None
            All labels of all batches; needed in the first call unless ``y`` has them all.
        """
        if not hasattr(self, "sums_"):
            return self._fit_first(X, y, classes, sample_weight, keep_sums=True)
        rows = self._checked(X, y, sample_weight, is_first=False)
        self._add_rows(rows, Indicators(self.classes_))
        return self

    def _fit_first(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, keep_sums: bool = False
    ) -> Self:
        rows = row_chunks(X, y, sample_weight, self._checked, numeric=False)
        labels = labels_of(rows, X) if classes is None else np.unique(classes)
        if len(labels) < 2:
            raise ValueError(
                f"KreinRidgeClassifier needs at least two classes, got 1 class: {labels[0]!r}."
            )
        self._fit_rows(rows, Indicators(labels), keep_sums=keep_sums)
        self.classes_ = labels
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, is_first: bool) -> Chunk:
        rows = self._checked_rows(X, y, sample_weight, is_first)
        check_classification_targets(rows.y)
        return rows

    def decision_function(self, X: Any) -> Array:
        """Return the values of the targets: shape (n,) for two classes, else (n, n_classes)."""
        values: Array = to_numpy(self._predict(X)[0])
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of greatest value for each row, of shape (n,)."""
        if is_dask(X):
            return lazily(self, "predict", X)
        values = self.decision_function(X)
        winner = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[winner])

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, of shape (n, n_classes).

        Least squares on indicators estimates class probabilities but does not keep them
        between zero and one: these are the nearest points of the probability simplex.
        """
        if is_dask(X):
            return lazily(self, "predict_proba", X)
        values = self.decision_function(X)
        if values.ndim == 1:
            positive = np.clip((1.0 + values) / 2.0, 0.0, 1.0)
            return np.stack([1.0 - positive, positive], axis=1)
        return _project_to_simplex((1.0 + values) / 2.0)

    @property
    def coef_(self) -> Array:
        """Weights of the features."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.coef.T

    @property
    def intercept_(self) -> Array:
        """The constants, zero unless ``fit_intercept``."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.intercept


def _project_to_simplex(points: Array) -> Array:
    """Return the nearest point of the probability simplex to each row, by sorting."""
    descending = -np.sort(-points, axis=1)
    excess = np.cumsum(descending, axis=1) - 1.0
    rank = np.arange(1, points.shape[1] + 1)
    support = np.count_nonzero(descending > excess / rank, axis=1)
    threshold = np.take_along_axis(excess, support[:, None] - 1, axis=1) / support[:, None]
    return as_array(np.maximum(points - threshold, 0.0))
