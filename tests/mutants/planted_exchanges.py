"""Bugs of laws at rows with exchanged columns, each with the test that must notice it."""

from functools import partial

from diagnosis import test_sensitivity, test_shapley
from learning.tables import test_exchanges
from mutants.registry import edit_inner, plant_edits, planted

from bochner.diagnosis.evaluators import RowFunction
from bochner.diagnosis.sensitivity import Dependence
from bochner.learning.tables import exchange_sums, exchanges

LAPLACIAN = partial(test_exchanges.assert_means_are_those_of_rows, "Laplacian")
MAPPED = partial(test_exchanges.assert_means_are_those_of_rows, "Matern 2.5", test_exchanges.MATRIX)


def plant_in_loops(function, check, **edits):
    for name, (old, new) in edits.items():
        bug = edit_inner(exchange_sums, function, "add_kernel_sums", old, new, exchanges)
        planted(check, name=name)(bug)


plant_in_loops(
    "_bases",
    LAPLACIAN,
    rows_equal_in_the_columns_of_another_row=(
        "min(of_anchor, of_before) == 0",
        "min(of_anchor, of_before) <= 1",
    ),
    updates_from_a_row_that_is_not_at_hand=("anchor if of_anchor <= of_before else before", "0"),
)
plant_in_loops(
    "_update",
    MAPPED,
    images_with_the_norm_before=("mixed.norms[number] - mixed.norms[base]", "0.0"),
)
plant_in_loops(
    "_renew",
    test_exchanges.test_distances_that_cancel_are_computed_anew,
    distances_left_as_they_cancelled=("sums[k] < _CANCELLED * largest[k]", "False"),
)
plant_in_loops(
    "_exponentials",
    test_exchanges.test_kernels_of_distant_rows_are_zero,
    exponents_below_those_of_numbers=("max(values[k], _SMALLEST)", "values[k]"),
)
plant_edits(
    exchanges,
    "_part",
    LAPLACIAN,
    levels_of_the_first_rows=(
        "Z[np.ix_(first[: None if is_few else 0], columns)]",
        "Z[: len(first) if is_few else 0, columns]",
    ),
)
plant_edits(
    exchanges,
    "_codes",
    test_exchanges.test_rows_whose_projections_agree_are_compared,
    projections_not_compared=("not np.array_equal(X[first[codes]], X)", "False"),
)
plant_edits(
    exchanges,
    "_with_first_sources",
    LAPLACIAN,
    sources_by_level_and_not_by_row=("first[codes]", "codes"),
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
