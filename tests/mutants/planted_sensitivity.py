"""Bugs of shares of the variance and of effects, each with the test that must notice it."""

from functools import partial

from cli import test_numbers
from mutants.registry import plant_edits
from report import test_numbers as test_report_numbers
from tables import test_encodings, test_sensitivity

from bochner.cli import predicting
from bochner.report import column_sections
from bochner.tables import sensitivity
from bochner.tables.sensitivity import Dependence, Effect

plant_edits(Dependence, "_shares",
    partial(test_sensitivity.test_shares_are_those_of_closed_forms, "Ishigami"),
    signs_of_subsets_lost=("(-1) ** len(v) * values_of", "values_of"),
    )  # fmt: skip
plant_edits(sensitivity, "averages",
    test_sensitivity.test_effects_are_averages_with_quartiles_of_shifted_rows,
    rows_not_shifted=("(mean.mean(axis=0) - curves.mean(axis=0))", "0.0"))  # fmt: skip
plant_edits(test_encodings, "grid",
    partial(test_encodings.test_missing_numbers_are_the_last_entry_whatever_features_follow, 2),
    missing_numbers_in_the_last_of_all_features=("len(output_names(state)) - 1", "-1"))  # fmt: skip
plant_edits(Effect, "cells",
    test_sensitivity.test_results_are_tables_of_texts_in_terminals_and_notebooks,
    decimal_years_are_numbers=("self._shown_values(name)", "self.values[self.columns.index(name)]"),
    )  # fmt: skip
plant_edits(predicting, "rounded",
    test_numbers.test_predictions_have_the_digits_of_a_hundredth_of_the_error,
    users=(test_numbers,),
    large_errors_leave_too_many_digits=(".max(axis=0), 0, ", ".max(axis=0), 6, "),
)  # fmt: skip
plant_edits(column_sections, "_by_cycle",
    test_report_numbers.test_effects_of_times_are_averaged_by_weekday_and_hour,
    weeks_begin_on_Thursday=("+ _THURSDAY", "+ 0"),
    )  # fmt: skip
