"""A table comes out the same whatever people write above, below and around it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from files.written import read_text, refusal

from bochner.files.headings import find_heading
from bochner.files.read_options import ReadOptions
from bochner.files.table_reading import read

Rows = list[list[str]]


@dataclass(frozen=True)
class Plain:
    """Names and rows of a table, and a line of units."""

    names: list[str]
    rows: Rows
    units: list[str]


def sensor(n: int) -> Plain:
    rows = [[f"2021-03-{i % 28 + 1:02}", f"{i / 4}", f"{(7 * i) % 11 + 0.5}", f"t{i % 3}"]
            for i in range(n)]  # fmt: skip
    return Plain(["date", "temp", "rain", "site"], rows, ["", "°C", "mm", ""])


def words(n: int) -> Plain:
    rows = [["red", "blue", "green"][i % 3 :] + ["red", "blue", "green"][: i % 3] for i in range(n)]
    return Plain(["first", "second", "third"], rows, [])


def panel(n: int) -> Plain:
    """Countries with a column for each year, some without numbers."""
    rows = [[f"c{i % 7}", "GDP", *(f"{i * j}.5" if (i + j) % 5 else "" for j in range(9))]
            for i in range(n)]  # fmt: skip
    return Plain(["country", "series", *map(str, range(1960, 1969))], rows, [])


def numbers(n: int) -> Plain:
    rows = [[str(i), f"{i * 7 % 13}.25", f"-{i * 3 % 7}"] for i in range(n)]
    return Plain(["n", "x", "y"], rows, ["", "[m/s]", "kg"])


PLAIN = {
    "sensor": sensor(30), "few rows": sensor(5), "words": words(30), "panel": panel(30),
    "numbers": numbers(30),
}  # fmt: skip


def lines(rows: Rows, delimiter: str) -> list[str]:
    return [delimiter.join(row) for row in rows]


def text(plain: Plain, delimiter: str = ";", *, above: Rows = [], below: Rows = [],  # noqa: B006
         end: str = "", names_end: str = "") -> str:  # fmt: skip
    """A file of the table, with records above and below, and ends of rows and of names."""
    table = [delimiter.join(plain.names) + names_end,
             *(line + end for line in lines(plain.rows, delimiter))]  # fmt: skip
    return "\n".join([*lines(above, delimiter), *table, *lines(below, delimiter)]) + "\n"


def wide(plain: Plain, *cells: str) -> list[str]:
    """A record of as many cells as the names."""
    return [*cells, *[""] * (len(plain.names) - len(cells))]


Decoration = Callable[[Plain], str]
PAIRS = [["Account:", "DE00 / current"], [], ["From:", "01.01.2023"], ["To:", "28.02.2023"],
         ["Balance:", "1.234,56 EUR"], []]  # fmt: skip

DECORATIONS: dict[str, tuple[Decoration, str]] = {
    "a title": (lambda p: text(p, above=[["Report of 2020"]]), "The first line is a title"),
    "a title of full width": (
        lambda p: text(p, above=[wide(p, "Report")]), "first line is a title"),
    "titles and a blank line": (
        lambda p: text(p, above=[["Report"], ["of all stations, by day"], []]), "2 lines are"),
    "scattered cells": (
        lambda p: text(p, above=[wide(p, "Report", "", "draft"), wide(p, "", "", "by hand")]),
        "2 lines are titles"),
    "pairs": (lambda p: text(p, above=PAIRS), "The first 4 lines are titles"),
    "pairs of full width": (
        lambda p: text(p, above=[wide(p, *pair) for pair in PAIRS]), "4 lines are titles"),
    "pairs with ends": (
        lambda p: text(p, above=[[*pair, ""] for pair in PAIRS], end=";", names_end=";"),
        "4 lines"),
    "comments above": (
        lambda p: text(p, above=[["# station 7; height 33 m"], ["# by hand"]]), "2 lines are"),
    "comments of another sign": (lambda p: text(p, above=[["% relation"]]), "line is a title"),
    "blank lines above": (lambda p: "\n\n" + text(p), ""),
    "ends of rows": (lambda p: text(p, end=";"), "Rows end with a delimiter"),
    "several ends of rows": (lambda p: text(p, end=";;;"), "Rows end with a delimiter"),
    "lines in quotation marks": (
        lambda p: "".join(f'"{line}"\n' for line in text(p).splitlines()), ""),
    "empty rows below": (lambda p: text(p, below=[wide(p), wide(p)]), ""),
    "a remark with the delimiter": (
        lambda p: text(p, below=[['"Copied from the screen; twice"']]), "1 line is left out"),
    "the largest below": (lambda p: text(p, below=[wide(p, "Min"), wide(p, "Max")]), "Min, Max"),
    "ends of names": (lambda p: text(p, names_end=";"), "Names end with a delimiter"),
    "ends of all lines": (lambda p: text(p, end=";", names_end=";"), ""),
    "remarks below": (
        lambda p: text(p, below=[[], ["Source: the office"], ["* provisional"], ["Updated"]]),
        "3 lines are left out"),
    "a remark of full width": (
        lambda p: text(p, below=[wide(p, "Source: the office")]), "The last row (Source: the"),
    "many remarks": (lambda p: text(p, below=[[f"({i}) as in note {i}"] for i in range(20)]),
                     "20 lines are left out"),
    "a comment within": (
        lambda p: text(p).replace("\n", "\n# pause\n", 3).replace("# pause\n", "", 2),
        "1 line is left out"),
    "blank lines within": (lambda p: text(p).replace("\n", "\n\n", 5), ""),
    "lines of Macintosh": (lambda p: text(p).replace("\n", "\r"), ""),
    "all at once": (
        lambda p: text(p, above=[["Report"], *PAIRS], below=[[], ["Source: x"]], end=";"), "5 li"),
}  # fmt: skip
"""What people write around a table, and words of the note on it."""


def plain_frame(folder, plain: Plain) -> pd.DataFrame:
    return read_text(folder, text(plain), keep=plain.names).frame


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("decoration", DECORATIONS)
def test_decorations_do_not_change_the_table(tmp_path, name, decoration):
    plain, (decorate, note) = PLAIN[name], DECORATIONS[decoration]
    found = read_text(tmp_path, decorate(plain), keep=plain.names)
    pd.testing.assert_frame_equal(found.frame, plain_frame(tmp_path, plain))
    assert any(note in each for each in (*found.notes, ""))
    again = read_text(tmp_path, decorate(plain), layout=found.layout)
    assert list(again.frame.columns) == list(found.frame.columns)
    assert len(again.frame) == len(found.frame)


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "~", "\x01", ":"])
def test_delimiters_do_not_change_the_table(tmp_path, name, delimiter):
    plain = PLAIN[name]
    found = read_text(tmp_path, text(plain, delimiter), keep=plain.names)
    pd.testing.assert_frame_equal(found.frame, plain_frame(tmp_path, plain))


def columns(plain: Plain, justify: Callable[[str, int], str], gap: str) -> str:
    """The table in columns of spaces."""
    rows = [plain.names, *plain.rows]
    widths = [max(len(row[j]) for row in rows) for j in range(len(plain.names))]
    padded = [gap.join(map(justify, row, widths)) for row in rows]
    return "\n".join(line.rstrip() for line in padded) + "\n"


TITLE = "Station 7 (height 33 m), Lat 51.4\nby day\n"


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("justify", [str.ljust, str.rjust])
@pytest.mark.parametrize("gap", [" ", "   "])
@pytest.mark.parametrize(
    "title", ["", "Station 7 (height 33 m), Lat 51.4\nby day\n", "# by hand\n"]
)
def test_columns_of_spaces(tmp_path, name, justify, gap, title):
    plain = PLAIN[name]
    found = read_text(tmp_path, title + columns(plain, justify, gap), keep=plain.names)
    pd.testing.assert_frame_equal(found.frame, plain_frame(tmp_path, plain))


@pytest.mark.parametrize("name", ["sensor", "few rows", "numbers"])
@pytest.mark.parametrize("above", [[], [["Report"], []]])
def test_units_below_the_names_are_noted(tmp_path, name, above):
    plain = PLAIN[name]
    units = Plain(plain.names, [plain.units, *plain.rows], [])
    found = read_text(tmp_path, text(units, above=above), keep=plain.names)
    pd.testing.assert_frame_equal(found.frame, plain_frame(tmp_path, plain))
    assert any("The line below the names" in note and "--header 1" in note for note in found.notes)


@pytest.mark.parametrize("dashes", ["--", "=====", "____"])
@pytest.mark.parametrize("name", ["sensor", "words"])
def test_dashes_below_the_names_are_left_out(tmp_path, name, dashes):
    plain = PLAIN[name]
    ruled = Plain(plain.names, [[dashes for _ in plain.names], *plain.rows], [])
    found = read_text(tmp_path, text(ruled), keep=plain.names)
    pd.testing.assert_frame_equal(found.frame, plain_frame(tmp_path, plain))


GROUPS = ([",Temp,,Rain,", "day,min,max,min,max"],
          ["day", "Temp min", "Temp max", "Rain min", "Rain max"])  # fmt: skip


@pytest.mark.parametrize(
    ("lines_of_names", "names"),
    [
        GROUPS,
        ([",Temp,Temp,Rain,Rain", "day,min,max,min,max"],
         ["day", "Temp min", "Temp max", "Rain min", "Rain max"]),
        (["day,Temp,,Rain,", ",min,max,min,max"],
         ["day", "Temp min", "Temp max", "Rain min", "Rain max"]),
        (["day,Votes,,Seats,", ",First,,Second,", ",now,before,now,before"],
         ["day", "Votes First now", "Votes First before", "Seats Second now",
          "Seats Second before"]),
        ([",North,,South,", ",in,out,in,out", "day,a,a,b,b"],
         ["day", "North in a", "North out a", "South in b", "South out b"]),
        (["d,ta,tb,ra,rb", "Day,Lowest,Highest,Rain A,Rain B"], ["d", "ta", "tb", "ra", "rb"]),
        ([",Men,,Women,", "day,2019,2020,2019,2020"],
         ["day", "Men 2019", "Men 2020", "Women 2019", "Women 2020"]),
        ([",2019,,2020,", "day,a,b,a,b"], ["day", "2019 a", "2019 b", "2020 a", "2020 b"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("above", [[], ["A report", ""]])
def test_several_lines_of_names_are_joined(tmp_path, lines_of_names, names, above):
    rows = [f"2021-03-{i:02},{i / 2},{i + 3},{i % 4},{i * i}" for i in range(1, 20)]
    content = "\n".join([*above, *lines_of_names, *rows]) + "\n"
    found = read_text(tmp_path, content, keep=names)
    assert list(found.frame.columns) == names
    assert len(found.frame) == 19
    assert all(found.frame[name].dtype.kind in "if" for name in names[1:])
    assert any("names" in note for note in found.notes)
    assert list(read_text(tmp_path, content, layout=found.layout).frame.columns) == names


def test_another_table_is_left_out_and_named(tmp_path):
    first, second = PLAIN["sensor"], PLAIN["numbers"]
    content = text(first) + "\n" + text(second)
    found = read_text(tmp_path, content, keep=first.names)
    pd.testing.assert_frame_equal(found.frame, plain_frame(tmp_path, first))
    note = next(note for note in found.notes if "Another table begins at line 33" in note)
    assert "--skip 32" in note
    alone = read_text(tmp_path, content, keep=second.names, skip=32)
    pd.testing.assert_frame_equal(alone.frame, plain_frame(tmp_path, second))


@pytest.mark.parametrize("blank", [[], [""] * 4])
def test_rows_below_a_blank_record_are_rows(blank):
    rng, names = np.random.default_rng(0), ["key", "a", "b", "note"]
    for place in range(4, 80):
        words = rng.choice(["u", "v", "=1+2", "12a"], 100).tolist()
        rows = [[f"{rng.integers(99_999):05}", f"{rng.normal():.3f}", word[-1], word]
                for word in words]  # fmt: skip
        assert find_heading([names, *rows[:place], blank, *rows[place:]]).end is None
        assert find_heading([names, *rows[:place], blank, names, *rows[place:]]).end is None
        other = find_heading([names, *rows[:place], blank, ["key", "x", "y", "z"], *rows[place:]])
        assert other.end == place + 2


def test_row_names_of_r(tmp_path):
    rows = "\n".join(f"{i},{i / 2},t{i % 3}" for i in range(1, 20))
    found = read_text(tmp_path, f"x,y\n{rows}\n")
    assert list(found.frame.columns) == ["x", "y"]


@pytest.mark.parametrize(
    ("bad", "part"),
    [("9,8", "2 fields where"), ("9,8,7,6", "4 fields where"), ("9", "1 field where")],
)
def test_rows_of_another_length(tmp_path, bad, part):
    rows = [f"{i},{i / 2},t{i % 3}" for i in range(40)]
    content = "\n".join(["Report", "x,y,z", *rows[:30], bad, *rows[30:]]) + "\n"
    message = refusal(tmp_path, content)
    assert f"line 33: {part}" in message
    assert "--skip" in message
    assert "--bad-lines drop" in message
    found = read_text(tmp_path, content, bad_lines="drop")
    assert len(found.frame) == 40
    assert any("1 line is left out" in note for note in found.notes)
    assert len(read_text(tmp_path, content, layout=found.layout).frame) == 40
    quoted = content.replace("t1", '5" pipe', 1)
    assert len(read_text(tmp_path, quoted, bad_lines="drop").frame) == 40


def test_another_table_far_below(tmp_path):
    rows = "\n".join(f"{i},{i / 2},t{i % 3}" for i in range(400))
    message = refusal(tmp_path, f"x,y,z\n{rows}\n\na,b\n1,2\n")
    assert "line 403: 2 fields" in message
    assert "--skip 402 reads it alone" in message


def test_blank_records_of_spreadsheets_may_stay():
    rows = [["Report", "", ""], ["", "", ""], ["a", "b", "c"], ["x", "1", "2"], ["y", "3", "4"]]
    heading = find_heading(rows)
    assert (heading.n_titles, heading.n_names, heading.names) == (2, 1, ["a", "b", "c"])
    assert find_heading([rows[0], *rows[2:]]).n_titles == 1


def test_totals_are_left_out(tmp_path):
    plain = PLAIN["numbers"]
    total = Plain(plain.names, [*plain.rows, ["Total", "99", "-9"], ["Mean", "3", "-1"]], [])
    found = read_text(tmp_path, text(total), keep=plain.names)
    pd.testing.assert_frame_equal(found.frame, plain_frame(tmp_path, plain))
    assert any("The last 2 rows (Total, Mean) are left out" in note for note in found.notes)
    assert len(read_text(tmp_path, text(total), skip=0).frame) == len(plain.rows) + 2


@pytest.mark.parametrize(("word", "method"), [
    ("Average", "mean"), ("Total", "sum"), ("Max", "max"), ("Median", "median"),
])  # fmt: skip
def test_complete_rows_with_the_word_of_a_sum_are_rows(tmp_path, word, method):
    rng = np.random.default_rng(0)
    for n_rows in (4, 30, 500):
        frame = pd.DataFrame({"grade": rng.permutation(["low", "high"] * (n_rows // 2)),
                              "x": rng.normal(size=n_rows).round(3)})  # fmt: skip
        last = [word, round(getattr(frame["x"], method)(), 3)]
        total = pd.concat([frame, pd.DataFrame([last], columns=frame.columns)])
        assert len(read_text(tmp_path, total.to_csv(index=False)).frame) == n_rows
        level = pd.concat([frame, pd.DataFrame([[word, 0.123]], columns=frame.columns)])
        assert len(read_text(tmp_path, level.to_csv(index=False)).frame) == n_rows + 1
    distinct = "grade,x\nlow,1.5\nmid,2.5\nhigh,3.5\n" + f"{word},2.25\n"
    assert len(read_text(tmp_path, distinct).frame) == 3
    assert len(read_text(tmp_path, distinct, levels=[word]).frame) == 4


def test_words_in_columns_of_numbers_are_a_remark(tmp_path):
    plain = PLAIN["sensor"]
    noted = [*plain.rows, ["note", "by hand", "in mm", ""]]
    found = read_text(tmp_path, text(Plain(plain.names, noted, [])), keep=plain.names)
    pd.testing.assert_frame_equal(found.frame, plain_frame(tmp_path, plain))
    unknown = [*plain.rows, ["", "not known", "not known", "t1"]]
    assert len(read_text(tmp_path, text(Plain(plain.names, unknown, []))).frame) == 31


def test_levels_are_no_totals(tmp_path):
    rows = [
        [("small", "average", "large", "average")[i % 4], f"{i}.5" * (i < 23)] for i in range(24)
    ]
    assert len(read_text(tmp_path, text(Plain(["size", "x"], rows, []))).frame) == 24


@pytest.mark.parametrize("names", ["a;b", "a, in m;b", "a, in m, or so;b"])
def test_a_decimal_comma_is_no_delimiter(tmp_path, names):
    content = names + "\n" + "".join(f"{i},5;{i},25\n" for i in range(30))
    assert list(read_text(tmp_path, content, keep=["b"]).frame["b"]) == [
        i + 0.25 for i in range(30)
    ]


def test_pairs_within_a_column_are_no_delimiter(tmp_path):
    content = "kind;group,x,y\n" + "".join(f"k{i % 3};g{i % 2},{i}.5,{i % 7}\n" for i in range(30))
    assert list(read_text(tmp_path, content, keep=["x"]).frame.columns) == ["kind;group", "x", "y"]


def test_labels_of_blocks_are_filled_down(tmp_path):
    rows = [["" if i % 5 else f"r{i // 5}", f"s{i % 5}", str(i * i)] for i in range(20)]
    content = text(Plain(["region", "store", "sales"], rows, []))
    found = read_text(tmp_path, content)
    assert any("(--fill-down 'region') repeats them" in note for note in found.notes)
    filled = read_text(tmp_path, content, fill_down=["region"])
    assert filled.frame["region"].tolist() == [f"r{i // 5}" for i in range(20)]
    assert not any("--fill-down" in note for note in filled.notes)
    assert read_text(tmp_path, content, layout=filled.layout).frame["region"].notna().all()
    frame = read(pd.DataFrame(rows, columns=["region", "store", "sales"]).replace("", None),
                 ReadOptions(fill_down=["region"])).frame  # fmt: skip
    assert frame["region"].tolist() == [f"r{i // 5}" for i in range(20)]
    message = refusal(tmp_path, content, fill_down=["regoin"])
    assert "'regoin' is to be filled down" in message
    assert "Did you mean 'region'?" in message


@pytest.mark.parametrize("word", ["N.A.", "Varies with device", "10,000+", "<0.5", "9.5 bhp"])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_rows_with_words_among_numbers_are_no_names(tmp_path, word, place):
    rows = [[f"{i}.5", f"t{i % 3}"] for i in range(6)]
    rows[place][0] = word
    assert find_heading([["a", "b"], *rows]).names == ["a", "b"]
    assert len(read_text(tmp_path, text(Plain(["a", "b"], rows, [])), keep=["a"]).frame) == 6


DAYS = [f"2020-01-{i + 1:02},{i + 0.5},{(i * 7) % 11}" for i in range(30)]
REGIONS = [f"r{'abcdefgh'[i % 8]},{51000 + i},{25000 + 3 * i}" for i in range(30)]
CATALOGUE = ["Title,Cash rate,Bills", "Units,Per cent,Per cent", ",,", "Source,Bank,Bank",
             "Published,03-Jan-2020,03-Jan-2020", "Series,A1,B2"]  # fmt: skip
OF_OFFICES = {
    "descriptions of series": (["Interest rates,,", *CATALOGUE], ["Series", "A1", "B2"], DAYS),
    "a description below the names": (
        ["day,north,south", "Status,3 Feb 2020 at 16:00,"], ["day", "north", "south"], DAYS),
    "an index below the names": (
        ["Place,Canada,", "Product,July 2025,August 2025", ",2002=100,"],
        ["Product", "July 2025", "August 2025"], REGIONS),
    "years above other names": (
        ["region,2019,2019", "region,total,male"], ["region", "2019 total", "2019 male"], REGIONS),
    "types of a database": (
        [*["# Retrieved by the agency"] * 20, "day\tflow\tflag", "20d\t14n\t10s"],
        ["day", "flow", "flag"], [row.replace(",", "\t") for row in DAYS]),
    "days above the rows": (
        ["region,Stock,Stock", ",31.12.2014,31.12.2015"],
        ["region", "Stock 31.12.2014", "Stock 31.12.2015"], REGIONS),
    "words below the names": (
        ["day,1A,1B", ",dollar,euro"], ["day", "1A", "1B"], DAYS),
}  # fmt: skip
"""Lines above the rows of statistical offices and banks, the names in them, and rows."""


@pytest.mark.parametrize("case", OF_OFFICES)
def test_lines_of_statistical_offices(tmp_path, case):
    above, names, rows = OF_OFFICES[case]
    content = "\n".join([*above, *rows]) + "\n"
    found = read_text(tmp_path, content, keep=names, text_columns=names[:1])
    assert list(found.frame.columns) == names
    assert len(found.frame) == len(rows)
    assert all(found.frame[name].dtype.kind in "if" for name in names[1:])
    again = read_text(tmp_path, content, layout=found.layout)
    pd.testing.assert_frame_equal(again.frame, found.frame)


def test_a_column_beside_a_group_has_no_name_of_it(tmp_path):
    rows = [f"{2000 + i // 12},{i % 12 + 1},{i * 0.5},{'late' * (i > 20)}" for i in range(30)]
    found = read_text(tmp_path, "\n".join(["yyyy,mm,sun,", ",,hours,", *rows]) + "\n")
    assert list(found.frame.columns) == ["yyyy", "mm", "sun hours", "Unnamed: 3"]


def test_footnotes_below_a_table_are_no_rows(tmp_path):
    notes = [f"{i},This place was moved in the year {1990 + i},," for i in range(1, 7)]
    rows = [f"p{'abcde'[i % 5]},{i * 0.5},{i % 7},{i % 3}" for i in range(12)]
    found = read_text(tmp_path, "\n".join(["place,x,y,z", *rows, ",,,", *notes, "Cite: x"]) + "\n")
    assert len(found.frame) == 12
    assert any("The last 7 rows" in note for note in found.notes)


def test_sums_of_blocks_are_left_out(tmp_path):
    rows = [f"{'NESW'[i // 10]},S{i % 10},{i * 1.5},{i % 7}" for i in range(40)]
    sums = [f"{'NESW'[i]} Total,,{100 + i},{30 + i}" for i in range(4)]
    blocks = [line for i in range(4) for line in (*rows[10 * i : 10 * i + 10], sums[i])]
    content = "\n".join(["region,store,size,sold", *blocks, "Grand Total,,500,99"]) + "\n"
    found = read_text(tmp_path, content)
    assert len(found.frame) == 40
    assert any("4 rows of sums (N Total, E Total" in note for note in found.notes)
    assert len(read_text(tmp_path, content, skip=0).frame) == 45
    kinds = ["all in Total", "a"]
    levels = "\n".join(["kind,x,y", *(f"{kinds[i % 2]},{i},{i % 3}" for i in range(40))])
    assert len(read_text(tmp_path, levels + "\n", keep=["x"]).frame) == 40
