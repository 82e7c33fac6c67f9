"""Bugs in what is told of rows unlike the training rows, with the tests that notice them."""

from functools import partial

from comparison import test_outcomes
from mutants.registry import plant_edits
from report import test_numbers
from tables import test_later_rows

from bochner.comparison import outcomes
from bochner.report import accuracy as unlike_rows
from bochner.tables.new_rows import RowKnowledge

plant_edits(RowKnowledge, "unlike",
    test_later_rows.test_later_rows_are_told_from_other_rows_beyond_the_range,
    later_rows_are_also_beyond_the_range=(" & ~is_later", ""),
    )  # fmt: skip
plant_edits(outcomes, "by_kind",
    test_outcomes.test_rows_are_split_by_how_they_differ_from_the_training_rows,
    users=(test_outcomes,),
    rows_of_every_reason_are_unlike=("~np.any(", "~np.all("),
    )  # fmt: skip
plant_edits(unlike_rows, "_larger",
    partial(test_numbers.test_rows_unlike_the_training_rows, test_numbers.ROWS["as expected"]),
    smaller_errors_are_larger=("losses.value - others.value", "others.value - losses.value"),
)  # fmt: skip
plant_edits(unlike_rows, "_unsafe", partial(test_numbers.assert_unlike_classes, 6.0),
    classes_too_seldom_right_are_fine=("gap.value >= -_limit", "gap.value <= -_limit"))  # fmt: skip
