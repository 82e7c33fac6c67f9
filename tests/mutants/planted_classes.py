"""Bugs of weights and costs of classes, each with the test that must notice it."""

from laws import test_class_weights
from mutants.registry import plant_edits

from bochner import TableClassifier

plant_edits(
    TableClassifier,
    "predict",
    test_class_weights.check_costs,
    costs_of_the_true_class=(
        "probabilities @ self._checked_costs(probabilities.shape[1])",
        "probabilities @ self._checked_costs(probabilities.shape[1]).T",
    ),
)
