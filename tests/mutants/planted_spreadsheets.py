"""Bugs in the reading of spreadsheets, each with a sheet that must show it."""

from files.test_spreadsheets import check_durations, check_formats, check_sheet, check_stored_text
from mutants.registry import deferred, plant_edits

from bochner.files import spreadsheets, table_reading

sheet = deferred(check_sheet)
formats = deferred(check_formats)
durations = deferred(check_durations)

plant_edits(spreadsheets, "_choose", sheet("a hidden first sheet", ".xlsx"),
    sheet("a hidden first sheet", ".ods"),
    hidden_sheets_come_first=('not str(each.visible).endswith(".Visible")', "0"))  # fmt: skip
plant_edits(spreadsheets, "_whole", formats(".xlsx"), formats(".ods"),
    whole_numbers_are_decimal=("cell.is_integer()", "False"))  # fmt: skip
plant_edits(spreadsheets, "typed", durations(".ods"),
    long_durations_are_text=("_DURATION.fullmatch(cell)", "False"))  # fmt: skip
plant_edits(table_reading, "_remark_on_stored_text", check_stored_text,
    numbers_next_to_words_are_text=("is_text & some.values.notna()", "some.values.notna()"),
)  # fmt: skip
