"""Bugs of intervals on random features, with the laws that must notice them."""

from functools import partial

from laws import feature_interval_laws as laws
from mutants.registry import plant_edits

from bochner.linear import ridge_head
from bochner.linear import ridge_posterior as checked

COVERAGE = partial(laws.check_intervals, "matern52", seeds=1)

plant_edits(checked, "fit_checked", COVERAGE, users=(ridge_head,),
    the_features_predict_nothing_of_the_checks=("= -projection", "= 0.0"),
)  # fmt: skip
