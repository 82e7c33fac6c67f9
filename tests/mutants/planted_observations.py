"""Bugs planted in what weights count and what is left out, each with its test."""

from functools import partial

import numpy as np
from features import test_weight_meaning as test_units
from gaussian_process import test_kernel_glm_weights
from laws import unit_laws
from learned import test_pooling, test_precisions
from linear import (
    test_left_out_indicators,
    test_left_out_probabilities,
    test_observations_of_ridge,
    test_pair_ridge,
)
from mutants.registry import plant_edits, planted, quietly

from bochner.features.chunks import RowSample, Units
from bochner.features.row_sums import FeatureSums
from bochner.gaussian_process import kernel_glm_head
from bochner.learned import learned_kernel, learned_kernel_regressor, noise_field
from bochner.linear import asymmetric_pair_ridge as pair_ridge
from bochner.linear import kernel_selection as selection
from bochner.linear import ridge_posterior as ridge
from bochner.linear import softmax_weights

check_density = test_observations_of_ridge.test_fractional_weights_have_the_density_of_their_noise
check_merged = partial(
    test_observations_of_ridge.test_merged_rows_have_the_exact_evidence_of_single_observations
)
check_fractions = partial(
    test_left_out_indicators.test_values_are_those_of_fits_without_a_row_or_one_of_equal_rows,
    "posterior",
    "fractions",
    True,
)
check_refits = partial(
    test_left_out_probabilities.test_probabilities_are_those_of_refits, "counts", True
)
check_entropy = partial(
    test_left_out_probabilities.test_labels_that_nothing_predicts_have_their_entropy_at_least, 2
)

plant_edits(ridge, "centred_sums", check_density,
    degrees_of_the_total_weight=("sums.n_observations", "sums.weight"))  # fmt: skip
plant_edits(ridge, "best_alpha",
    test_observations_of_ridge.test_alpha_of_noise_has_the_unit_of_weights,
    users=(test_observations_of_ridge,),
    grid_that_weights_move=("sums.n_observations", "sums.weight"))  # fmt: skip


plant_edits(
    pair_ridge,
    "best_pair_alpha",
    partial(
        test_pair_ridge.test_the_evidence_is_that_of_contrasts_of_the_observations,
        "fractions",
        False,
    ),
    users=(test_pair_ridge,),
    pairs_of_the_total_weight=("float(counts.sum())", "float(np.sum(root**2))"),
)


@planted(test_observations_of_ridge.test_whether_weights_are_counts_is_decided_by_all_chunks)
def weights_always_counts(patch):
    patch.setattr(FeatureSums, "n_observations", property(lambda sums: sums.weight))


@planted(partial(check_merged, "fractions"))
def merged_rows_counted_once(patch):
    right = selection.canonical_rows

    def once(rows, numbers):
        first, weight, _ = right(rows, numbers)
        return first, weight, None

    patch.setattr(selection, "canonical_rows", once)


@planted(check_fractions)
def one_of_so_many_rows_left_out(patch):
    """As if a fractional weight above one counted rows."""
    patch.setattr(
        RowSample, "unit_weights", property(lambda sample: sample.rows.weights.clip(max=1.0))
    )


plant_edits(softmax_weights, "left_out_probabilities", check_refits,
    users=(test_left_out_probabilities,),
    all_copies_removed=("units.weights, 0.0) if groups", "totals, 0.0) if groups"))  # fmt: skip
plant_edits(softmax_weights, "_after_a_step", check_entropy,
    parameters_of_all_rows=("logits + moves(steps)", "logits + 0.0 * moves(steps)"),
    )  # fmt: skip
plant_edits(learned_kernel, "blocks_of", test_pooling.assert_random_blocks, users=(test_pooling,),
    equal_rows_spread_over_blocks=("row = rng.permutation(np.repeat", "row = (np.repeat"),
)  # fmt: skip
plant_edits(learned_kernel, "blocks_of", test_pooling.test_no_class_is_missing,
    users=(test_pooling,),
    classes_left_out_altogether=("left_out[in_class] = 0", "pass"))  # fmt: skip
plant_edits(learned_kernel, "blocks_of",
    test_pooling.test_blocks_of_one_class_each_leave_no_row_out, users=(test_pooling,),
    scores_of_no_rows=("if left_out.any() else None", ""))  # fmt: skip


check_field = partial(
    test_precisions.test_a_field_of_the_noise_has_the_density_of_observations, "precisions"
)
plant_edits(noise_field, "part_field_likelihood", check_field, users=(test_precisions,),
    field_of_the_weights=("part.counts * field", "part.weight * field"))  # fmt: skip


def check_learned():
    quietly(unit_laws.check_factors_of_weights, unit_laws.REGRESSORS[5])


@planted(check_learned)
def precisions_in_any_unit(patch):
    patch.setattr(learned_kernel_regressor, "of_mean_one", lambda units: (units, 1.0))


plant_edits(
    kernel_glm_head,
    "_weight_unit",
    partial(
        test_kernel_glm_weights.test_a_factor_of_fractional_weights_is_a_unit_of_the_scale,
        "gaussian",
        "median",
    ),
    powers_in_any_unit=("not is_learned or", "True or"),
)
plant_edits(
    kernel_glm_head,
    "_log_density_change",
    partial(
        test_kernel_glm_weights.test_normal_targets_have_the_evidence_of_their_precisions, None
    ),
    evidence_of_powers=("0.5 * float(gains.sum())", "0.0"),
)


@planted(partial(test_units.test_a_row_of_fractional_weight_is_one_observation, 1.0))
def fractional_weights_as_counts(patch):
    right = Units.of

    def counts(weight, n):
        return right(weight, n) if weight is None else Units(np.ones(n), np.asarray(weight))

    patch.setattr(Units, "of", counts)
