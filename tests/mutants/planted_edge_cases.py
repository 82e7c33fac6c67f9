"""Bugs at the ends of ranges, in weights with repeats, in groups, and in choices of methods."""

import pytest
from comparison import test_outcomes
from estimators import test_forecaster, test_online, test_summed_series
from features import test_positive_features
from laws import head_laws, test_likelihood_laws
from learning.families import test_selection
from learning.mixtures import test_mixture
from learning.series import test_breaks, test_search
from learning.tables import test_estimator_laws, test_widths
from mutants.registry import plant_edits
from persist import test_packing
from tables import test_totals

from bochner.comparison import study, verdict
from bochner.estimators import rolling_origins, summed_series
from bochner.features import positive, stats
from bochner.learning.families import selection
from bochner.learning.mixtures import mixture
from bochner.learning.ridge.posterior import RidgePosterior
from bochner.learning.series import breaks
from bochner.learning.series.search import Searcher
from bochner.learning.tables import widths
from bochner.learning.tables.residual_laws import ResidualLaw
from bochner.likelihoods.mixture import Predictive
from bochner.persist import packing
from bochner.tables import totals


def patched(check):
    """Return a check that patches modules while it runs."""

    def checked():
        with pytest.MonkeyPatch.context() as patch:
            check(patch)

    return checked


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
    packing,
    "_parts",
    lambda: test_packing.assert_levels(257),
    level_257_is_stored_in_a_byte=("<= 256", "<= 257"),
)
plant_edits(
    packing,
    "_parts",
    lambda: test_packing.assert_levels(256),
    level_256_takes_two_bytes=("<= 256", "< 256"),
)
plant_edits(
    totals,
    "_equals",
    test_totals.assert_rounded_totals,
    rounding_errors_do_not_add_up=("unit * np.sqrt(len(present))", "unit"),
    rounding_errors_add_up_one_by_one=("np.sqrt(len(present))", "len(present)"),
)
plant_edits(
    summed_series,
    "reconciliation",
    test_summed_series.assert_floors,
    zeros_have_no_floor=(">= 0.0", "> 0.0"),
)

# Weights and variances
plant_edits(
    ResidualLaw,
    "with_variances",
    test_estimator_laws.check_variances,
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
    RidgePosterior,
    "sample",
    head_laws.check_draws,
    intercepts_that_ignore_the_weights=(" - np.tensordot(self.centre, change, 1)", ""),
)
plant_edits(
    Predictive,
    "log_density",
    test_likelihood_laws.test_a_mixture_averages_its_laws_and_a_factor_scales_distances,
    densities_of_unscaled_targets=("len(self.laws) * self.factor", "len(self.laws)"),
)
plant_edits(
    mixture,
    "sample_labels",
    test_mixture.assert_alone,
    frequencies_count_themselves=("_without(counts, seats[j])", "counts"),
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
    "fitted_widths",
    patched(test_widths.check_unseen),
    curves_know_the_rows_left_out=("_product(curves_of(outside)", "_product(curves_of(rows)"),
    fold_curves_know_the_rows_left_out=("fold_curves = curves_of(outside)", "fold_curves = curves"),
    trees_know_the_rows_left_out=(
        "wide[outside], scores[outside] / _product(fold_curves, inputs[outside])",
        "wide, scores / _product(fold_curves, inputs)",
    ),
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
    users=(test_forecaster.bochner.estimators.forecaster,),
    the_scale_of_later_values=("series[name].values[before]", "series[name].values"),
)

# Choices between two methods
plant_edits(
    selection,
    "select_kernel",
    patched(test_selection.assert_exact_evidence),
    users=(test_selection,),
    exact_evidence_of_half_the_rows=("n <= 2 * min", "n <= min"),
    exact_evidence_of_fewer_rows=("n <= 2 * min", "n < 2 * min"),
)
