"""Bugs of contributions to single predictions, each with the test that must notice it."""

from functools import partial

from mutants.registry import plant_edits
from tables import test_shapley

from bochner.tables.contributions import Game

plant_edits(
    Game,
    "exact",
    partial(
        test_shapley.test_exact_values_are_averages_over_all_orders,
        test_shapley.mixed,
        test_shapley.SINGLE,
    ),
    all_coalitions_weigh_the_same=("comb(g - 1, np.arange(g))", "np.full(g, 2.0 ** (g - 1) / g)"),
)
plant_edits(Game, "_walks",
    test_shapley.test_a_permutation_and_its_reverse_are_exact_for_pairs_of_columns,
    same_permutation_twice=("[early, ~early]", "[early, early]"),
    )  # fmt: skip
plant_edits(
    Game,
    "_sampled",
    partial(
        test_shapley.test_standard_errors_are_those_of_repeated_estimates, "all background rows"
    ),
    background_rows_as_if_drawn_with_replacement=("(1.0 - m / size) * between", "between"),
)
plant_edits(Game, "shapley_values",
    test_shapley.test_the_sum_is_exact_if_all_sampled_background_rows_are_equal,
    sums_that_lack_a_part=("values + shares * lacking[:, None]", "values"))  # fmt: skip
