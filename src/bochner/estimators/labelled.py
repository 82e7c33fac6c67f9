"""Classifiers whose scores take labels as their fits do."""

from typing import Any

from sklearn.base import ClassifierMixin

from bochner._numerics.checked import labels


class LabelledClassifier(ClassifierMixin):
    """A classifier that compares labels of any one kind, such as booleans among objects."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows (n, d) whose label ``y`` (n,) is predicted.

        Rows count by their weights (n,). Raises ValueError or TypeError for labels that ``fit``
        would refuse.
        """
        return float(super().score(X, labels(y), sample_weight))
