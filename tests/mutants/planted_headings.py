"""Bugs in the search for the beginning and the end of tables, each with a file that shows it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from files import test_headings as laws
from files.test_text_encodings import test_letters_show_the_encoding
from files.test_text_files import TestEncodings
from mutants.registry import deferred, edit, planted

from bochner.files import delimited_text, extra_rows, headings, table_reading, text_files


def law(test, *arguments):
    """A law that writes files, with its arguments; a refusal is as wrong as another reading."""

    def check():
        with TemporaryDirectory() as folder:
            try:
                test(Path(folder), *arguments)
            except (ValueError, KeyError) as error:
                raise AssertionError from error

    return check


def decoration(name, table="sensor"):
    """The law of a decoration."""
    return law(laws.test_decorations_do_not_change_the_table, table, name)


noted = TestEncodings().test_encodings_are_noted
letters = deferred(test_letters_show_the_encoding)


def plant(name, owner, function, old, new, *checks, users=()):
    """Register a changed line, and the laws that must show it."""
    planted(*checks, name=name)(edit(owner, function, old, new, *users))


plant("lines_above_cost_much", headings.HeadCells, "n_above", "_COST_ABOVE *", "9.0 *",
      law(laws.test_a_column_beside_a_group_has_no_name_of_it))  # fmt: skip
plant("kinds_do_not_matter", headings.HeadCells, "n_above",
      "counts.sum(axis=2) - counts.max(axis=2)", "0 * counts.sum(axis=2)",
      law(laws.test_a_column_beside_a_group_has_no_name_of_it))  # fmt: skip
plant("units_are_rows", headings.HeadCells, "names_block",
      "self.texts[last].any() and", "False and",
      law(laws.test_dashes_below_the_names_are_left_out, "sensor", "--"))  # fmt: skip
plant("dashes_are_rows", headings.HeadCells, "names_block", "else _RULE)", "else _AMOUNT)",
      law(laws.test_dashes_below_the_names_are_left_out, "words", "--"))  # fmt: skip
plant("remarks_are_half_filled", extra_rows, "_is_remark", "== len(odd) > 1", "== len(odd) > 9",
      law(laws.test_words_in_columns_of_numbers_are_a_remark))  # fmt: skip
plant("groups_are_titles", headings.HeadCells, "_is_above", "not all(names[1:]) or",
      "False and", law(laws.test_several_lines_of_names_are_joined, *laws.GROUPS, []))  # fmt: skip
plant("tables_are_one", headings, "_end_of_table", "if len(tables) < 2 or", "if True or",
      law(laws.test_another_table_is_left_out_and_named))  # fmt: skip
plant("remarks_are_rows", extra_rows, "_is_remark", "len(odd) == len(filled) or", "False and",
      decoration("a remark of full width"))  # fmt: skip
plant("totals_are_rows", extra_rows, "_count_below", "_SUMMARY.fullmatch(cell) and", "False and",
      law(laws.test_totals_are_left_out))  # fmt: skip
plant("levels_are_totals", extra_rows, "_count_below", "cell not in column_of(above, j)", "True",
      law(laws.test_levels_are_no_totals))  # fmt: skip
plant("ends_of_rows_are_columns", delimited_text, "_fitted", "not any(any(row[len(names) :])",
      "False and not any(any(row[len(names) :])", decoration("ends of rows"))  # fmt: skip
plant("types_of_fields_do_not_matter", delimited_text, "_agreement", "0.25 * typed", "0.25",
      law(laws.test_pairs_within_a_column_are_no_delimiter))  # fmt: skip
plant("places_are_those_of_titles", delimited_text, "_tabbed", "or any(", "or False and any(",
      law(laws.test_columns_of_spaces, "panel", str.ljust, " ", laws.TITLE))  # fmt: skip
plant("bad_lines_stay", delimited_text._Body, "takes",
      'self.options.bad_lines == "drop" or', "False or",
      law(laws.test_rows_of_another_length, "9,8", "2 fields where"))  # fmt: skip
plant("gaps_stay", extra_rows, "fill_down", "column.ffill() if name in",
      "column if name in", law(laws.test_labels_of_blocks_are_filled_down),
      users=[table_reading])  # fmt: skip
plant("letters_do_not_matter", text_files, "_score", "1.0 - 0.5 * i / len(letters)", "1.0",
      letters("ירושלים תל אביב", "cp1255"))  # fmt: skip
plant("marks_are_needed", text_files, "_marked", "text and (",
      "text and False and (", law(noted, "utf-16-le", "utf-16-le"))  # fmt: skip
plant("descriptions_are_rows", headings.HeadCells, "_describes", "is_typed.sum() > 1", "False",
      law(laws.test_lines_of_statistical_offices, "an index below the names"))  # fmt: skip
plant("names_are_the_last_line", headings.HeadCells, "_worth", "return n_names, len(set(names)),",
      "return 0, 0,",
      law(laws.test_lines_of_statistical_offices, "an index below the names"))  # fmt: skip
plant("sums_of_blocks_are_rows", extra_rows, "_without_subtotals",
      "if not 1 < are_sums.sum()", "if True or not 1 < are_sums.sum()",
      law(laws.test_sums_of_blocks_are_left_out))  # fmt: skip
