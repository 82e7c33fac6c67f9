"""Bugs of later stretches of time, each with the test that must notice it."""

from functools import partial

from mutants.registry import plant_edits
from tables import test_date_order, test_widths
from tables import test_later_stretches as test_origins
from tables.test_left_out_groups import (
    test_the_last_three_fifths_are_stretches_if_enough_rows_are_before as three_fifths,
)

from bochner.tables import later_stretches, learner, table_rows, weighted_sum
from bochner.tables import later_stretches as origins
from bochner.tables.level_means import Removal
from bochner.tables.width_terms import WidthTerms

plant_edits(origins, "over_stretches",
    test_origins.test_stretches_are_predicted_from_the_rows_before_them, users=(learner,),
    stretches_that_predict_themselves=("replace(observations, groups=groups)", "observations"),
    )  # fmt: skip
plant_edits(origins, "effective_number", test_origins.test_errors_that_are_shared_count_once,
    users=(test_origins,),
    rows_in_the_order_of_the_table=("np.lexsort((times, stretches))", "np.arange(len(errors))"),
    )  # fmt: skip
plant_edits(origins, "widened", test_origins.test_few_independent_scores_widen_intervals,
    users=(weighted_sum,),
    scores_as_if_rows_shared_nothing=("as_array(scores * factors",
                                      "as_array(scores + 0.0 * factors"))  # fmt: skip
plant_edits(weighted_sum, "_widths", test_origins.test_widths_of_later_rows_are_fitted_to_stretches,
    widths_without_stretches=("models.times is not None", "False"))  # fmt: skip
plant_edits(WidthTerms, "fitted",
    test_widths.test_widths_do_not_follow_errors_that_a_stretch_shares,
    widths_that_know_the_stretch=("if stretches is not None", "if False"))  # fmt: skip
plant_edits(later_stretches, "fit_averaged",
    test_origins.test_probabilities_are_averages_over_what_constants_may_be, users=(test_origins,),
    constants_that_are_known=("fitted.biases + moves[:, 1:]", "fitted.biases + 0.0 * moves[:, 1:]"),
    )  # fmt: skip
plant_edits(later_stretches, "fit_over_stretches",
    test_origins.test_constants_of_classes_do_not_know_the_stretch, users=(test_origins,),
    constants_that_know_the_stretch=("np.where(rows, 0.0, factor * weight)", "factor * weight"),
)  # fmt: skip
plant_edits(Removal, "of_times", partial(three_fifths, 50, 3),
    stretches_that_end_where_all_rows_do=("ends[firsts[-1] - 1]", "ends[-1]"))  # fmt: skip
plant_edits(table_rows, "note_sorted_dates",
    lambda: test_date_order.test_other_tables_have_no_note("one pair"), users=(test_date_order,),
    order_of_a_few_rows=("and is_sorted(_dates(name, entries))", ""))  # fmt: skip
