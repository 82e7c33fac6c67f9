"""Files that people bring, each with the reading that is right.

A new case is one entry of `BROUGHT`. The laws of `test_brought.py` hold for each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path
from typing import Any

import pandas as pd

N = 40
"""Rows of generated columns, more than any rule about few rows needs."""


@dataclass(frozen=True)
class Brought:
    """A file, what is read from it, and words of its notes.

    ``columns`` has the entries of some columns, or how many rows these have if it is a number.
    ``absent`` names columns that are left out. ``later`` are contents of later files, each with
    the entries that the layout reads in the first column of ``columns``, or words of the refusal.
    """

    name: str
    content: str | Callable[[Path], None]
    columns: Mapping[str, Sequence[Any] | int]
    notes: Sequence[str] = ()
    absent: Sequence[str] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    later: Mapping[str, Sequence[Any] | str] = field(default_factory=dict)
    ending: str = ".csv"


def lines(*entries: str, name: str = "a", delimiter: str = ";") -> str:
    """A file of a column with entries, and of a column of text."""
    rows = [(name, "b"), *((entry, f"t{i % 3}") for i, entry in enumerate(entries))]
    return "\n".join(map(delimiter.join, rows)) + "\n"


def quantity(name: str, entries: Sequence[str], numbers: Sequence[Any], *notes: str, **more: Any):
    """A column of quantities."""
    return Brought(name, lines(*entries), {"a": numbers}, notes, **more)


def many(form: str, count: int = N) -> list[str]:
    return [form.format(i + 0.5) for i in range(count)]


def table(*above: str, below: Sequence[str] = (), names: str = "x,y,z", n: int = N) -> str:
    """A file of three columns of numbers, with lines above and below."""
    rows = [f"{i + 0.5},{(7 * i) % 40 + 0.25},{(3 * i) % 17 + 0.125}" for i in range(n)]
    return "\n".join([*above, *([names] if names else []), *rows, *below]) + "\n"


def generated(names: str, row: Callable[[int], str]) -> str:
    """A file with a row for each number."""
    return "\n".join([names, *map(row, range(N))]) + "\n"


X = [i + 0.5 for i in range(N)]
Y = [(7 * i) % 40 + 0.25 for i in range(N)]
Z = [(3 * i) % 17 + 0.125 for i in range(N)]
NAN = float("nan")


def sheet(*rows: Sequence[Any]) -> Callable[[Path], None]:
    """An Excel file of these rows."""

    def write(path: Path) -> None:
        from openpyxl import Workbook

        book = Workbook()
        for row in rows:
            book.active.append(list(row))
        book.save(path)

    return write


CELLS = [[i + 0.5, f"t{i % 3}", (7 * i) % 40 + 0.25] for i in range(N)]

UNITS = [
    quantity("a unit after a space", ["6.37 kg", "2 kg"], [6.37, 2], "amounts in kg (6.37 kg is",
             later={lines("3 kg"): [3], lines("3000 g"): "had the unit kg", lines("3"): "had the",
                    lines("heavy"): "numbers with the unit kg"}),
    quantity("a unit with decimal commas", ["1,5 kg", "2,25 kg"], [1.5, 2.25], "decimal commas"),
    quantity("two units", ["5 kg", "300 g", "2 kg"], ["5 kg", "300 g", "2 kg"]),
    quantity("per cent", ["45 %", "3.5%"], [45, 3.5], "percentages",
             later={lines("0.45"): "had the unit %"}),
    quantity("seats", ["12A", "14C", "3B", "9A"], ["12A", "14C", "3B", "9A"]),
    quantity("ordinal numbers", ["1st", "2nd", "3rd"], ["1st", "2nd", "3rd"]),
]  # fmt: skip

NUMBERS = [
    quantity("ranges", ["10-20", "30-40"], ["10-20", "30-40"]),
    quantity("a few words", [*many("{}"), "n/k"], [*X, NAN], "entries 'n/k', which count"),
    quantity("a word among numbers", [*many("{}M", 30), *["Varies with device"] * 10],
             [*X[:30], *[NAN] * 10], "amounts in M", "entries 'Varies with device', which",
             later={lines("2M", "varies with device"): [2, NAN]}),
    quantity("many words among numbers", [*many("{}", 30), *"abcdef"],
             [*many("{}", 30), *"abcdef"],
             "6 of 36 entries are no numbers"),
    quantity("flags", ["41.1*", "10,000+", "3.5*", "2.25"], [41.1, 10000, 3.5, 2.25],
             "commas between thousands"),
    quantity("negative amounts of accounts",
             ["(1,200.50)", "$(3.5)", "($7.25)", "8.5-", "- $2.5", *many("{}")],
             [-1200.5, -3.5, -7.25, -8.5, -2.5, *X], "commas between thousands"),
    quantity("Indian thousands", ["12,34,567.5", *many("{}")],
             [1234567.5, *X], "commas between thousands"),
    quantity("a unit of one and of many", ["1 year", *many("{} years")], [1, *X],
             "amounts in year"),
    quantity("marks of footnotes", ["7[1]", "8¹", "9 (a)", *many("{}")], [7, 8, 9, *X]),
    quantity("a unit in any word", [*many("{} bhp"), "null bhp"], [*X, NAN], "amounts in bhp",
             "entries 'null bhp'",
             later={lines("7.5 bhp"): [7.5], lines("7.5 kW"): "had the unit"}),
    quantity("two factors", ["201k", "19M", "2.5M"], [201e3, 19e6, 2.5e6],
             "factors such as k and M",
             later={lines("3k"): [3000]}),
    quantity("a status", [*many("{}"), "1.5 p", "2.5 (b)"], [*X, 1.5, 2.5]),
    quantity("limits", ["<0.5", "1.5", "2.5"], [0.5, 1.5, 2.5]),
    quantity("codes among numbers", [*map(str, range(300, 330)), "V57"],
             [*map(str, range(300, 330)), "V57"], "1 of 31 entries are no numbers"),
    Brought("a declared number", lines("6.37 kg", "2 kg"), {"a": [6.37, 2]}, ["amounts in kg"],
            options={"types": {"a": "number"}}),
    Brought("a declared text", lines("6.37 kg", "2 kg"), {"a": ["6.37 kg", "2 kg"]},
            options={"types": {"a": "text"}}),
]  # fmt: skip

CODES = [
    quantity("zeros that tell codes apart", ["007", "07", "7"], ["007", "07", "7"],
             "codes with leading zeros: read as text", later={lines("7", "7"): ["7", "7"]}),
    quantity("months of two digits", ["01", "02", "12"], [1, 2, 12], "zeros, which numbers lose"),
    quantity("an E among digits", ["1E3", "7E10", "12E4"], ["1E3", "7E10", "12E4"], "letter E"),
    Brought("a parcel", generated("PID,x,y", lambda i: f"{526301100 + 37 * i},{i / 2},{i % 7}"),
            {"x": N}, ["'PID' differs in every row and is left out"], absent=["PID"]),
    Brought("a number of a ticket",
            generated("ticket_no,x,y", lambda i: f"{(37 * i) % 4001},{i / 2},{i % 7}"),
            {"ticket_no": N}, ["may be an identifier, to be dropped (--drop)"]),
    Brought("a sheet of codes", sheet(["a", "x"], ["007", 1.5], ["7", 2.5], ["07", 4.5]),
            {"a": ["007", "7", "07"]}, ["codes with leading zeros"], ending=".xlsx"),
]  # fmt: skip

WORDS = [
    quantity("a class None", ["None", "Brick", "Stone"], ["None", "Brick", "Stone"]),
    quantity("Namibia", ["NA", "DE", "FR"], ["NA", "DE", "FR"], later={lines("NA"): ["NA"]}),
    quantity("NA among dates", ["2021-01-31", "NA"], [pd.Timestamp("2021-01-31"), pd.NaT]),
    Brought("words that the user names", lines("NA", "DE", "FR"), {"a": [None, "DE", "FR"]},
            options={"missing": ["NA"]}, later={lines("NA"): [None]}),
    Brought("a date that is missing", lines("2021-01-31", "1900-01-01"),
            {"a": [pd.Timestamp("2021-01-31"), pd.NaT]}, options={"missing": ["1900-01-01"]}),
    Brought("a column without entries", "a,e,b\n1,,2\n3,,4\n", {"a": [1, 3]},
            ["'e' has no entries and is left out"], absent=["e"], later={"a,b\n7,8\n": [7]}),
]  # fmt: skip


def coded(*columns: str) -> str:
    """A file of three columns, each sixth entry of some of which is -200."""
    return generated(
        "t,h,o",
        lambda i: ",".join(
            "-200" if name in columns and i % 6 == 2 else str(value[i])
            for name, value in zip("tho", (X, Y, Z), strict=True)
        ),
    )


SIXTH = [NAN if i % 6 == 2 else x for i, x in enumerate(X)]

MISSING_CODES = [
    Brought("a code in several columns", coded("t", "h"), {"t": SIXTH, "o": Z},
            ["have -200 far from all other numbers, as other columns do: these are missing"],
            later={"t,h,o\n-200,1,2\n3,-200,2\n": [NAN, 3]}),
    Brought("a code in one column", coded("t"), {"t": [-200 if x != x else x for x in SIXTH]},
            ["'t' has -200 far from all other numbers", "missing= (--missing -200)"]),
    Brought("debts and gains",
            generated("a,b,c", lambda i: f"{7 * i % 41 - 20},{3 * i - 60.5},{i % 7}"),
            {"a": [7 * i % 41 - 20 for i in range(N)]}),
    Brought("counts with a small negative number",
            generated("a,b,c", lambda i: f"{i % 9 - 1},{i % 5 - 1},{Z[i]}"),
            {"a": [i % 9 - 1 for i in range(N)]}),
]  # fmt: skip

DATES = [
    quantity("quarters", ["2020Q1", "2021Q4"], [pd.Timestamp("2020-01-01"),
             pd.Timestamp("2021-10-01")], "quarters, which are read as their first day"),
    quantity("months", ["Jan-21", "Feb-20"], [pd.Timestamp("2021-01-01"),
             pd.Timestamp("2020-02-01")], "months, which are read as their first day",
             "years of two digits"),
]  # fmt: skip

TIMES = [
    quantity("times of day", ["00:00", "9:30", "23:05:07.5"],
             [time(0), time(9, 30), time(23, 5, 7, 500000)], later={lines("7:15"): [time(7, 15)]}),
    quantity("times of half days", ["12:05 am", "1:30 PM", "12:00 pm"],
             [time(0, 5), time(13, 30), time(12)]),
    quantity("times and a word", [*(f"{i % 24}:{i:02}" for i in range(30)), "closed"],
             [*(time(i % 24, i) for i in range(30)), NAN], "entries 'closed', which count"),
    quantity("scores", ["3:2", "1:10", "0:0"], ["3:2", "1:10", "0:0"]),
]  # fmt: skip

LINES = [
    Brought("a first line of data", table(names=""), {"column 1": X, "column 3": Z},
            ["The first line holds data (0.5, 0.25, 0.125)"],
            later={table(names="", n=5): X[:5],
                   table(names="column 1,column 2,column 3", n=3): X[:3]}),
    Brought("a first line with a date",
            "".join(f"2021-01-{i + 1:02},{i}\n" for i in range(31)),
            {"column 2": list(range(31))}, ["The first line holds data (2021-01-01, 0)"]),
    Brought("a first line with a date and long text",
            "".join(f"2021-01-{i + 1:02};Shop {i} in town;{-i - 1},38 EUR\n" for i in range(31)),
            {"column 3": [-i - 1.38 for i in range(31)]},
            ["The first line holds data (2021-01-01", "decimal commas", "amounts in EUR"]),
    Brought("a column of decimal commas between tabs",
            "land\tname\trate\n" + "".join(f"L{i % 9}\tm{i % 4}\t{i},5\n" for i in range(N)),
            {"rate": X}, ["'rate' has decimal commas"], ending=".txt"),
    Brought("a name without a field", "a,b,NOTES\n" + "".join(f"{x},{x}\n" for x in X),
            {"a": X}, ["No row has a field for the last name, 'NOTES'"]),
    Brought("a table of Markdown",
            "\n".join(["| x | y |", "|---|---|", *(f"| {x} | t |" for x in X)]) + "\n",
            {"x": X}, ["below the names (---, ---) is left out", "'y' has the same",
                      "'Unnamed: 0' has no name", "white space"], absent=["Unnamed: 0"]),
    Brought("a first line with options", table(names=""), {"0.5": N - 1}, options={"header": 1}),
    Brought("wavelengths as names", generated("1100,1102,1104", lambda i: f".5{i},.{i},.2{i}"),
            {"1102": N}),
    Brought("two titles and a blank line", table("Sales", "of 2020", ""), {"x": X},
            ["The first 2 lines are titles"]),
    Brought("lines that are skipped", table("1,2", "3,4"), {"x": X}, options={"skip": 2}),
    Brought("names over two columns", table(names="2020,,other\nx,y,z"),
            {"2020 x": X, "2020 y": Y}, options={"header": 2}),
    Brought("names within", table(below=["x,y,z", "1.5,2.5,3.5"]), {"x": [*X, 1.5]},
            ["1 row repeats the names"]),
    Brought("a total", generated("r,x,y", lambda i: f"r{i % 4},{X[i]},{Y[i]}")
            + f"Total,{sum(X)},{sum(Y)}\n", {"x": N}, ["The last row (Total) is left out"]),
    Brought("a total below numbers", generated("n,x,y", lambda i: f"{i % 7},{X[i]},{Y[i]}")
            + f"Total:,{sum(X)},{sum(Y)}\n", {"n": [i % 7 for i in range(N)]},
            ["The last row (Total:) is left out"],
            later={"n,x,y\n1,1,2\n2,2,3\n3,3,5\nSum,6,10\n": [1, 2, 3]}),
    Brought("a total of quantities", generated("x,r", lambda i: f"{i}.5 kg,r{i % 3}")
            + f"{N * N / 2} kg,Total\n", {"x": [i + 0.5 for i in range(N)]},
            ["The last row (Total) is left out"],
            later={"x;r\n1,5 kg;a\n2,5 kg;b\n3,5 kg;c\n7,5 kg;Total\n": [1.5, 2.5, 3.5]}),
    Brought("a label that is data", generated("r,x,y", lambda i: f"r{i % 4},{X[i]},{Y[i]}")
            + "Total war,3.5,2.5\n", {"x": N + 1}),
    Brought("a level called average", generated("a,x,y",
            lambda i: f"{('small', 'large', 'average')[(i + 2) % 3]},{X[i]},{Y[i]}"),
            {"x": X}),
    Brought("blank lines of one column", "a\n1\n2\n\n4\n5\n", {"a": [1, 2, NAN, 4, 5]},
            later={"a\n\n7\n\n": [NAN, 7]}),
    Brought("blank lines of a table", "a,b\n1,2\n\n3,4\n", {"a": [1, 3]}),
    Brought("a sheet with titles", sheet(["Report", None, None], [], ["x", "t", "y"], *CELLS),
            {"x": X, "y": Y}, ["The first line is a title"], ending=".xlsx"),
    Brought("a sheet with two lines of names",
            sheet(["size", None, "cost"], ["width", "kind", "all"], *CELLS),
            {"size width": X, "cost all": Y}, options={"header": 2}, ending=".xlsx"),
    Brought("a sheet without names", sheet(*CELLS), {"column 1": X}, ["The first line holds data"],
            ending=".xlsx"),
    Brought("a sheet of times", sheet(["x", "t"], [1.5, time(12, 44)], [2.5, time(3, 5)]),
            {"t": [time(12, 44), time(3, 5)]}, ending=".xlsx"),
]  # fmt: skip

MARKS = [
    Brought("decimal commas, then points", lines("1,5", "2,25"), {"a": [1.5, 2.25]},
            ["decimal commas"],
            later={"a,b\n1.234,t\n7.891,t\n": [1.234, 7.891],
                   "a;b\n1.234;t\n": [1234], 'a,b\n"1.234,5",t\n': [1234.5]}),
    Brought("decimal points, then commas", "a,b\n1.234,t0\n5.5,t1\n", {"a": [1.234, 5.5]},
            later={"a;b\n5,5;t0\n": [5.5]}),
]  # fmt: skip

BROUGHT = [*UNITS, *NUMBERS, *CODES, *WORDS, *MISSING_CODES, *DATES, *TIMES, *LINES, *MARKS]
