"""Bugs in the search for outliers and shifts of the level, with the tests that notice them."""

from mutants.registry import edit, planted
from series import test_breaks, test_regular

from bochner.series import breaks
from bochner.series import series_model as model
from bochner.series.components import LevelShifts

for name, old, new in (
    ("later_values_tell_nothing", "- gains[t] @ slope", ""),
    ("curvature_is_not_carried_back_twice", "F @ curvature @ F.T", "F @ curvature"),
    ("a_value_is_as_certain_as_its_error", " + max(gains[t] @ image, 0.0)", ""),
):
    planted(test_breaks.assert_statistics, name=name)(edit(breaks, "standardised", old, new))
planted(lambda: test_breaks.assert_statistics("clock"), name="partners_do_not_go_back")(
    edit(breaks, "_transposed", "[:, partner].T", "[:, partner]")
)
planted(test_breaks.assert_found, name="outliers_stay_in_the_rows")(
    edit(breaks._Break, "applied", "values[self.place] = np.nan", "pass")
)
planted(lambda: test_regular.assert_evidence("shifts", "known"), name="shifts_are_inputs")(
    edit(model, "regular_series", "== SHIFTS, SHIFT, INPUT", "== SHIFTS, INPUT, INPUT")
)
planted(lambda: test_regular.assert_evidence("shifts", "known"), name="shifts_do_not_last")(
    edit(LevelShifts, "weights", "times[:, None] >= ", "times[:, None] == ")
)
