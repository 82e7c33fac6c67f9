"""Bugs of sums of laws, each with the test that must notice it."""

from functools import partial

from learning.ensemble import test_left_out, test_length_scales, test_sum_of_laws
from mutants.registry import edit, plant_edits, planted, replaces

from bochner.kernels import Matern
from bochner.learning.ensemble import blocks, length_scales, weights
from bochner.learning.ensemble.ensemble import Learner
from bochner.learning.ensemble.landmarks import LandmarkFeatures

SCALES = (1.0, 1.2, 0.8)

plant_edits(
    blocks,
    "left_out_predictions",
    partial(test_left_out.check_left_out, test_left_out.LANDMARKS),
    hat_without_its_complement=("np.eye(len(part)) - hat", "np.eye(len(part))"),
    left_out_without_the_intercept=(" + posterior.intercept_variance", ""),
    residuals_of_the_wrong_sign=("rows.y[part] - solved[:, 0]", "rows.y[part] + solved[:, 0]"),
)
replaces(
    LandmarkFeatures,
    "lacking_variance",
    test_left_out.test_all_rows_as_landmarks_are_a_gaussian_process,
    name="variance_of_the_landmarks_alone",
)(lambda self, X, Z: 0.0)
planted(
    partial(test_sum_of_laws.test_weights_are_those_of_least_penalised_error, SCALES),
    name="weights_without_shrinkage",
)(edit(weights, "member_weights", " + _SHRINKAGE * np.eye(n_members)", "", test_sum_of_laws))
plant_edits(
    length_scales,
    "error_and_gradient",
    partial(test_length_scales.check_gradient, Matern(nu=2.5)),
    gradient_without_the_diagonal_of_the_inverse=("(inverse * v) @ inverse", "0.0 * inverse"),
    noise_that_does_not_move=("np.trace(change)", "0.0"),
)
plant_edits(
    length_scales,
    "error_across",
    test_length_scales.check_halves,
    parts_that_predict_themselves=("halves, halves[::-1]", "halves, halves"),
)
plant_edits(
    Learner,
    "fit",
    test_sum_of_laws.check_new_rows,
    landmarks_that_are_scored=("scored[landmarks] = False", "pass"),
)
