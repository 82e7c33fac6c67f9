"""Mixins that score predictions of rows in memory and of Dask collections."""

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin

from bochner._base.arrays import MatrixLike
from bochner._base.checks import labels
from bochner.linear.inputs import is_dask, lazy_score


class ScoredRegressor(RegressorMixin):
    """A regressor whose score is lazy for Dask collections."""

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Return the coefficient of determination of predictions of targets ``y``.

        For several targets (n, t) it is the average over targets. Rows are weighted by
        ``sample_weight`` (n,). For Dask collections it is a Dask array without dimensions.
        """
        if is_dask(X):
            return lazy_score(self, X, y, sample_weight)
        return float(super().score(X, y, sample_weight))


class LabelledClassifier(ClassifierMixin):
    """A classifier for labels of any single type, including booleans in object arrays."""

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Return the accuracy of the predicted labels of rows (n, d) with labels ``y`` (n,).

        Rows are weighted by ``sample_weight`` (n,). Raises ValueError or TypeError for labels that
        ``fit`` would refuse. For Dask collections it is a Dask array without dimensions.
        """
        if is_dask(X):
            return lazy_score(self, X, y, sample_weight)
        return float(super().score(X, labels(y), sample_weight))
