"""Tables of Parquet, Feather and SQLite files and of spreadsheets, as those of text files."""

import datetime
import sqlite3

import numpy as np
import pandas as pd
import pytest
from files.test_spreadsheets import refusal
from files.written import write

from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions
from bochner.files.table_reading import read

FRAME = pd.DataFrame(
    {
        "size": [1.5, np.nan, 3.0],
        "rooms": [1, 2, 5],
        "colour": ["red", "blue", None],
        "sold": pd.to_datetime(["2020-01-31", "2020-02-01", None]),
        "price": ["1.234,5", "-", "7"],
        "seen": ["31.01.2021", "01.02.2021", ""],
    }
)


def write_parquet(frame, path):
    frame.to_parquet(path)


def write_feather(frame, path):
    frame.to_feather(path)


def write_excel(frame, path):
    frame.to_excel(path, index=False)


def write_sqlite(frame, path, table="t"):
    sold = frame["sold"].dt.strftime("%Y-%m-%d").astype(object) if "sold" in frame else None
    frame = frame if sold is None else frame.assign(sold=sold.where(sold.notna(), None))
    connection = sqlite3.connect(path)
    frame.to_sql(table, connection, index=False)
    connection.close()


WRITERS = {
    ".parquet": write_parquet,
    ".feather": write_feather,
    ".xlsx": write_excel,
    ".sqlite": write_sqlite,
    ".db": write_sqlite,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_columns_are_those_of_a_text_file(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    WRITERS[ending](FRAME, path)
    before = path.read_bytes()
    found = read(path)
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    expected = read(tmp_path / "t.csv")
    pd.testing.assert_frame_equal(found.frame, expected.frame, check_dtype=False)
    assert found.frame.dtypes.map(lambda dtype: dtype.kind).tolist() == list("fiOMfM")
    assert found.notes == expected.notes
    assert found.layout.decisions["price"] == {"rule": "number", "decimal": ","}
    assert found.layout.decisions["seen"] == {"rule": "date", "order": "dayfirst"}
    assert (found.layout.decimal, found.layout.dates) == (",", "dayfirst")
    assert path.read_bytes() == before


@pytest.mark.parametrize("ending", WRITERS)
def test_types_overrule(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    WRITERS[ending](FRAME, path)
    types = {"rooms": "text", "size": "ignore", "sold": "date", "price": "text"}
    frame = read(path, ReadOptions(types=types)).frame
    assert frame["rooms"].tolist() == ["1", "2", "5"]
    assert frame["price"].tolist() == ["1.234,5", "-", "7"]
    assert "size" not in frame
    assert frame["sold"].dtype.kind == "M"
    assert "should hold numbers" in refusal(path, types={"sold": "number"})
    assert "should hold dates, but 2 of 2" in refusal(path, types={"colour": "date"})


@pytest.mark.parametrize("ending", WRITERS)
def test_empty_files(tmp_path, ending):
    assert "is empty" in refusal(write(tmp_path, f"t{ending}", b""))
    WRITERS[ending](FRAME.drop(columns="sold").iloc[:0].reset_index(drop=True), tmp_path / "x")
    content = (tmp_path / "x").read_bytes() if ending != ".xlsx" else None
    if content is not None:
        assert "no rows" in refusal(write(tmp_path, f"t{ending}", content))


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".xlsx", ".sqlite"])
def test_damaged_files(tmp_path, ending):
    path = tmp_path / f"t{ending}"
    WRITERS[ending](pd.concat([FRAME] * 200, ignore_index=True), path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    messages = []
    for kept in rng.integers(1, len(whole) - 1, 10):
        messages.append(refusal(write(tmp_path, f"t{ending}", whole[:kept])))
    messages.append(refusal(write(tmp_path, f"t{ending}", b"\x00\x01" * 300)))
    assert all(f"t{ending}" in message for message in messages)


class TestArrow:
    def test_zones_dates_and_categories(self, tmp_path):
        frame = pd.DataFrame(
            {
                "zone": pd.to_datetime(["2020-01-01T01:00+02:00", "2020-01-02T01:00+02:00"]),
                "day": [datetime.date(2020, 1, 1), None],
                "code": pd.Categorical(["1", "2"]),
                "flag": [True, False],
                "maybe": pd.array([1, None], dtype="Int64"),
            }
        )
        frame.to_parquet(tmp_path / "t.parquet")
        found = read(tmp_path / "t.parquet").frame
        assert found["zone"][0] == pd.Timestamp("2019-12-31 23:00", tz="UTC")
        assert found["zone"][0].hour == 1
        assert found["day"].dtype.kind == "M"
        assert found["code"].dtype == "category"
        assert found["flag"].tolist() == [True, False]
        assert found["maybe"].dtype == np.float64

    def test_an_index_with_a_name_is_a_column(self, tmp_path):
        named = FRAME.set_index("rooms")
        named.to_parquet(tmp_path / "t.parquet")
        found = read(tmp_path / "t.parquet").frame
        assert found["rooms"].tolist() == [1, 2, 5]
        named.rename_axis(None).to_parquet(tmp_path / "t.parquet")
        assert list(read(tmp_path / "t.parquet").frame.columns) == list(named.columns)


class TestSQLite:
    def test_tables(self, tmp_path):
        path = tmp_path / "t.db"
        odd = 'we"ird; DROP TABLE "b'
        write_sqlite(FRAME[["rooms"]], path, odd)
        assert read(path).frame["rooms"].tolist() == [1, 2, 5]
        write_sqlite(FRAME[["size", "colour"]], path, "b")
        message = refusal(path)
        assert "has 2 tables ('b', 'we\"ird; DROP TABLE \"b'): expected one" in message
        assert read(path, ReadOptions(table=odd)).frame["rooms"].tolist() == [1, 2, 5]
        assert list(read(path, ReadOptions(table="b")).frame.columns) == ["size", "colour"]
        assert "has no table 'c'" in refusal(path, table="c")
        sqlite3.connect(tmp_path / "empty.db").execute("PRAGMA user_version = 1")
        assert "has no tables: expected one" in refusal(tmp_path / "empty.db")

    def test_a_recorded_table_is_a_preference(self, tmp_path):
        write_sqlite(FRAME[["rooms"]], tmp_path / "t.db", "train")
        layout = read(tmp_path / "t.db", ReadOptions(table="train")).layout
        write_sqlite(FRAME[["rooms"]], tmp_path / "new.db", "new")
        assert read(tmp_path / "new.db", layout).frame["rooms"].tolist() == [1, 2, 5]
        FRAME[["rooms"]].to_csv(tmp_path / "new.csv", index=False)
        assert read(tmp_path / "new.csv", layout).frame["rooms"].tolist() == [1, 2, 5]


def test_a_parquet_file_holds_one_table(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"holds one table: leave out table="):
        read(tmp_path / "t.parquet", ReadOptions(table="x"))


def test_types_of_a_wrong_type():
    with pytest.raises(TypeError, match="types must be a mapping"):
        ReadOptions(types=["a"])


def test_what_is_no_path_is_refused():
    with pytest.raises(TypeError, match="PathLike"):
        read(None)
