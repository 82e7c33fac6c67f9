"""Tables from files: what is read, and one clear message for each bad file."""

import gzip

import numpy as np
import pandas as pd
import pytest
from files.written import write

from bochner.files.errors import InputError
from bochner.files.table_reading import read as read_files
from bochner.files.table_reading import read_table
from bochner.tables.encoder import TableEncoder

GOOD = "size,colour,sold\n1.5,red,2020-01-31\n,blue,2020-02-01\n3,,\n"


def refusal(path, error=InputError):
    with pytest.raises(error) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def expected():
    return pd.DataFrame(
        {
            "size": [1.5, np.nan, 3.0],
            "colour": ["red", "blue", None],
            "sold": pd.to_datetime(["2020-01-31", "2020-02-01", None]),
        }
    )


def assert_same(frame):
    pd.testing.assert_frame_equal(frame, expected(), check_dtype=False)
    assert frame["sold"].dtype.kind == "M"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", GOOD),
        ("a.CSV", GOOD.replace("\n", "\r\n")),
        ("bom.csv", b"\xef\xbb\xbf" + GOOD.encode()),
        ("semicolons.csv", GOOD.replace(",", ";")),
        ("a.tsv", GOOD.replace(",", "\t")),
        ("a.csv.gz", gzip.compress(GOOD.encode(), mtime=0)),
        ("blank.csv", "\n" + GOOD + "\n  \n"),
    ],
)
def test_text_files(tmp_path, name, content):
    assert_same(read_table(write(tmp_path, name, content)))


def test_read_csv_of_pandas_gives_the_same_encoding(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=90),
            "rooms": rng.integers(1, 9, 90),
            "new": rng.choice(["true", "false", None], 90),
            "pool": rng.choice(["yes", "no"], 90),
            "sold": pd.date_range("2020-01-01 06:00", periods=90, freq="9h").astype(str),
            "seen": pd.date_range("2020-01-01", periods=90, freq="MS", tz="UTC").strftime("%FT%TZ"),
            "code": [f"2020-{i % 30:02}" for i in range(90)],
        }
    )
    frame.loc[::7, ["size", "rooms", "pool", "sold", "code"]] = None
    frame.to_csv(tmp_path / "a.csv", index=False)
    # pandas rounds some numbers in the last digit unless it is told not to.
    of_pandas = pd.read_csv(tmp_path / "a.csv", float_precision="round_trip")
    ours = read_table(tmp_path / "a.csv")
    encoder, other = TableEncoder().fit(of_pandas), TableEncoder().fit(ours)
    assert encoder.columns_ == other.columns_
    kinds = ["numeric", "numeric", "numeric", "text", "date", "date", "text"]
    assert [state["kind"] for state in encoder.columns_] == kinds
    np.testing.assert_array_equal(encoder.transform(ours), other.transform(of_pandas))


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("a.csv", "", ["is empty", "column names"]),
        ("a.csv", "a,b\n\n", ["header but no rows", "at least one"]),
        ("a.csv", "a,b\n1,2\n1,2,3\n", ["line 3", "3 fields", "header has 2"]),
        ("a.csv", "# of 2020\na,b\n", ["header but no rows", "--skip"]),
        ("a.csv", 'a,b\n"x\ny",2\n1\n', ["line 4", "1 field where"]),
        ("a.csv", b"\x7fELF\x02\x01\x00\x00", ["not text", "offset 6"]),
        ("a.csv", b"PK\x03\x04....", ["spreadsheet", "CSV"]),
        ("a.csv", b"SQLite format 3\x00...", ["SQLite", "rename"]),
        ("a.csv", gzip.compress(b"a,b\n", mtime=0), ["gzip", ".csv.gz"]),
        ("a.csv.gz", GOOD, ["not a whole gzip file"]),
        ("a.docx", "x", ["'.docx'", ".parquet", ".xlsx", ".zst"]),
        ("a.xlsx", "x", ["cannot be read as a spreadsheet", "Save it again"]),
        ("a.sqlite", "x" * 200, ["cannot be read as an SQLite file"]),
        ("a.parquet", "a,b\n1,2\n", ["damaged Parquet file"]),
    ],
)
def test_bad_files(tmp_path, name, content, parts):
    message = refusal(write(tmp_path, name, content))
    for part in [name, *parts]:
        assert part in message


def test_duplicate_names(tmp_path):
    found = read_files(write(tmp_path, "a.csv", "x,y,x,x.1,x\n1,2,3,4,5\n"))
    assert list(found.frame.columns) == ["x", "y", "x.2", "x.1", "x.3"]
    assert "are called 'x.2', 'x.3'" in found.notes[0]
    message = refusal(write(tmp_path, "b.csv", "1.5,2,2\n1,2,3\n"), ValueError)
    assert "line of column names missing" in message


def test_missing_file_and_directory(tmp_path):
    write(tmp_path, "houses.csv", GOOD)
    assert "houses.csv" in refusal(tmp_path / "house.csv", FileNotFoundError)
    assert "There is no folder" in refusal(tmp_path / "none" / "z.csv", FileNotFoundError)
    message = refusal(tmp_path, IsADirectoryError)
    assert "is a directory" in message
    assert "houses.csv" in message


def test_text_that_is_no_unicode_is_refused_by_name():
    texts = pd.Series(["x", "y\udcff", "x"], dtype=object)
    frame = pd.DataFrame({"a": texts, "b": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match=r"Column 'a' holds text that is no Unicode \('y"):
        read_table(frame)
    names = pd.Index(["a\udcff", "b"], dtype=object)
    with pytest.raises(InputError, match=r"The name 'a.udcff' is no Unicode: rename"):
        read_table(pd.DataFrame(np.ones((3, 2)), columns=names))
