"""Bugs planted in Gaussian processes and converted kernels, and the laws that must notice them."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from estimators import test_gaussian_processes as laws
from kernels import test_foreign_kernels as converted
from mutants.registry import edit, plant_edits, planted

from bochner import GaussianProcessClassifier, GaussianProcessRegressor
from bochner.estimators import (
    gaussian_process_regressor,
    process_kernels,
)
from bochner.estimators.process_base import ScikitProcess
from bochner.kernels import foreign
from bochner.persist import ModelFileError, process_parts

check_features = partial(laws.test_features_have_the_closed_form_of_their_covariance, 0)
check_scales = partial(
    laws.test_standard_deviations_and_covariances_have_the_scale_of_every_target, laws.FEATURES
)
check_two_classes = partial(
    laws.test_a_classifier_at_many_landmarks_is_the_exact_one, laws.LABELS > 1
)


def check_named_columns():
    with TemporaryDirectory() as folder:
        try:
            laws.check_kernels_on_named_columns(GaussianProcessRegressor, laws.FIXED, Path(folder))
        except (ValueError, ModelFileError) as error:
            raise AssertionError("a fitted model is not used or loaded") from error


def check_auto():
    with pytest.MonkeyPatch.context() as patch:
        laws.test_auto_is_exact_for_few_rows_and_for_kernels_without_features(patch)


def check_auto_of_classes():
    with pytest.MonkeyPatch.context() as patch:
        laws.test_auto_is_exact_for_few_rows_of_classes(patch)


plant_edits(
    GaussianProcessRegressor,
    "predict",
    check_features,
    deviations_lack_the_noise=(
        "np.sqrt(process.variance(rows) + noise)",
        "np.sqrt(process.variance(rows))",
    ),
    noise_is_common_to_all_rows=("noise * np.eye(len(rows))", "noise"),
)
plant_edits(
    GaussianProcessRegressor,
    "predict",
    check_scales,
    covariances_have_the_scale_of_deviations=(
        "self._all_targets(scale) ** 2",
        "self._all_targets(scale)",
    ),
    deviations_have_no_scale=(
        "std[:, None] * self._all_targets(scale)",
        "std[:, None] * np.ones(2)",
    ),
)
planted(laws.test_as_many_landmarks_as_rows_make_an_exact_process, name="means_lack_their_mean")(
    edit(GaussianProcessRegressor, "predict", "* scale + self._y_train_mean", "* scale")
)
planted(check_features, name="alpha_is_no_noise_of_features")(
    edit(GaussianProcessRegressor, "_on_features", "noise + self.alpha", "noise")
)
planted(check_auto, name="fifty_rows_are_many")(
    edit(
        GaussianProcessRegressor,
        "_is_by_features",
        "len(rows) <= self._most_exact",
        "len(rows) < self._most_exact",
    )
)
planted(
    laws.test_the_evidence_of_other_hyper_parameters_is_of_their_features,
    name="features_of_other_hyper_parameters_are_drawn_anew",
)(
    edit(GaussianProcessRegressor, "_on_features", "size, count, self._seed)",
         "size, count, self._seed + hasattr(self, 'process_'))")
)  # fmt: skip
planted(
    partial(laws.test_the_default_kernel_is_learned_in_the_units_of_the_data, "exact"),
    name="default_kernels_are_in_raw_units",
)(
    edit(GaussianProcessRegressor, "_default", "_standardised(y.reshape(len(y), -1))[0]",
         "y.reshape(len(y), -1)")
)  # fmt: skip
planted(laws.test_given_noise_is_not_learned_twice, name="alpha_is_learned_again")(
    edit(process_kernels, "learned_kernel", "max(noise - alpha,", "max(noise,",
         gaussian_process_regressor)
)  # fmt: skip
planted(check_two_classes, name="two_classes_are_exchanged")(
    edit(GaussianProcessClassifier, "_on_features", "first = 1 if", "first = 0 if")
)
planted(laws.test_probabilities_of_classes_add_up_to_one, name="probabilities_do_not_add_up")(
    edit(GaussianProcessClassifier, "predict_proba", "of_each / of_each.sum(axis=1, keepdims=True)",
         "of_each")
)  # fmt: skip
planted(check_auto_of_classes, name="seventy_rows_of_classes_are_many")(
    edit(GaussianProcessClassifier, "_is_small", "* n_processes <= _MOST", "* n_processes < _MOST")
)
planted(check_auto_of_classes, name="rows_of_three_classes_have_one_factor")(
    edit(GaussianProcessClassifier, "_is_small", "* n_processes <=", "<=")
)


def check_conversions():
    for kernel in converted.CONVERTED:
        converted.test_a_converted_kernel_has_the_values_of_the_original(kernel)


def check_objects():
    for kernel in converted.OWN:
        converted.test_kernels_become_kernel_objects_of_scikit_learn(kernel)


plant_edits(
    foreign,
    "_product",
    check_conversions,
    factors_of_noise_are_lost=("White(one.value * other.noise)", "White(other.noise)"),
    constants_are_added=("Constant(one.value * other.value)", "Constant(one.value + other.value)"),
    factors_reach_the_first_term=(
        "Sum(tuple(_product(one, term) for term in other.terms))",
        "Sum((_product(one, other.terms[0]), *other.terms[1:]))",
    ),
)
planted(check_conversions, name="length_scales_are_reversed")(
    edit(foreign, "_scale", "tuple(values.tolist())", "tuple(values[::-1].tolist())")
)
plant_edits(
    foreign,
    "_counterpart",
    check_objects,
    exponential_kernels_are_smooth=("nu=0.5", "nu=1.5"),
    factors_are_square_roots=(
        "sk.ConstantKernel(factor, bounds)",
        "sk.ConstantKernel(factor**0.5, bounds)",
    ),
)
plant_edits(
    foreign.KernelAdapter,
    "__call__",
    converted.test_the_adapter_has_the_derivatives_of_scikit_learns_kernel,
    derivatives_are_doubled=("(2.0 * _STEP)", "_STEP"),
    derivatives_are_one_sided=("self._moved(theta - step)(X)", "K"),
)
plant_edits(
    ScikitProcess,
    "_fitted",
    check_named_columns,
    names_of_columns_are_lost=('getattr(self, "feature_names_in_", None)', "None"),
)
plant_edits(
    process_parts,
    "_least_columns",
    check_named_columns,
    kernels_are_tried_on_one_column=("max(numbers, default=0) + 1", "1"),
)
