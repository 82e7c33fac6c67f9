"""Bugs in what is told of rows unlike the training rows, with the tests that notice them."""

from functools import partial

from comparison import test_outcomes
from mutants.registry import plant_edits
from report import test_numbers
from tables import test_later_rows

from bochner.comparison import outcomes
from bochner.report import accuracy as unlike_rows
from bochner.tables import table_model
from bochner.tables.new_rows import RowKnowledge

plant_edits(RowKnowledge, "unlike", test_later_rows.check_later,
    later_rows_are_also_beyond_the_range=(" & ~is_later", ""),
    earlier_rows_are_later=("self.time_signs > 0.0", "self.time_signs != 0.0"))  # fmt: skip
plant_edits(RowKnowledge, "of", test_later_rows.check_later,
    only_times_of_the_fit_are_later=('float(s["kind"] == "date")', "0.0"))  # fmt: skip
plant_edits(table_model, "_trends", test_later_rows.check_later,
    falling_columns_grow=("(steps <= 0.0).all(axis=0)", "0.0"))  # fmt: skip
plant_edits(outcomes, "by_kind",
    test_outcomes.test_rows_are_split_by_how_they_differ_from_the_training_rows,
    users=(test_outcomes,),
    rows_of_every_reason_are_unlike=("~np.any(", "~np.all("),
    kinds_without_rows_stay=(" if mask.any()", ""))  # fmt: skip
plant_edits(unlike_rows, "_larger",
    partial(test_numbers.test_rows_unlike_the_training_rows, test_numbers.ROWS["as expected"]),
    smaller_errors_are_larger=("losses.value - others.value", "others.value - losses.value"),
)  # fmt: skip
plant_edits(unlike_rows, "_unsafe",
    partial(test_numbers.test_rows_unlike_the_training_rows, test_numbers.ROWS["narrow"]),
    narrow_intervals_are_fine=("covered.is_narrow", "covered.is_wide"))  # fmt: skip
plant_edits(unlike_rows, "_unsafe", partial(test_numbers.assert_unlike_classes, 6.0),
    classes_too_seldom_right_are_fine=("gap.value >= -_limit", "gap.value <= -_limit"))  # fmt: skip
