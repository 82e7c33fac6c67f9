"""Bugs of limits of time and of threads, each with the test that must notice it."""

from mutants.registry import plant_edits
from tables import test_efforts, test_tree_laws
from tables import test_memory_limits as test_memory

from bochner.tables import estimator_laws, fit_plan, learner, tree_laws
from bochner.tables import fit_plan as memory

plant_edits(
    fit_plan.Effort,
    "within",
    test_efforts.test_more_kernels_are_searched_on_fewer_rows,
    each_search_has_the_share_of_all=("seconds / n_kernels", "seconds"),
)
plant_edits(
    learner,
    "_alternating",
    test_efforts.test_families_take_turns,
    families_one_after_another=(
        "key=lambda number: names[:number].count(names[number])",
        "key=int",
    ),
)
plant_edits(
    learner.Learner,
    "_iterations",
    test_efforts.test_boosting_ends_within_the_limit,
    one_fit_of_boosting=("n_outputs * n_fits(len(plan.scored.units), n_samples)", "n_outputs"),
    few_iterations_are_better_than_none=("most >= boosting.fewest_iterations(n_samples)", "most"),
)
plant_edits(
    tree_laws.Boosting,
    "most_iterations",
    test_efforts.test_boosting_ends_within_the_limit,
    as_many_iterations_of_several_outputs=("n_outputs <= 2", "True"),
)
plant_edits(
    estimator_laws,
    "n_fits",
    test_tree_laws.test_a_limit_knows_the_number_of_fits,
    folds_without_the_fit_to_all=("1 + _N_FOLDS", "_N_FOLDS"),
    few_scored_observations_in_folds=("2 if n_scored <= _FEW_SCORED * n_samples else", ""),
)
plant_edits(
    memory,
    "within_memory",
    test_memory.test_threads_share_the_memory,
    threads_share_their_blocks=(
        "n_threads * _BLOCKS * of_blocks",
        "of_blocks",
    ),
    threads_share_a_search=("(limit - of_table) / n_threads", "limit - of_table"),
    users=(test_memory,),
)
plant_edits(
    memory,
    "within_memory",
    test_memory.test_a_large_group_needs_memory,
    the_largest_group_is_forgotten=("max(MOST_SCORED, largest_group)", "MOST_SCORED"),
    users=(test_memory,),
)
plant_edits(
    memory,
    "_of_exact",
    test_memory.check_exact,
    no_inverse_of_scored_rows=(" + _EXACT_BYTES[1] * np.minimum(sizes, n_scored) ** 2", ""),
)
plant_edits(
    memory,
    "_of_landmarks",
    test_memory.check_landmarks,
    one_matrix_of_landmarks=("_LANDMARK_BYTES[0]", "8.0"),
)
plant_edits(
    learner.Learner,
    "_within_memory",
    test_memory.test_the_learner_keeps_the_limit,
    the_memory_limit_is_forgotten=("self.memory_limit is None", "True"),
)
plant_edits(
    learner.Learner,
    "_within_rest",
    test_memory.test_time_left_over_does_not_replace_the_limit,
    time_left_over_replaces_the_memory_limit=("effort.sizes_within", "self.effort.sizes_within"),
)
plant_edits(
    memory,
    "trees_fit",
    test_memory.test_trees_that_do_not_fit_are_left_out,
    trees_need_no_memory=("per_column * n_columns", "0.0"),
    users=(learner,),
)
