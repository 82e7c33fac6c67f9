"""Bugs planted in forecasts of series that add up, and the laws that must notice them."""

from mutants.registry import edit, plant_edits, planted
from series import test_reconciliation as laws
from series import test_summed_series as summed

from bochner import Forecaster
from bochner.series import forecaster, reconciliation, summed_series
from bochner.series.fitted_series import SeriesForecasts
from bochner.series.reconciliation import Reconciliation, ScoredLaw


def check_projection():
    for name in laws.HIERARCHIES:
        laws.test_the_projection_is_that_of_least_squares(name)


def check_conditioning():
    laws.test_independent_forecasts_are_conditioned_on_the_sums("three")


def check_that_it_adds_up():
    laws.test_points_and_draws_add_up("crossed")


plant_edits(
    Reconciliation,
    "projection",
    check_projection,
    check_conditioning,
    weights_are_standard_deviations=("(relative**2)[:, None]", "relative[:, None]"),
    gaps_are_halved=("@ inverse @ gaps", "@ inverse @ gaps / 2.0"),
)
plant_edits(
    Reconciliation,
    "_added_up",
    check_that_it_adds_up,
    forecasts_stay_as_they_are=("parts @ self.summing.T", "values"),
)
planted(laws.test_parts_with_a_floor_are_never_negative, name="sums_have_the_floor")(
    edit(Reconciliation, "_added_up", "np.where(self.has_floor, np.maximum(parts, 0.0), parts)",
         "parts")
)  # fmt: skip
planted(check_projection, name="errors_of_series_are_independent")(
    edit(Reconciliation, "forecast", " @ self.root.T", "")
)
planted(
    laws.test_paths_keep_the_law_of_each_time_and_their_memory,
    name="paths_of_series_are_independent",
)(edit(Reconciliation, "sample", "scores[:, t] @ self.root.T", "scores[:, t]"))
planted(
    laws.test_paths_keep_the_law_of_each_time_and_their_memory,
    name="paths_have_no_memory",
)(
    edit(
        Reconciliation,
        "sample",
        "scores[:, t] @",
        "scores[np.random.permutation(len(scores)), t] @",
    )
)


def check_scores():
    for transformation in ("none", "log"):
        laws.test_scores_are_normal_quantiles_of_the_law(transformation)


plant_edits(
    ScoredLaw,
    "of",
    check_scores,
    a_mixture_has_the_spread_of_its_parts=(
        "np.sqrt(weights @ (mixture.variances + (mixture.means - mean) ** 2))",
        "0.1 * np.sqrt(weights @ mixture.variances)",
    ),
    scores_are_those_of_the_mean=(
        "gaps = (values[:, None] - mixture.means) / std",
        "gaps = (values[:, None] - mean) / std",
    ),
)
plant_edits(
    reconciliation,
    "error_correlation",
    laws.test_correlations_of_errors_at_common_times,
    users=(laws,),
    unknown_errors_are_zero=(
        "squares = (filled**2).T @ is_known",
        "squares = (filled**2).T @ (is_known | True)",
    ),
    correlations_are_slopes=("np.sqrt(squares * squares.T)", "squares"),
)


def assert_refused(model, message, request):
    """A request of a model raises a ValueError."""
    said = ""
    try:
        request(model)
    except ValueError as error:
        said = str(error)
    assert message in said


def check_known_sums():
    model = Forecaster(sums={"t": ["u", "north"], "u": ["north", "south"]}, **summed.QUICK)
    assert_refused(model, "counts 'north' twice", lambda model: model.fit(summed.shops()))


planted(check_known_sums, name="parts_may_be_counted_twice")(
    edit(summed_series, "_resolve", "if twice:", "if False:")
)


def check_values():
    model = Forecaster(sums={"north": ["south"]}, **summed.QUICK)
    assert_refused(model, "is not the sum", lambda model: model.fit(summed.shops()))


def check_times():
    frame = summed.shops()[:48]
    model = Forecaster(sums=summed.SUMS, **summed.QUICK)
    model.fit({"north": frame["north"], "south": frame["south"][:40]})
    assert_refused(model, "are for different times", lambda model: model.predict(3))


planted(check_values, name="sums_may_have_other_values")(
    edit(summed_series, "check_values", "_ROUNDING * np.nanmax(", "1e9 * np.nanmax(", forecaster)
)  # fmt: skip
planted(summed.test_unknown_values_and_later_beginnings, name="unknown_parts_are_zero")(
    edit(summed_series, "_sum_of", "total = total.add(one)", "total = total.add(one, fill_value=0)")
)
planted(summed.test_counts_that_add_up_are_never_negative, name="no_part_has_a_floor")(
    edit(summed_series, "reconciliation", ">= 0.0 for leaf", "> 1e9 for leaf", forecaster)
)


def fitted():
    return Forecaster(sums=summed.SUMS, **summed.QUICK).fit(summed.shops()[:48])


planted(
    lambda: summed.test_forecasts_draws_and_imputed_values_add_up(fitted()),
    name="paths_are_those_of_each_series",
)(edit(SeriesForecasts, "sample", "drawn |= zip(sums.names, paths, strict=True)", "pass"))
planted(check_times, name="times_of_forecasts_may_differ")(
    edit(SeriesForecasts, "_scored", "times[0] != times[1]", "False")
)
