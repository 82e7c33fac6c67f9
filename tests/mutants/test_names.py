"""Each planted bug has another name, and changes a line that is there."""

from mutants.registry import EDITS, source_of


def planted():
    """Return the planted bugs; their files take seconds to import, in one process of the tests."""
    from mutants.test_mutants import PLANTED

    return PLANTED


def test_names_of_planted_bugs_differ():
    names = [each.id for each in planted()]
    assert len(set(names)) == len(names)


def test_lines_of_planted_bugs_are_there_once():
    assert planted()
    assert len(EDITS) > 300
    assert not [old for function, old in EDITS if source_of(function).count(old) != 1]
