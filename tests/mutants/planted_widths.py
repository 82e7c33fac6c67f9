"""Bugs of widths that follow errors, each with the test that must notice it."""

from mutants.registry import plant_edits
from tables import test_widths

from bochner.tables import width_terms, widths
from bochner.tables.weighted_sum import SumOfLaws

plant_edits(widths, "fitted_widths", test_widths.test_groups_are_left_out_as_a_whole,
    widths_that_know_their_group=("fold_numbers(groups, n", "fold_numbers(None, n"))  # fmt: skip
plant_edits(widths, "_trees", test_widths.test_trees_add_interactions,
    trees_of_two_levels=("_SIZES", "replace(_SIZES, depth=2)"))  # fmt: skip
plant_edits(widths._Scores, "choices",
    test_widths.test_rows_with_gaps_have_the_width_of_their_errors,
    curves_alone=("BinaryColumns.of(self.X, self.columns)", "BinaryColumns.of(self.X, None)"),
)  # fmt: skip
plant_edits(width_terms, "penalised", test_widths.test_penalties_are_those_of_the_spread_of_levels,
    penalties_that_stay=("sizes = dispersion *", "sizes = sizes + 0.0 * dispersion *"))  # fmt: skip
plant_edits(width_terms, "least_loss", test_widths.test_curves_are_most_likely,
    steps_without_the_penalty=("+ penalty @ coef)", ")"))  # fmt: skip
plant_edits(widths, "_knots", test_widths.check_equal_rows,
    knots_among_equal_rows=("product <= _LEAST_PRODUCT * residual", "False"),
    )  # fmt: skip
plant_edits(SumOfLaws, "_joint_moments",
    test_widths.test_covariances_have_the_widths_of_predictions,
    covariances_without_widths=("cov * factors * factors[:, None]", "cov"))  # fmt: skip
