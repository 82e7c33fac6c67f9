"""Bugs in the treatment of copied rows and rows without a target, with the tests that notice them.

Planted in columns that determine the target alone, too.
"""

from functools import partial

import numpy as np
from comparison import test_leaks, test_split
from mutants.registry import plant_edits
from tables import test_table_checks

from bochner.comparison import split
from bochner.comparison import study as leaks
from bochner.tables import table_checks
from bochner.tables import table_rows as copied_rows

plant_edits(split, "split_table",
    test_split.test_rows_with_an_equal_identifier_are_held_out_together, users=(test_split,),
    equal_identifiers_are_divided=("units=units", "units=None"),
    )  # fmt: skip
plant_edits(split, "split_rows",
    partial(test_split.test_copies_are_not_divided_and_the_fit_has_one_of_each, "time"),
    users=(test_split,),
    copies_are_tested=("test[~np.isin(originals[test], originals[fit])]", "test"),
)  # fmt: skip
plant_edits(split, "_parts", test_split.test_a_class_whose_rows_are_copies_is_fitted,
    single_rows_are_lost=("np.concatenate((fit, single))", "fit"))  # fmt: skip
plant_edits(copied_rows, "originals", test_split.test_rows_that_are_equal_by_chance_are_independent,
    equal_rows_are_copies=("_LEAST_RATIO * by_chance", "0.0"))  # fmt: skip
plant_edits(
    copied_rows, "originals", test_split.test_rows_that_are_equal_by_chance_have_copies_each,
    each_row_has_one_original=("_written_again(row, counts // n_written)", "first[row]"),
)  # fmt: skip
plant_edits(copied_rows, "_by_chance", test_split.test_some_copies_are_found_among_other_rows,
    copies_are_chance=(" - n_pairs", ""))  # fmt: skip
plant_edits(table_checks, "with_targets",
    partial(test_split.test_rows_without_target_are_left_out_and_counted, "regression"),
    users=(split,),
    rows_are_counted_from_zero=("np.flatnonzero(~is_known) + 1", "np.flatnonzero(~is_known)"),
)  # fmt: skip
plant_edits(table_checks, "with_targets", test_split.test_rows_need_all_of_several_targets,
    users=(split,),
    one_of_several_targets_is_enough=(".all(axis=1)", ".any(axis=1)"))  # fmt: skip

noise = partial(test_leaks.test_a_strong_column_with_noise_is_not_named, 0.95, 40)
plant_edits(leaks, "leaks",
    test_leaks.test_a_target_with_many_small_values_is_named_if_it_is_rounded, users=(test_leaks,),
    only_ranks_are_explained=("rankdata(target), target / (np.max(np.abs(target)) or 1.0)",
                              "rankdata(target)"))  # fmt: skip
plant_edits(leaks, "leaks",
    partial(test_leaks.test_a_column_made_of_the_target_is_named, "its logarithm"),
    users=(test_leaks,),
    few_rows_suffice=("_LEAST_SHARE", "1.0"))  # fmt: skip
plant_edits(leaks, "leaks", partial(test_leaks.test_lagged_values_and_times_are_not_named, 2_000),
    users=(test_leaks,),
    times_are_named=(" or column.name == time", ""))  # fmt: skip
plant_edits(leaks, "leaks", test_leaks.test_identifiers_few_rows_and_missing_entries,
    users=(test_leaks,),
    missing_entries_are_predicted=("used = rows[column.present[rows]]", "used = rows"))  # fmt: skip
plant_edits(leaks, "_errors", noise,
    nearest_rows_are_the_row=("order[[1, *range(n - 1)]], order[[*range(1, n), -2]]",
                              "order, order"))  # fmt: skip

ends_are_rare = np.repeat(np.arange(3, 9), [10, 53, 681, 638, 199, 18])
plant_edits(table_checks, "_are_quantities",
    partial(test_table_checks.test_task, ends_are_rare, "regression"),
    marks_are_classes=("has_rare_ends or ", ""))  # fmt: skip
