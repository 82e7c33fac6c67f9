"""Classification on a whole table."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from bochner._base.arrays import Array, ArrayLike, MatrixLike, as_array, as_finite_scalar
from bochner._base.checks import labels
from bochner._base.names import one_line
from bochner._base.progress import Callback, Progress
from bochner._base.registry import register
from bochner.linear.argument_checks import LabelledClassifier, checked_weight
from bochner.tables.new_rows import NewRows
from bochner.tables.table_fit import fitted_laws
from bochner.tables.table_model import TableModel
from bochner.tables.table_predictions import centred_indicators
from bochner.tables.table_rows import is_partitioned, training_rows
from bochner.tables.weighted_sum import SoftmaxOfLaws


@register
@dataclass(eq=False, repr=False)
class TableClassifier(LabelledClassifier, TableModel):
    """Classification on a table, with calibrated probabilities; defaults need no tuning.

    ``fit(X, y)`` takes a data frame or array of numbers, text and dates, with missing entries, and
    labels ``y``; ``predict_proba`` returns probabilities.

    The base models are those of :class:`TableRegressor`: kernel models regress the class indicators
    by least squares, and boosted trees model the log odds. Probabilities, never zero or one, are
    the softmax of a weighted sum of their values plus constants, fitted to left-out rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bochner import TableClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = TableClassifier(effort="quick", random_state=0).fit(X[::2], y[::2])
    >>> model.predict_proba(X[1::50]).round(1)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    >>> sorted(model.importance().columns[:2])
    ['petal length (cm)', 'petal width (cm)']

    Parameters
    ----------
    effort, time_limit, memory_limit, n_jobs, random_state
        As in :class:`TableRegressor`.
    base_models : list or tuple of classifiers, default=()
        As in :class:`TableRegressor`, but classifiers with ``predict_proba``, which are fitted to
        class numbers. Their probabilities count as at least 0.001.
    weights : {"precisions", "counts"}, default="precisions"
        Meaning of the ``sample_weight`` of :meth:`fit`, as in :class:`TableRegressor`: precisions
        multiply the log losses of rows, and may be weights of classes.
    class_weight : {"balanced"}, dict or None, default=None
        Factors of the weights of rows by class: ``"balanced"`` gives all classes the same total
        weight, and a dict maps classes to factors. Probabilities and ``score_`` then refer to
        classes with the reweighted shares. If only the costs of decisions differ, use ``costs``
        instead.
    costs : array-like of shape (n_classes, n_classes) or None, default=None
        Entry ``[i, j]`` is the cost of predicting class ``j`` for a row of class ``i``, in the
        order of ``classes_``. :meth:`predict` returns the class of least expected cost; ``None``
        means that all errors cost the same.

    Attributes
    ----------
    encoder_, quantile_encoder_, record_, background_, background_values_
        As in :class:`TableRegressor`.
    head_ : SoftmaxOfLaws
        Softmax of a weighted sum of base models of the encoded columns.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    score_ : float
        Expected log loss in nats on new rows weighted as the training rows, from left-out rows.
    """

    _: KW_ONLY
    class_weight: Any = None
    costs: Any = None

    head_: SoftmaxOfLaws = field(init=False)

    def _check_parameters(self) -> None:
        weights = self.class_weight
        if not (weights is None or weights == "balanced" or isinstance(weights, Mapping)):
            raise ValueError(
                "class_weight must be None, 'balanced' or a dictionary of factors by class, got "
                f"{weights!r:.60}."
            )
        for factor in weights.values() if isinstance(weights, Mapping) else ():
            as_finite_scalar("class_weight", factor)
        if weights is not None and self.weights == "counts":
            raise ValueError(
                "class_weight needs weights='precisions': it multiplies weights, and counts are "
                "numbers of rows. Leave one of them out."
            )
        super()._check_parameters()

    def fit(
        self,
        X: object,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | str | None = None,
        time: ArrayLike | str | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the encoder and the base models, with the errors of :meth:`TableRegressor.fit`."""
        self._check_parameters()
        if y is not None and self.costs is not None and not is_partitioned(X):
            self._checked_costs(len(np.unique(column_or_1d(labels(y)))))
        if self.class_weight is not None:
            sample_weight = self._class_weights(X, y, sample_weight)
        settings, progress = self._settings(), Progress(callback)
        rows = training_rows(self, X, y, sample_weight, groups, time, is_numeric=False)
        present, numbers = np.unique(rows.y, return_inverse=True)
        targets = centred_indicators(rows.y, rows.weights)
        encoders, laws = fitted_laws(settings, rows, targets, progress, numbers.astype(np.int64))
        assert rows.classes is not None  # Targets are classes
        head = SoftmaxOfLaws.of(laws, rows.classes[present], numbers, rows.weights_or_ones)
        self._keep(rows, encoders, head)
        return self

    def _class_weights(
        self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Any:
        """Return weights (n,) of rows times the weights of their classes."""
        if is_partitioned(X):
            raise ValueError(
                "class_weight needs rows and labels in memory: leave it out, or pass weights "
                "as sample_weight."
            )
        if y is None:
            return sample_weight  # The fit raises the error
        factors = compute_sample_weight(self.class_weight, column_or_1d(labels(y)))
        if not (np.isfinite(factors).all() and (factors >= 0.0).all()):
            raise ValueError(
                f"class_weight must hold finite factors from 0, got {self.class_weight!r:.60}."
            )
        weight = checked_weight(sample_weight, factors)
        return factors if weight is None else factors * weight

    def _outputs(self, encoded: Array, are_similar: bool = True) -> Array:
        order = np.argsort(self.head_.classes_)
        return as_array(self.head_.predict_proba(encoded, are_similar=are_similar)[:, order])

    def _probabilities(self, encoded: Array) -> Array:
        return self._outputs(encoded, are_similar=False)

    def _output_unit(self) -> float:
        return 1.0  # Probabilities of different classes are comparable

    def _output_names(self) -> NDArray[Any]:
        return self.classes_

    def _changes_by_column(self, rows: NewRows) -> Array:
        # Beyond the range, probabilities are constant.
        return np.zeros((len(rows), len(rows.blocks), len(self.head_.classes_)))

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The class labels, sorted."""
        check_is_fitted(self, "head_")
        return np.sort(self.head_.classes_)

    @property
    def score_(self) -> float:
        """Expected log loss on new rows."""
        check_is_fitted(self, "head_")
        return self.head_.left_out_log_loss

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Return the most probable class of each row, or the class of least expected cost, (n,)."""
        probabilities = self.predict_proba(X)
        if self.costs is None:
            return np.asarray(self.classes_[np.argmax(probabilities, axis=1)])
        expected = probabilities @ self._checked_costs(probabilities.shape[1])
        return np.asarray(self.classes_[np.argmin(expected, axis=1)])

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return class probabilities, of shape (n, n_classes)."""
        _, parts = self._parts(X)
        return np.concatenate([rows.averaged(self._probabilities) for rows in parts])

    def _checked_costs(self, n_classes: int) -> Array:
        form = {"dtype": np.float64, "ensure_2d": False, "allow_nd": True, "input_name": "costs"}
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                costs = check_array(self.costs, **form)
        except (ValueError, TypeError) as error:
            raise ValueError(f"costs must be an array of numbers: {one_line(error)}") from None
        if costs.shape != (n_classes, n_classes):
            raise ValueError(
                f"costs must have a row and a column for each of the {n_classes} classes, in the "
                f"order of classes_, got the shape {costs.shape}."
            )
        return as_array(costs)
