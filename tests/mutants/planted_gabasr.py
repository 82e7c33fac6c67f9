"""Bugs of locally stationary models, each with the test that must notice it."""

from functools import cache, partial

import numpy as np
from laws import amplitude_laws, chains, noise_field_laws
from learned import (
    test_basis,
    test_locally_stationary_models,
    test_replacement,
    test_varying_noise,
    test_wide_replacement,
)
from mutants.registry import changes, deferred, planted, quietly, replaces
from papers import test_least_squares_labels

from bochner.learned import basis, chain_state, learned_kernel, modulated_waves, noise_field
from bochner.learned.basis import Grid
from bochner.learned.draws import Draws
from bochner.learned.modulated_waves import WindowAmplitudes
from bochner.learned.training_data import Scaling
from bochner.papers import gabasr as least_squares

ALPHA = 1e-3
MATCHED, GRID = amplitude_laws.MATCHED, amplitude_laws.GRID
check_features = partial(
    test_basis.test_features_are_those_of_every_wave, MATCHED, True, np.float64, 1e-13
)
check_variance = partial(test_basis.test_variance_is_the_prior_variance_of_the_function, GRID)
check_touched = partial(test_basis.test_touched_waves_are_those_that_change, GRID)
check_blocks = deferred(test_wide_replacement.check, test_replacement.GAUSSIAN, 3, n=60, m=12)


def check_joint(name, n_rounds=25, n_chains=24):
    return lambda: chains.check_joint(chains.SAMPLERS[name], n_chains, n_rounds, alpha=ALPHA)


check_field = partial(noise_field_laws.check_field, None, 20, 20, 1000, alpha=ALPHA)
check_paper = partial(test_least_squares_labels.test_a_round_is_the_papers, 0)


@cache
def sound_model():
    return quietly(test_locally_stationary_models.some_model)


def check_predictions():
    test_locally_stationary_models.test_predictions_are_the_mixture_of_the_draws(sound_model())


def check_kernel():
    test_locally_stationary_models.test_the_kernel_is_the_average_over_draws_in_units_of_the_inputs(
        quietly(test_locally_stationary_models.some_model)
    )


planted(check_features, check_variance, name="root_of_two_lost")(
    lambda patch: patch.setattr(modulated_waves, "_ROOT_TWO", 1.0)
)
check_windows = partial(test_basis.test_gradients_of_features_by_units, amplitude_laws.WINDOWS)
check_sums_of_windows = partial(
    test_basis.test_a_function_is_a_sum_of_waves, amplitude_laws.WINDOWS
)


@changes(WindowAmplitudes, "gradient", check_windows)
def heights_do_not_follow_widths(right, self, inputs, which, along):
    by_centre, by_number = right(self, inputs, which, along)
    count = np.count_nonzero(self.centre[which], axis=1)
    fall = np.sum(along * self.values(inputs, which), axis=1) * 0.5 * count
    return by_centre, by_number + modulated_waves.WIDTH_RATE * fall


replaces(WindowAmplitudes, "decay", check_sums_of_windows, name="windows_along_all_inputs")(
    property(lambda self: np.ones(self.centre.shape) / self.width[:, None] ** 2)
)


@replaces(Grid, "touched", check_touched, check_blocks(GRID))
def rows_and_columns_of_the_grid_exchanged(self, index, n_units):
    m1, m2 = self.n_stationary, self.n_envelope
    if index[0] < m1:
        return m2 * index[:, None] + np.arange(m2)
    return index[:, None] - m1 + m2 * np.arange(m1)


changes(basis, "crank_nicolson", check_joint("matched-sparse"), name="phases_too_wide")(
    lambda right, *args: 3.0 * right(*args)
)


@changes(chain_state, "evidence_of", test_varying_noise.assert_log_evidence)
def noise_degrees_of_precisions(right, *args, degrees, **named):
    return right(*args, **named)


@changes(noise_field, "part_field_likelihood", check_field)
def determinant_of_the_noise_inverted(right, part, field, squares):
    (value,) = right(part, field, squares)
    return (value + float(np.sum(field)),)


replaces(Draws, "noise", check_predictions, name="noise_of_predictions_constant")(
    lambda self, index, inputs: np.full(inputs.shape[1], self.noise_variance[index])
)


@changes(learned_kernel, "mean_of_waves", check_kernel)
def phases_of_the_kernel_at_the_origin(right, waves, scaling):
    return right(waves, Scaling(np.zeros_like(scaling.centre), scaling.scale))


@changes(least_squares, "cho_solve", check_paper)
def labels_of_plus_and_minus_one(right, factor, b):
    return 2.0 * right(factor, b)
