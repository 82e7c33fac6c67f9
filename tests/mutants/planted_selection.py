"""Bugs of the gradient of the evidence by a kernel's parameters, each with its test."""

from functools import partial

from laws import test_learned_parameters
from linear import test_alpha_of_many_features, test_feature_evidence
from linear import test_composite_families_families as test_composite_families
from mutants.registry import edit, plant_edits, planted
from spectral import test_lattice_measure as test_lattice

from bochner.features.row_sums import FeatureSums
from bochner.gaussian_process import StudentTLikelihood
from bochner.kernels import KernelAdapter
from bochner.linear import feature_evidence, kernel_families
from bochner.linear.composite_families import ProductOfKernels, SumOfKernels
from bochner.linear.family_members import LineWeights
from bochner.spectral.lattice_measure import Lattice

check_gradient = partial(
    test_feature_evidence.test_value_and_gradient_are_those_of_the_dense_density,
    "full mixture",
    True,
)
check_weights = partial(test_feature_evidence.test_weights_are_repetitions, False)

plant_edits(feature_evidence, "_slopes", check_gradient,
    slope_without_the_fit=("slope += residuals @ posterior.coef.T", "pass"),
    )  # fmt: skip
plant_edits(feature_evidence, "_slopes", check_weights,
    slope_without_weights=("slope *= rows.weight[:, None]", "pass"))  # fmt: skip
plant_edits(FeatureSums, "thinned",
    test_alpha_of_many_features.test_thinned_sums_are_those_of_fewer_frequencies_of_more_weight,
    thinned_without_its_weight=("np.sqrt(step) * self.cross", "self.cross"))  # fmt: skip


def composite(name: str) -> partial[None]:
    """Return the check of the gradient of one composite."""
    check = test_composite_families.test_gradients_are_differences_of_the_dense_density
    return partial(check, name, False)


plant_edits(SumOfKernels, "pulled_back", composite("sum"),
    slope_of_shares_that_do_not_sum=("slopes_by_logit(by_factor, softmax(logits))", "by_factor"),
)  # fmt: skip
plant_edits(ProductOfKernels, "draw_factor",
    partial(test_composite_families.test_draws_are_unbiased_for_the_moved_kernel, "product", False),
    product_without_the_count_of_its_frequencies=("prod(counts) / m", "prod(counts)"))  # fmt: skip
plant_edits(Lattice, "draw_factor",
    test_lattice.test_factors_that_are_nearly_constant_have_atoms_for_the_difference,
    constants_take_their_mass=("allocation.share(mass, m, rng)", "ByMass().share(mass, m, rng)"),
)  # fmt: skip


def slopes(name):
    """Return the check of the gradient of one class of kernels."""
    return partial(test_learned_parameters.test_slopes_are_differences_of_the_dense_evidence, name)


def learned(name):
    """Return the check that the parameters of one class of kernels are learned, or given."""
    return partial(test_learned_parameters.test_parameters_of_kernels_are_learned_or_given, name)


def recovered(name):
    """Return the check that a draw's parameter is found."""
    return partial(test_learned_parameters.test_parameters_of_a_draw_are_recovered, name)


@planted(slopes("Categorical"), slopes("Ordinal"), slopes("Periodic"))
def weights_of_lines_have_no_slope(patch):
    patch.setattr(LineWeights, "pulled_back", lambda self, draws, theta, slopes: 0.0 * theta)


@planted(learned("Categorical"), recovered("correlation"))
def correlations_stay_at_the_start(patch):
    patch.setattr(kernel_families, "_GIVEN", ("period", "inclusion", "correlation"))


planted(
    partial(
        test_learned_parameters.test_parameters_with_a_domain_are_learned_by_processes,
        "Categorical",
    ),
    name="odds_are_correlations",
)(edit(KernelAdapter, "_moved", "domain.values(theta[start:end])", "theta[start:end]"))


@planted(
    test_learned_parameters.test_degrees_of_freedom_of_normal_noise_are_many_and_bounded,
    partial(
        test_learned_parameters.test_parameters_of_likelihoods_are_recovered,
        "few degrees of freedom",
    ),
)
def degrees_of_freedom_are_not_learned(patch):
    patch.setattr(StudentTLikelihood, "learnable", ("scale",))
