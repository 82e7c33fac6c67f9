"""Numbers as people write them, against the numbers that were written."""

import math

import numpy as np
import pandas as pd
import pytest
from files.written import column, kinds, read_text, refusal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FILES = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize(
    ("entries", "numbers"),
    [
        (["1,5", "2", "-3,25"], [1.5, 2, -3.25]),
        (["1,234.56", "7.5"], [1234.56, 7.5]),
        (["1'234.50", "9\u2019999.25"], [1234.5, 9999.25]),
        (["1,234,567", "5"], [1234567, 5]),
        (["1234,567", "1,234"], [1234.567, 1.234]),
        (["3,5", "3,500"], [3.5, 3.5]),
        (["3,5e-3", "1E5", ",25"], [3.5e-3, 1e5, 0.25]),
        (["2,170 sq ft", "970 sq ft"], [2170, 970]),
        (["$1,200 per month", "$950 per month"], [1200, 950]),
        (["  1,5", "2,5  ", "\u00a03,5"], [1.5, 2.5, 3.5]),
    ],
)
def test_one_column_is_evidence_enough(tmp_path, entries, numbers):
    frame = read_text(tmp_path, column(*entries)).frame
    assert frame["a"].dtype.kind in "if"
    assert frame["a"].tolist() == numbers


@pytest.mark.parametrize(
    ("other", "number", "words"),
    [
        ("0,5", 1.234, "decimals are assumed"),
        ("0.5", 1234, "thousands are assumed; decimal=',' (--decimal ,) overrules"),
        ("5", 1234, "thousands are assumed"),
    ],
)
def test_groups_of_three_digits_follow_the_other_columns(tmp_path, other, number, words):
    found = read_text(tmp_path, f"a;b\n1,234;{other}\n5,678;{other}\n")
    assert found.frame["a"][0] == number
    (note,) = (note for note in found.notes if "may separate" in note)
    assert note.startswith("'a' has commas that may separate thousands or decimals: ")
    assert words in note
    assert found.layout.decimal == ("," if other == "0,5" else ".")


def test_points_before_three_digits_are_thousands_next_to_decimal_commas(tmp_path):
    text = "a;b\n1.234;0,5\n5.678;2,5\n"
    assert read_text(tmp_path, text).frame["a"].tolist() == [1234, 5678]
    alone = read_text(tmp_path, column("1.234", "5.678"))
    assert alone.frame["a"].tolist() == [1.234, 5.678]
    assert "decimals are assumed; decimal=',' (--decimal ,) overrules" in alone.notes[0]
    asked = read_text(tmp_path, column("1.234", "5.678"), decimal=",")
    assert asked.frame["a"].tolist() == [1234, 5678]
    assert "may separate" not in " ".join(asked.notes)
    assert read_text(tmp_path, column("1.234", "5.678"), decimal=".").notes == ()
    # With commas between the fields, points are decimal marks as everywhere.
    assert read_text(tmp_path, column("1.234", "5.678", delimiter=",")).notes == ()


@pytest.mark.parametrize(
    "entries", [["5%", "5"], ["1 2", "3 4"], ["1,5", "1.5"], ["0,123,456", "1"]]
)
def test_other_text_stays_text(tmp_path, entries):
    assert read_text(tmp_path, column(*entries)).frame["a"].tolist() == entries


def test_truth_values_are_those_of_pandas(tmp_path):
    frame = read_text(tmp_path, column("True", "false", "TRUE")).frame
    assert frame["a"].tolist() == [True, False, True]
    with_gaps = read_text(tmp_path, column("True", "", "False")).frame["a"]
    assert with_gaps[0] is True
    assert with_gaps.isna().tolist() == [False, True, False]
    assert read_text(tmp_path, column("true", "maybe")).frame["a"].tolist() == ["true", "maybe"]


@pytest.mark.parametrize(
    "marker", ["?", "-", "n/a", "N.A.", "null", "None", "NA", "  ", "#DIV/0!", "nan", "--", "."]
)
def test_markers_among_numbers_are_missing(tmp_path, marker):
    found = read_text(tmp_path, column("1,5", marker, "2,5", marker))
    np.testing.assert_array_equal(found.frame["a"], [1.5, np.nan, 2.5, np.nan])
    is_unusual = marker in ("?", "-", "N.A.", "#DIV/0!", "--", ".")
    noted = f"'a' has entries {marker!r}, which count as missing (2 of 4)." in found.notes
    assert noted == is_unusual
    whole = read_text(tmp_path, column("1", marker, "2")).frame["a"]
    np.testing.assert_array_equal(whole, [1, np.nan, 2])


@pytest.mark.parametrize(
    ("entries", "is_text"),
    [
        ([str(2**53), "5"], False),
        ([str(2**53 + 1), "5"], True),
        (["12345678901234567890123", ""], True),
        (["1e20", "5"], False),
    ],
)
def test_whole_numbers_that_would_lose_digits_are_text(tmp_path, entries, is_text):
    found = read_text(tmp_path, column(*entries))
    if is_text:
        assert found.frame["a"].dropna().tolist() == [entry for entry in entries if entry]
        assert "'a' has whole numbers with more digits than" in found.notes[0]
        assert kinds(found)["a"] == "text"
        asked = read_text(tmp_path, column(*entries), types={"a": "number"})
        assert asked.frame["a"][0] == float(entries[0])
    else:
        assert found.frame["a"].tolist() == [float(entry) for entry in entries]
        assert found.notes == ()


def test_decimal_is_what_is_said(tmp_path):
    points = column("1.5", "2.25")
    found = read_text(tmp_path, points, decimal=",")
    assert found.frame["a"].tolist() == ["1.5", "2.25"]
    assert found.notes == (
        "'a' is text, because decimal=',' does not allow for its entries (1.5).",
    )
    assert read_text(tmp_path, column("1,234", "2,345"), decimal=",").frame["a"][0] == 1.234
    assert read_text(tmp_path, column("1,234", "2,345"), decimal=".").frame["a"][0] == 1234
    kinds = {"a": "decimal point"}
    assert read_text(tmp_path, points, decimal=",", types=kinds).frame["a"][0] == 1.5
    message = refusal(tmp_path, points, decimal=",", types={"a": "number"})
    assert (
        "'a' should hold numbers with decimal commas, but 2 of 2 entries are something else"
        in message
    )
    assert "row 1: '1.5'" in message


def test_a_few_words_among_numbers_are_missing_and_noted(tmp_path):
    text = column(*[f"{i},5" for i in range(30)], "n/k")
    found = read_text(tmp_path, text)
    assert found.notes[1] == (
        "'a' has entries 'n/k', which count as missing because the other entries are "
        "numbers (1 of 31; a type text, types=, --types, keeps them)."
    )
    assert found.frame["a"].isna().tolist() == [False] * 30 + [True]
    again = read_text(tmp_path, column("N/K", "2,5"), layout=found.layout)
    np.testing.assert_array_equal(again.frame["a"], [np.nan, 2.5])
    assert "1 of 2" in refusal(tmp_path, column("lost", "2,5"), layout=found.layout)
    kept = read_text(tmp_path, text, types={"a": "text"}).frame["a"]
    assert kept[30] == "n/k"
    typed = read_text(tmp_path, column(*[f"{i},5" for i in range(30)], "1,,5"))
    assert "has entries '1,,5', which count as missing" in typed.notes[1]
    coded = read_text(tmp_path, column(*map(str, range(300, 330)), "V57"))
    assert coded.notes == ("'a' is text, because 1 of 31 entries are no numbers (row 31: 'V57').",)
    few = read_text(tmp_path, column(*["1", "2", "3"] * 10, "X"))
    assert few.frame["a"][30] == "X"
    message = refusal(tmp_path, text, types={"a": "number"})
    assert (
        "'a' should hold numbers, but 1 of 31 entries are something else (row 31: 'n/k')" in message
    )
    codes = read_text(tmp_path, column("1", "2", "A", "3"))
    assert codes.notes == ("'a' is text, because 1 of 4 entries are no numbers (row 3: 'A').",)
    assert kinds(codes)["a"] == "text"


def grouped(number, decimal, thousands):
    """A number as Python writes it, in another convention."""
    sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
    whole, _, fraction = digits.partition(".")
    return sign + f"{int(whole):,}".replace(",", thousands) + (decimal + fraction) * bool(fraction)


CONVENTIONS = [
    (".", ""),
    (".", ","),
    (".", "'"),
    (",", ""),
    (",", "."),
    (",", " "),
    (",", "\u202f"),
]
NUMBERS = st.floats(-1e9, 1e9).map(lambda number: f"{number:.6f}".rstrip("0").rstrip("."))


@pytest.mark.thorough
@FILES
@given(
    numbers=st.lists(st.one_of(NUMBERS, st.integers(-(10**9), 10**9).map(str)), min_size=1),
    convention=st.sampled_from(CONVENTIONS),
    delimiter=st.sampled_from([";", "\t", "|", ","]),
)
def test_any_convention_gives_the_numbers_back(tmp_path, numbers, convention, delimiter):
    decimal, thousands = convention
    entries = [f'"{grouped(number, decimal, thousands)}"' for number in [*numbers, "0.25"]]
    frame = read_text(tmp_path, column(*entries, delimiter=delimiter), keep=["a", "b"]).frame
    assert frame["a"].tolist() == [float(number) for number in [*numbers, "0.25"]]


@pytest.mark.thorough
@FILES
@given(
    values=st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=2, max_size=30),
    decimal=st.sampled_from([".", ","]),
)
def test_what_pandas_writes_is_read_bit_for_bit(tmp_path, values, decimal):
    frame = pd.DataFrame({"a": values, "b": "x"})
    frame.to_csv(tmp_path / "p.csv", sep=";", decimal=decimal, index=False)
    text = (tmp_path / "p.csv").read_text()
    found = read_text(tmp_path, text, decimal=decimal, keep=["a"]).frame["a"]
    assert [math.isnan(x) or x == y for x, y in zip(values, found, strict=True)] == [True] * len(
        values
    )
    np.testing.assert_array_equal(found.to_numpy(dtype=float), values)
