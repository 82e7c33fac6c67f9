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
from bochner.tables.estimator_laws import ResidualLaw
from bochner.tables.learner import Learner

GROUPS, WEIGHTS = test_estimator_laws.TRIPLES, test_estimator_laws.WEIGHTS

plant_edits(estimator_laws, "with_left_out", test_estimator_laws.check_left_out,
    users=(estimator_laws,),
    estimators_that_know_what_they_predict=("np.setdiff1d(order, removed), places",
                                            "order, places"),
    laws_without_the_last_fold=("laws[0], scored.units", "laws[-1], scored.units"))  # fmt: skip
plant_edits(estimator_laws, "_folds", partial(test_estimator_laws.check_left_out, GROUPS),
    estimators_that_know_some_of_a_group=("fold_numbers(groups,", "fold_numbers(None,"),
)  # fmt: skip
plant_edits(ResidualLaw, "variance", partial(test_estimator_laws.check_left_out, None, WEIGHTS),
    noise_without_the_weight_of_a_target=("self.alpha / as_array(weight)", "self.alpha"),
)  # fmt: skip
plant_edits(estimator_laws, "_log_odds",
    partial(test_estimator_laws.test_classes_are_those_of_logistic_regression, 2),
    odds_of_the_first_class=("logs[:, 1:] - logs[:, :1]", "logs[:, :1] - logs[:, 1:]"),
    votes_as_certain_as_rounding_allows=("_LEAST_PROBABILITY", "1e-15"))  # fmt: skip
plant_edits(estimator_laws, "_log_odds",
    partial(test_estimator_laws.test_classes_are_those_of_logistic_regression, 3),
    log_probabilities_without_a_centre=("logs - logs.mean(axis=1, keepdims=True)", "logs"),
)  # fmt: skip
plant_edits(Learner, "fit", test_estimator_laws.test_estimators_have_the_standardised_columns,
    base_models_on_all_encodings=("self._estimators(plan, base_models, encodings[0]",
                                  "self._estimators(plan, base_models, encodings[-1]"))  # fmt: skip
plant_edits(kernel_parameters, "refuse_mixed", test_foreign_kernels.check_mixed, users=(foreign,),
    kernels_in_place_of_numbers=('name.endswith("constant_value")', "False"))  # fmt: skip
plant_edits(models, "_unlike", test_app_good_runs.test_notes_on_rows_unlike_the_training_rows,
    users=(test_app_good_runs,),
    the_first_row_is_the_example=("int(mask[:, j].argmax())", "0"),
    rows_of_the_last_column=("mask.any(axis=1).sum()", "mask[:, -1].sum()"))  # fmt: skip
