"""Bugs at the ends of ranges, in weights with repeats, in groups, and in choices of methods."""

import pytest
from comparison import test_outcomes
from comparison import test_past_origins as test_origins
from features import test_positive_features_features as test_positive_features
from features import test_weight_meaning as test_units
from laws import head_laws, test_likelihood_laws
from learned import test_dirichlet_mixture
from linear import test_online
from mutants.registry import plant_edits
from report import test_checks, test_drift
from series import test_forecaster
from tables import test_estimator_laws, test_widths

from bochner.comparison import study, verdict
from bochner.features import positive_features as positive
from bochner.features import row_sums as stats
from bochner.features.chunks import Chunk, RowSample
from bochner.gaussian_process import BernoulliLikelihood, OrdinalLikelihood
from bochner.gaussian_process.likelihood_predictions import LikelihoodMixture
from bochner.learned import dirichlet_mixture
from bochner.linear.ridge_posterior import FunctionLaw
from bochner.report import error_checks
from bochner.report import residual_section as residuals
from bochner.series import rolling_origins
from bochner.series.series_law import SeriesLaw
from bochner.tables import widths
from bochner.tables.estimator_laws import ResidualLaw


def patched(check):
    """Return a check that patches modules while it runs."""

    def checked():
        with pytest.MonkeyPatch.context() as patch:
            check(patch)

    return checked


# Weights and variances
plant_edits(ResidualLaw, "with_variances",
    test_estimator_laws.test_misfit_and_noise_have_factors_of_their_own,
    noise_that_follows_the_misfit=("of_noise / of_function", "of_noise"))  # fmt: skip
plant_edits(stats, "_counted", lambda: test_online.assert_batches(test_online.FRACTIONS),
    forgotten_weights_are_whole=("repeats[present] @ np.log(weights[present])",
                                 "np.log(weights[present]).sum()"),
    )  # fmt: skip
plant_edits(FunctionLaw, "sample", head_laws.check_draws,
    intercepts_that_ignore_the_weights=(" - np.tensordot(self.centre, change, 1)", ""))  # fmt: skip
plant_edits(LikelihoodMixture, "log_density",
    test_likelihood_laws.test_a_mixture_averages_its_laws_and_a_factor_scales_distances,
    densities_of_unscaled_targets=("len(self.laws) * self.factor", "len(self.laws)"))  # fmt: skip
plant_edits(dirichlet_mixture, "sample_labels",
    test_dirichlet_mixture.test_a_frequency_does_not_count_itself,
    frequencies_count_themselves=("_without(counts, seats[j])", "counts"))  # fmt: skip

plant_edits(Chunk, "aged", test_units.test_forgetting_twice_multiplies_repeats,
    repeats_of_the_last_forgetting=("else factors * self.repeats", "else factors"))  # fmt: skip
plant_edits(RowSample, "weighted", test_units.test_samples_that_are_forgotten_twice,
    repeats_of_a_sample_start_again=("repeats *= self.rows.repeats", "pass"))  # fmt: skip
plant_edits(BernoulliLikelihood, "origin", test_likelihood_laws.check_origin,
    odds_of_rows=("weight.sum() - ones", "len(y) - ones"))  # fmt: skip
plant_edits(OrdinalLikelihood, "started", test_likelihood_laws.check_first_cutpoints,
    cutpoints_of_rows=("weights=weight, ", ""))  # fmt: skip
plant_edits(SeriesLaw, "probability", test_origins.test_shares_of_trends_add_up,
    probabilities_are_averaged=("member.weights.sum()", "member.weights.mean()"))  # fmt: skip

# Groups, and rows left out
plant_edits(verdict, "difference",
    test_outcomes.test_differences_within_a_group_are_not_independent, users=(test_outcomes,),
    rows_of_a_group_are_independent=(", our_outcome.clusters)", ")"))  # fmt: skip
plant_edits(study, "own_outcomes", test_outcomes.test_each_target_has_its_own_outcome,
    the_unit_of_test_rows=("np.var(split.y, axis=0)", "np.var(split.y_test, axis=0)"))  # fmt: skip
plant_edits(widths, "_left_out", patched(test_widths.test_factors_are_those_of_rows_left_out),
    trees_know_the_rows_left_out=("fitted(outside, *terms)(", "fitted(rows, *terms)("))  # fmt: skip
plant_edits(positive, "_fitted", test_positive_features.assert_held_out,
    the_error_of_fitted_rows=("choice, X_new, Y_new", "choice, X, Y"))  # fmt: skip
plant_edits(rolling_origins, "rolling_table",
    test_forecaster.test_errors_of_origins_are_scaled_by_the_values_before,
    users=(test_forecaster.bochner.series.forecaster,),
    the_scale_of_later_values=("series[name].values[before]", "series[name].values"))  # fmt: skip

plant_edits(residuals, "drifts", test_drift.test_tests_of_a_report_count_its_groups,
    users=(test_drift,),
    reports_without_groups=("subject.study.own.clusters", "None"))  # fmt: skip
plant_edits(error_checks, "bias", test_checks.test_a_bias_of_groups_has_their_error,
    a_bias_of_independent_rows=(", outcome.clusters)", ")"))  # fmt: skip
