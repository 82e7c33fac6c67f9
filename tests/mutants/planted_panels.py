"""Bugs in what the series of a panel share, with the tests that notice them."""

from mutants.registry import plant_edits
from series import test_panel_priors

from bochner.series import panel_priors
from bochner.series.components import SharedSeason
from bochner.series.panel_priors import PanelLaw

plant_edits(
    panel_priors,
    "population",
    test_panel_priors.test_exact_coefficients_have_their_own_mean_and_covariance,
    spreads_have_the_noise_of_estimates=(" + posterior.sum(axis=0)", ""),
    users=(test_panel_priors,),
)
plant_edits(
    PanelLaw,
    "unit",
    test_panel_priors.test_a_shared_season_is_in_calendar_time_and_in_units_of_the_series,
    units_are_those_of_single_values=("float(known.mean())", "float(known[0] + 1.0)"),
)
plant_edits(
    SharedSeason,
    "weights",
    lambda: test_panel_priors.assert_regression(False),
    clocks_are_left_out=("times + clock", "times"),
)
