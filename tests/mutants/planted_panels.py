"""Bugs in what the series of a panel share, with the tests that notice them."""

from mutants.registry import plant_edits
from series import test_panel_priors

from bochner.series import panel_priors
from bochner.series.components import SharedSeason
from bochner.series.panel_priors import PanelLaw
from bochner.series.series_model import SeriesEvidence

plant_edits(
    panel_priors,
    "population",
    test_panel_priors.assert_population,
    spreads_have_the_noise_of_estimates=(" + posterior.sum(axis=0)", ""),
    series_without_information_count=("marginal = inverse - ", "marginal = 0.5 * inverse - "),
    the_prior_has_no_weight=("_PSEUDO * prior\n", "0.0 * prior\n"),
    users=(test_panel_priors,),
)
plant_edits(
    PanelLaw,
    "unit",
    test_panel_priors.assert_season,
    units_are_those_of_single_values=("float(known.mean())", "float(known[0] + 1.0)"),
    transformations_keep_relative_sizes=("float(np.exp(slope[0]))", "1.0"),
)
plant_edits(
    PanelLaw,
    "structure",
    test_panel_priors.assert_season,
    seasons_begin_with_the_series=("phase % 1.0", "0.0"),
    means_are_those_of_unit_deviations=("SHIFT_STD / _INTENSITY,", "1.0 / _INTENSITY,"),
)
plant_edits(
    SharedSeason,
    "weights",
    lambda: test_panel_priors.assert_regression(False),
    clocks_are_left_out=("times + clock", "times"),
    factors_are_rows=("(len(self.means), -1)).T", "(-1, len(self.means)))"),
)
plant_edits(
    SeriesEvidence,
    "last_states",
    lambda: test_panel_priors.assert_regression(False),
    means_are_left_out=("states[0] + self.model.mean", "states[0]"),
)
