"""Bugs at the ends of ranges, in weights with repeats, in groups, and in choices of methods."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from comparison import test_outcomes, test_split
from comparison import test_past_origins as test_origins
from features import test_positive_features_features as test_positive_features
from features import test_weight_meaning as test_units
from files import test_identifiers
from laws import head_laws, test_likelihood_laws
from learned import test_dirichlet_mixture
from linear import test_kernel_selection as test_selection
from linear import test_online, test_ridge_plan
from mutants.registry import edited, plant_edits, planted
from report import test_checks, test_drift
from series import test_breaks, test_forecaster, test_summed_series, test_timelines
from series import test_component_search as test_search
from tables import (
    test_estimator_laws,
    test_shapley,
    test_table_rows,
    test_widths,
)

from bochner.comparison import forecast_errors as forecasts
from bochner.comparison import outcomes as coverage
from bochner.comparison import split, study, verdict
from bochner.features import parameters as length_scales
from bochner.features import positive_features as positive
from bochner.features import stats
from bochner.features.chunks import Chunk, RowSample
from bochner.files import column_values
from bochner.gaussian_process import BernoulliLikelihood, OrdinalLikelihood
from bochner.gaussian_process import law_predictions as quantiles
from bochner.gaussian_process.law_predictions import LikelihoodMixture
from bochner.learned import dirichlet_mixture
from bochner.linear import kernel_selection as selection
from bochner.linear.ridge_posterior import FunctionLaw
from bochner.linear.solver_plan import RidgeProblem
from bochner.report import error_checks
from bochner.report import residual_section as drift
from bochner.report import residual_section as residuals
from bochner.series import breaks, rolling_origins, summed_series, timelines
from bochner.series.component_search import Searcher
from bochner.tables import table_rows, widths
from bochner.tables.contributions import Game
from bochner.tables.estimator_laws import ResidualLaw


def patched(check):
    """Return a check that patches modules while it runs."""

    def checked():
        with pytest.MonkeyPatch.context() as patch:
            check(patch)

    return checked


def in_folder(check):
    """Return a check that writes files into a folder of its own."""

    def checked():
        with TemporaryDirectory() as folder:
            check(Path(folder))

    return checked


def edit_property(owner, name, old, new):
    """Return what plants a changed line in a property."""
    function = getattr(owner, name).fget
    return lambda patch: patch.setattr(owner, name, edited(function, old, new))


# Ends of ranges
plant_edits(
    breaks,
    "standardised",
    test_breaks.assert_statistics,
    three_rows_after_a_shift_are_too_few=("t <= n - _AT_ENDS", "t < n - _AT_ENDS"),
    three_rows_before_a_shift_are_too_few=("_AT_ENDS <= t", "_AT_ENDS < t"),
)
plant_edits(
    Searcher,
    "first",
    test_search.assert_ends_of_periods,
    test_search.assert_rounded_steps,
    a_season_of_two_steps_is_lost=("(1.0 - _ROUNDED)", "(1.0 + _ROUNDED)"),
)
plant_edits(
    Searcher,
    "first",
    test_search.assert_ends_of_periods,
    a_season_of_two_thirds_is_lost=("(1.0 + _ROUNDED)", "(1.0 - _ROUNDED)"),
)
plant_edits(
    Searcher,
    "first",
    test_search.assert_rounded_steps,
    rounding_loses_a_season_of_two_steps=(" * (1.0 - _ROUNDED)", ""),
)
plant_edits(
    summed_series,
    "reconciliation",
    test_summed_series.assert_floors,
    zeros_have_no_floor=(">= 0.0", "> 0.0"),
)

plant_edits(
    column_values,
    "_has_errors",
    in_folder(test_identifiers.assert_half),
    half_of_the_entries_are_too_few=("_HALF * n_present <=", "_HALF * n_present <"),
)
plant_edits(
    column_values,
    "_levels",
    in_folder(test_identifiers.assert_levels_are_compared),
    level_256_is_one_too_many=("len(levels) <=", "len(levels) <"),
)
plant_edits(
    timelines,
    "_usual_step",
    test_timelines.assert_half_of_the_steps,
    half_of_the_steps_are_too_few=(">= _SHARE", "> _SHARE"),
)
plant_edits(
    drift,
    "_bins",
    test_drift.check_fewest_missing,
    missing_values_one_too_few=(">= _FEWEST_ROWS", "> _FEWEST_ROWS"),
)
plant_edits(
    drift,
    "_tested",
    test_drift.check_two_bins,
    three_groups_are_too_few=("n_parts > q + 1", "n_parts > q + 2"),
)
plant_edits(
    split,
    "split_rows",
    test_split.check_fewest,
    users=(test_split,),
    two_rows_to_fit_are_too_few=("n_fit < fewest", "n_fit <= fewest"),
)
plant_edits(
    length_scales,
    "is_symmetric",
    test_units.check_zero_gram,
    users=(test_units,),
    zeros_are_not_symmetric=("<= tolerance", "< tolerance"),
)
plant_edits(
    quantiles,
    "whole_quantiles",
    test_likelihood_laws.check_whole_quantiles,
    counts_beyond_the_level=("distribution(middle) >= level", "distribution(middle) > level"),
)
plant_edits(
    table_rows,
    "_in_order_of_entries",
    test_table_rows.test_twenty_copied_rows_are_warned_of,
    twenty_copies_are_too_few=(">= _FEWEST_COPIED", "> _FEWEST_COPIED"),
)
plant_edits(
    table_rows,
    "is_sorted",
    test_split.check_fewest_dates,
    users=(split,),
    ten_dates_are_too_few=("+ 1 >= _FEWEST_DATES", "+ 1 > _FEWEST_DATES"),
)

# Weights and variances
plant_edits(
    ResidualLaw,
    "with_variances",
    test_estimator_laws.test_misfit_and_noise_have_factors_of_their_own,
    noise_that_follows_the_misfit=("of_noise / of_function", "of_noise"),
)
plant_edits(
    stats,
    "_counted",
    lambda: test_online.assert_batches(test_online.FRACTIONS),
    forgotten_weights_are_whole=(
        "repeats[present] @ np.log(weights[present])",
        "np.log(weights[present]).sum()",
    ),
    forgotten_rows_are_whole=("repeats[present].sum()", "present.sum()"),
)
plant_edits(
    FunctionLaw,
    "sample",
    head_laws.check_draws,
    intercepts_that_ignore_the_weights=(" - np.tensordot(self.centre, change, 1)", ""),
)
plant_edits(
    LikelihoodMixture,
    "log_density",
    test_likelihood_laws.test_a_mixture_averages_its_laws_and_a_factor_scales_distances,
    densities_of_unscaled_targets=("len(self.laws) * self.factor", "len(self.laws)"),
)
plant_edits(
    dirichlet_mixture,
    "sample_labels",
    test_dirichlet_mixture.assert_alone,
    frequencies_count_themselves=("_without(counts, seats[j])", "counts"),
)

plant_edits(
    Chunk,
    "aged",
    test_units.check_repeats,
    repeats_of_the_last_forgetting=("else factors * self.repeats", "else factors"),
)
plant_edits(
    RowSample,
    "weighted",
    test_units.check_samples,
    repeats_of_a_sample_start_again=("repeats *= self.rows.repeats", "pass"),
)
planted(test_units.check_repeats, name="units_without_repeats")(
    edit_property(Chunk, "units", "self.repeats * units.counts", "units.counts")
)
plant_edits(
    BernoulliLikelihood,
    "origin",
    test_likelihood_laws.check_origin,
    odds_of_rows=("weight.sum() - ones", "len(y) - ones"),
)
plant_edits(
    OrdinalLikelihood,
    "started",
    test_likelihood_laws.check_first_cutpoints,
    cutpoints_of_rows=("weights=weight, ", ""),
)
plant_edits(
    forecasts,
    "_seasons",
    test_origins.test_shares_of_trends_add_up,
    probabilities_are_averaged=("m.weights.sum()", "m.weights.mean()"),
)

# Groups, and rows left out
plant_edits(
    verdict,
    "difference",
    test_outcomes.assert_clusters_in_differences,
    users=(test_outcomes,),
    rows_of_a_group_are_independent=(", our_outcome.clusters)", ")"),
)
plant_edits(
    study,
    "own_outcomes",
    test_outcomes.assert_outcomes_of_targets,
    the_unit_of_test_rows=("split.y[:, number])", "split.y_test[:, number])"),
    targets_without_groups=("clusters=split.groups_test", "clusters=None"),
)
plant_edits(
    widths,
    "_left_out",
    patched(test_widths.test_factors_are_those_of_rows_left_out),
    trees_know_the_rows_left_out=("fitted(outside, *terms)(", "fitted(rows, *terms)("),
)
plant_edits(
    positive,
    "_fitted",
    test_positive_features.assert_held_out,
    the_error_of_fitted_rows=("choice, X_new, Y_new", "choice, X, Y"),
)
plant_edits(
    rolling_origins,
    "rolling_table",
    test_forecaster.assert_errors_of_origins,
    users=(test_forecaster.bochner.series.forecaster,),
    the_scale_of_later_values=("series[name].values[before]", "series[name].values"),
)

plant_edits(
    coverage,
    "_independent",
    test_outcomes.assert_independent_values,
    covered_rows_are_independent=("        return n_clusters\n", "        return n\n"),
)
plant_edits(
    residuals,
    "drifts",
    test_drift.check_groups_of_a_report,
    users=(test_drift,),
    reports_without_groups=("= subject.study.own.clusters", "= None"),
)
plant_edits(
    error_checks,
    "bias",
    test_checks.check_bias_of_groups,
    a_bias_of_independent_rows=(", outcome.clusters)", ")"),
)

# Choices between two methods
plant_edits(
    Game,
    "shapley_values",
    test_shapley.test_as_many_evaluations_as_coalitions_are_enough,
    all_coalitions_are_not_enough=("<= n_evaluations", "< n_evaluations"),
)
planted(test_ridge_plan.check_worth, name="one_reason_for_passes_is_enough")(
    edit_property(RidgeProblem, "is_faster_by_passes", "_WORTH_SECONDS and", "_WORTH_SECONDS or")
)
plant_edits(
    selection,
    "select_kernel",
    patched(test_selection.assert_exact_evidence),
    users=(test_selection,),
    exact_evidence_of_half_the_rows=("n <= 2 * min", "n <= min"),
    exact_evidence_of_fewer_rows=("n <= 2 * min", "n < 2 * min"),
)
