"""Columns of a delimited text, each an Arrow array of texts."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bochner._base.naming import refuse_repeated
from bochner.files.errors import InputError
from bochner.files.layout import DelimitedText, reader, records

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = (
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
"""Words that are missing among numbers and dates, as for `pandas.read_csv`. Among text they are
text: a class None, or the country code NA."""

_BLOCK_SIZE = 1 << 24
"""Bytes that Arrow parses at once, which bounds the length of a row: 16 MiB."""


_FILLED = re.compile(rb"\S")

_SHOWN_LENGTH = 20
"""Characters of a field that an error message shows."""


def read_columns(path: Path, layout: DelimitedText) -> dict[str, pa.Array]:
    """Return the texts of each column, null where missing, by name.

    Empty names become "Unnamed: 0" and so on by position, or "Unnamed: 0.1", as in pandas. Raises
    InputError for rows of other lengths than the header, an open quotation mark, or no rows, and
    ValueError for duplicate names.
    """
    named = [name for name in layout.names if name]
    refuse_repeated(named, f"the first line of {path}", looks_like_numbers(named))
    names = [name or _unnamed(i, named) for i, name in enumerate(layout.names)]
    columns = _parse(layout, len(names))
    if columns is None:
        columns = _parse_slowly(path, layout, len(names))
    if not len(columns[0]):
        raise InputError(f"{path} has a header but no rows: expected at least one below it.")
    return dict(zip(names, columns, strict=True))


def without_repeated_names(columns: Mapping[str, pa.Array]) -> tuple[dict[str, pa.Array], str]:
    """Return columns without rows that repeat the names, as in joined files, and a note on them."""
    import pyarrow.compute as pc

    is_name = None
    for name, texts in columns.items():
        if name.startswith("Unnamed: "):
            continue
        same = pc.equal(texts, name).fill_null(False)
        is_name = same if is_name is None else pc.and_(is_name, same)
        if not pc.any(is_name).as_py():
            return dict(columns), ""
    if is_name is None or len(columns) == 1:
        return dict(columns), ""
    count, row = pc.sum(is_name).as_py(), pc.index(is_name, True).as_py()
    what = "1 row repeats" if count == 1 else f"{count} rows repeat"
    data_rows = {name: texts.filter(pc.invert(is_name)) for name, texts in columns.items()}
    return (
        data_rows,
        f"{what} the names of the columns and {'is' if count == 1 else 'are'} left out "
        f"(the first one was row {row + 1}).",
    )


def _unnamed(position: int, names: Sequence[str]) -> str:
    name = f"Unnamed: {position}"
    while name in names:  # the table has been saved with its index before
        name += ".1"
    return name


def looks_like_numbers(names: Sequence[str]) -> str:
    """Return a hint if every name of a header is a number, else an empty text."""
    plain = (name.replace(".", "", 1).lstrip("+-") for name in names)
    if not all(name.isdigit() for name in plain):
        return ""
    return " The first line holds numbers only: is the line of column names missing?"


def _parse(layout: DelimitedText, width: int) -> list[pa.Array] | None:
    """Return the columns below the header, or None if the text is not regular."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    content, start, end = layout.content, layout.start, layout.end
    n_quotes = content.count(b'"', start, end)
    if n_quotes % 2 or content.count(b'"', 0, start) % 2:  # one may be open
        return None
    if _FILLED.search(content, start, end) is None:
        return None
    body = pa.py_buffer(content).slice(start, end - start)
    if width == 1:  # Blank lines at the end are no rows
        body = content[start:end].rstrip(b"\r\n\t ") + b"\n"
    names = [f"f{i}" for i in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(body),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK_SIZE),
            parse_options=arrow_csv.ParseOptions(
                delimiter=layout.delimiter,
                newlines_in_values=n_quotes > 0,
                ignore_empty_lines=width > 1,
                invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    return list(table.columns)


def _parse_slowly(path: Path, layout: DelimitedText, width: int) -> list[pa.Array]:
    """Return the columns of a text that Arrow refuses, or raise an error that names the line."""
    import pyarrow as pa

    rows = list(_checked(path, layout, width))
    return [
        pa.chunked_array([pa.array([row[i] or None for row in rows], pa.string())])
        for i in range(width)
    ]


def _checked(path: Path, layout: DelimitedText, width: int) -> Iterator[list[str]]:
    """Yield the rows."""
    # With one more line end, a field that ends with it has a quotation mark that is never closed.
    text = layout.content[: layout.end].decode()
    if width == 1:
        text = text.rstrip()
    rows = reader(text + "\n", layout.delimiter)
    row: list[str] = []
    try:
        for number, row in enumerate(records(rows, width)):
            if number < layout.n_head:
                continue
            if len(row) != width:
                raise InputError(
                    f"{path}, line {rows.line_num}: {len(row)} field{'s' * (len(row) > 1)} where "
                    f"the header has {width}. {_advice(layout)}"
                )
            yield row
    except csv.Error as error:
        raise InputError(
            f"{path}, line {rows.line_num}: {error}. Is a quotation mark left open before it?"
        ) from error
    if layout.content.count(b'"') % 2 and row and row[-1].endswith("\n"):
        raise InputError(
            f"{path} ends within a field that begins with {row[-1][:_SHOWN_LENGTH].strip()!r}: "
            "close its quotation mark."
        )


def _advice(layout: DelimitedText) -> str:
    """Return advice on a row whose length differs from the header's."""
    advice = (
        "omplete or delete the row, or put quotation marks around a field that contains the "
        "delimiter."
    )
    if not layout.names[0].startswith("#"):
        return f"C{advice}"
    return (
        "If the first line, which begins with #, is a comment, delete it and all lines like it: "
        f"comments are not read. Otherwise c{advice}"
    )
