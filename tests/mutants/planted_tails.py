"""Bugs in the widths and the tails of forecasts, with the tests that notice them."""

from mutants.registry import edit, planted
from series.test_calibration import assert_tails as assert_tails_of_errors
from series.test_series_law import assert_tails, assert_widened_draws

from bochner.series import breaks as calibration
from bochner.series.series_law import SeriesLaw

planted(assert_tails_of_errors, name="no_error_is_large")(
    edit(calibration, "scales", "least), float(share)", "least), 0.0")
)
planted(assert_tails, name="smoothed_values_have_large_errors")(
    edit(SeriesLaw, "predict", "rows.times > self._last_known", "rows.times > -1.0")
)
planted(assert_widened_draws, name="draws_have_no_large_errors")(
    edit(SeriesLaw, "sample", "< self.large, LARGE", "< 0.0, LARGE")
)
