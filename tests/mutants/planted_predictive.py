"""Bugs of the predictive distribution, each with the test that must notice it."""

from functools import partial

from mutants.registry import plant_edits
from tables import test_predictive, test_transformed_targets

from bochner.tables import predictive, table_predictions
from bochner.tables.predictive import Predictive, ScoreLaw
from bochner.tables.table_predictions import ScaledTargets

plant_edits(ScoreLaw, "of", test_predictive.test_quantiles_are_ranks_among_one_more_score,
    absolute_scores=("np.sort(columns, axis=0)", "np.sort(np.abs(columns), axis=0)"))  # fmt: skip
plant_edits(ScoreLaw, "of", partial(test_predictive.check_one_distribution, "line", 1, None),
    laws_with_another_mean=("values -= ", "values -= 0.0 * "))  # fmt: skip
plant_edits(predictive, "_tail",
    test_predictive.test_means_of_exponentials_are_those_of_normal_tails,
    tails_without_a_scale=("excesses[1:] / mean", "excesses[1:]"))  # fmt: skip
plant_edits(predictive, "_interpolated",
    test_predictive.test_the_distribution_is_the_inverse_of_the_quantiles,
    the_lowest_level_of_ties=('side="right"', 'side="left"'))  # fmt: skip
plant_edits(Predictive, "_distribution",
    test_predictive.test_quantiles_of_mixtures_have_their_level,
    quantiles_of_equal_components=("weight * probabilities", "0.25 * probabilities"))  # fmt: skip
plant_edits(ScoreLaw, "sample", test_predictive.test_draws_keep_the_correlations_of_targets,
    targets_in_one_order=("(self.ranks[rows] + places[",
                          "(np.sort(self.ranks, axis=0)[rows] + places["))  # fmt: skip
plant_edits(ScaledTargets, "inverse",
    test_transformed_targets.test_counts_are_not_predicted_below_zero,
    counts_below_zero=("targets if self.floor is None else at_least(targets, self.floor)",
                       "targets"))  # fmt: skip
plant_edits(table_predictions, "floor_of",
    test_transformed_targets.test_floors_are_for_targets_that_would_be_negative,
    every_positive_target_has_a_floor=("n_expected >= _FEWEST_AT_FLOOR", "True"),
    )  # fmt: skip
