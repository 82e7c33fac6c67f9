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
plant_edits(spreadsheets, "_first_tables", sheet("a cover", ".xls"),
    covers_are_tables=("names_row(cells[table]) is not None", "True"))  # fmt: skip
plant_edits(spreadsheets, "_with_merged", sheet("merged rows", ".ods"),
    sheet("merged rows", ".xls"),
    merged_ranges_stay_empty=("values[rows, columns] = cells[top, left]", "pass"))  # fmt: skip
plant_edits(
    spreadsheets, "_with_merged", sheet("a merged title", ".xlsx"), sheet("a merged title", ".ods"),
    merged_titles_are_names=("filled[rows].sum() > filled[rows, columns].sum() > 0", "True"),
)  # fmt: skip
plant_edits(spreadsheets, "_choose", sheet("a small table first", ".xlsx"),
    the_first_table_is_read=("(cells[by_cell[each]] != \"\").sum()", "0"))  # fmt: skip
plant_edits(spreadsheets, "_whole", formats(".xlsx"), formats(".ods"),
    whole_numbers_are_decimal=("cell.is_integer()", "False"))  # fmt: skip
plant_edits(spreadsheets, "_typed", durations(".ods"),
    long_durations_are_text=("_DURATION.fullmatch(cell)", "False"))  # fmt: skip
plant_edits(spreadsheets, "_merged_ranges", sheet("merged rows and columns", ".ods"),
    spans_are_lost=("if height * width > 1:", "if height * width > 9:"))  # fmt: skip
plant_edits(spreadsheets, "_columns_of_tables", sheet("two tables next to each other", ".xls"),
    empty_columns_lie_within_tables=("starts.append(start)", "pass"))  # fmt: skip
plant_edits(spreadsheets, "_rows_of_tables", sheet("a title above the second table", ".xlsx"),
    titles_belong_to_the_table_above=("starts.append(first)", "starts.append(stop)"))  # fmt: skip
plant_edits(spreadsheets, "_rows_of_tables", sheet("equal names below a title", ".ods"),
    equal_names_continue_a_table=(" or place > 0", ""))  # fmt: skip
plant_edits(spreadsheets, "names_row", sheet("an empty row within", ".xlsx"),
    every_row_is_names=("HeadCells(rows).last_names()", "0"))  # fmt: skip
plant_edits(spreadsheets, "names_row", sheet("years as names", ".xls"),
    sheet("years as names", ".ods"),
    years_are_no_names=("are_numbers and", "False and"))  # fmt: skip
plant_edits(spreadsheets, "_continues", sheet("a short list next to the table", ".xlsx"),
    short_lists_are_columns=("2 * shorter >= longer", "True"))  # fmt: skip
plant_edits(spreadsheets, "_continues", sheet("an empty column within", ".ods"),
    numbers_are_tables=("return not is_apart and", "return False and"))  # fmt: skip
plant_edits(table_reading, "_remark_on_stored_text", check_stored_text,
    numbers_next_to_words_are_text=("is_text & some.values.notna()", "some.values.notna()"),
)  # fmt: skip
