"""Bugs of weights of rows and of names of columns, each with the test that must notice it."""

from files import test_kinds_of_tables
from mutants.registry import plant_edits, replaces
from tables import test_table_weights

from bochner._base import frames
from bochner.files import model_file
from bochner.tables import table_rows
from bochner.tables.table_regressor import TableRegressor
from bochner.tables.table_rows import TableRows

plant_edits(table_rows, "table_rows",
    test_table_weights.test_a_row_is_one_observation_whatever_the_unit_of_its_weight,
    whole_weights_are_counts=("if are_counts:", "if (weights == np.rint(weights)).all():"),
)  # fmt: skip


@replaces(
    TableRows,
    "noise_unit",
    test_table_weights.test_a_row_is_one_observation_whatever_the_unit_of_its_weight,
    name="noise_of_weight_one",
)
@property
def unit_of_weights(self):
    return self.unit


plant_edits(TableRegressor, "_weighted",
    test_table_weights.test_new_rows_have_weights_in_the_unit_of_the_fit,
    new_weights_in_another_unit=("weight / self.weight_unit_", "weight"))  # fmt: skip


@replaces(frames, "of_arrow", test_kinds_of_tables.check_names)
def arrays_of_arrow(X):
    return X.to_pandas().astype(object).to_numpy() if hasattr(X, "column_names") else X


@replaces(model_file, "try_out", test_kinds_of_tables.check_refusal)
def nothing_is_tried_out(model, n_bytes):
    pass
