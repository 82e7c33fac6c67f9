"""Bugs of the models that learn their kernel, each with the test that must notice it."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
from learned import (
    test_draws,
    test_gaussian_components,
    test_learned_kernel,
    test_learned_kernel_left_out,
    test_learned_kernel_predictions,
    test_pooling,
    test_preparation,
    test_relevance,
)
from mutants.registry import changes, plant_edits, planted, quietly, replaces

from bochner.features.chunks import Units
from bochner.learned import draws, frequency_priors, learned_kernel, learned_kernel_fit, relevance
from bochner.learned.chain_state import InverseGammaNoise
from bochner.learned.draws import Draws
from bochner.learned.learned_kernel_classifier import LearnedClassification
from bochner.learned.learned_kernel_regressor import LearnedRegression
from bochner.learned.training_data import Scaling


@cache
def sound_model():
    model = test_learned_kernel.regressor()
    return quietly(model.fit, test_learned_kernel.X, test_learned_kernel.Y)


def check_predictions():
    fit = quietly(
        test_learned_kernel_predictions.some_fit, "dense", 1, test_learned_kernel_predictions.WEIGHT
    )
    test_learned_kernel_predictions.test_mean_and_deviation_are_those_of_the_mixture_of_students(
        fit
    )


def check_noise():
    fit = quietly(test_learned_kernel_predictions.some_fit, "sparse", 0, None)
    test_learned_kernel_predictions.test_the_noise_is_the_posterior_mean(fit)


def check_features():
    test_learned_kernel.assert_features(sound_model(), "best")


def check_whiteners():
    test_draws.test_whiteners_are_roots_of_the_covariance(test_draws.some_draws())


def check_picks():
    test_draws.test_every_draw_is_picked_as_often_and_whitened_ones_with_themselves(
        test_draws.some_draws()
    )


check_mean_kernel = partial(
    test_gaussian_components.test_the_mean_kernel_averages_the_draws_in_the_units_of_the_inputs, 3
)
check_relevance = partial(test_relevance.test_against_differences_and_averages, 4, 2)
check_repetitions = partial(test_preparation.test_weights_and_repetitions_are_the_same_data, 9)
check_outliers = partial(test_preparation.test_a_gross_outlier_does_not_move_the_scale, 200, 1e6)


@replaces(InverseGammaNoise, "variance", check_noise, check_predictions)
def noise_at_its_mode(self, residual, degrees):
    return (self.rate + residual / 2.0) / (self.shape + degrees / 2.0 + 1.0)


@planted(check_features)
def features_in_scaled_units(patch):
    test = test_learned_kernel
    model = test.regressor().__class__
    right = model.features

    def scaled(self, draw="best"):
        careless = model()
        vars(careless).update(vars(self))
        careless._scaling = Scaling(self._scaling.centre, np.ones(3))
        return right(careless, draw)

    patch.setattr(model, "features", scaled)


@changes(draws, "_whitener", check_whiteners, check_predictions)
def whitener_transposed(whitener, evidence):
    return whitener(evidence).T


@replaces(Draws, "pick", check_picks)
def only_whitened_draws_picked(self, rng):
    place = int(rng.integers(len(self.whitened)))
    index = int(self.whitened[place])
    return index, index, place


changes(test_gaussian_components, "mean_kernel", check_mean_kernel, name="kernel_in_scaled_units")(
    lambda mean_kernel, parts, scale: mean_kernel(parts, np.ones(2))
)


@changes(frequency_priors, "_gaussian", test_gaussian_components.test_a_line_keeps_its_place)
def lines_centred(gaussian, members):
    mean, covariance = gaussian(members)
    return 0.0 * mean, covariance + np.outer(mean, mean)


@changes(relevance._Waves, "of", check_relevance)
def relevance_of_cosines_alone(right, draws, index, polynomial):
    waves = right(draws, index, polynomial)
    own = waves.waves
    return replace(waves, waves=replace(own, weight=own.weight.real.astype(complex)))


@changes(test_preparation, "distinct_rows", check_repetitions)
def repetitions_dropped(right, X, y, units):
    X, y, found = right(X, y, units)
    return X, y, found if units.counts.max() > 1.0 else Units.of(None, len(found))


@planted(check_outliers)
def scale_with_outliers(patch):
    patch.setattr(
        Scaling, "of", classmethod(lambda cls, X: cls(np.median(X, axis=0), X.std(axis=0)))
    )


plant_edits(LearnedRegression, "_calibrate",
    test_learned_kernel_left_out.test_error_and_scale_are_those_of_left_out_rows,
    scale_without_the_variance_between_chains=("means.var(axis=0)", "0.0 * means[0]"),
)  # fmt: skip
plant_edits(LearnedClassification, "_calibrate",
    test_learned_kernel_left_out.test_temperature_and_log_loss_are_those_of_left_out_rows,
    temperature_without_weights=("units.totals, has", "None, has"),
    )  # fmt: skip
plant_edits(learned_kernel, "parts_of",
    test_learned_kernel_left_out.test_a_chain_does_not_depend_on_the_rows_that_it_leaves_out,
    users=(learned_kernel_fit,),
    rows_that_are_not_left_out=("units.counts - n_removed", "units.counts"))  # fmt: skip
plant_edits(learned_kernel, "_of_greatest_evidence",
    test_pooling.test_pooled_draws_are_a_ridge_regression_of_greatest_evidence,
    precision_that_stays=("fit = solved(fit, precision)", "pass"))  # fmt: skip
plant_edits(learned_kernel, "pooled", test_pooling.test_pooled_labels_are_at_their_mode,
    users=(test_pooling,),
    labels_at_another_precision=("np.exp(np.mean(np.log(", "np.mean((("))  # fmt: skip
