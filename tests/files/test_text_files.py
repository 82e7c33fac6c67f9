"""Text files in the encodings, with the delimiters and the compressions that people use."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import pandas as pd
import pytest
from files.written import column, read_text, refusal, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bochner.files.table_reading import read

NAMES = "größe,café\n1,x\n2,naïve\n"


def assert_names(found):
    assert list(found.frame.columns) == ["größe", "café"]
    assert found.frame["café"].tolist() == ["x", "naïve"]


class TestEncodings:
    @pytest.mark.parametrize(
        ("encoding", "note"),
        [
            ("utf-8", ""),
            ("utf-8-sig", ""),
            ("utf-16", "utf-16"),
            ("utf-16-le", "utf-16-le"),
            ("utf-16-be", "utf-16-be"),
            ("utf-32", "utf-32"),
            ("utf-32-le", "utf-32-le"),
            ("cp1252", "cp1252"),
            ("latin-1", "cp1252"),
        ],
    )
    def test_encodings_are_noted(self, tmp_path, encoding, note):
        found = read_text(tmp_path, NAMES.encode(encoding))
        assert_names(found)
        note = (
            f"The encoding of the file is {note}; encoding= (--encoding) names another."
            if note
            else ""
        )
        assert found.notes == ((note,) if note else ())

    def test_damaged_utf_16(self, tmp_path):
        message = refusal(tmp_path, b"\xff\xfea\x00,\x00\x00\xd8")
        assert "damaged utf-16" in message


class TestDelimiters:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_any_is_found(self, tmp_path, delimiter):
        text = "size,sold,text\n1.5,2020-01-31,red\n2,2020-02-01,blue\n".replace(",", delimiter)
        frame = read_text(tmp_path, text).frame
        assert frame["size"].tolist() == [1.5, 2]
        assert frame["sold"].dtype.kind == "M"

    @pytest.mark.parametrize(
        ("text", "shape"),
        [
            ("a;b\n1,5;2,5\n3,5;4\n", (2, 2)),
            ("a, in m;b\n1,5;2,5\n3,5;4\n", (2, 2)),
            ("a;b;c\n1,5;2,5;x,y\n", (1, 3)),
            ("a,b\nx;y,1\nz;w,2\n", (2, 2)),
            ("a;x,b\n1,2\n3,4\n", (2, 2)),
            ("a|b,c\n1,2\n3|4|5,6\n", (2, 2)),
            ('a,b\n"1;2;3",4\n"5;6;7",8\n', (2, 2)),
            ("only\n1\n2\n", (2, 1)),
            ("sep=|\na|b,c\n1|2\n", (1, 2)),
            ('"sep=;"\r\na;b\r\n1;2\r\n', (1, 2)),
        ],
    )
    def test_lines_that_agree_decide(self, tmp_path, text, shape):
        assert read_text(tmp_path, text).frame.shape == shape

    def test_white_space_around_names_and_entries(self, tmp_path):
        found = read_text(tmp_path, "a , b,c\n1, x ,2\n3,x, 4\n")
        assert list(found.frame.columns) == ["a", "b", "c"]
        assert found.frame["b"].tolist() == ["x", "x"]
        assert found.frame["c"].tolist() == [2, 4]
        assert found.notes == ("'b' has white space around entries, which is removed.",)
        assert list(read_text(tmp_path, "a,a \n1,2\n").frame.columns) == ["a", "a.1"]


class TestLines:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_ends(self, tmp_path, end):
        text = 'a,b\n1,"x, ""y"""\n\n2,"z\nw"\n'.replace("\n", end)
        frame = read_text(tmp_path, text).frame
        assert frame["a"].tolist() == [1, 2]
        assert frame["b"].tolist() == ['x, "y"', f"z{end}w"]

    @pytest.mark.parametrize(
        ("text", "entries"),
        [
            ('a,b\n5" pipe,1\n6" pipe,2\n', ['5" pipe', '6" pipe']),
            ('a,b\n5" pipe,1\nx,2\n', ['5" pipe', "x"]),
            ('a,b\n"5""",1\nx,2\n', ['5"', "x"]),
            ("a,b\nx,1\n   \ny,2\n", ["x", "y"]),
        ],
    )
    def test_quotation_marks_and_blank_lines(self, tmp_path, text, entries):
        assert read_text(tmp_path, text).frame["a"].tolist() == entries

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ('a,b\n1,"2\n', "ends within a field that begins with '2'"),
            ('a,b\n1,"2\n3,4\n5,6\n', "ends within a field"),
            ('a,"b\n1,2\n', "ends within a field"),
            ('a,b\n"x,1\ny,2\n', "field"),
        ],
    )
    def test_open_quotation_marks(self, tmp_path, text, part):
        message = refusal(tmp_path, text)
        assert part in message
        assert "quotation mark" in message

    def test_the_careful_reader_agrees(self, tmp_path):
        """An odd number of quotation marks is read row by row, in Python."""
        rows = [f'{i},{i / 8},"say ""{i}"", or",NA,' for i in range(300)]
        quick = read_text(tmp_path, "n,x,t,m,e\n" + "\n".join(rows) + "\n", keep=["n", "t"])
        slow = "\n".join([*rows, '300,0.5,5" pipe,,'])
        slow = read_text(tmp_path, f"n,x,t,m,e\n{slow}\n", keep=["n", "t"])
        pd.testing.assert_frame_equal(slow.frame.iloc[:300], quick.frame)
        assert slow.frame["t"][300] == '5" pipe'


def packed(kind, content, name="t.csv"):
    if kind == "zip":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, content)
            archive.writestr("__MACOSX/._t.csv", "x")
        return file.getvalue()
    if kind == "zst":
        import pyarrow

        return pyarrow.compress(content, "zstd", asbytes=True)
    return {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind](content)


TEXT = column(*[f"{i},5" for i in range(200)]).encode()


class TestCompression:
    @pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "zip"])
    @pytest.mark.parametrize("name", ["t.csv.", "t.txt.", "t."])
    def test_any_is_read(self, tmp_path, kind, name):
        if kind == "zst" and name == "t.":
            name = "T.CSV."
        path = write(tmp_path, name + kind, packed(kind, TEXT))
        assert read(path).frame["a"].tolist() == [i + 0.5 for i in range(200)]

    @pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "zip"])
    def test_damaged_archives(self, tmp_path, kind):
        whole = packed(kind, TEXT)
        middle = len(whole) // 2
        damaged = (
            whole[:middle],
            whole[:10],
            b"",
            b"a,b\n1,2\n",
            whole[: middle - 8] + bytes(255 - byte for byte in whole[middle - 8 : middle + 8])
            + whole[middle + 8 :],
        )  # fmt: skip
        for content in damaged:
            write(tmp_path, f"t.csv.{kind}", content)
            message = refusal(tmp_path, content, name=f"t.csv.{kind}")
            assert f"t.csv.{kind}" in message
            assert "whole" in message or "is empty" in message

    def test_archives_of_several_files(self, tmp_path):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("one.csv", "a\n1\n")
            archive.writestr("two.csv", "a\n1\n")
        message = refusal(tmp_path, file.getvalue(), name="t.zip")
        assert "holds 2 files (one.csv, two.csv): expected one table" in message

    def test_encrypted_archives(self, tmp_path):
        content = bytearray(packed("zip", TEXT))
        content[6] |= 1
        content[content.index(b"PK\x01\x02") + 8] |= 1
        assert "password" in refusal(tmp_path, bytes(content), name="t.zip")


class TestStandardInput:
    @pytest.fixture
    def given(self, monkeypatch):
        def give(content):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
            return read("-")

        return give

    def test_it_is_read_as_a_file(self, given):
        found = given("a;b\n1,5;é\n".encode("cp1252"))
        assert found.frame.iloc[0].tolist() == [1.5, "é"]
        assert len(found.notes) == 2

    def test_it_is_refused_as_a_file(self, given):
        for content, part in ((b"", "is empty"), (b"a,b\n1\n", "line 2: 1 field where")):
            with pytest.raises(ValueError, match=f"^standard input.*{part}"):
                given(content)


@given(st.binary(max_size=60))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_a_table_or_one_clear_error(tmp_path, content):
    path = write(tmp_path, "t.csv", b"a,b\n" + content)
    message = ""
    try:
        assert len(read(path).frame) > 0
    except ValueError as error:
        message = str(error)
    assert message.startswith((str(path), "Duplicate", "")[: 2 if message else 3])
    assert "\n" not in message


@pytest.mark.parametrize("name", ["kg", "Value (kg)", "monthly sales: net", "CO2 level ppm"])
def test_a_single_column_is_not_split_at_blanks(tmp_path, name):
    texts = ["big red house", "old grey car"] * 20
    for entries in ([i / 4 for i in range(40)], texts)[: 1 + (name == "kg")]:
        found = read_text(tmp_path, pd.DataFrame({name: entries}).to_csv(index=False)).frame
        assert found.to_dict("list") == {name: entries}


def test_gaps_of_a_single_column_are_rows(tmp_path):
    frame = pd.DataFrame({"a": [1.5, None, 2.5, None]})
    found = read_text(tmp_path, frame.to_csv(index=False))
    pd.testing.assert_frame_equal(found.frame, frame)


def test_missing_packages(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install pandas pyarrow"):
        read(write(tmp_path, "t.csv", "a,b\n1,2\n"))
