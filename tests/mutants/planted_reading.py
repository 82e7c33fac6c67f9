"""Bugs in the reading of files, each with the test that must notice it."""

from pathlib import Path
from tempfile import TemporaryDirectory

from files.test_identifiers import N, TestWholeNumbers
from mutants.registry import edit, planted

from bochner.files import identifiers


def in_folder(test, *arguments):
    """A test that writes files, without its arguments."""

    def check():
        with TemporaryDirectory() as folder:
            test(Path(folder), *arguments)

    return check


DIFFERENT = [(7 * i) % 101 for i in range(N)]

planted(
    in_folder(TestWholeNumbers().test_others_stay, "size", DIFFERENT),
    name="measurements_that_differ_are_identifiers",
)(edit(identifiers, "_reason_of_numbers", "if _names_identifiers(words)", "if True"))
