"""Options of reading, files of types, and layouts that read a later file alike."""

import json

import numpy as np
import pandas as pd
import pytest
from files.written import column, kinds, read_text, refusal, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions, read_types
from bochner.files.table_reading import read, read_table
from bochner.tables.encoder import TableEncoder


class TestTypes:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("t.csv", "column,type\nzip,text\nsize,number\n"),
            ("t.csv", "zip,text\n\nsize , number\n"),
            ("t.csv", b"\xef\xbb\xbfzip,text\r\nsize,number"),
            ("t.json", '{"zip": "text", "size": "number"}'),
            ("any", ' {"zip": "text",\n"size": "number"}\n'),
        ],
    )
    def test_files(self, tmp_path, name, content):
        path = write(tmp_path, name, content)
        assert read_types(str(path)) == {"zip": "text", "size": "number"}

    @pytest.mark.parametrize(
        ("content", "parts"),
        [
            ("zip,txt\n", ["column 'zip'", "got 'txt'", "Did you mean 'text'?", "ignore"]),
            ("zip,text\nsize\n", ["no types of columns", "zip,text"]),
            ("zip,text\nzip,number\n", ["'zip' twice"]),
            ('{"zip": "text", "zip": "date"}', ["'zip' twice"]),
            ('{"zip": 3}', ["got 3", "number"]),
            ('{"zip": "text"', ["no types of columns", '{"zip": "text"}']),
            ('["zip"]', ["no types of columns"]),
            ("[" * 100_000, ["no types of columns"]),
            (b"\xff\xfez", ["no types of columns"]),
        ],
    )
    def test_bad_files(self, tmp_path, content, parts):
        with pytest.raises(InputError) as caught:
            read_types(write(tmp_path, "types.csv", content))
        for part in ["types.csv", *parts]:
            assert part in str(caught.value)

    def test_each_kind_overrules(self, tmp_path):
        text = "a,b,c,d,e\n1,007,20210131,x,2021-01-31\n2,008,20210201,y,2021-02-01\n"
        types = {"a": "text", "b": "text", "c": "date", "d": "ignore", "e": "text"}
        found = read_text(tmp_path, text, types=types)
        assert found.frame["a"].tolist() == ["1", "2"]
        assert found.frame["b"].tolist() == ["007", "008"]
        assert found.frame["c"].dtype.kind == "M"
        assert list(found.frame.columns) == ["a", "b", "c", "e"]
        rules = dict(zip("abcde", ("text", "text", "date", "ignore", "text"), strict=True))
        assert rules.items() <= kinds(found).items() | {("d", "ignore")}
        states = TableEncoder().fit(found.frame).columns_
        assert [state["kind"] for state in states] == ["text", "text", "date", "text"]

    def test_unknown_columns(self, tmp_path):
        message = refusal(tmp_path, "size,b\n1,2\n", types={"siez": "text"})
        assert message == (
            "A type is given for 'siez', which is no column. Did you mean 'size'?"
        )  # fmt: skip


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "match"),
        [
            ({"decimal": ";"}, r"decimal must be one of 'auto', '\.', ',', got ';'"),
            ({"dates": "us"}, "dates must be one of 'auto', 'iso', .*got 'us'"),
            ({"types": {"a": "int"}}, "types of column 'a': expected one of number"),
        ],
    )
    def test_other_values(self, options, match):
        with pytest.raises(InputError, match=match):
            ReadOptions(**options)

    def test_text_files_have_no_tables(self, tmp_path):
        assert "is for spreadsheets and SQLite" in refusal(tmp_path, "a,b\n1,2\n", table="x")


TRAIN = pd.DataFrame(
    {
        "id": [f"row {i}" for i in range(60)],
        "n": np.arange(60) * 3 % 60,
        "price": [f"{i},5" for i in range(60)],
        "big": [f"{i % 9 + 1}.500" for i in range(60)],
        "sold": [f"{i % 28 + 1}.{i % 12 + 1}.2021" for i in range(60)],
        "seen": [f"{i % 28 + 1} Jan 2021" for i in range(60)],
        "code": [f"{i % 4:03}" if i % 3 else "A" for i in range(60)],
        "horse": [str(i % 5) if i % 7 else "?" for i in range(60)],
        "flag": ["yes" if i % 2 else "-" for i in range(60)],
        "long": [str(10**17 + i % 6) for i in range(60)],
    }
)
LATER = pd.DataFrame(
    {
        "id": ["7"],
        "n": [0],
        "price": ["1.234"],
        "big": ["2.500"],
        "sold": ["1.2.2021"],
        "seen": ["2021-01-01"],
        "code": ["001"],
        "horse": ["?"],
        "flag": ["-"],
        "long": ["5"],
    }
)


class TestLayout:
    @pytest.fixture
    def layout(self, tmp_path):
        found = read_text(tmp_path, TRAIN.to_csv(index=False, sep=";"), keep=["n"])
        return ReadOptions.from_record(json.loads(json.dumps(found.layout.to_record())))

    def test_one_row_is_read_as_the_others(self, tmp_path, layout):
        # Each delimiter, since a later file need not have the same one.
        for delimiter in (";", "\t"):
            text = LATER.to_csv(index=False, sep=delimiter)
            found = read_text(tmp_path, text, layout=layout)
            row = found.frame.iloc[0]
            assert "id" not in found.frame
            assert row["n"] == 0
            assert row["price"] == 1234
            assert row["big"] == 2500
            assert row["sold"] == pd.Timestamp("2021-02-01")
            assert row["seen"] == pd.Timestamp("2021-01-01")
            assert row["code"] == "001"
            assert np.isnan(row["horse"])
            assert row["flag"] == "-"
            assert row["long"] == "5"

    def test_columns_may_be_missing_or_count(self, tmp_path, layout):
        later = TRAIN[["n", "price"]].assign(n=range(60), z=range(60))
        text = later.to_csv(sep=";")  # with an index, this time
        found = read_text(tmp_path, text, layout=layout)
        assert list(found.frame.columns) == ["n", "price", "z"]
        assert "'Unnamed: 0' counts the rows and is left out." in found.notes

    def test_a_layout_reads_itself(self, tmp_path, layout):
        text = TRAIN.to_csv(index=False, sep=";")
        first = read_text(tmp_path, text, layout=layout)
        second = read_text(tmp_path, text, layout=first.layout)
        pd.testing.assert_frame_equal(first.frame, second.frame)
        assert second.layout == first.layout
        fresh = read_text(tmp_path, text, keep=["n"])
        assert fresh.layout == first.layout
        pd.testing.assert_frame_equal(fresh.frame, first.frame)

    def test_other_numbers_are_refused_rather_than_misread(self, tmp_path, layout):
        message = refusal(tmp_path, "price\tn\n1.5\t1\n", layout=layout)
        assert "'price' should hold numbers with decimal commas" in message


ENTRIES = (
    "", "NA", "-", "?", " ", "0", "1", "7", "007", "-3", "+5", "1.5", "1,5", "1.234", "1,234",
    "1.234,5", "1,234.5", "12%", "$5", "5 €", "1e5", "inf", "true", "No", "x", "X", " x", "0x1F",
    "2021-01-31", "2021-13", "1/2/2021", "13/1/2021", "1/13/2021", "1.2.21", "3 Jan 2021",
    "12:30", "9007199254740993", "99999999999999999999", "\u22125", "nan", "1 234",
)  # fmt: skip
COLUMNS = st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=3, unique=True).flatmap(
    lambda pool: st.lists(st.sampled_from(pool), min_size=25, max_size=25)
)


@pytest.mark.thorough
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(COLUMNS, min_size=1, max_size=4), st.sampled_from([";", "\t", ","]))
def test_any_table_is_read_again_alike_by_its_layout(tmp_path, columns, delimiter):
    names = [f"c{i}" for i in range(len(columns))]
    rows = [names, *zip(*columns, strict=True)]
    text = "\n".join(delimiter.join(f'"{entry}"' for entry in row) for row in rows) + "\n"
    found = read_text(tmp_path, text, keep=names)
    layout = ReadOptions.from_record(json.loads(json.dumps(found.layout.to_record())))
    again = read_text(tmp_path, text, layout=layout)
    assert list(again.frame.columns) == names
    for name in names:
        one, two = found.frame[name], again.frame[name]
        one = one.astype(object) if one.dtype == "category" else one
        pd.testing.assert_series_equal(one, two, check_dtype=False, check_categorical=False)
        assert (one.dtype.kind == two.dtype.kind) or one.dtype == object
    # A part of the rows is read as these rows were.
    part = "\n".join(text.splitlines()[: (layout.header or 0) + 1]) + "\n"
    first = read_text(tmp_path, part, layout=layout).frame
    for name in names:
        one, two = found.frame[name].iloc[0], first[name].iloc[0]
        assert (pd.isna(one) and pd.isna(two)) or one == two or str(one) == str(two)


def test_read_table_warns_of_what_was_guessed(tmp_path):
    path = write(tmp_path, "t.csv", column("1,5", "2,5"))
    with pytest.warns(
        UserWarning, match=r"t.csv: 'a' has decimal commas \(1,5 is read as 1.5\)\.$"
    ):
        frame = read_table(path)
    pd.testing.assert_frame_equal(frame, read(path).frame)
    kept = read_table(path, decimal=",", types={"a": "text"})
    assert kept["a"].tolist() == ["1,5", "2,5"]


@pytest.mark.parametrize("form", ["frame", "xlsx", "parquet", "csv"])
@pytest.mark.parametrize("word", ["-99", "-99.0", -99])
def test_missing_numbers_are_missing_however_they_are_written(form, word, tmp_path):
    frame = pd.DataFrame({"a": list("abc") * 7, "w": [-99.0, 1.5, 2.0] * 7, "n": [-99, 1, 2] * 7})
    source = frame
    if form != "frame":
        source = tmp_path / f"table.{form}"
        write = {"xlsx": frame.to_excel, "parquet": frame.to_parquet, "csv": frame.to_csv}[form]
        write(source, index=False)
    found = read_table(source, missing=[word])
    for name in ("w", "n"):
        assert found[name].isna().tolist() == [True, False, False] * 7
        assert found[name].dropna().isin([1.5, 1.0, 2.0]).all()
