"""Each planted bug has another name, by which its test is chosen."""

from mutants.test_mutants import PLANTED


def test_names_of_planted_bugs_differ():
    names = [each.id for each in PLANTED]
    assert len(set(names)) == len(names)
