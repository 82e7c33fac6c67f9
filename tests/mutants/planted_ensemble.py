"""Bugs of sums of laws, each with the test that must notice it."""

from functools import partial

from learning.ensemble import test_kernel_laws, test_length_scales, test_sum_of_laws
from mutants.registry import edit, plant_edits, planted

from bochner.kernels import Exponential, Laplacian, Matern
from bochner.learning.ensemble import (
    kernel_laws,
    leave_one_out,
    length_scales,
    linear_maps,
    weights,
)
from bochner.learning.ensemble.ensemble import SumOfLaws
from bochner.learning.ensemble.learner import Learner
from bochner.learning.ensemble.rows import Rows

SCALES = (1.0, 1.2, 0.8)
check_gradient = test_length_scales.assert_gradient

plant_edits(
    kernel_laws,
    "exact",
    test_kernel_laws.assert_exact,
    residuals_of_the_fit_to_all_rows=(
        "last.solved(inverse, coef[-n_scored:])",
        "found.alpha * coef",
    ),
    one_signal_of_all_targets=("squares[learned_from], axis=0)", "squares[learned_from])"),
)
plant_edits(
    kernel_laws,
    "exact",
    test_kernel_laws.assert_last_rows,
    rows_without_the_others=("lower[-n_scored:, -n_scored:]", "lower[:n_scored, :n_scored]"),
)
plant_edits(
    kernel_laws,
    "_cholesky",
    test_kernel_laws.assert_exact,
    noise_of_the_mean_weight=("found.alpha / rows.weights", "found.alpha"),
)
plant_edits(
    kernel_laws,
    "on_landmarks",
    test_kernel_laws.assert_landmarks,
    scored_rows_that_are_not_left_out=(
        "_without_groups(half, last.Y - values.T @ coef, last)",
        "(last.Y - values.T @ coef)",
    ),
)
plant_edits(
    kernel_laws,
    "on_landmarks",
    test_kernel_laws.check_elsewhere,
    rows_elsewhere_that_variances_miss=(
        "of_variance = inner[:n_of_variance, :n_of_variance].copy()",
        "of_variance = _sums(found, own, own.X[:n_of_variance], 1)[0]",
    ),
)
plant_edits(
    kernel_laws,
    "_packed_sums",
    test_kernel_laws.check_elsewhere,
    targets_elsewhere_that_count_for_nothing=("cross.ravel()", "0.0 * cross.ravel()"),
)
plant_edits(
    kernel_laws,
    "_unpacked",
    test_kernel_laws.check_elsewhere,
    the_diagonal_twice=("np.triu(upper, 1).T", "np.triu(upper).T"),
)
plant_edits(
    kernel_laws,
    "_without_groups",
    test_kernel_laws.test_groups_larger_than_the_landmarks_are_left_out_too,
    large_groups_that_stay=("some.T @ np.linalg.solve(inner, some @ scaled)", "0.0 * scaled"),
)
plant_edits(
    kernel_laws,
    "_factor",
    test_kernel_laws.assert_variance_of_landmarks,
    variance_of_the_prior_alone=("values / (values + found.alpha)", "values / values"),
)
plant_edits(
    leave_one_out,
    "error_and_slope",
    partial(check_gradient, Matern(nu=2.5)),
    users=(length_scales,),
    gradient_without_the_ranks_of_groups=("change = syr2k(0.5,", "change = syr2k(0.0,"),
    rows_of_all_later_groups=("rows.groups[:, None, None] ==", "rows.groups[:, None, None] >="),
    slopes_without_weights=("weighted) * (2.0", "residuals) * (2.0"),
    noise_that_does_not_move=("/ rows.weights)) * alpha", "/ rows.weights)) * 0.0"),
)
plant_edits(
    leave_one_out,
    "error_and_slope",
    partial(check_gradient, Matern(nu=2.5), test_length_scales.ROWS["pairs"]),
    users=(length_scales,),
    gradient_without_the_blocks_of_the_inverse=("@ (0.5 * inverse)", "@ (0.0 * inverse)"),
    groups_that_predict_themselves=("(rows.groups[:, None] == rows.groups)", "np.eye(len(rows))"),
)
plant_edits(
    leave_one_out,
    "_gram_and_slope",
    partial(check_gradient, Exponential()),
    slope_of_a_square=("np.maximum(distance, dtype(_TINY))", "1.0"),
)
plant_edits(
    leave_one_out,
    "_add_moments",
    partial(check_gradient, Laplacian()),
    moments_of_half_the_pairs=("moments[j] += 2.0 * total", "moments[j] += total"),
)
plant_edits(
    leave_one_out,
    "error_across",
    test_length_scales.assert_halves,
    parts_that_predict_themselves=("parts, parts[::-1]", "parts, parts"),
)
plant_edits(
    length_scales,
    "descended",
    test_length_scales.test_scales_that_are_tied_move_together,
    a_common_scale_that_stays=("gradient[:-1].sum()", "0.0 * gradient[0]"),
)
plant_edits(
    linear_maps,
    "mapped",
    test_length_scales.assert_stationary,
    map_without_its_pull=("2.0 * pull * away", "0.0 * away"),
    map_in_units_of_the_inputs=("to_origin @ found[:-1]", "found[:-1]"),
)
planted(
    partial(test_sum_of_laws.test_weights_are_those_of_least_penalised_error, SCALES),
    name="weights_without_shrinkage",
)(edit(weights, "member_weights", " + _SHRINKAGE * np.eye(n_members)", "", test_sum_of_laws))
plant_edits(
    Learner,
    "_fitted",
    test_sum_of_laws.assert_halves,
    halves_that_predict_themselves=("found.halves, halves[::-1]", "found.halves, halves"),
)
plant_edits(
    Rows,
    "halves",
    test_kernel_laws.test_rows_keep_their_groups_together,
    halves_that_share_groups=("self.groups % 2 == 0", "np.arange(len(self)) % 2 == 0"),
)
plant_edits(
    SumOfLaws,
    "quantiles",
    test_sum_of_laws.assert_new_rows,
    quantiles_of_absolute_scores=("_ranked(self.scores, level)", "self.score(level)"),
)
plant_edits(
    Learner,
    "fit",
    test_sum_of_laws.test_the_latest_rows_are_scored_alone,
    rows_scored_in_another_order=("plan.order[-plan", "np.arange(len(rows))[-plan"),
)
