"""Bugs in what is told of rare classes, edges and limits of time, with tests that notice them."""

import sys
from functools import partial

import pytest
from comparison import test_contenders
from mutants.registry import plant_edits
from plot import test_predictions
from report import test_numbers

from bochner.comparison import contenders
from bochner.comparison.outcomes import RareClass
from bochner.plot import drawn_inputs as axis_ranges
from bochner.plot import regression_errors
from bochner.report import error_checks


def rare_class():
    with pytest.MonkeyPatch.context() as patch:
        test_numbers.test_a_rare_class(test_numbers.kept_pictures(patch))


def stopped_methods():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "catboost", None)
        test_contenders.test_methods_without_time_are_named(patch)


plant_edits(RareClass, "hits", rare_class,
    the_safest_rows_are_the_riskiest=("argsort(-self.stated", "argsort(self.stated"))  # fmt: skip
plant_edits(contenders, "within_time", stopped_methods,
    nothing_is_stopped=("ITIMER_REAL, seconds, _AGAIN", "ITIMER_REAL, 0.0"))  # fmt: skip
plant_edits(error_checks, "below_zero",
    partial(test_numbers.test_a_positive_target_predicted_below_zero, 0.0),
    zeros_have_a_logarithm=('"log" if', '"sqrt" if'))  # fmt: skip
plant_edits(axis_ranges, "central_limits", test_predictions.test_two_outliers_set_no_axis,
    users=(regression_errors,),
    outliers_stretch_the_axis=("np.ptp(numbers) <=", "0.0 <="))  # fmt: skip
