"""Each planted bug has another name, and changes a line that is there."""

from mutants.registry import EDITS, source_of
from mutants.test_mutants import PLANTED


def test_names_of_planted_bugs_differ():
    names = [each.id for each in PLANTED]
    assert len(set(names)) == len(names)


def test_lines_of_planted_bugs_are_there_once():
    assert len(EDITS) > 400
    assert not [old for function, old in EDITS if source_of(function).count(old) != 1]
