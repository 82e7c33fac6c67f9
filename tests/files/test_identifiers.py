"""Columns that only tell rows apart are left out, and no others."""

import uuid

import numpy as np
import pandas as pd
import pytest
from files.written import kinds, read_text

from bochner.files.table_reading import read
from bochner.tables.encoder import TableEncoder
from bochner.tables.table_checks import check_table

N = 40
RNG = np.random.default_rng(0)
KEEPS = "; a type given for a column (types=, --types) keeps it."


def table(**columns):
    x, y = RNG.normal(size=(2, N)).round(3)
    return pd.DataFrame({**columns, "x": x, "y": y}).to_csv(index=False)


def left_out(tmp_path, text, **options):
    """Names that are left out of a table, and the notes."""
    found = read_text(tmp_path, text, **options)
    names = text.splitlines()[0].split(",")
    names = [name or f"Unnamed: {i}" for i, name in enumerate(names)]
    gone = [name for name in names if name not in found.frame]
    assert all(kinds(found)[name] == "ignore" for name in gone)
    assert all(kinds(found).get(name) != "ignore" for name in found.frame)
    return gone, found.notes


class TestIndex:
    @pytest.mark.parametrize(
        "name", ["", "Unnamed: 0", "index", "Index", "level_0", "Unnamed: 0.1"]
    )
    @pytest.mark.parametrize("start", [0, 1])
    @pytest.mark.parametrize("n", [2, 30])
    def test_a_saved_index(self, tmp_path, name, start, n):
        rows = "".join(f"{start + i},{i / 4},{i * i}\n" for i in range(n))
        gone, notes = left_out(tmp_path, f"{name},x,y\n{rows}")
        shown = name or "Unnamed: 0"
        assert gone == [shown]
        assert notes == (f"{shown!r} counts the rows and is left out.",)

    @pytest.mark.parametrize(
        "entries",
        [["2", "3", "4"], ["0", "2", "4"], ["0", "1", "1"], ["0", "", "2"], ["0", "1", "x"], ["0"]],
    )
    def test_other_entries_stay(self, tmp_path, entries):
        rows = "".join(f"{entry},{i}.5,{i}.25\n" for i, entry in enumerate(entries))
        assert left_out(tmp_path, f"index,x,y\n{rows}")[0] == []

    def test_a_type_keeps_it(self, tmp_path):
        text = "index,x,y\n0,1.5,2\n1,2.5,3\n"
        assert left_out(tmp_path, text, types={"index": "number"})[0] == []
        assert left_out(tmp_path, text, keep=["index"])[0] == []


class TestWholeNumbers:
    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("n", np.arange(N)),
            ("row", np.arange(N) + 1000),
            ("n", np.arange(N)[::-1]),
            ("id", RNG.permutation(N)),
            ("customerId", RNG.permutation(10 * N)[:N]),
            ("CUSTOMER_ID", RNG.permutation(10 * N)[:N]),
            ("order key", RNG.permutation(10 * N)[:N]),
            ("Unnamed: 0", RNG.permutation(10 * N)[:N]),
        ],
    )
    def test_identifiers(self, tmp_path, name, values):
        gone, notes = left_out(tmp_path, table(**{name: values}))
        assert gone == [name]
        assert len(notes) == 1
        assert notes[0].startswith(f"{name!r} ")
        assert notes[0].endswith(f"is left out{KEEPS}")
        assert left_out(tmp_path, table(**{name: values}), keep=[name])[0] == []
        assert left_out(tmp_path, table(**{name: values}), types={name: "number"})[0] == []

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("size", RNG.permutation(10 * N)[:N]),  # measurements differ
            ("humid", RNG.permutation(10 * N)[:N]),
            ("keyboard", RNG.permutation(10 * N)[:N]),
            ("id", RNG.integers(0, 5, N)),  # a group
            ("id", RNG.permutation(N) + 0.5),
            ("year", np.arange(N) + 1980),  # time counts
            ("t", np.arange(N)),
            ("birthYear", np.arange(N) + 1980),
            ("n", 2 * np.arange(N)),
            ("id", pd.date_range("2020-01-01", periods=N)),
        ],
    )
    def test_others_stay(self, tmp_path, name, values):
        assert left_out(tmp_path, table(**{name: values})) == ([], ())

    def test_few_rows_are_no_evidence(self, tmp_path):
        rows = "".join(f"{i},{i * i}.5,{i % 3}.5\n" for i in range(19))
        assert left_out(tmp_path, f"id,x,y\n{rows}")[0] == []
        assert left_out(tmp_path, f"id,x,y\n{rows}19,5,5\n")[0] == ["id"]


class TestText:
    @pytest.mark.parametrize(
        ("entries", "gone"),
        [
            ([f"name {i}" for i in range(N)], True),
            ([str(uuid.UUID(int=i * 7**20)) for i in range(N)], True),
            ([f"name {i // 2}" for i in range(N)], False),
            ([f"name {max(i, 1)}" for i in range(N)], True),
            ([f"name {i % 30}" for i in range(N)], False),
            ([""] * (N - 19) + [f"name {i}" for i in range(19)], False),
            ([str(10**18 + i) for i in range(N)], True),
        ],
    )
    def test_nearly_unique(self, tmp_path, entries, gone):
        found, notes = left_out(tmp_path, table(who=entries))
        assert found == ["who"] * gone
        words = "'who' differs in nearly every row and is left out"
        assert notes == (f"{words}{KEEPS}",) * gone

    def test_text_with_errors_is_shown_to_the_checks(self, tmp_path):
        found = read_text(tmp_path, table(a=[f"{i}.5" for i in range(N - 5)] + ["1.2.3"] * 5))
        assert "a" in found.frame
        assert found.notes == ("'a' is text, because 5 of 40 entries are no numbers "
                               "(row 36: '1.2.3').",)  # fmt: skip
        with pytest.raises(ValueError, match=r"Mixed types in column 'a' \(row 1: '0.5', row 36"):
            check_table(found.frame)
        local = "".join(f"{i},5;{i % 7}\n" for i in range(N - 5))
        found = read_text(tmp_path, f"a;b\n{local}" + "1,,2;1\n" * 5)
        with pytest.raises(ValueError, match=r"Mixed types in column 'a' \(row 1: '0,5', row 36"):
            check_table(found.frame)


class TestConstantColumns:
    """One rule for the command and for Python: they stay in the frame, and have no features."""

    def test_they_are_noted(self, tmp_path):
        gone, notes = left_out(tmp_path, table(site=["north"] * N, k=[7] * N))
        assert gone == []
        words = "have the same entry in every row and are not used"
        assert notes == (f"'site' and 'k' {words} ('site': north).",)
        (note,) = left_out(tmp_path, table(k=[7] * N))[1]
        assert note == "'k' has the same entry in every row and is not used (7)."


@pytest.mark.parametrize("entry", [[1, 2], {"a": 1}, np.ones(2)], ids=["list", "dict", "array"])
def test_nested_columns_are_named(entry):
    frame = pd.DataFrame({"c": [entry] * 40, "a": np.arange(40.0) ** 2, "y": np.arange(40.0) % 7.0})
    nested = read(frame, keep=("y",)).frame
    with pytest.raises(TypeError, match="Unreadable column 'c'"):
        TableEncoder().fit(nested[["c", "a"]], nested["y"])
