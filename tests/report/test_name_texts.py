"""Names and numbers as texts of a page."""

from bochner.report.html_blocks import cut, plain, quoted, short, typeset


def test_names_that_could_do_harm_are_shown():
    assert plain("a\x1b[31mb\u2067c\ud800") == r"a\x1b[31mb\u2067c\ud800"
    assert quoted("x" * 200).count("x") == 59
    assert len(cut("y" * 1000)) == 200
    assert quoted("שם") == "'\u2068שם\u2069'"
    assert short("naïve 数") == "naïve 数"


def test_signs_and_spaces_of_numbers():
    assert typeset("from -1.5 to 2.5e-8: 42 % and 3.1 ± 0.2 of 5") == (
        "from −1.5 to 2.5e−8: 42\u00a0% and 3.1\u00a0±\u00a00.2 of 5"
    )
    assert typeset("2021-01-04 of A-1, --seed 1") == "2021-01-04 of A-1, --seed 1"
