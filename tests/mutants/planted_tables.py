"""Bugs in the encoding of tables, each with the test that must notice it."""

from mutants.registry import edit, planted
from tables.test_encoder import TestDates, TestManyLevels, TestText, in_tokyo

from bochner.files import columns
from bochner.tables import cycles, encodings, level_means
from bochner.tables import encodings as known_entries

DATES, TEXT, LEVELS = TestDates(), TestText(), TestManyLevels()


def in_text(days):
    return [in_tokyo(day).isoformat() for day in days]


planted(lambda: DATES.test_decimal_years_in_utc(in_text), name="zones_are_forgotten")(
    edit(columns, "entry_in_utc", ".astimezone(UTC)", "", columns)
)

planted(
    lambda: DATES.test_cycles_that_vary_and_repeat("2020-01-01", 24, "h", set()),
    name="the_hours_of_one_day_are_a_cycle",
)(edit(cycles, "varying_cycles", "span > cycle.length and ", "", encodings))

planted(
    LEVELS.test_means_of_rare_levels_are_shrunk_and_out_of_fold, name="a_row_is_in_its_own_mean"
)(edit(level_means, "level_scores", "-= in_fold[folds[rows]]", "-= 0.0", encodings))

planted(LEVELS.test_means_of_a_level_leave_groups_out, name="groups_in_their_own_means")(
    edit(
        level_means,
        "_folds",
        "np.stack((codes, labels))",
        "np.stack((codes, np.arange(len(codes))))",
    )
)

planted(LEVELS.test_means_of_a_level_know_no_later_target, name="means_that_know_later_targets")(
    edit(
        level_means,
        "level_scores",
        "stretch < max(number, 1)",
        "stretch <= max(number, 1)",
        encodings,
    )
)

planted(TEXT.test_levels_of_a_later_table_that_are_new, name="missing_text_is_a_new_level")(
    edit(known_entries, "_levels", "column.present & (level_codes(", "(level_codes(")
)

planted(LEVELS.test_rare_levels_are_not_new, name="rare_levels_are_new")(
    edit(known_entries, "_levels", """*state.get("means", {})""", "")
)
