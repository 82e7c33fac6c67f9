"""Classification by ridge regression on random features."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bochner._numerics import limits
from bochner._numerics.arrays import Array, as_array
from bochner._numerics.checked import labels
from bochner._numerics.foreign import shown
from bochner._numerics.memory import as_bytes
from bochner._numerics.namespaces import to_numpy
from bochner._numerics.whole_fits import all_or_nothing
from bochner.estimators.inputs import (
    checked_forgetting,
    first_rows,
    is_dask,
    labels_of,
    lazily,
)
from bochner.estimators.labelled import LabelledClassifier
from bochner.estimators.online_head import OnlineHead
from bochner.features.chunks import ArrayChunks, Chunk, RowSample, sample_rows
from bochner.features.parameters import count_frequencies
from bochner.features.targets import Indicators
from bochner.learning.left_out import left_out_indicators
from bochner.learning.softmax_weights import SoftmaxWeights, fit_softmax
from bochner.registry import register

_MOST_ROWS = 2000
"""Most rows whose left-out values the softmax is fitted to. Of them, its scale has a standard error
of some per cent; twice as many take twice the time, that of their features and leverages."""


@register
class KreinRidgeClassifier(LabelledClassifier, OnlineHead):
    r"""Classification by ridge regression of class indicators on random features.

    Two classes are one target of :math:`\pm 1`; more are one such target each, all from one
    factorisation. The class of greatest value wins. Indefinite kernels, data larger than memory,
    Dask collections and devices are treated as in :class:`KreinRidge`; labels and all predictions
    are NumPy arrays.

    Parameters
    ----------
    kernel, n_components, length_scale, scheme, weights, decomposition, pairs, random_state
        As in :class:`FourierFeatures`.
    alpha, fit_intercept, associated, solver, tol, memory_limit, residual
        As in :class:`KreinRidge`; the evidence is that of the regression on the targets.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    softmax_ : SoftmaxWeights
        Scale of :meth:`predict_proba`.
    left_out_ : RowSample
        Left-out values that it is fitted to; those of later batches are added.
    kernel_, frequencies_, residual_, signature_, alpha_, log_evidence_, sums_, fading_, n_iter_
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
    softmax_: SoftmaxWeights | None = None
    left_out_: RowSample | None = None

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to all rows at once.

        Parameters
        ----------
        X, sample_weight
            As in :meth:`KreinRidge.fit`; chunks are read twice more, for their labels and for a
            sample of rows that :meth:`predict_proba` is fitted to. Whole weights that are equal for
            all rows of a class, and differ between classes, are no counts: they multiply the losses
            of single rows.
        y : array-like of shape (n,)
            Class labels, at least two of them; ``None`` with chunks and ``PartitionedRows``.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`KreinRidge.fit`, and if there is one class only.
        """
        return self._fit_first(X, y, None, sample_weight)

    @all_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        forgetting: float = 1.0,
    ) -> Self:
        """Add rows to earlier ones.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array-like, default=None
            All labels of all batches; needed in the first call unless ``y`` has them all.
        forgetting : float, default=1.0
            Factor by which each new row multiplies the weights of all rows before it, as in
            :meth:`KreinRidge.partial_fit`; also of those that probabilities are fitted to.

        Notes
        -----
        For probabilities, the values of every batch's rows are those of the model after the batch,
        and are not computed again: fit to all rows at once for those of the final model. Of an
        iterator of chunks, :meth:`predict_proba` is fitted to the first.
        """
        forgetting = checked_forgetting(forgetting)
        if not hasattr(self, "sums_"):
            return self._fit_first(
                X, y, classes, sample_weight, keep_sums=True, forgetting=forgetting
            )
        if classes is not None and not np.array_equal(_distinct(classes), self.classes_):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_.tolist()}, or left out; "
                f"got {classes!r}."
            )
        rows = self._later(X, y, sample_weight)
        earlier, sums = self.left_out_, self.sums_
        size = self._sample_size(rows) if earlier is None else earlier.size
        self._add_rows(rows, forgetting=forgetting)
        if earlier is not None and forgetting < 1.0:
            earlier = earlier.weighted(forgetting ** len(rows))
        # The keys of every batch are new: the seed is the number of rows before it.
        n_before = earlier.n_samples if earlier else sums.n_samples if sums else 0
        rng = np.random.default_rng(n_before)
        self._calibrate(earlier, sample_rows([rows.aged(forgetting)], size, rng))
        return self

    refresh = OnlineHead.refresh  # Pages of classes show methods of their own only

    @property
    def _targets(self) -> Indicators:
        return Indicators(self.classes_)

    def _later(self, X: Any, y: Any, sample_weight: Any) -> Chunk:
        return self._checked(X, y, sample_weight, is_first=False)

    def _fit_first(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        *,
        keep_sums: bool = False,
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
        self._calibrate(None, sample)
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, is_first: bool) -> Chunk:
        rows = self._checked_rows(X, y, sample_weight, is_first, numeric=False)
        return replace(rows, are_precisions=_are_of_classes(rows))

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

        They are never zero or one: a softmax of the values of :meth:`decision_function`, times one
        scale (a logistic function for two classes), so that the class of greatest probability is
        that of :meth:`predict`. The scale is fitted to the values of at most 2,000 training rows,
        each left out of the fit. Models of files without a softmax have scale one.
        """
        if is_dask(X):
            return lazily(self, "predict_proba", X)
        values = self.decision_function(X).reshape(-1, Indicators(self.classes_).n_targets)
        softmax = self.softmax_ or SoftmaxWeights.plain(len(self.classes_))
        return softmax.probabilities(_class_scores(values))

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

    def _calibrate(self, earlier: RowSample | None, sample: RowSample) -> None:
        """Fit the softmax to left-out values of sampled rows and those of earlier batches."""
        labels = np.searchsorted(self.classes_, sample.rows.y)
        values = left_out_indicators(
            sample,
            self._features,
            Indicators(self.classes_),
            self.posterior_,
            self._solved_sums,
            self._signs(self._features),
            fit_intercept=self.fit_intercept,
        )
        found = replace(sample, rows=Chunk(values, labels, sample.rows.weight))
        found = found if earlier is None else earlier + found
        scores = _class_scores(found.rows.X)
        self.softmax_ = fit_softmax(scores, found.rows.y, found.shares, has_biases=False)
        self.left_out_ = found

    def _sample_size(self, rows: Chunk) -> int:
        """Return how many rows take a quarter of the memory, with their features."""
        limit = as_bytes(self.memory_limit)
        budget = min(limits.CACHED_FEATURES_BYTES, limit // 4 if limit else np.inf)
        width = max(2 * count_frequencies(self.n_components), rows.X.shape[1])
        return int(np.clip(budget // (8 * width), 1, _MOST_ROWS))


def _class_scores(values: Array) -> Array:
    """Return scores (n, 1, C) of one law from the targets' values (n, t)."""
    scores = np.concatenate((-values, values), axis=1) if values.shape[1] == 1 else values
    return as_array(scores[:, None])


def _are_of_classes(rows: Chunk) -> bool:
    """Return whether classes of two rows or more have weights, one for all rows of a class."""
    if rows.weight is None or np.ptp(rows.weight) == 0.0:
        return False
    _, first, label, counts = np.unique(
        rows.y, return_index=True, return_inverse=True, return_counts=True
    )
    return bool(counts.min() > 1 and np.array_equal(rows.weight[first][label], rows.weight))


def _distinct(classes: Any) -> NDArray[Any]:
    """Return announced classes, sorted, or raise ValueError if some are none."""
    found = np.unique(labels(classes, "classes"))
    if any(label != label for label in found.tolist()):
        raise ValueError(f"classes must not have missing entries, got {classes!r}.")
    return found
