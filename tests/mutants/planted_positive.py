"""Bugs of positive features, each with the test that must notice it."""

from features import test_positive_features_features as features
from mutants.registry import plant_edits
from spectral import test_positive_measure as laws

from bochner.features import positive_features as positive
from bochner.spectral import positive_measure as measures
from bochner.spectral.positive_measure import PositiveFrequencies, PositiveMeasure

plant_edits(PositiveMeasure, "sample", laws.CHECKS[0],
    ratio_upside_down=("squared_norms(normal) - squared_norms(omega)",
                       "squared_norms(omega) - squared_norms(normal)"),
    )  # fmt: skip
plant_edits(measures, "best_precision", laws.test_precisions_are_the_best, users=(laws,),
    moment_counted_half=("3.0 + 2.0 *", "3.0 + 1.0 *"))  # fmt: skip
plant_edits(PositiveFrequencies, "_logs", features.test_the_gram_matrix_is_that_of_the_formula,
    centre_of_the_other_side=("mapped @ other_shift", "mapped @ shift"),
    )  # fmt: skip
plant_edits(PositiveFrequencies, "attention", features.test_averages_are_those_of_the_gram_matrix,
    mass_of_features_lost=("shares = left + mass", "shares = left"))  # fmt: skip
plant_edits(positive, "fitted_weights",
    features.test_fitted_weights_solve_the_least_squares_problem, users=(features,),
    rows_not_normalised=("candidates.log_features(X) - sums", "candidates.log_features(X) + 0.0"),
    )  # fmt: skip
