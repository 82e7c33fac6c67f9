"""Bugs of transformed targets, each with the test that must notice it."""

from estimators import test_transformed_targets
from mutants.registry import plant_edits, replaces

from bochner.estimators.table_base import RegressionTable
from bochner.estimators.table_regressor import TableRegressor
from bochner.learning.ensemble.transformations import Transformation

plant_edits(
    TableRegressor,
    "_means",
    test_transformed_targets.check_means,
    medians_in_place_of_means=(
        "self.head_.mapped_moments(encoded, self._from_head, weight)[0]",
        "self._outputs(encoded)",
    ),
)
plant_edits(
    TableRegressor,
    "_combined",
    test_transformed_targets.check_means,
    errors_of_medians=("rows.y[judged.scored] - expected", "0.5 * rows.y[judged.scored]"),
)
plant_edits(
    Transformation,
    "log_slope",
    test_transformed_targets.check_choice,
    densities_of_transformed_targets=("-np.log(y)", "0.0 * y"),
)
replaces(
    TableRegressor,
    "_covariances",
    test_transformed_targets.check_covariances,
    name="covariances_of_logarithms",
)(RegressionTable._covariances)
