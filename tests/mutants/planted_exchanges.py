"""Bugs at rows with exchanged columns, each with the test that must notice it."""

from functools import partial

from mutants.registry import plant_edits
from tables import test_exponentials, test_sensitivity, test_shapley

from bochner.tables import kernel_loops
from bochner.tables.sensitivity import Dependence, RowFunction

plant_edits(
    kernel_loops,
    "exponentials",
    test_exponentials.test_exponentials_are_those_of_numpy,
    exponents_below_those_of_numbers=("max(values[k], _SMALLEST)", "values[k]"),
    logarithm_of_two_in_one_part=("n * _LN2_HIGH) - n * _LN2_LOW", "n * _LN2_HIGH)"),
)
plant_edits(
    RowFunction,
    "exchanged",
    partial(
        test_shapley.test_exact_values_are_averages_over_all_orders,
        test_shapley.mixed,
        {"a": [0], "none": [], "bd": [3, 1], "c": [2]},
    ),
    columns_by_their_own_number=("sources[batch][:, self.owners]", "sources[batch][:, columns]"),
)
plant_edits(
    Dependence,
    "_exchanged",
    test_sensitivity.test_blocks_of_sources_change_nothing,
    donors_of_the_first_block=("donors[block]", "donors[: block.stop - block.start]"),
)
