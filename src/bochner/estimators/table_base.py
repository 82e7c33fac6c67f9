"""Base of all models of whole tables, and what regression and classification add to it."""

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.progress import Progress, silent
from bochner.kernels import Kernel
from bochner.tables.encoder import TableEncoder


class TableModel(BaseEstimator, ABC):
    """Model of a whole table: an encoder of its columns, and a head on the encoded columns.

    A model joins a task (:class:`RegressionTable` or :class:`ClassificationTable`) and a way to
    learn (``_learn``). ``record_`` holds plain facts about the fit, which model files store.
    """

    encoder_: TableEncoder
    head_: Any
    record_: dict[str, Any]

    def fit(self, X: Any, y: Any, *, progress: Progress = silent) -> Self:
        """Fit the encoder and the head.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d)
            Numbers, text and dates; see :class:`bochner.TableEncoder`.
        y : array-like of shape (n,)
            Target without missing entries.
        progress : callable, default=silent
            Called with a line of text before each step, and after each iteration of a sampler.

        Raises
        ------
        ValueError
            If the table, the target or a parameter is not valid.
        TypeError
            If a parameter or an entry of the table has the wrong type.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        complete = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        target = self._checked_target(np.asarray(column_or_1d(complete, warn=True)))
        check_consistent_length(X, target)
        self.encoder_, self.head_ = self._learn(X, target, progress)
        self.n_features_in_ = self.encoder_.n_features_in_
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_
        self.record_ = {"n_samples": len(target)}
        return self

    def encode(self, X: Any) -> Array:
        """Return the encoded columns (n, d_encoded) of a table, on which the kernel is defined."""
        check_is_fitted(self, "head_")
        return as_array(self.encoder_.transform(X))

    @property
    def kernel_(self) -> Kernel:
        """The kernel on the encoded columns."""
        check_is_fitted(self, "head_")
        kernel: Kernel = self.head_.kernel_
        return kernel

    @abstractmethod
    def _checked_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return a complete target (n,) that suits the task, or raise ValueError."""

    @abstractmethod
    def _learn(self, X: Any, y: NDArray[Any], progress: Progress) -> tuple[TableEncoder, Any]:
        """Return a fitted encoder and a fitted head."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


class RegressionTable(RegressorMixin, TableModel):
    """A table model whose target holds numbers."""

    def _checked_target(self, y: NDArray[Any]) -> NDArray[Any]:
        if y.dtype.kind not in "fiub" and not all(isinstance(entry, Real) for entry in y):
            raise ValueError(f"y must be numbers for a regression, got {y.dtype} entries.")
        return y.astype(np.float64)

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return predictive means (n,) and, with ``return_std``, standard deviations with noise."""
        encoded = self.encode(X)
        mean, std = self.head_.predict(encoded, return_std=True)
        shift, scale = self._units()
        return (shift + scale * mean, scale * std) if return_std else shift + scale * mean

    def _units(self) -> tuple[float, float]:
        """Return shift and scale from the head's target to the table's."""
        return 0.0, 1.0


class ClassificationTable(ClassifierMixin, TableModel):
    """A table model whose target holds classes."""

    def _checked_target(self, y: NDArray[Any]) -> NDArray[Any]:
        check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, got 1 class: {y[0]!r}."
            )
        return y

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        check_is_fitted(self, "head_")
        return np.asarray(self.head_.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row, of shape (n,)."""
        encoded = self.encode(X)  # First: raises NotFittedError before fit
        return np.asarray(self.head_.predict(encoded))

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, of shape (n, n_classes)."""
        encoded = self.encode(X)
        return as_array(self.head_.predict_proba(encoded))
