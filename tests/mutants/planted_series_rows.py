"""Bugs in rows, horizons, zeros and units of series, with the tests that notice them."""

from mutants.registry import edit, plant_edits, planted
from series import test_calibration, test_forecaster_rows, test_series_law
from series import test_value_transformations as test_mixture

from bochner.series import breaks as calibration
from bochner.series import series_model as units
from bochner.series import series_rows
from bochner.series.series_law import SeriesLaw
from bochner.series.series_model import SeriesUnits
from bochner.series.value_transformations import PredictiveMixture, SquareRoot

planted(
    lambda: test_mixture.test_zeros_have_the_probability_that_the_density_leaves("sqrt"),
    test_forecaster_rows.test_zeros_have_their_probability,
    name="a_square_root_of_zero_has_no_probability",
)(lambda patch: patch.setattr(SquareRoot, "has_floor", False))
planted(test_mixture.assert_std, name="deviations_do_not_include_the_spread_of_the_means")(
    edit(PredictiveMixture, "std", "(means - mean) ** 2", "0.0 * (means - mean)")
)

planted(test_forecaster_rows.assert_positions, name="positions_count_from_the_rows_of_the_fit")(
    edit(
        SeriesLaw, "positions", "return np.searchsorted", "return -self.n_earlier + np.searchsorted"
    )
)
planted(
    test_forecaster_rows.test_positions_are_exact_next_to_long_gaps,
    name="positions_are_rounded_to_ranges",
)(edit(SeriesLaw, "positions", "self.times, times", "self.times, times - 1e-6"))
planted(test_forecaster_rows.assert_unknown_end, name="unknown_last_values_are_rows_of_the_fit")(
    edit(series_rows, "learned_rows", "int(known[-1]) + 1 if len(known) else len(values)",
         "len(values)")
)  # fmt: skip
planted(
    test_forecaster_rows.test_horizons_count_from_the_last_value_that_is_no_outlier,
    name="horizons_count_from_the_last_row",
)(edit(SeriesLaw, "_factors", "self._last_known", "self.times[-1]"))
planted(test_calibration.assert_calibration, name="forecasts_begin_at_unknown_values")(
    edit(calibration, "_pairs", "origins = origins[rows.known[origins]]", "pass")
)
planted(
    test_calibration.test_standard_deviations_are_never_reduced,
    name="small_errors_make_forecasts_narrow",
)(edit(calibration, "scales", "np.maximum(variances, least)", "variances"))
plant_edits(SeriesLaw, "_windows", test_series_law.assert_earlier,
    earlier_rows_have_the_window_of_the_next_block=("(block - 1) * _BLOCK", "block * _BLOCK"),
)  # fmt: skip

for name, owner, attribute, old, new in (
    ("values_are_not_rounded", SeriesUnits, "rows", "rounded((transformed - self.centre)",
     "1.0 * ((transformed - self.centre)"),
):  # fmt: skip
    planted(test_forecaster_rows.assert_many_units, name=name)(edit(owner, attribute, old, new))
planted(
    test_forecaster_rows.test_constant_inputs_have_a_unit, name="rounding_is_the_unit_of_an_input"
)(lambda patch: patch.setattr(units, "spreads", lambda X, *others: X.std(axis=0)))
