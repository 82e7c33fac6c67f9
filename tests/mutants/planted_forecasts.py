"""Bugs planted in forecasts from the command line, and the laws that must notice them."""

from pathlib import Path
from tempfile import TemporaryDirectory

from cli import test_forecast
from comparison import test_past_origins as test_origins
from comparison.test_past_origins import NAN
from files import test_series_table
from mutants.registry import edit, plant_edits, planted
from series import test_forecaster, test_holidays

from bochner import Forecaster
from bochner.cli import forecasting
from bochner.comparison import forecast_errors as forecasts
from bochner.comparison import forecast_errors as origins
from bochner.comparison import forecast_fits
from bochner.comparison.contenders import OURS
from bochner.files import series_table
from bochner.series import calendars
from bochner.series.fitted_series import SeriesForecasts


def check_repeated_season():
    for values, season, expected in (
        ([1, 2, 3, 4, 5, 6], 3, [4, 5, 6, 4, 5]),
        ([1, 2, 3, 4, NAN, 6], 3, [4, 2, 6, 4, 2]),
        ([NAN, 2, 3, NAN, 5, 6], 3, [6, 5, 6, 6, 5]),
    ):
        test_origins.test_the_last_season_is_repeated(values, season, expected)


plant_edits(
    origins,
    "repeated_season",
    check_repeated_season,
    users=(test_origins,),
    seasons_are_repeated_backwards=("[season - 1 - step :: season]", "[step::season]"),
    unknown_values_are_repeated=("same = same[np.isfinite(same)]", "pass"),
)
plant_edits(
    origins,
    "_scores",
    test_origins.test_errors_from_origins_use_the_values_before_them_only,
    the_last_season_of_all_is_repeated=(
        "repeated_season(values[:origin],",
        "repeated_season(values,",
    ),
    errors_are_scaled_by_later_values=(
        "seasonal_scale(values[:origin], season)",
        "seasonal_scale(values, season)",
    ),
)


def check_origins():
    for n, n_origins in ((60, 3), (25, 1), (20, None)):
        test_origins.test_origins_are_as_many_as_the_series_allows(n, n_origins)


planted(check_origins, name="first_origins_have_nothing_before_them")(
    edit(origins, "_origins_and_season", "len(y) - max(horizon, FEWEST_BEFORE)", "len(y)")
)


def check_verdict():
    for ours, other, message in ((0.5, 1.0, "50 % smaller"), (1.5, 1.0, "50 % larger")):
        test_origins.test_the_verdict_compares_scaled_errors(ours, other, 12, message)


planted(check_verdict, name="the_verdict_is_that_of_the_other")(
    edit(
        forecasts, "forecast_verdict", "ratio = ours / other", "ratio = other / ours", test_origins
    )
)
planted(check_verdict, name="the_mean_of_the_other_is_ours")(
    edit(
        origins,
        "mean_mase",
        "each.other if method is None",
        f"{OURS!r} if method is None",
        forecasts,
    )
)
planted(
    test_origins.test_times_are_shown_as_people_write_them, name="one_midnight_hides_all_times"
)(edit(forecasts, "shown_times", "normalize()).all()", "normalize()).any()", test_origins))

plant_edits(
    calendars,
    "holiday_inputs",
    test_holidays.test_holidays_of_germany,
    users=(test_holidays,),
    the_last_year_has_no_holidays=("days.max().item().year + 1", "days.max().item().year"),
    holidays_have_two_effects=('(names != "") & ~np.isin(names, frequent)', '(names != "")'),
)
planted(test_holidays.test_holidays_of_one_date_share_an_effect, name="all_dates_are_known")(
    edit(calendars, "holiday_inputs", "names[:n_known].tolist(), days[:n_known].tolist()",
         "names.tolist(), days.tolist()", test_holidays)
)  # fmt: skip
planted(
    test_holidays.test_holidays_of_one_date_share_an_effect,
    name="a_holiday_of_one_date_has_an_effect",
)(lambda patch: patch.setattr(calendars, "_FEWEST_DATES", 1))
planted(test_holidays.test_all_hours_of_a_date_are_one_date, name="hours_count_as_dates")(
    edit(calendars, "holiday_inputs", "pairs = set(zip(", "pairs = list(zip(", test_holidays)
)
planted(test_holidays.test_hours_follow_the_local_clock, name="holidays_begin_in_greenwich")(
    edit(calendars, "holiday_inputs", "read_dates(times).clock", "read_dates(times).utc",
         test_holidays)
)  # fmt: skip

for name, old, new, check in (
    (
        "series_have_the_order_of_their_rows",
        'rows = rows[np.argsort(times[rows], kind="stable")]',
        "pass",
        test_series_table.test_series_do_not_depend_on_the_order_of_rows,
    ),
    (
        "unknown_first_values_stay",
        "first, end = known_places[0], ",
        "first, end = 0, ",
        test_series_table.test_values_begin_and_end_with_known_ones,
    ),
    (
        "inputs_begin_before_the_values",
        "inputs.iloc[rows[first:]].set_axis(times[rows[first:]])",
        "inputs.iloc[rows].set_axis(times[rows])",
        test_series_table.test_inputs_are_those_of_the_values_and_of_the_rows_to_forecast,
    ),
):
    planted(check, name=name)(edit(series_table, "_one_series", old, new))
planted(
    test_series_table.test_several_series_are_those_of_their_rows,
    name="all_series_have_the_values_of_the_first",
)(
    lambda patch: (
        edit(series_table, "table_series", "np.flatnonzero(names == name)",
             "np.flatnonzero(names == names[0])", forecasting)(patch),
        patch.setattr(test_series_table, "series_and_refused", series_table.table_series),
    )
)  # fmt: skip
planted(
    test_series_table.test_levels_of_text_have_an_indicator_each_but_the_commonest,
    name="all_levels_have_an_indicator",
)(edit(series_table, "_inputs", "value_counts().index[1:]", "value_counts().index"))


def check_the_forecast():
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = {"bochner": folder / "m.bochner"}
        options = ("--horizon", "12", "--no-compare", "--model", files["bochner"])
        made = *test_forecast.forecast(folder, test_forecast.sales(60), *options), files
        test_forecast.test_the_forecast_is_that_of_the_forecaster(made)


def check_known_inputs():
    with TemporaryDirectory() as name:
        test_forecast.test_several_series_with_a_known_input(Path(name))


def check_rows_without_a_value():
    with TemporaryDirectory() as name:
        test_forecast.test_rows_without_a_value_are_forecast(Path(name))


planted(check_the_forecast, name="intervals_have_a_level_of_their_own")(
    edit(forecast_fits, "forecast_each", "predict_interval(horizon, request.level, later)",
         "predict_interval(horizon, 0.5, later)", forecasting)
)  # fmt: skip
planted(check_known_inputs, name="forecasts_have_the_first_inputs")(
    edit(forecast_fits, "forecast_each", "X.iloc[len(one.values) :]",
         "X.iloc[: len(X) - len(one.values)].set_axis(X.index[len(one.values) :])", forecasting)
)  # fmt: skip
planted(check_known_inputs, name="series_have_the_model_of_the_first")(
    edit(forecast_fits, "forecast_each", "{one.name: one.values}",
         "{one.name: all_series[0].values}", forecasting)
)  # fmt: skip
planted(check_rows_without_a_value, name="the_last_row_is_not_forecast")(
    edit(forecast_fits.Request, "steps", "steps = n_later if", "steps = n_later - 1 if")
)


def check_any_order():
    model = Forecaster(**test_forecaster.QUICK).fit(test_forecaster.monthly()[:84])
    test_forecaster.assert_any_order(model, "log_density")


planted(check_any_order, name="densities_of_values_at_other_times")(
    edit(SeriesForecasts, "log_densities", "values[order]", "values")
)
