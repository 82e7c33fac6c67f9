"""Bugs of intervals on random features, with the laws that must notice them."""

from functools import partial

from laws import feature_interval_laws as laws
from mutants.registry import plant_edits

from bochner.linear import ridge_head
from bochner.linear import ridge_posterior as checked
from bochner.linear.ridge_posterior import CheckedMap

COVERAGE = partial(laws.check_intervals, "matern52", seeds=1)

plant_edits(checked, "fit_checked", COVERAGE, users=(ridge_head,),
    the_features_predict_nothing_of_the_checks=("= -projection", "= 0.0"),
    the_prior_is_left_out=("prior_root[check] += np.eye(len(check))", "prior_root[main] = 0.0"),
)  # fmt: skip
plant_edits(CheckedMap, "of", COVERAGE,
    features_are_their_own_checks=("np.concatenate((other, total + other",
                                   "np.concatenate((main, total + main"))  # fmt: skip
plant_edits(checked, "_variances", COVERAGE,
    errors_of_features_are_noise=("(alpha * of_noise + of_prior)", "(alpha * degrees)"),
)  # fmt: skip
plant_edits(
    checked, "_variances", partial(laws.check_intervals, "matern32", alpha="evidence", seeds=1),
    all_of_the_residual_is_noise=("share = _mean_share(share, deviation)", "share = 0.0 * share"),
)  # fmt: skip
