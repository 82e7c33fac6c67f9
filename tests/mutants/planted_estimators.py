"""Bugs of base models, kernels and words of a user, each with the test that must notice it."""

from functools import partial

from cli import test_app_good_runs
from kernels import test_adapter_kernels as test_foreign_kernels
from mutants.registry import plant_edits
from tables import test_estimator_laws

from bochner.cli import model_files as models
from bochner.kernels import adapter as foreign
from bochner.kernels import kernel_parameters
from bochner.tables import estimator_laws
from bochner.tables.learner import Learner

GROUPS, WEIGHTS = test_estimator_laws.TRIPLES, test_estimator_laws.WEIGHTS

plant_edits(estimator_laws, "with_left_out", test_estimator_laws.check_left_out,
    users=(estimator_laws,),
    estimators_that_know_what_they_predict=("np.setdiff1d(order, removed), places",
                                            "order, places"),
    )  # fmt: skip
plant_edits(estimator_laws, "_log_odds",
    partial(test_estimator_laws.test_classes_are_those_of_logistic_regression, 2),
    odds_of_the_first_class=("logs[:, 1:] - logs[:, :1]", "logs[:, :1] - logs[:, 1:]"),
    )  # fmt: skip
plant_edits(Learner, "fit", test_estimator_laws.test_estimators_have_the_standardised_columns,
    base_models_on_all_encodings=("self._estimators(plan, base_models, encodings[0]",
                                  "self._estimators(plan, base_models, encodings[-1]"))  # fmt: skip
plant_edits(kernel_parameters, "refuse_mixed", test_foreign_kernels.check_mixed, users=(foreign,),
    kernels_in_place_of_numbers=('name.endswith("constant_value")', "False"))  # fmt: skip
plant_edits(models, "_unlike", test_app_good_runs.test_notes_on_rows_unlike_the_training_rows,
    users=(test_app_good_runs,),
    the_first_row_is_the_example=("int(mask[:, j].argmax())", "0"),
    )  # fmt: skip
