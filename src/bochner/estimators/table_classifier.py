"""Classification on a whole table."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import (
    Array,
)
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_classifier import BaNKClassifier
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.estimators.laws_table import LawsTable
from bochner.estimators.ridge_head import RidgeHead
from bochner.estimators.table_base import ClassificationTable
from bochner.estimators.table_partitions import CentredIndicators
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

    head_: KreinRidgeClassifier | BaNKClassifier | SoftmaxOfLaws = field(init=False)

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
