"""Bugs in the widths and the tails of forecasts, with the tests that notice them."""

from mutants.registry import edit, planted
from series.test_calibration import assert_calibration
from series.test_calibration import assert_tails as assert_tails_of_errors
from series.test_series_law import assert_tails, assert_widened_draws

from bochner.series import breaks as calibration
from bochner.series.series_law import SeriesLaw

for name, old, new in (
    (
        "overlapping_errors_count_as_independent",
        "weight = 1.0 / np.asarray",
        "weight = 0.0 + 1.0 / np.ones_like",
    ),
    ("large_errors_widen_all", "1.0 - (1.0 - LARGE**-2) * probability", "1.0"),
    ("a_large_error_is_as_likely_as_another", "logit(share) - np.log(LARGE)", "logit(share)"),
):
    planted(assert_calibration, name=name)(edit(calibration, "scales", old, new))
planted(assert_tails_of_errors, name="no_error_is_large")(
    edit(calibration, "scales", "least), float(share)", "least), 0.0")
)
planted(assert_tails, name="smoothed_values_have_large_errors")(
    edit(SeriesLaw, "predict", "rows.times > self._last_known", "rows.times > -1.0")
)
planted(assert_widened_draws, name="draws_have_no_large_errors")(
    edit(SeriesLaw, "sample", "< self.large, LARGE", "< 0.0, LARGE")
)
