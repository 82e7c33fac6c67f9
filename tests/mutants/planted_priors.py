"""Bugs in priors that were learned from other series, with the tests that notice them."""

from mutants.registry import edit, plant_edits, planted
from series import test_priors

from bochner.series import fitted_series
from bochner.series.priors import PriorTable, SeriesPriors

plant_edits(PriorTable, "prior", test_priors.test_priors_are_those_of_the_definition,
    the_common_term_is_left_out=("+ np.outer(loadings, loadings)", ""),
    )  # fmt: skip
plant_edits(SeriesPriors, "log_weight",
    test_priors.test_weights_are_powers_of_the_evidence_with_odds,
    evidence_is_believed=("self.power * log_evidence", "log_evidence"),
    )  # fmt: skip
planted(test_priors.test_lengths_are_logarithms_of_thirtieths, name="ranges_are_inverted")(
    edit(SeriesPriors, "table", "-np.log(", "np.log(")
)
plant_edits(fitted_series, "_priors", test_priors.test_series_without_dates,
    periods_of_the_user_are_ignored=("max(lengths, default=0.0) / step", "0.0"),
    )  # fmt: skip
