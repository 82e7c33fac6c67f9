"""Bugs planted in Gaussian processes and converted kernels, and the laws that must notice them."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from gaussian_process import test_full_scale as dense
from gaussian_process import test_gaussian_processes as laws
from gaussian_process.test_process_search import (
    test_noise_of_blocks_is_that_of_a_search_over_dense_densities,
    test_slopes_of_length_scales,
)
from kernels import test_adapter_kernels as converted
from laws import test_processes_of_kernels as draws
from mutants.registry import edit, plant_edits, planted

from bochner import GaussianProcessClassifier, GaussianProcessRegressor
from bochner.files import ModelFileError
from bochner.gaussian_process import full_scale, gaussian_process_regressor
from bochner.gaussian_process import process_base as process_kernels
from bochner.gaussian_process import process_base as search
from bochner.gaussian_process.full_scale import FullScaleProcess, Residuals
from bochner.gaussian_process.process_base import ScikitProcess
from bochner.kernels import adapter as foreign
from bochner.linear.reparameterised import LengthScales

check_scales = partial(
    laws.test_standard_deviations_and_covariances_have_the_scale_of_every_target, laws.APPROXIMATE
)
check_neighbours = partial(laws.test_all_rows_as_neighbours_make_an_exact_process, 10, 0.01)
check_draws = partial(draws.test_draws, "Matern 5/2", 2, 0.05, draws.MANY)


def check_named_columns():
    with TemporaryDirectory() as folder:
        try:
            laws.check_kernels_on_named_columns(GaussianProcessRegressor, laws.FIXED, Path(folder))
        except (ValueError, ModelFileError) as error:
            raise AssertionError("a fitted model is not used or loaded") from error


def check_many():
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        laws.test_an_exact_process_of_many_rows_is_that_of_scikit_learn(patch, Path(folder))


def check_auto_of_classes():
    with pytest.MonkeyPatch.context() as patch:
        laws.test_auto_is_exact_for_few_rows_of_classes(patch)


plant_edits(GaussianProcessRegressor, "predict", check_neighbours,
    deviations_lack_the_noise=("np.sqrt(variance + covariance.noise(rows))", "np.sqrt(variance)"),
    )  # fmt: skip
plant_edits(GaussianProcessRegressor, "predict", check_scales,
    covariances_have_the_scale_of_deviations=("self._all_targets(scale) ** 2",
                                              "self._all_targets(scale)"),
    )  # fmt: skip
planted(check_draws, name="residuals_have_no_variance")(
    edit(FullScaleProcess, "joint", "residuals.joint(X, laws, near, given)", "p @ p.T")
)
planted(
    partial(dense.test_moments_are_those_of_functions_given_coefficients_and_neighbours, 8),
    name="features_of_neighbours_count_twice",
)(edit(Residuals, "conditionals", "phi - change", "phi"))
planted(
    partial(dense.test_the_evidence_is_that_of_the_dense_covariance, (8, 12)),
    name="the_evidence_lacks_the_scale_of_rows",
)(edit(FullScaleProcess, "of", " + np.sum(np.log(variance))", ""))
planted(
    dense.test_the_estimated_error_is_the_divergence_from_the_exact_law,
    name="the_error_is_of_variances_not_of_deviations",
)(edit(Residuals, "divergence", "0.5 * len", "len"))
planted(
    dense.test_kernels_reach_as_far_as_their_length_scales, name="flat_kernels_reach_somewhere"
)(edit(full_scale, "_half_loss", "return np.inf", "return 1.0"))


def check_noise():
    with pytest.MonkeyPatch.context() as patch:
        laws.test_noise_of_many_rows_has_the_greatest_evidence_of_near_ones(patch)


planted(check_noise, name="factors_of_noise_are_forgotten")(
    edit(
        process_kernels,
        "with_noise_of_near_rows",
        "white.noise_level * (total - alpha) / of_kernel[0]",
        "total - alpha",
        gaussian_process_regressor,
    )
)
planted(check_many, name="noise_is_added_once_more")(
    edit(full_scale, "covariance_factor", "+= noise", "+= 2.0 * noise", gaussian_process_regressor)
)
planted(test_noise_of_blocks_is_that_of_a_search_over_dense_densities, name="squares_are_doubled")(
    edit(search, "noise_of_near_rows", "+ total / variance", "+ 2.0 * total / variance")
)
planted(test_slopes_of_length_scales, name="slopes_of_scales_have_the_other_sign")(
    edit(LengthScales, "gram_slopes", "-np.vdot(", "np.vdot(")
)
planted(check_auto_of_classes, name="seventy_rows_of_classes_are_many")(
    edit(GaussianProcessClassifier, "_is_small", "* n_processes <= _MOST", "* n_processes < _MOST")
)


def check_conversions():
    for kernel in converted.CONVERTED:
        converted.test_a_converted_kernel_has_the_values_of_the_original(kernel)


plant_edits(foreign, "_product", check_conversions,
    factors_of_noise_are_lost=("White(one.value * other.noise)", "White(other.noise)"),
)  # fmt: skip
plant_edits(ScikitProcess, "_fitted", check_named_columns,
    names_of_columns_are_lost=('getattr(self, "feature_names_in_", None)', "None"))  # fmt: skip
