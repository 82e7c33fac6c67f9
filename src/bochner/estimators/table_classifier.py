"""Classification on a whole table."""

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.checked import labels, named
from bochner._numerics.progress import Callback
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_classifier import BaNKClassifier
from bochner.estimators.inputs import checked_weight, is_dask
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.estimators.laws_table import LawsTable
from bochner.estimators.ridge_head import RidgeHead
from bochner.estimators.table_base import ClassificationTable
from bochner.estimators.table_partitions import CentredIndicators, is_partitioned
from bochner.estimators.table_rows import TableRows
from bochner.features.targets import Indicators
from bochner.learning.ensemble.ensemble import SoftmaxOfLaws
from bochner.learning.ensemble.learner import Judged
from bochner.learning.kernel_search import LeaveOneOut, PairCriterion
from bochner.registry import register


@register
@dataclass(eq=False, repr=False)
class TableClassifier(ClassificationTable, LawsTable):
    r"""Classification on a table, with calibrated probabilities; defaults need no tuning.

    The laws are those of :class:`TableRegressor`: kernels regress the indicators of the classes by
    least squares, and trees have their log odds. Probabilities are the softmax of their values,
    with a weight for each law and a constant for each class fitted to rows that were left out. They
    are never zero or one.

    Parameters
    ----------
    kernel, n_components, method, effort, time_limit, n_jobs, random_state
        As in :class:`TableRegressor`. The single kernel of the method ``"fixed"`` minimises the
        leave-one-out squared error of the class indicators, which are not Gaussian.
    class_weight : {"balanced"}, dict or None, default=None
        Factors of the rows' weights by class: ``"balanced"`` gives all classes the same total
        weight, and a dict names factors of classes. Probabilities, and ``score_``, are those of
        classes with these shares. For decisions whose costs differ, leave it out, and give the
        costs.
    costs : array-like of shape (n_classes, n_classes) or None, default=None
        Costs of predicting the class of a column for rows of the class of a row, in the order of
        ``classes_``. :meth:`predict` returns the class of least expected cost; ``None`` means that
        all errors cost the same.

    Attributes
    ----------
    encoder_, quantile_encoder_, varying_, kernel_, record_, background_, background_values_
        As in :class:`TableRegressor`.
    head_ : SoftmaxOfLaws, BaNKClassifier or KreinRidgeClassifier
    classes_ : ndarray of shape (n_classes,)
    score_ : float or None
        Expected log loss on new rows in nats, from rows left out; ``None`` for the method
        ``"fixed"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bochner import TableClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = TableClassifier(effort="quick", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _head_class: ClassVar[type[RidgeHead]] = KreinRidgeClassifier
    _chain_head: ClassVar[type[BaNK]] = BaNKClassifier
    _criterion: ClassVar[type[PairCriterion]] = LeaveOneOut

    _: KW_ONLY
    class_weight: Any = None
    costs: Any = None

    head_: KreinRidgeClassifier | BaNKClassifier | SoftmaxOfLaws = field(init=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the encoder and the head; see :meth:`TableRegressor.fit`.

        Raises
        ------
        ValueError
            If the table, the labels or a parameter is not valid.
        """
        in_memory = not is_partitioned(X)
        if y is None and in_memory:
            return super().fit(X)  # Which refuses it
        if self.costs is not None and in_memory:
            self._checked_costs(len(np.unique(labels(column_or_1d(y)))))
        if self.class_weight is not None:
            if not in_memory:
                raise ValueError(
                    "class_weight needs rows and labels in memory: leave it out, or pass weights "
                    "as sample_weight."
                )
            factors = compute_sample_weight(self.class_weight, labels(column_or_1d(y)))
            if not (np.isfinite(factors).all() and (factors >= 0.0).all()):
                raise ValueError(
                    f"class_weight must hold finite factors, not negative, got {self.class_weight}."
                )
            weight = checked_weight(sample_weight, factors)
            sample_weight = factors if weight is None else factors * weight
        return super().fit(X, y, sample_weight, groups=groups, time=time, callback=callback)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, or that of least expected cost, (n,)."""
        if self.costs is None or is_dask(X):
            return super().predict(X)
        probabilities = self.predict_proba(X)
        expected = probabilities @ self._checked_costs(probabilities.shape[1])
        return np.asarray(self.classes_[np.argmin(expected, axis=1)])

    def _checked_costs(self, n_classes: int) -> Array:
        with named("costs"):
            costs = check_array(
                self.costs, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="costs"
            )
        if costs.shape != (n_classes, n_classes):
            raise ValueError(
                f"costs must have a row and a column for each of the {n_classes} classes, in the "
                f"order of classes_, got the shape {costs.shape}."
            )
        return as_array(costs)

    @property
    def score_(self) -> float | None:
        """Expected log loss on new rows; ``None`` if no rows were left out."""
        check_is_fitted(self, "head_")
        found: float | None = getattr(
            self.head_, "left_out_log_loss", getattr(self.head_, "score_", None)
        )
        return found

    def _combined(self, judged: Judged, rows: TableRows, weights: Array) -> SoftmaxOfLaws:
        classes, labels = np.unique(rows.y, return_inverse=True)
        return SoftmaxOfLaws.of(judged, classes, labels, weights)

    def _labels(self, y: NDArray[Any]) -> NDArray[np.int64] | None:
        return np.unique(y, return_inverse=True)[1].astype(np.int64)

    def _named(self, head: Any, names: NDArray[Any]) -> Any:
        if isinstance(head, SoftmaxOfLaws):
            return replace(head, classes_=names[head.classes_])
        return super()._named(head, names)

    def _law_targets(self, rows: TableRows) -> CentredIndicators:
        indicators = Indicators(np.unique(rows.y))
        centre = np.average(indicators(rows.y), axis=0, weights=rows.weights)
        return CentredIndicators(indicators, centre)

    def _head_target(self, rows: TableRows) -> NDArray[Any]:
        return rows.y

    def _search_targets(self, y: NDArray[Any]) -> Array:
        return Indicators(np.unique(y))(y)
