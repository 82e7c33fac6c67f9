"""Scores of classifiers with labels of any type."""

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from bochner._base.arrays import MatrixLike
from bochner._base.checks import labels


class LabelledClassifier(ClassifierMixin):
    """A classifier for labels of any single type, including booleans in object arrays."""

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Return the accuracy of the predicted labels of rows (n, d) with labels ``y`` (n,).

        Rows are weighted by ``sample_weight`` (n,). Raises ValueError or TypeError for labels that
        ``fit`` would refuse.
        """
        return float(super().score(X, labels(y), sample_weight))
