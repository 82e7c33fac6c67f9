"""Bugs of the gradient of the evidence by a kernel's parameters, each with its test."""

from functools import partial

from learning.evidence import test_feature_evidence
from learning.families import test_composite_families
from learning.ridge import test_alpha_of_many_features
from mutants.registry import plant_edits

from bochner.features.stats import FeatureSums
from bochner.learning.evidence import feature_evidence
from bochner.learning.evidence.reparameterised import LengthScales, MixtureParameters
from bochner.learning.families.composite import ProductOfKernels, SumOfKernels
from bochner.learning.families.members import KernelOnColumns, PeriodicScale

check_gradient = partial(
    test_feature_evidence.test_value_and_gradient_are_those_of_the_dense_density,
    "full mixture",
    True,
)
check_scales = partial(
    test_feature_evidence.test_value_and_gradient_are_those_of_the_dense_density, "matern", False
)
check_weights = partial(test_feature_evidence.test_weights_are_repetitions, False)

plant_edits(
    feature_evidence,
    "_slopes",
    check_gradient,
    slope_without_the_fit=("slope += residuals @ posterior.coef.T", "pass"),
    slope_of_one_target=("-float(Y.shape[1])", "-1.0"),
    slope_not_centred=("centred = Z - posterior.centre", "centred = Z"),
)
plant_edits(
    feature_evidence,
    "slopes_by_frequencies",
    check_gradient,
    slope_of_an_amplitude=("0.5 * np.sum(waves", "np.sum(waves"),
)
plant_edits(
    feature_evidence,
    "_slopes",
    check_weights,
    slope_without_weights=("slope *= rows.weight[:, None]", "pass"),
)
plant_edits(
    feature_evidence,
    "evidence_gradient",
    check_scales,
    users=(test_feature_evidence,),
    slope_of_alpha_without_the_fit=("+ by_noise)", ")"),
)
plant_edits(
    LengthScales,
    "pulled_back",
    check_scales,
    slope_of_the_inverse_scale=("by_scale = -np", "by_scale = np"),
)
plant_edits(
    MixtureParameters,
    "pulled_back",
    check_gradient,
    slope_of_weights_that_do_not_sum=(
        "by_logit = slopes_by_logit(as_array(by_weight), weights)",
        "by_logit = by_weight",
    ),
    slope_of_a_mean_in_other_units=("(by_mean / self.unit).ravel()", "by_mean.ravel()"),
    slope_of_a_scale=("by_stretch * stretch", "by_stretch"),
)
plant_edits(
    FeatureSums,
    "thinned",
    test_alpha_of_many_features.test_thinned_sums_are_those_of_fewer_frequencies_of_more_weight,
    thinned_without_its_weight=("np.sqrt(step) * self.cross", "self.cross"),
)


def composite(name: str) -> partial[None]:
    """Return the check of the gradient of one composite."""
    check = test_composite_families.test_gradients_are_differences_of_the_dense_density
    return partial(check, name, False)


plant_edits(
    SumOfKernels,
    "pulled_back",
    composite("sum"),
    slope_of_shares_that_do_not_sum=(
        "slopes_by_logit(by_factor, softmax(logits))",
        "by_factor",
    ),
)
plant_edits(
    ProductOfKernels,
    "pulled_back",
    composite("product"),
    slope_of_a_factor_without_its_sign=("sign[:, None] * slopes.omega", "slopes.omega"),
)
plant_edits(
    ProductOfKernels,
    "draw_factor",
    partial(test_composite_families.test_draws_are_unbiased_for_the_moved_kernel, "product", False),
    product_without_the_count_of_its_frequencies=("prod(counts) / m", "prod(counts)"),
)
plant_edits(
    KernelOnColumns,
    "pulled_back",
    composite("columns"),
    slope_of_other_columns=("[:, self.columns]", "[:, : len(self.columns)]"),
)
plant_edits(
    PeriodicScale,
    "pulled_back",
    composite("periodic"),
    slope_of_the_inverse_periodic_scale=("2.0 - ratio", "ratio - 2.0"),
)
