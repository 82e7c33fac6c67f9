"""Bugs of likelihoods and of Laplace's approximation, each with the law that must notice it."""

from functools import partial

from gaussian_process import (
    test_kernel_glm,
    test_laplace,
    test_laplace_of_many_classes,
    test_laplace_selection,
)
from laws import likelihood_laws as laws
from mutants.registry import edit, plant_edits, planted

from bochner.gaussian_process import (
    LabelLikelihood,
    NegativeBinomialLikelihood,
    OrdinalLikelihood,
    SoftmaxLikelihood,
    StudentTLikelihood,
)
from bochner.gaussian_process import laplace as laplace
from bochner.gaussian_process import laplace_evidence as laplace_slopes
from bochner.gaussian_process import number_likelihoods as numbers
from bochner.gaussian_process.count_likelihoods import CountLikelihood
from bochner.gaussian_process.laplace_evidence import EvidenceSlopes
from bochner.gaussian_process.number_likelihoods import LocationLikelihood

CASES = {type(law).__name__: (law, y) for law, y in test_laplace.cases()}
OUTLIERS, COUNTS = CASES["StudentTLikelihood"], CASES["NegativeBinomialLikelihood"]
evidence = partial(
    test_laplace.test_the_mode_and_the_evidence_are_those_of_the_definition, *OUTLIERS
)
slope_of_outliers = partial(test_laplace.test_slopes_of_the_evidence_are_differences, *OUTLIERS)
slope_of_counts = partial(test_laplace.test_slopes_of_the_evidence_are_differences, *COUNTS)
kernel_values = partial(
    test_laplace_selection.test_gradients_are_differences_of_the_loss, "classes", "gaussian", 0.7
)


def density(name):
    return partial(laws.densities_are_those_of_scipy, name)


def derivatives(name):
    return partial(laws.derivatives_are_differences, name)


def predictions(name):
    return partial(laws.predictions_are_integrals, name)


planted(slope_of_outliers, slope_of_counts, name="the_mode_moves_twice_as_far")(
    edit(laplace_slopes, "_bend", "= -0.5 * np.sum(spread * change", "= -np.sum(spread * change")
)
planted(slope_of_outliers, name="the_mode_moves_back")(
    edit(EvidenceSlopes, "by_parameters", "change += np.sum(response", "change -= np.sum(response")
)
planted(slope_of_counts, name="alpha_moves_the_mode_back")(
    edit(EvidenceSlopes, "by_log_alpha", "explicit - alpha", "explicit + alpha")
)
for name, old, new in (
    ("features_without_the_moving_mode", "slope + _products(J, self.bend[part])", "slope"),
    ("features_without_the_gradient", "+ slope @ u.T", ""),
    (
        "features_of_half_a_determinant",
        "by_features -= curvature",
        "by_features -= 0.5 * curvature",
    ),
    ("features_that_curve_up", "- _products(curvature, Z @ u", "+ _products(curvature, Z @ u"),
    ("features_beside_no_constant", "Z @ u + constant", "Z @ u"),
):
    planted(kernel_values, name=name)(edit(EvidenceSlopes, "_by_features", old, new))
plant_edits(EvidenceSlopes, "by_kernel", kernel_values,
    residuals_keep_their_variance=("- 2.0 * by_variance", "- 0.0 * by_variance"),
    landmarks_have_twice_the_slope=("-0.25 * (by_gram", "-0.5 * (by_gram"))  # fmt: skip
planted(evidence, name="half_a_determinant")(
    edit(laplace, "inverse_root", "log_determinant = 2.0 *", "log_determinant =")
)
planted(density("negative binomial"), name="one_choice_too_many")(
    edit(NegativeBinomialLikelihood, "log_density", "-np.log(y + r) - betaln", "-betaln")
)
planted(predictions("poisson"), name="a_lost_root_of_the_variance")(
    edit(CountLikelihood, "log_predictive", "0.5 * np.log(2.0", "np.log(2.0")
)
planted(predictions("student"), name="the_latent_variance_twice")(
    edit(
        LocationLikelihood,
        "log_predictive",
        "variance[:, None] + noise",
        "2 * variance[:, None] + noise",
    )
)
planted(derivatives("student"), name="outliers_that_curve_down")(
    edit(StudentTLikelihood, "curvature", "(df - z**2)", "(df + z**2)")
)
planted(derivatives("censored"), name="a_hazard_of_the_wrong_sign")(
    edit(numbers, "_normal_bend", "hazard * (hazard +", "hazard * (hazard -")
)
planted(derivatives("ordinal"), name="a_cutpoint_of_the_wrong_sign")(
    edit(OrdinalLikelihood, "slope", "expit(low) - expit(-high)", "expit(low) + expit(-high)")
)


@planted(
    test_kernel_glm.test_labels_that_nothing_predicts_have_no_strong_signal,
    partial(test_kernel_glm.test_labels_without_errors_are_predicted_with_confidence, 3),
)
def the_signal_of_classes_has_no_prior(patch):
    patch.setattr(LabelLikelihood, "signal_scale", None)


plant_edits(SoftmaxLikelihood, "curvature_slope",
    test_laplace_of_many_classes.test_slopes_of_the_log_determinant_are_differences,
    one_product_of_probabilities=("- 2.0 * np.matmul", "- np.matmul"),
    probabilities_that_do_not_add_up=("- np.sum(p * by_p", "- 0.0 * np.sum(p * by_p"))  # fmt: skip
plant_edits(laplace.LatentCovariances, "__call__",
    partial(test_laplace_of_many_classes.test_covariances_are_those_of_products_of_features, 9),
    functions_that_share_no_weights=("[:, :, None])[:, :, 0]", "[:, :, None])[:, :, 0] * 0.0"),
)  # fmt: skip
plant_edits(laplace, "_derivatives",
    test_laplace_of_many_classes.test_the_hessian_is_a_sum_over_rows,
    the_last_block_of_rows_alone=("totals += curvature", "totals[:] = -curvature"))  # fmt: skip
