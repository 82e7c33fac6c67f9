"""Bugs in the rules about what tables hold, each with a file that must show it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from files.brought import Brought
from files.test_brought import case_named, check_layout
from mutants.registry import edit, planted
from tables import test_fingerprints
from tables.test_fingerprints import (
    test_rows_of_the_fit_are_found,
    test_rows_that_are_equal_by_chance_say_nothing,
)

from bochner.files import (
    delimited_text,
    extra_rows,
    headings,
    identifiers,
    number_rule,
    rule_reading,
    table_reading,
    written_amounts,
)
from bochner.files.errors import InputError
from bochner.tables import table_checks


def file_of(case: str | Brought, check=check_layout):
    """The laws of a file of the register, without their arguments."""
    entry = case_named(case) if isinstance(case, str) else case

    def run():
        with TemporaryDirectory() as folder:
            try:
                check(Path(folder), entry)
            except InputError as error:  # A refusal is as wrong as another reading
                raise AssertionError from error

    return run


def plant(name, owner, function, old, new, *cases, users=()):
    """Register a changed line, and the files that must show it."""
    planted(*map(file_of, cases), name=name)(edit(owner, function, old, new, *users))


plant("other_units_are_read", number_rule.NumberRule, "read", "if (unit or",
      "if False and (unit or", "a unit after a space")  # fmt: skip
plant("a_half_is_enough", rule_reading.ReadColumn, "is_enough", "1.0 - SHARE_READ", "1.0",
      "many words among numbers")  # fmt: skip
plant("codes_are_words", rule_reading.ReadColumn, "is_enough", "if any(any(map(str.isdigit, word))",
      "if False and any(any(map(str.isdigit, word))", "codes among numbers")  # fmt: skip
plant("words_are_few", rule_reading.ReadColumn, "is_enough", "are_few = are_words and",
      "are_few = False and", "a word among numbers")  # fmt: skip
plant("words_are_not_recorded", rule_reading, "_finish", "if kept else {}",
      "if False else {}", "a word among numbers")  # fmt: skip
plant("factors_are_units", written_amounts.WrittenNumbers, "amount", "if some else {}",
      "if False else {}", "two factors")  # fmt: skip
plant("flags_are_units", written_amounts._End, "scale",
      "self.unit\n", "self.front + self.rest\n", "flags")  # fmt: skip
plant("codes_lose_their_zeros", number_rule, "_decide_codes",
      'lengths["min"] == lengths["max"] <', "0 <",
      "zeros that tell codes apart")  # fmt: skip
plant("names_of_identifiers_are_few", identifiers, "_names_identifiers",
      "_IDENTIFIER_WORD.fullmatch(word)", "False", "a parcel")  # fmt: skip
plant("codes_of_one_column_are_certain", rule_reading, "missing_codes",
      "len(names) > 1 and any(", "any(", "a code in one column", users=[table_reading])  # fmt: skip
plant("small_negative_numbers_are_codes", rule_reading, "missing_codes",
      "any(names.values())", "True",
      "counts with a small negative number", users=[table_reading])  # fmt: skip
plant("text_has_missing_words", rule_reading, "_read", "some = ReadColumn(column,",
      "some = ReadColumn(bare,", "Namibia")  # fmt: skip
plant("words_of_the_user_are_ignored", rule_reading, "read_by_rules",
      ".without(options.missing)", "", "a date that is missing", users=[table_reading])  # fmt: skip
plant("first_lines_are_names", headings, "_is_data", "or not are_names", "or False",
      "a first line of data")  # fmt: skip
plant("wavelengths_are_data", headings, "_is_data",
      "_FEWEST_STEPS and bool(np.allclose(steps, steps[0], rtol=0.01))",
      "_FEWEST_STEPS and False",
      "wavelengths as names")  # fmt: skip
plant("other_delimiters_do_not_matter", delimited_text, "_agreement", "0.5 * divided", "0.0",
      "a column of decimal commas between tabs")  # fmt: skip
plant("names_within_are_rows", extra_rows, "_without_repeated_names", "if not named:",
      "if True:", "names within")  # fmt: skip
plant("blank_lines_are_skipped", delimited_text._Body, "columns", "ignore_empty_lines=width > 1",
      "ignore_empty_lines=True", "blank lines of one column")  # fmt: skip
plant("the_mark_of_the_fit_is_that_of_every_file", table_reading, "_by_rules",
      "if options.recorded and delimiter", "if False and delimiter",
      "decimal commas, then points")  # fmt: skip
plant("skipped_lines_are_looked_at", delimited_text, "read_texts", "(options.skip or 0) +", "0 +",
      "lines that are skipped", users=[table_reading])  # fmt: skip


planted(test_rows_that_are_equal_by_chance_say_nothing, name="equal_rows_are_rows_of_the_fit")(
    edit(table_checks, "training_rows", 'float(record["chance"]) + ', "", test_fingerprints)
)

planted(test_rows_of_the_fit_are_found, name="hashes_of_rows_change")(
    edit(
        table_checks, "_known", "keys.astype(np.uint32)", "(keys + np.uint64(1)).astype(np.uint32)"
    )
)
