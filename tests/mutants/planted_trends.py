"""Bugs in random walks with drift and in floors, with the tests that notice them."""

from mutants.registry import plant_edits
from series import test_trends

from bochner.series.component_search import Searcher
from bochner.series.priors import SeriesPriors
from bochner.series.trends import WalkWithDrift

plant_edits(WalkWithDrift, "onward",
    test_trends.test_forecasts_are_those_of_exponential_smoothing_with_a_share_of_the_drift,
    all_of_the_drift_goes_on=("kept[1] = self.share", "pass"),
    )  # fmt: skip
plant_edits(Searcher, "with_drift",
    test_trends.test_the_drift_has_its_weight_beside_the_weights_of_evidence,
    evidence_keeps_all_of_the_weight=("np.log1p(-share)", "0.0"),
    )  # fmt: skip
plant_edits(SeriesPriors, "weight_of_drift",
    test_trends.test_the_weight_falls_beyond_the_lengths_that_it_was_learned_from,
    short_series_have_a_greater_weight=("max(1.0, longer)", "longer"),
    )  # fmt: skip
