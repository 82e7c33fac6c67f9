"""Bugs planted in forecasts from the command line, and the laws that must notice them."""

import pytest
from comparison import test_past_origins as test_origins
from comparison.test_past_origins import NAN
from mutants.registry import edit, plant_edits, planted
from series import test_forecaster, test_forecaster_periods, test_holidays

from bochner import Forecaster
from bochner.comparison import forecast_fits as origins
from bochner.comparison import forecast_words, simple_forecasts
from bochner.series import calendars, component_search, parameter_posterior
from bochner.series.component_search import Searcher
from bochner.series.fitted_series import SeriesForecasts
from bochner.series.series_law import SeriesLaw


def check_repeated_season():
    for values, season, expected in (
        ([1, 2, 3, 4, 5, 6], 3, [4, 5, 6, 4, 5]),
        ([1, 2, 3, 4, NAN, 6], 3, [4, 2, 6, 4, 2]),
        ([NAN, 2, 3, NAN, 5, 6], 3, [6, 5, 6, 6, 5]),
    ):
        test_origins.test_the_last_season_is_repeated(values, season, expected)


def check_compared(n_series):
    with pytest.MonkeyPatch.context() as patch:
        test_origins.test_twenty_series_spread_evenly_are_compared(n_series, patch)


plant_edits(simple_forecasts, "_by_phase", check_repeated_season,
    seasons_are_repeated_backwards=("[season - 1 - step :: season]", "[step::season]"),
    )  # fmt: skip
planted(
    lambda: test_origins.test_rows_left_out_are_empty_cells("B"),
    name="seasons_slip_at_lacking_rows",
)(lambda patch: patch.setattr(origins, "on_calendar", lambda values: values))
planted(
    lambda: test_origins.test_the_verdict_compares_errors_with_the_best_other_method(
        *test_origins.UNSETTLED
    ),
    name="three_forecasts_settle_any_difference",
)(lambda patch: patch.setattr(forecast_words, "_is_settled", lambda *given: True))
plant_edits(origins, "past_scores", lambda: check_compared(24),
    twelve_of_24_series_are_compared=("in compared]", "in compared[::2]]"))  # fmt: skip
plant_edits(
    origins.OriginScores,
    "are_before_shifts",
    test_origins.test_values_forecast_before_a_shift_are_told_from_the_others,
    values_after_a_shift_are_before_it=("(self.shifts < after)", "(self.shifts > 0)"),
)
plant_edits(origins, "_scores",
    test_origins.test_errors_from_origins_use_the_values_before_them_only,
    the_last_season_of_all_is_repeated=("simple_forecasts(values[:origin],",
                                        "simple_forecasts(values,"),
    )  # fmt: skip


def check_theta():
    for rate in (1.0, 1.03):
        test_origins.test_the_theta_method_continues_seasons_and_half_of_the_slope(rate)


plant_edits(simple_forecasts, "theta_forecast", check_theta,
    the_whole_slope_is_followed=("0.5 * slope", "slope"),
)  # fmt: skip
plant_edits(
    Searcher,
    "_renamed",
    lambda: test_forecaster_periods.test_the_seasons_of_a_series_are_reported_and_no_others(
        "a short fluctuation of days"
    ),
    fluctuations_are_seasons=("if is_season else SHORT_TERM", "if True else SHORT_TERM"),
)
plant_edits(
    parameter_posterior,
    "with_shorter",
    test_forecaster_periods.test_weekends_have_other_hours_than_weekdays,
    users=(component_search,),
    weekends_have_the_hours_of_weekdays=("_SHARED * ratio - 1, resolved", "1, resolved"),
)  # fmt: skip


def check_origins():
    for n, n_origins in ((60, 3), (25, 1), (20, None)):
        test_origins.test_origins_are_as_many_as_the_series_allows(n, n_origins)


planted(check_origins, name="first_origins_have_nothing_before_them")(
    edit(origins, "origin_scores", "len(y) - max(horizon, FEWEST_BEFORE)", "len(y)", test_origins)
)


plant_edits(
    calendars,
    "holiday_inputs",
    test_holidays.test_holidays_of_germany,
    users=(test_holidays,),
    the_last_year_has_no_holidays=("_ONE_DAY).item().year + 1", "_ONE_DAY).item().year"),
)
plant_edits(
    calendars,
    "holiday_inputs",
    test_holidays.test_holidays_of_one_date_share_an_effect,
    users=(test_holidays,),
    holidays_have_two_effects=("columns.pop(name) for", "columns[name] for"),
)
planted(test_holidays.test_all_hours_of_a_date_are_one_date, name="hours_count_as_dates")(
    edit(calendars, "holiday_inputs", "int(first < min(beyond, n_known))",
         "max(min(beyond, n_known) - first, 0)", test_holidays)
)  # fmt: skip
planted(test_holidays.test_hours_follow_the_local_clock, name="holidays_begin_in_greenwich")(
    edit(calendars, "holiday_inputs", "read_dates(times).clock", "read_dates(times).utc",
         test_holidays)
)  # fmt: skip
planted(
    lambda: test_holidays.test_long_steps_count_their_days("months"), name="holidays_are_worked"
)(edit(calendars, "holiday_inputs", "holidays=dates", "holidays=dates[:0]", test_holidays))


def check_any_order():
    model = Forecaster(**test_forecaster.QUICK).fit(test_forecaster.monthly()[:84])
    test_forecaster.assert_any_order(model, "log_density")


planted(check_any_order, name="densities_of_values_at_other_times")(
    edit(SeriesForecasts, "log_densities", "values[order]", "values")
)


planted(
    test_forecaster_periods.test_seasons_are_reported_by_one_rule,
    name="periods_are_those_of_the_best_model",
)(lambda patch: patch.setattr(SeriesLaw, "probable", property(lambda law: law.components)))
planted(
    lambda: test_origins.test_numbers_with_gaps_are_on_their_grid(1.0 / 12.0, 2),
    name="rounded_times_shift_the_grid",
)(edit(origins, "_grid", "range(2)", "range(1)"))
planted(
    lambda: test_forecaster.test_two_plans_are_compared_by_paired_paths("none"),
    name="plans_have_other_noise",
)(edit(SeriesLaw, "sample", "[rng.permutation", "[np.random.permutation"))


plant_edits(origins.OriginScores, "error",
    test_origins.test_counts_are_not_compared_in_favour_of_zero,
    counts_are_ranked_by_absolute_errors=("if self.are_counts", "if False"))  # fmt: skip
