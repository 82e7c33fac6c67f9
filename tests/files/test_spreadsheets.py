"""Spreadsheets give the same table in every format, and the table that their sheets hold."""

import csv
import datetime as dt
import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from files.books import ENDINGS, write_book
from files.written import write

from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions
from bochner.files.table_reading import read

N = 8
NAMES = ["region", "store", "sales", "weight"]
ROWS = [[("N", "S")[i // 4], f"s{i % 3}", 7 * i % 5, i + 0.5] for i in range(N)]
OTHER_NAMES, OTHER = ["month", "cost"], [[f"m{i}", 10.0 * i + 0.5] for i in range(4)]
GAP = [None]


def refusal(path, **options):
    with pytest.raises(InputError) as caught:
        read(path, ReadOptions(**options))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def beside(left, right):
    """Rows of two tables with an empty column between them."""
    height, width = max(len(left), len(right)), len(left[0])
    left, right = (list(side) + [[]] * (height - len(side)) for side in (left, right))
    return [
        [*(a or [None] * width), None, *(b or [None])] for a, b in zip(left, right, strict=True)
    ]


def padded(rows, n_rows=2, n_columns=1):
    """Rows with empty rows above them and empty columns left of them."""
    return [*([GAP] * n_rows), *([*[None] * n_columns, *row] for row in rows)]


TABLE = [NAMES, *ROWS]
SECOND = [OTHER_NAMES, *OTHER]
EMPTY_CELLS = [[None if i % 4 else region, *rest] for i, (region, *rest) in enumerate(ROWS)]
COVER = [["Sales of stores"], GAP, ["Published by the office of stores"], ["in March"]]

YEARS = ["store", 2019, 2020, 2021]
BY_YEAR = [[f"s{i}", i + 7, 7 * i % 5, i + 0.5] for i in range(N)]
WIDE = [[*NAMES, "length", "width"], *([*row, i + 1, i + 0.25] for i, row in enumerate(ROWS))]

SHEETS = {
    "one table": ({"a": TABLE}, {}, ROWS, ""),
    "empty rows and columns around it": ({"a": padded(TABLE)}, {}, ROWS, ""),
    "an empty row within": ({"a": [NAMES, *ROWS[:3], GAP, *ROWS[3:]]}, {}, ROWS, ""),
    "an empty first sheet": ({"e": [], "a": TABLE}, {}, ROWS, "Sheet 'a' of 2 sheets is read"),
    "a hidden first sheet": (
        {"h": SECOND, "a": TABLE}, {"hidden": ["h"]}, ROWS, "Sheet 'a' of 2 sheets is read"
    ),
    "a cover": ({"cover": COVER, "a": TABLE}, {}, ROWS, "Sheet 'a' of 2 sheets is read"),
    "merged rows": (
        {"a": [NAMES, *EMPTY_CELLS]}, {"merged": ["A2:A5", "A6:A9"]}, ROWS,
        "Each row of a merged range has the value of the range (A2:A5 is the first).",
    ),
    "merged rows and columns": (
        {"a": [NAMES, ["x", None, 1, 2.5], [None, None, 2, 3.5]]}, {"merged": ["A2:B3"]},
        [["x", "x", 1, 2.5], ["x", "x", 2, 3.5]], "(A2:B3 is the first)",
    ),
    "a merged title": (
        {"a": [["Sales of all stores", None, None, None], GAP, *TABLE]}, {"merged": ["A1:D1"]},
        ROWS, "The first line is a title and left out (Sales of all stores);",
    ),
    "two tables next to each other": (
        {"a": beside(TABLE, SECOND)}, {}, ROWS,
        "Sheet 'a' has 2 tables, of which the largest is read; table= (--table) chooses one by its "
        "first cell ('a!A1', 'a!F1').",
    ),
    "a small table first": ({"a": beside(SECOND, TABLE)}, {}, ROWS, "('a!A1', 'a!D1')"),
    "two tables below each other": ({"a": [*TABLE, GAP, *SECOND]}, {}, ROWS, "('a!A1', 'a!A11')"),
    "a title above the second table": (
        {"a": [*TABLE, GAP, ["Costs"], GAP, *SECOND]}, {}, ROWS, "('a!A1', 'a!A11')"
    ),
    "equal names below a title": (
        {"a": [*TABLE, GAP, ["Others"], *TABLE[:5]]}, {}, ROWS, "('a!A1', 'a!A11')"
    ),
    "names within": ({"a": [NAMES, *ROWS[:4], NAMES, *ROWS[4:]]}, {}, ROWS, "row repeats"),
    "years as names": (
        {"a": [["Sales"], YEARS, *BY_YEAR, GAP, ["Costs"], YEARS, *BY_YEAR[:5]]}, {}, BY_YEAR,
        "('a!A1', 'a!A12')",
    ),
    "a short list next to the table": (
        {"a": beside(TABLE, [["Mean", 2.5], ["Sum", None], ["Most", 4]])}, {}, ROWS,
        "('a!A1', 'a!F1')",
    ),
    "an empty column within": (
        {"a": [[*row[:4], None, *row[4:]] for row in WIDE]}, {}, WIDE[1:],
        "'Unnamed: 4' has no name and no entries and is left out",
    ),
}  # fmt: skip
"""Sheets, how they are written, the rows of their table, and words of the note."""


def check_sheet(name, ending):
    """The rows of the table are read, with the note, in every format."""
    sheets, written, rows, words = SHEETS[name]
    with TemporaryDirectory() as folder:
        path = write_book(Path(folder, f"t{ending}"), sheets, **written)
        try:
            found = read(path)
        except ValueError as error:  # A refusal is as wrong as another reading
            raise AssertionError from error
        again = read(path, found.layout)
    names = list(map(str, YEARS if rows is BY_YEAR else WIDE[0][: len(rows[0])]))
    assert list(found.frame.columns) == names
    assert found.frame.to_numpy(dtype=object).tolist() == rows
    assert found.frame.dtypes.map(lambda dtype: dtype.kind).tolist()[2:4] == ["i", "f"]
    assert (words in " ".join(found.notes)) if words else found.notes == ()
    pd.testing.assert_frame_equal(found.frame, again.frame)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", SHEETS)
def test_the_table_of_a_sheet_is_read(name, ending):
    check_sheet(name, ending)


TYPES = {
    "whole": [1, 2, 3],
    "number": [1.5, None, -2.25],
    "text": ["red", "blue", None],
    "truth": [True, False, True],
    "day": [dt.date(2020, 2, 29), dt.date(1999, 12, 31), None],
    "moment": [dt.datetime(2020, 2, 29, 12, 30), dt.datetime(2021, 1, 1, 23, 59, 59), None],
    "digits": ["12", "13", "14"],
    "mixed": ["a", 1, "b"],
}


def check_formats(ending):
    """A table has the same columns as the CSV of its cells."""
    rows = [list(TYPES), *map(list, zip(*TYPES.values(), strict=True))]
    with TemporaryDirectory() as folder:
        with Path(folder, "t.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        expected = read(Path(folder, "t.csv"))
        found = read(write_book(Path(folder, f"t{ending}"), {"a": rows}))
    pd.testing.assert_frame_equal(found.frame, expected.frame, check_dtype=False)
    kinds = [[dtype.kind for dtype in each.frame.dtypes] for each in (found, expected)]
    assert kinds[0] == kinds[1]
    assert found.notes == (
        "'digits' has numbers that are stored as text: read as numbers; a type text (types=) keeps "
        "them (12).",
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_types_are_those_of_a_text_file(ending):
    check_formats(ending)


def test_rows_above_a_total_have_the_type_that_they_have_without_it(tmp_path):
    days = [dt.date(2021, 1, 1) + dt.timedelta(7 * i) for i in range(30)]
    rows = [["day", "value"], *([day, 1.5 * i] for i, day in enumerate(days))]
    plain = read(write_book(tmp_path / "plain.xlsx", {"a": rows})).frame
    below = [*rows, ["Total", 652.5]]
    pd.testing.assert_frame_equal(read(write_book(tmp_path / "t.xlsx", {"a": below})).frame, plain)
    assert plain["day"].dtype.kind == "M"


def check_durations(ending):
    """Durations keep their days, also next to durations that look like times of day."""
    hours = [30, 12.75, None, 48]
    durations = [None if h is None else dt.timedelta(hours=h) for h in hours]
    times = [dt.time(12, 44), dt.time(0, 0), None, dt.time(3, 5)]
    rows = [["x", "t", "d"], *([1.5, *row] for row in zip(times, durations, strict=True))]
    with TemporaryDirectory() as folder:
        frame = read(write_book(Path(folder, f"t{ending}"), {"a": rows})).frame
    assert frame["d"].dtype.kind == "m"
    np.testing.assert_array_equal(frame["d"].dt.total_seconds() / 3600, [30, 12.75, np.nan, 48])
    assert [None if pd.isna(t) else t for t in frame["t"]] == times


@pytest.mark.parametrize("ending", ENDINGS)
def test_durations_and_times_of_day(ending):
    check_durations(ending)


@pytest.mark.parametrize("ending", [".xlsx", ".ods"])
def test_errors_are_missing_with_a_note(tmp_path, ending):
    rows = [["a", "b"], [1, 2.5], ["#DIV/0!", 3.5], [3, "#N/A"], [4, 1.5]]
    found = read(write_book(tmp_path / f"t{ending}", {"x": rows}))
    np.testing.assert_array_equal(found.frame["a"], [1, np.nan, 3, 4])
    assert any("'a' has entries '#DIV/0!', which count as missing (1 of" in n for n in found.notes)


def check_stored_text(ending=".xlsx"):
    """Only numbers in cells of text are noted, not the word next to numbers."""
    rows = [["a", "b", "c"], *([i + 0.5, str(i + 0.5), i] for i in range(20)), ["n/k", None, "7"]]
    with TemporaryDirectory() as folder:
        found = read(write_book(Path(folder, f"t{ending}"), {"x": rows}))
    notes = [note for note in found.notes if "stored as text" in note]
    assert len(notes) == 1
    assert notes[0].startswith("'b' and 'c' have numbers that are stored as text")
    assert notes[0].endswith("('b': 0.5).")
    np.testing.assert_array_equal(found.frame["c"], [*range(20), 7])


@pytest.mark.parametrize("ending", ENDINGS)
def test_numbers_in_cells_of_text_are_noted(ending):
    check_stored_text(ending)


class TestChoice:
    @pytest.fixture
    def path(self, tmp_path):
        sheets = {"first": TABLE, "2020": SECOND, "both": padded(beside(TABLE, SECOND))}
        return write_book(tmp_path / "t.xlsx", sheets)

    def test_by_name_number_and_first_cell(self, path):
        for table, names in {
            "2020": OTHER_NAMES, "1": NAMES, "both": NAMES, "3": NAMES, "both!G3": OTHER_NAMES,
            "3!g3": OTHER_NAMES, "both!B3": NAMES,
        }.items():  # fmt: skip
            found = read(path, ReadOptions(table=table))
            assert list(found.frame.columns) == names
            assert len(found.notes) == (table in ("both", "3"))
            assert found.layout.table == table
            assert list(read(path, found.layout).frame.columns) == names

    def test_what_a_book_lacks(self, path):
        assert "has no sheet 'frst'. Did you mean 'first'? It has 'first', '2020', 'both'." in (
            refusal(path, table="frst")
        )
        assert "has no sheet '4'" in refusal(path, table="4")
        assert "has no table 'both!A1'. Did you mean 'both!G3'? It has 'both!B3', 'both!G3'." in (
            refusal(path, table="both!A1")
        )

    def test_skipped_lines_make_one_table(self, path):
        found = read(path, ReadOptions(table="both", skip=0))
        assert found.frame.shape[1] == len(NAMES) + len(OTHER_NAMES)

    def test_a_recorded_sheet_is_a_preference(self, path, tmp_path):
        layout = read(path, ReadOptions(table="both!B3")).layout
        later = write_book(tmp_path / "later.ods", {"new": TABLE})
        assert list(read(later, layout).frame.columns) == NAMES


class TestDamage:
    def test_of_formulas(self, tmp_path):
        """As programs write them that do not compute; a stored result is read, an empty one too."""
        rows = [["a", "twice", "note"], [1, "=A2*2", "x"], [2, "=A3*2", None]]
        path = write_book(tmp_path / "t.xlsx", {"x": rows})
        assert "formulas without results in 'twice', which would be" in refusal(path)
        with zipfile.ZipFile(path) as old:
            parts = {name: old.read(name) for name in old.namelist()}
        sheet = "xl/worksheets/sheet1.xml"
        for empty in (b"<v />", b"<v></v>", b"<v/>"):
            parts[sheet] = parts[sheet].replace(b"<f>A2*2</f>" + empty, b"<f>A2*2</f><v>2</v>")
        with zipfile.ZipFile(tmp_path / "computed.xlsx", "w") as new:
            for name, content in parts.items():
                new.writestr(name, content)
        frame = read(tmp_path / "computed.xlsx").frame
        np.testing.assert_array_equal(frame["twice"], [2, np.nan])

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"a\tb\n1\t2\n", "(it is text: open it in a spreadsheet program, or rename it"),
            (b"<HTML><table></table>", "(it is a web page: open it"),
            (b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), "by a password: save"),
            (b"PK\x03\x04\0\0", "cannot be read as a spreadsheet"),
        ],
    )
    def test_other_contents(self, tmp_path, content, words):
        for ending in (*ENDINGS, ".xlsm", ".xlsb"):
            assert words in refusal(write(tmp_path, f"t{ending}", content))

    @pytest.mark.parametrize(
        ("ending", "part"), [(".xlsx", "xl/worksheets/sheet1.xml"), (".ods", "content.xml")]
    )
    def test_cut_parts_of_archives(self, tmp_path, ending, part):
        path = write_book(tmp_path / f"t{ending}", {"a": TABLE})
        with zipfile.ZipFile(path) as old:
            parts = {name: old.read(name) for name in old.namelist()}
        for length in range(0, len(parts[part]) - 40, 97):
            with zipfile.ZipFile(path, "w") as new:
                for name, content in parts.items():
                    new.writestr(name, content[:length] if name == part else content)
            with suppress(InputError):
                read(path)

    def test_the_ending_of_another_format(self, tmp_path):
        path = write_book(tmp_path / "t.ods", {"a": TABLE})
        assert len(read(path.rename(tmp_path / "t.xls")).frame) == N

    @pytest.mark.parametrize("ending", ENDINGS)
    def test_cut_files(self, tmp_path, ending):
        whole = write_book(tmp_path / f"t{ending}", {"a": [NAMES, *ROWS * 100]}).read_bytes()
        for length in np.random.default_rng(0).integers(1, len(whole) - 1, 10):
            with suppress(InputError):  # Formats of Excel may lose their last bytes without harm
                assert len(read(write(tmp_path, f"t{ending}", whole[:length])).frame) == 100 * N

    def test_a_missing_package(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "python_calamine", None)
        assert "needs the package python-calamine, which is not installed: pip install" in (
            refusal(write(tmp_path, "t.xlsx", b"x"))
        )
