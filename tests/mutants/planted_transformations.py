"""Bugs of transformed targets, each with the test that must notice it."""

from mutants.registry import plant_edits
from tables import test_transformed_targets

from bochner.tables import table_predictions as transformations
from bochner.tables.table_predictions import NumberPredictor, Transformation

plant_edits(NumberPredictor, "mean",
    test_transformed_targets.test_predictions_are_on_the_scale_of_the_target,
    medians_in_place_of_means=("self.predictive(rows, weight).mean_and_std()[0]",
                               "rows.averaged(self.outputs)"))  # fmt: skip
plant_edits(Transformation, "log_slope",
    test_transformed_targets.test_the_most_likely_transformation_is_chosen,
    densities_of_transformed_targets=("-np.log(y)", "0.0 * y"))  # fmt: skip
plant_edits(NumberPredictor, "covariances",
    test_transformed_targets.test_covariances_of_transformed_targets_are_refused,
    covariances_of_logarithms=("self.targets.transformation is not None", "False"))  # fmt: skip
plant_edits(transformations, "_curve",
    test_transformed_targets.test_equal_targets_have_their_middle_rank,
    equal_targets_have_their_last_rank=("0.5 * counts", "0.5"))  # fmt: skip
