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
    SoftmaxLikelihood,
    StudentTLikelihood,
)
from bochner.gaussian_process import laplace as laplace
from bochner.gaussian_process import laplace_evidence as laplace_slopes
from bochner.gaussian_process.count_likelihoods import CountLikelihood
from bochner.gaussian_process.laplace_evidence import EvidenceSlopes

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
for name, old, new in (
    ("features_without_the_moving_mode", "slope + _products(J, self.bend[part])", "slope"),
):
    planted(kernel_values, name=name)(edit(EvidenceSlopes, "_by_features", old, new))
planted(evidence, name="half_a_determinant")(
    edit(laplace, "inverse_root", "log_determinant = 2.0 *", "log_determinant =")
)
planted(density("negative binomial"), name="one_choice_too_many")(
    edit(NegativeBinomialLikelihood, "log_density", "-np.log(y + r) - betaln", "-betaln")
)
planted(predictions("poisson"), name="a_lost_root_of_the_variance")(
    edit(CountLikelihood, "log_predictive", "0.5 * np.log(2.0", "np.log(2.0")
)
planted(derivatives("student"), name="outliers_that_curve_down")(
    edit(StudentTLikelihood, "curvature", "(df - z**2)", "(df + z**2)")
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
    )  # fmt: skip
plant_edits(laplace.LatentCovariances, "__call__",
    partial(test_laplace_of_many_classes.test_covariances_are_those_of_products_of_features, 9),
    functions_that_share_no_weights=("[:, :, None])[:, :, 0]", "[:, :, None])[:, :, 0] * 0.0"),
)  # fmt: skip
plant_edits(laplace, "_derivatives",
    test_laplace_of_many_classes.test_the_hessian_is_a_sum_over_rows,
    the_last_block_of_rows_alone=("totals += curvature", "totals[:] = -curvature"))  # fmt: skip
