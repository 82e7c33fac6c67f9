"""Bugs in the search for outliers and shifts of the level, with the tests that notice them."""

from mutants.registry import edit, planted
from series import test_breaks, test_calendar_patterns, test_regular

from bochner.series import breaks, calendar_patterns
from bochner.series import series_model as model
from bochner.series.calendar_patterns import CalendarPattern
from bochner.series.series_law import SeriesLaw

for name, old, new in (("later_values_tell_nothing", "- gains[t] @ slope", ""),):
    planted(test_breaks.assert_statistics, name=name)(edit(breaks, "standardised", old, new))
planted(lambda: test_breaks.assert_statistics("clock"), name="partners_do_not_go_back")(
    edit(breaks, "_transposed", "[:, partner].T", "[:, partner]")
)
planted(test_breaks.test_outliers_and_shifts_are_found, name="outliers_stay_in_the_rows")(
    edit(breaks._Break, "applied", "values[self.place] = np.nan", "pass")
)
planted(lambda: test_regular.assert_evidence("shifts", "known"), name="shifts_are_inputs")(
    edit(model, "regular_series", "== SHIFTS, SHIFT, INPUT", "== SHIFTS, INPUT, INPUT")
)

for name, place, function, old, new, check in (
    (
        "one_outlier_is_a_pattern",
        *(calendar_patterns, "_gains", "0.5 * rest > least", "rest > -1.0"),
        test_calendar_patterns.test_one_outlier_is_no_pattern,
    ),
    (
        "the_gain_of_a_pattern_is_twice_as_large",
        *(calendar_patterns, "_gains", "0.5 * sums", "sums"),
        test_calendar_patterns.test_gains_are_those_of_least_squares,
    ),
    (
        "an_hour_is_a_whole_day",
        *(CalendarPattern, "indicator", "self.hour < 0", "True"),
        lambda: test_calendar_patterns.assert_forecast("hour"),
    ),
):
    planted(check, name=name)(edit(place, function, old, new))
planted(
    test_calendar_patterns.test_a_weekday_is_no_day_of_the_month, name="fridays_are_second_ones"
)(
    edit(
        calendar_patterns.CalendarSearch,
        "_beyond_the_week",
        "errors - precisions * usual[cells]",
        "errors",
    )
)
planted(test_calendar_patterns.test_effects_are_sizes_of_spikes, name="effects_are_half_as_large")(
    edit(SeriesLaw, "input_effects", "return mean * unit", "return 0.5 * mean * unit")
)
