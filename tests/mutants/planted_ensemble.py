"""Bugs of sums of laws, each with the test that must notice it."""

from functools import partial

from mutants.registry import edit, plant_edits, planted
from tables import test_column_length_scales as test_length_scales
from tables import (
    test_kernel_laws,
    test_kernel_passes,
    test_kernel_sums,
    test_observations,
    test_scale_prior,
    test_sum_of_laws,
    test_tree_laws,
)
from tables import test_partial_fits as test_parts

from bochner.kernels import Laplacian, Matern
from bochner.tables import (
    base_laws,
    estimator_laws,
    kernel_laws,
    kernel_search,
    landmark_fits,
    learner,
    leave_one_out,
    observations,
    scale_prior,
    tree_growth,
    tree_laws,
    weighted_sum,
)
from bochner.tables import kernel_laws as parts
from bochner.tables import kernel_search as length_scales
from bochner.tables.fit_plan import FitPlan
from bochner.tables.learner import Learner
from bochner.tables.observations import CellObservations, Rows
from bochner.tables.tree_laws import TreeLearner
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

SCALES = (1.0, 1.2, 0.8)
check_gradient = test_length_scales.assert_gradient

planted(
    test_parts.test_noise_decides_between_parts_and_landmarks,
    name="parts_where_landmarks_are_better",
)(edit(parts, "is_part_better", "return error <=", "return error >", learner))
plant_edits(FitPlan, "rows_of_laws", test_parts.test_the_posterior_is_that_of_the_part,
    coefficients_of_other_rows=("self.rows.X[self.part]", "self.rows.X[:count]"))  # fmt: skip
plant_edits(kernel_laws, "exact", test_kernel_laws.assert_exact,
    one_signal_of_all_targets=("squares[in_signal], axis=0)", "squares[in_signal])"))  # fmt: skip
plant_edits(kernel_laws, "exact", test_kernel_laws.test_the_last_rows_may_be_scored_alone,
    rows_without_the_others=("lower[first:, first:]", "lower[:-first, :-first]"))  # fmt: skip
plant_edits(kernel_laws, "exact", partial(test_observations.check_exact, n_last=25),
    a_mean_that_knows_what_is_left_out=("scored.centres * left_out", "0.0 * left_out"),
)  # fmt: skip
plant_edits(CellObservations, "error", partial(test_observations.check_gradient, Laplacian(0.8)),
    noise_of_shared_rows_that_does_not_move=(
        "by_noise = float(precision @ np.sum(change * lag, axis=1))", "by_noise = 0.0"
    ),
    )  # fmt: skip
plant_edits(weighted_sum, "_with_parts", test_sum_of_laws.test_weights_tell_noise_from_function,
    noise_that_stays_as_stated=("noise=of_noise * models.noise", "noise=models.noise"),
    )  # fmt: skip
plant_edits(tree_growth, "_level_scores", test_tree_laws.check_trees,
    levels_of_few_rows_as_of_many=("size + _PRIOR_ROWS", "size + 1e-9"))  # fmt: skip
plant_edits(tree_growth, "boosted", test_tree_laws.check_trees, users=(test_tree_laws,),
    leaves_without_a_penalty=("next(sums) + sizes.penalty", "next(sums) + 1e-9"))  # fmt: skip
plant_edits(TreeLearner, "trees", test_tree_laws.test_lines_go_on_beyond_the_rows_of_trees,
    trees_of_targets_with_the_line=("_of_rows(line, data, rows)", "np.zeros(Y.shape)"),
)  # fmt: skip
plant_edits(estimator_laws, "with_left_out", test_tree_laws.check_left_out, users=(tree_laws,),
    trees_that_know_what_they_predict=("(np.setdiff1d(order, removed), places)", "(order, places)"),
)  # fmt: skip
plant_edits(kernel_laws, "_without", partial(test_kernel_laws.assert_landmarks, False),
    scored_rows_that_are_not_left_out=("1.0 - share * leverage", "1.0 - 0.0 * leverage"),
)  # fmt: skip
plant_edits(kernel_laws, "solved_by_products", test_kernel_laws.check_elsewhere,
    rows_elsewhere_that_variances_miss=(
        "of_variance = inner[:n_of_variance, :n_of_variance].copy()",
        "of_variance = summed_products(learned, inputs, inputs.X[:n_of_variance], 1)[0]"
    ))  # fmt: skip
plant_edits(kernel_laws, "_without",
    test_kernel_laws.test_groups_larger_than_the_landmarks_are_left_out_too,
    large_groups_that_stay=("scaled(block)[0].T @ solved", "0.0 * residuals[block]"))  # fmt: skip
plant_edits(kernel_laws, "_without", test_kernel_laws.test_rows_are_left_out_in_blocks,
    groups_of_their_last_block=("inner -= half @ half.T",
                                "inner = np.eye(len(half)) - half @ half.T"),
    )  # fmt: skip
plant_edits(kernel_laws, "_factor",
    test_kernel_laws.test_variances_of_landmarks_have_what_the_approximation_lacks,
    variance_of_the_prior_alone=("values / (values + learned.alpha)", "values / values"),
)  # fmt: skip
plant_edits(leave_one_out, "error_and_slope", partial(check_gradient, Matern(nu=2.5)),
    users=(length_scales,),
    gradient_without_the_ranks_of_groups=("left.T, right.T, 0.5)", "left.T, right.T, 0.0)"),
)  # fmt: skip
plant_edits(leave_one_out, "error_across",
    test_length_scales.test_each_part_of_the_rows_predicts_the_other,
    parts_that_predict_themselves=("parts, parts[::-1]", "parts, parts"))  # fmt: skip
plant_edits(kernel_search, "mapped",
    test_length_scales.test_the_penalised_error_of_a_map_is_stationary,
    map_without_its_pull=("2.0 * pull * away", "0.0 * away"),
    )  # fmt: skip
planted(
    partial(test_sum_of_laws.test_weights_are_those_of_least_penalised_error, SCALES, 400),
    name="weights_without_shrinkage",
)(edit(weighted_sum, "member_weights", " + share * np.eye(n_members)", "", test_sum_of_laws))
plant_edits(Learner, "_fitted", test_sum_of_laws.test_kernels_of_one_half_judge_the_other,
    halves_that_predict_themselves=("== FIRST + SECOND - part", "== part"))  # fmt: skip
plant_edits(length_scales, "descended",
    partial(test_length_scales.test_columns_may_share_a_length_scale, test_length_scales.CENTRE),
    scales_pulled_to_be_equal=("(point - centre)[:-1]", "point[:-1].copy()"))  # fmt: skip
plant_edits(kernel_search, "finished",
    test_length_scales.test_sixty_rows_without_noise_tell_a_smooth_function,
    users=(learner,), penalties_of_noisy_rows=("error / _PRECISE", "1.0"))  # fmt: skip
plant_edits(kernel_search, "_common_start",
    test_length_scales.test_searches_begin_at_the_greatest_noise_of_least_error,
    least_noise_of_equal_errors=("return max(", "return min("))  # fmt: skip
plant_edits(scale_prior, "ridge_summary", test_scale_prior.check_summary,
    errors_of_rows_that_were_fitted=("/ np.maximum(remainder, ridge)[:, None]", ""),
    levels_with_a_share_each=("np.bincount(owners) > 1", "np.bincount(owners) > 99"),
)  # fmt: skip
plant_edits(Learner, "_searched",
    partial(test_sum_of_laws.test_each_family_has_the_columns_that_tell_most, 3),
    columns_of_the_first_trial=("in _hopeful(begins)", "in begins"))  # fmt: skip
plant_edits(Rows, "halves", test_kernel_laws.test_rows_keep_their_groups_together,
    halves_that_share_groups=("self.groups % 2 == 0", "np.arange(len(self)) % 2 == 0"))  # fmt: skip
plant_edits(SumOfLaws, "with_left_out",
    test_sum_of_laws.test_weights_of_laws_do_not_know_what_they_are_scored_on,
    weights_of_all_scores=("residuals[outside] if outside.any()", "residuals if outside.any()"),
)  # fmt: skip
plant_edits(SumOfLaws, "with_left_out",
    test_sum_of_laws.test_expected_errors_are_those_of_weight_one,
    errors_of_the_weights_that_were_given=("scores * new_std", "scores * std"))  # fmt: skip
plant_edits(SoftmaxOfLaws, "of", test_sum_of_laws.test_no_labels_beat_their_entropy,
    a_softmax_that_knows_its_labels=(
        "left_out_probabilities(*fitted, full_fit=softmax)",
        "softmax.probabilities(scores)[np.arange(len(labels)), labels]"
    ))  # fmt: skip
plant_edits(leave_one_out, "left_out_latent",
    test_kernel_laws.test_variances_by_landmarks_are_those_of_fits_without_the_observation,
    rows_that_are_left_as_landmarks=("latent[chosen] =", "unused ="),
)  # fmt: skip
plant_edits(base_laws, "suffices_single",
    test_kernel_sums.test_loops_are_the_public_kernels_in_the_precision_that_the_noise_needs,
    single_precision_for_any_noise=("size <= _MOST_ROUNDED * noise", "size <= np.inf"))  # fmt: skip
plant_edits(landmark_fits._Passes, "sampled",
    test_kernel_passes.test_the_sample_represents_all_rows,
    landmarks_that_count_for_many_rows=("steps(m, _ROWS_OF_PRODUCTS)]", "steps(0, 1)]"),
    )  # fmt: skip
plant_edits(landmark_fits, "_descended", test_kernel_passes.check_solution,
    steps_that_forget_the_prior=("products - prior @ coef", "products"),
)  # fmt: skip
plant_edits(landmark_fits, "solved_by_passes",
    partial(test_kernel_passes.test_results_do_not_depend_on_threads, 1),
    variances_of_half_a_matrix=("of_variance += np.tril(of_variance, -1).T", "pass"))  # fmt: skip
plant_edits(observations, "equal_rows", test_observations.check_labels,
    labels_of_the_last_column=("mixed(keys[rows] + bits", "mixed(bits"))  # fmt: skip
plant_edits(landmark_fits, "solved_by_passes",
    test_kernel_passes.test_precision_is_that_of_the_noise,
    noise_of_all_rows_together=("/ len(rows))[:-1]", ")[:-1]"))  # fmt: skip
