"""Classification by ridge regression on random features."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from bochner._base import limits
from bochner._base.arrays import FLOATS, Array, ArrayLike, MatrixLike, as_array
from bochner._base.checks import labels, validated_with_labels
from bochner._base.names import shown
from bochner._base.registry import register
from bochner.features.chunks import ArrayChunks, Chunk, Indicators, RowSample, sample_rows
from bochner.features.parameters import count_frequencies
from bochner.linear.argument_checks import (
    checked_forgetting,
    checked_weight,
    described_features,
    first_rows,
    labels_of,
)
from bochner.linear.ridge_head import RidgeHead
from bochner.linear.softmax_weights import SoftmaxWeights, fit_softmax, left_out_indicators
from bochner.linear.solver_plan import RidgeSolver

_MOST_ROWS = 2000
"""Largest number of rows whose leave-one-out values the softmax is fitted to: its scale then has a
standard error of a few per cent. The time for features and leverages is linear in this number."""


@register
class KreinRidgeClassifier(ClassifierMixin, RidgeHead):
    """Classification by ridge regression of class indicators on random features.

    Two classes are one target of ±1. With more classes, each class has such a target,
    and one factorisation solves for all targets. The class with the greatest value is predicted.
    Indefinite kernels, data larger than memory and Dask collections work as in :class:`KreinRidge`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bochner import KreinRidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KreinRidgeClassifier(alpha="evidence", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True

    Parameters
    ----------
    kernel, n_components, alpha, features, length_scale
        As in :class:`KreinRidge`; ``"evidence"`` refers to the regression on the targets.
    fit_intercept, associated, solver, residual, random_state
        As in :class:`KreinRidge`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    softmax_ : SoftmaxWeights
        Scale that turns decision values into the probabilities of :meth:`predict_proba`.
    left_out_ : RowSample
        Leave-one-out decision values that the softmax is fitted to; every batch adds some.
    kernel_, frequencies_, residual_, signature_, alpha_, log_evidence_, sums_, n_iter_
        As in :class:`KreinRidge`.
    """

    classes_: NDArray[Any]
    softmax_: SoftmaxWeights | None = None
    left_out_: RowSample | None = None

    def fit(
        self, X: object, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit to all rows at once.

        Raises errors as in :meth:`KreinRidge.fit`, and ``ValueError`` if there is only one class.

        Parameters
        ----------
        X, sample_weight
            As in :meth:`KreinRidge.fit`. Chunks are read two more times: for their labels, and for
            a sample of rows that calibrates :meth:`predict_proba`. Whole-number weights that are
            equal for all rows of a class and differ between classes are class weights, not counts:
            they multiply the losses of single rows.
        y : array-like of shape (n,)
            Class labels, at least two of them; ``None`` with chunks and ``PartitionedRows``.
        """
        return self._fit_first(X, y, None, sample_weight, keep_sums=False)

    def partial_fit(
        self,
        X: object,
        y: ArrayLike | None,
        classes: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        forgetting: float = 1.0,
    ) -> Self:
        """Update the model with a batch of rows.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array-like, default=None
            Labels of all batches; required in the first call unless its ``y`` contains every label.
        forgetting : float, default=1.0
            Factor by which each new row multiplies the weights of all rows before it, as in
            :meth:`KreinRidge.partial_fit`. It also multiplies the weights in the calibration of
            probabilities.

        Notes
        -----
        Probabilities are calibrated on leave-one-out values of the rows of each batch, computed
        after this batch, or of the first chunk of an iterator. To calibrate with the values of the
        final model, call :meth:`fit` on all rows.
        """
        forgetting = checked_forgetting(forgetting)
        if not hasattr(self, "sums_"):
            return self._fit_first(
                X, y, classes, sample_weight, keep_sums=True, forgetting=forgetting
            )
        if classes is not None and not np.array_equal(_distinct(classes), self.classes_):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_.tolist()}, or left out; "
                f"got {shown(classes)}."
            )
        rows = self._checked(X, y, sample_weight, is_first=False)
        earlier, sums = self.left_out_, self.sums_
        size = self._sample_size(rows) if earlier is None else earlier.size
        self._add_rows(rows, Indicators(self.classes_), forgetting)
        if earlier is not None and forgetting < 1.0:
            earlier = earlier.weighted(forgetting ** len(rows))
        # Seeded by the number of earlier rows, so that batches have different random keys.
        n_before = earlier.n_samples if earlier else sums.n_samples if sums else 0
        rng = np.random.default_rng(n_before)
        self._calibrate(earlier, sample_rows([rows.aged(forgetting)], size, rng))
        return self

    def _fit_first(
        self,
        X: object,
        y: ArrayLike | None,
        classes: object,
        sample_weight: ArrayLike | None,
        *,
        keep_sums: bool,
        forgetting: float = 1.0,
    ) -> Self:
        rows = first_rows(X, y, sample_weight, self._checked, forgetting, numeric=False)
        labels = labels_of(rows, X) if classes is None else _distinct(classes)
        if len(labels) < 2:
            raise ValueError(
                f"KreinRidgeClassifier needs at least two classes, got 1 class: {shown(labels[0])}."
            )
        again = rows if rows.is_repeatable else ArrayChunks(rows.head)
        size = self._sample_size(rows.head)
        sample = again.total(sample_rows, size, np.random.default_rng(0))
        self._fit_rows(rows, Indicators(labels), keep_sums=keep_sums)
        self.classes_ = labels
        self._single_target, self._target_origin = False, np.zeros(Indicators(labels).n_targets)
        self._calibrate(None, sample)
        return self

    def _checked(
        self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None, is_first: bool
    ) -> Chunk:
        options = {"accept_sparse": "csr", "dtype": FLOATS, "reset": is_first}
        rows, y = validated_with_labels(self, X, y, **options)
        chunk = Chunk(rows, y, checked_weight(sample_weight, rows))
        return replace(chunk, are_precisions=_are_of_classes(chunk))

    def decision_function(self, X: MatrixLike) -> Array:
        """Return decision values: shape (n,) for two classes, else (n, n_classes)."""
        values: Array = self._predict(X)[0]
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Return the class with the greatest decision value for each row, of shape (n,)."""
        values = self.decision_function(X)
        winner = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[winner])

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return class probabilities, of shape (n, n_classes).

        They are the softmax of a scale times the values of :meth:`decision_function`, and never
        zero or one; the most probable class is that of :meth:`predict`. The scale is fitted to the
        leave-one-out values of at most 2,000 training rows; without a softmax it is one.
        """
        values = self.decision_function(X).reshape(-1, Indicators(self.classes_).n_targets)
        softmax = self.softmax_ or SoftmaxWeights.plain(len(self.classes_))
        return softmax.probabilities(_class_scores(values))

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of predicted labels of rows (n, d), weighted by ``sample_weight``."""
        return float(super().score(X, labels(y), sample_weight))

    def _try_out(self) -> None:
        """Raise ValueError if a loaded model is inconsistent, so that no rows could be added."""
        self._check_sums(Indicators(self.classes_))

    def _calibrate(self, earlier: RowSample | None, sample: RowSample) -> None:
        """Calibrate probabilities: fit a softmax to leave-one-out values of sampled rows."""
        labels = np.searchsorted(self.classes_, sample.rows.y)
        # In-sample values would be too close to the labels, hence leave-one-out values.
        values = left_out_indicators(
            sample,
            self._features,
            Indicators(self.classes_),
            self.posterior_,
            self.sums_,
            self._signs(self._features),
            fit_intercept=self.fit_intercept,
        )
        left_out = replace(sample, rows=Chunk(values, labels, sample.rows.weight))
        left_out = left_out if earlier is None else earlier + left_out
        scores = _class_scores(left_out.rows.X)
        self.softmax_ = fit_softmax(scores, left_out.rows.y, left_out.shares, has_biases=False)
        self.left_out_ = left_out

    def _sample_size(self, rows: Chunk) -> int:
        """Return the number of calibration rows: features take a quarter of the memory limit."""
        limit = RidgeSolver.resolved(self.solver).memory
        budget = min(limits.CACHED_FEATURES_BYTES, limit // 4 if limit else np.inf)
        width = max(2 * count_frequencies(described_features(self).n_components), rows.X.shape[1])
        return int(np.clip(budget // (8 * width), 1, _MOST_ROWS))


def _class_scores(values: Array) -> Array:
    """Return softmax scores (n, 1, C) of a single model from decision values (n, t)."""
    scores = np.concatenate((-values, values), axis=1) if values.shape[1] == 1 else values
    return as_array(scores[:, None])


def _are_of_classes(rows: Chunk) -> bool:
    """Return whether weights are class weights: equal within each class of at least two rows."""
    if rows.weight is None or np.ptp(rows.weight) == 0.0:
        return False
    _, first, label, counts = np.unique(
        rows.y, return_index=True, return_inverse=True, return_counts=True
    )
    return bool(counts.min() > 1 and np.array_equal(rows.weight[first][label], rows.weight))


def _distinct(classes: object) -> NDArray[np.generic]:
    """Return the distinct ``classes``, sorted; raise ValueError if entries are missing."""
    distinct = np.unique(labels(classes, "classes"))
    if any(label != label for label in distinct.tolist()):
        raise ValueError(f"classes must not have missing entries, got {shown(classes)}.")
    return distinct
