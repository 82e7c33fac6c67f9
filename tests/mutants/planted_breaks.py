"""Bugs in the search for outliers and shifts of the level, with the tests that notice them."""

from mutants.registry import edit, edited, planted
from series import test_breaks, test_calendar_patterns, test_regular

from bochner.series import breaks, calendar_patterns, fitted_series
from bochner.series import series_model as model
from bochner.series.calendar_patterns import CalendarPattern
from bochner.series.components import LevelShifts
from bochner.series.series_law import SeriesLaw
from bochner.series.timelines import Timeline

for name, old, new in (
    ("later_values_tell_nothing", "- gains[t] @ slope", ""),
    ("curvature_is_not_carried_back_twice", "F @ curvature @ F.T", "F @ curvature"),
    ("a_value_is_as_certain_as_its_error", " + max(gains[t] @ image, 0.0)", ""),
):
    planted(test_breaks.assert_statistics, name=name)(edit(breaks, "standardised", old, new))
planted(lambda: test_breaks.assert_statistics("clock"), name="partners_do_not_go_back")(
    edit(breaks, "_transposed", "[:, partner].T", "[:, partner]")
)
planted(test_breaks.assert_found, name="outliers_stay_in_the_rows")(
    edit(breaks._Break, "applied", "values[self.place] = np.nan", "pass")
)
planted(lambda: test_regular.assert_evidence("shifts", "known"), name="shifts_are_inputs")(
    edit(model, "regular_series", "== SHIFTS, SHIFT, INPUT", "== SHIFTS, INPUT, INPUT")
)
planted(lambda: test_regular.assert_evidence("shifts", "known"), name="shifts_do_not_last")(
    edit(LevelShifts, "weights", "times[:, None] >= ", "times[:, None] == ")
)

for name, place, function, old, new, check in (
    (
        "one_outlier_is_a_pattern",
        *(calendar_patterns, "_gains", "0.5 * rest > least", "rest > -1.0"),
        test_calendar_patterns.assert_one_is_none,
    ),
    (
        "the_gain_of_a_pattern_is_twice_as_large",
        *(calendar_patterns, "_gains", "0.5 * sums", "sums"),
        test_calendar_patterns.assert_gain,
    ),
    (
        "an_hour_is_a_whole_day",
        *(CalendarPattern, "indicator", "self.hour < 0", "True"),
        lambda: test_calendar_patterns.assert_forecast("hour"),
    ),
    (
        "patterns_are_not_forecast",
        *(fitted_series, "with_patterns", "*(pattern.indicator(days)", "*(0.0 * days"),
        lambda: test_calendar_patterns.assert_forecast("date"),
    ),
):
    planted(check, name=name)(edit(place, function, old, new))
planted(
    test_calendar_patterns.assert_no_weekday_is_a_day_of_the_month, name="fridays_are_second_ones"
)(
    edit(
        calendar_patterns.CalendarSearch,
        "_beyond_the_week",
        "errors - precisions * usual[cells]",
        "errors",
    )
)
planted(test_calendar_patterns.assert_effect, name="effects_are_half_as_large")(
    edit(SeriesLaw, "input_effects", "return mean * unit", "return 0.5 * mean * unit")
)
planted(
    lambda: test_calendar_patterns.assert_forecast("month to its end"),
    name="ends_of_months_are_days_of_the_next",
)(edit(Timeline, "local_days", "self.offset < 0.0", "False"))


@planted(lambda: test_calendar_patterns.assert_forecast("week to Sunday"))
def weeks_begin_on_Sunday(patch):
    right = calendar_patterns._labels.__wrapped__  # Without the labels that it has stored
    wrong = edited(right, "first -= timedelta(width - 1)", "pass")
    patch.setattr(calendar_patterns, "_labels", wrong)
