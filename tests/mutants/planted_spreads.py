"""Bugs of draws, of standard errors and of the ends of columns, each with its test."""

from gaussian_process import test_laplace
from learned import test_noise_field, test_small_counts
from mutants.registry import edit, plant_edits, planted
from report import test_drift
from tables import test_encodings
from tables.test_encoder import TestDates

from bochner.gaussian_process.laplace import LaplacePosterior
from bochner.learned import polya_gamma
from bochner.learned.noise_field import NoiseField
from bochner.report import residual_section as drift
from bochner.tables import cycles, encodings

plant_edits(encodings, "grid",
    lambda: test_encodings.test_entries_reach_from_the_least_number_to_the_greatest(12, 5),
    users=(test_encodings,),
    effects_without_the_greatest_number=('side="right"', 'side="left"'))  # fmt: skip
plant_edits(cycles, "varying_cycles",
    lambda: TestDates().test_cycles_that_vary_and_repeat("2020-01-01", 25, "h", set()),
    users=(encodings,),
    a_period_from_end_to_end_repeats=("span > cycle.length", "span >= cycle.length"))  # fmt: skip
plant_edits(polya_gamma, "_series", test_small_counts.test_a_count_of_nothing_is_nothing,
    users=(test_small_counts,),
    ends_of_series_of_a_whole_count=("count * rest", "rest"))  # fmt: skip
plant_edits(LaplacePosterior, "draw", test_laplace.test_draws_have_the_law_of_the_weights,
    draws_in_the_order_of_features=("reshape(n_draws, n_latent, P).swapaxes(1, 2)",
                                    "reshape(n_draws, P, n_latent)"))  # fmt: skip
plant_edits(drift, "_tested", test_drift.test_errors_of_few_clusters_are_those_of_their_means,
    standard_errors_of_many_clusters=("n_parts / max(n_parts - 1, 1)", "1.0"))  # fmt: skip
plant_edits(drift, "_tested", test_drift.test_few_clusters_show_a_strong_drift,
    covariances_about_zero=("about_zero / max(1.0 - about_zero / n_parts, _LEAST_REST)",
                            "about_zero"))  # fmt: skip


@planted(lambda: test_noise_field.test_the_spread_has_its_law_given_the_weights())
def spreads_of_twice_the_weights(patch):
    edit(NoiseField, "moved", "0.5 * len(weights)", "len(weights)")(patch)
