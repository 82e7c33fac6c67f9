"""Text files of tables: compression, encoding, delimiter and the texts of each column."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

from bochner._base.file_writing import absence
from bochner._base.names import looks_like_numbers, refuse_repeated, shown
from bochner.files.delimiters import delimiter_of, fitted, records, with_tabs
from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions
from bochner.files.text_encodings import to_utf8

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
BINARY_ENDINGS = (
    ".parquet", ".feather", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".sqlite", ".sqlite3", ".db",
)  # fmt: skip
_ALL = (*TEXT_ENDINGS, *BINARY_ENDINGS)
_STANDARD_INPUT = "-"

_MOST_LISTED = 5
"""Files of a directory or of an archive that an error message lists."""

_SAMPLE_LENGTH = 1 << 16
"""Bytes of the file, or a few more, in which the delimiter is counted: hundreds of lines."""

_BLOCK_SIZE = 1 << 22
"""Bytes that Arrow parses at once, which bounds the length of a row: 4 MiB take the least time."""

_BATCH = 1 << 16
"""Rows that the slower parser converts at once, which bounds its memory."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_FILLED = re.compile(rb"\S")

_OTHER_FORMATS = (
    (b"PAR1", "a Parquet file", "rename it to .parquet"),
    (b"ARROW1", "a Feather file", "rename it to .feather"),
    (b"SQLite format 3\0", "an SQLite file", "rename it to .sqlite"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet", "rename it, or save it as CSV"),
    (b"\x1f\x8b", "gzip-compressed", "decompress it, or rename it to .csv.gz"),
    (b"BZh", "bzip2-compressed", "decompress it, or rename it to .csv.bz2"),
    (b"\xfd7zXZ", "xz-compressed", "decompress it, or rename it to .csv.xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard-compressed", "decompress it, or rename it to .csv.zst"),
)
"""First bytes of binary formats, their names, and the advice for such a file."""

_EXCEL_HINT = re.compile(rb"\s*\"?sep=(.)\"?\r?\n")
"""A first line that names the delimiter, which Excel reads."""


def find(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the path of a file and the ending of its format, ".csv" for standard input.

    Raises FileNotFoundError, IsADirectoryError, and InputError for an unknown ending.
    """
    path = Path(path)
    if str(path) == _STANDARD_INPUT:
        return path, ".csv"
    if path.is_dir():
        files = sorted(child.name for child in path.iterdir() if _is_known(child))
        listed = f"; it holds {', '.join(files[:_MOST_LISTED])}" if files else ""
        raise IsADirectoryError(f"{path} is a directory: expected a file of a table{listed}.")
    if not path.exists():
        raise FileNotFoundError(absence(path))
    if not path.is_file():
        raise InputError(f"{path} is not an ordinary file: pass - and pipe the table as CSV.")
    if not _is_known(path):
        raise InputError(
            f"{path} has the ending {''.join(path.suffixes[-2:])!r}: expected one of "
            f"{', '.join(_ALL)}, or text compressed as {', '.join(_OPENERS)}. Convert the file, or "
            "rename it if it is one of these."
        )
    return path, _ending(path)


def _is_known(path: Path) -> bool:
    return _ending(path) in (TEXT_ENDINGS if path.suffix.lower() in _OPENERS else _ALL)


def _ending(path: Path) -> str:
    """Return the file ending before a compression suffix; "data.gz" counts as text."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() or ".csv" if suffix in _OPENERS else suffix


def place(path: Path) -> Path:
    """Return the path as shown in messages."""
    return Path("standard input") if str(path) == _STANDARD_INPUT else path


def content_of(path: Path) -> bytes:
    """Return the decompressed content of a text file, or of standard input.

    Raises InputError if an archive is damaged, encrypted, or has several files.
    """
    if str(path) == _STANDARD_INPUT:
        if sys.stdin is None:
            raise OSError("Standard input is closed: pipe a table into the command.")
        return sys.stdin.buffer.read()
    compression = path.suffix.lower()
    if compression not in _OPENERS:
        return path.read_bytes()
    try:
        return _OPENERS[compression](path)
    except (InputError, MemoryError, PermissionError):
        raise
    except Exception as error:  # The exception type depends on the format and the damage
        raise InputError(
            f"{path} is not a whole {_NAMES[compression]} file ({error}): copy it again, or "
            "decompress it first."
        ) from error


def _open_zip(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        # macOS adds an extra folder to archives.
        names = [name for name in archive.namelist()
                 if not (name.endswith("/") or name.startswith("__MACOSX/"))]  # fmt: skip
        if len(names) != 1:
            listed = ", ".join(names[:_MOST_LISTED]) + ", ..." * (len(names) > _MOST_LISTED)
            raise InputError(
                f"{path} holds {len(names)} files{f' ({listed})' if names else ''}: expected one "
                "table. Unpack it, and give the file of the table."
            )
        return archive.read(names[0])


def _open_zstandard(path: Path) -> bytes:
    import pyarrow as pa

    with pa.input_stream(str(path), compression="zstd") as file:
        return cast(bytes, file.read())


def _open_by(module: str, path: Path) -> bytes:
    """Decompress a file with a Python module that some builds of Python lack."""
    with import_module(module).open(path) as file:
        return cast(bytes, file.read())


_OPENERS: Mapping[str, Callable[[Path], bytes]] = {
    ".gz": partial(_open_by, "gzip"),
    ".bz2": partial(_open_by, "bz2"),
    ".xz": partial(_open_by, "lzma"),
    ".zst": _open_zstandard,
    ".zip": _open_zip,
}
COMPRESSIONS = tuple(_OPENERS)
_NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard", ".zip": "zip"}


@dataclass(frozen=True, slots=True)
class DelimitedText:
    """A UTF-8 text, its delimiter, and its column names, some of which may be empty.

    Rows are the bytes from ``start`` to ``end``, below ``n_lines`` lines of the file.
    """

    content: bytes
    delimiter: str
    names: list[str]
    notes: tuple[str, ...]
    start: int
    end: int
    n_lines: int
    n_names: int
    encoding: str


def find_layout(path: Path, content: bytes, preferred: str, options: ReadOptions) -> DelimitedText:
    """Find the delimiter and header of a text file; ``preferred`` wins unless another fits better.

    Raises InputError if the content is empty, not text, or of another format.
    """
    from bochner.files.headings import (  # Imports NumPy, which --help does not need
        LOOKED_AT,
        find_heading,
    )

    for mark, format_name, advice in _OTHER_FORMATS:
        if content.startswith(mark):
            raise InputError(f"{path} is {format_name}: {advice}.")
    text, encoding, notes = to_utf8(path, content, options.encoding, is_recorded=options.recorded)
    hint = _EXCEL_HINT.match(text)
    n_skipped = (options.skip or 0) + bool(hint)
    first = _after_lines(text, 0, n_skipped)
    if _FILLED.search(text, first) is None:
        raise InputError(f"{path} is empty: expected a line of column names, then rows.")
    delimiter = hint[1].decode() if hint else delimiter_of(_sample(text, first), preferred)
    if delimiter[0] == " ":
        text, first, delimiter = with_tabs(text[first:], delimiter), 0, "\t"
    rows, lines = records(_sample(text, first), delimiter, LOOKED_AT + 1)
    heading = find_heading(
        rows,
        n_titles=None if options.skip is None else 0,
        n_names=options.header,
        is_recorded=options.recorded,
        lines=[line + bool(hint) for line in lines],
    )
    n_head = heading.n_titles + heading.n_names
    if n_head > len(lines):
        raise InputError(
            f"{path} has {len(lines)} lines before its rows end, and {n_head} are to be above the "
            "rows: give a smaller header (--header) or skip (--skip)."
        )
    n_lines = lines[n_head - 1] if n_head else 0
    start = _after_lines(text, first, n_lines)
    end = len(text) if heading.end is None else _after_lines(text, first, lines[heading.end - 1])
    names, note = fitted(heading.names, rows[n_head : heading.end])
    return DelimitedText(text, delimiter, names, (*notes, *heading.notes, *note), start, end,
                         n_lines + n_skipped, heading.n_names, encoding)  # fmt: skip


def _after_lines(text: bytes, start: int, count: int) -> int:
    """Return the offset after a number of lines, or the length of a shorter text."""
    ends = [match.end() for match in islice(_LINE_END.finditer(text, start), count)]
    return start if not count else ends[-1] if len(ends) == count else len(text)


def _sample(text: bytes, start: int) -> str:
    """Return the first lines of a text from an offset on."""
    match = _LINE_END.search(text, start + _SAMPLE_LENGTH)
    return text[start : match.end() if match else len(text)].decode()


def read_columns(
    path: Path, layout: DelimitedText, options: ReadOptions
) -> tuple[dict[str, pa.ChunkedArray], tuple[str, ...]]:
    """Return the texts of each column, null where missing, by name, and notes on lines left out.

    Empty names become "Unnamed: 0" and so on by position, as in pandas. Raises InputError for rows
    of other lengths than the header unless they are dropped, an open quotation mark, or no rows,
    and ValueError for duplicate names.
    """
    named = [name for name in layout.names if name]
    refuse_repeated(named, f"the first line of {path}", looks_like_numbers(named))
    names = [name or _unnamed(i, named) for i, name in enumerate(layout.names)]
    new = partial(_LeftOut, layout, options.skip is not None, options.bad_lines == "drop")
    left = new()
    columns = _parse(layout, len(names), left)
    if columns is None:  # Arrow refuses the text, or may misread it
        left = new()
        columns = _batches(_checked_rows(path, layout, len(names), left), len(names))
    if not len(columns[0]):
        raise InputError(
            f"{path} has a header but no rows: expected at least one below it. skip= (--skip) and "
            "header= (--header) say which lines are above the rows."
        )
    while len(names) > 1 and not layout.names[len(names) - 1] and (
        columns[-1].null_count == len(columns[-1])
    ):  # fmt: skip
        names, columns = names[:-1], columns[:-1]
    return dict(zip(names, columns, strict=True)), left.notes()


def _unnamed(position: int, names: Sequence[str]) -> str:
    name = f"Unnamed: {position}"
    while name in names:  # The table was saved with its index before
        name += ".1"
    return name


class _LeftOut:
    """Lines among the rows that are left out: comments, remarks, and rows that are dropped."""

    def __init__(self, layout: DelimitedText, keeps_remarks: bool, drops_bad: bool) -> None:
        self.delimiter, self.width = layout.delimiter, len(layout.names)
        self.keeps_remarks, self.drops_bad = keeps_remarks, drops_bad
        self.lines: list[str] = []

    def takes(self, text: str) -> bool:
        """Return whether a line of another length than the names is left out, and record it.

        Comments begin with # or %, and remarks have fewer fields than rows, all of them text.
        """
        from bochner.files.headings import EMPTY, TEXT, kind

        text = text.strip().strip(self.delimiter)
        fields = text.split(self.delimiter)
        is_remark = len(fields) <= self.width / 2 and {*map(kind, fields)} <= {EMPTY, TEXT}
        is_left = self.drops_bad or text[:1] in "#%" or (is_remark and not self.keeps_remarks)
        if is_left and text:
            self.lines.append(text)
        return is_left

    def notes(self) -> tuple[str, ...]:
        """Return a note on the lines that were left out."""
        verb, count = ("s are" if len(self.lines) > 1 else " is"), len(self.lines)
        first = shown(min(self.lines, key=len, default=""))
        return (f"{count} line{verb} left out: comments, remarks, or of another length than the "
                f"names ({first}).",) if count else ()  # fmt: skip


def _parse(layout: DelimitedText, width: int, left: _LeftOut) -> list[pa.ChunkedArray] | None:
    """Return the columns below the header, or None if the text needs the slower parser."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    content, start, end = layout.content, layout.start, layout.end
    n_quotes = content.count(b'"', start, end)
    if n_quotes % 2 or content.count(b'"', 0, start) % 2:  # A quotation mark may be unclosed
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
                invalid_row_handler=lambda row: "skip" if left.takes(row.text) else "error",
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
    pa.default_memory_pool().release_unused()  # Buffers of the parser: half of the columns' size
    return list(table.columns)


def _batches(rows: Iterator[list[str]], width: int) -> list[pa.ChunkedArray]:
    """Return rows as columns of texts, null where empty."""
    import pyarrow as pa

    chunks: list[list[pa.Array]] = [[] for _ in range(width)]
    while batch := list(islice(rows, _BATCH)):
        for i, column in enumerate(chunks):
            column.append(pa.array([row[i] or None for row in batch], pa.string()))
    return [pa.chunked_array(column, pa.string()) for column in chunks]


def _checked_rows(
    path: Path, layout: DelimitedText, width: int, left: _LeftOut
) -> Iterator[list[str]]:
    """Yield the rows of a text that Arrow refuses, or raise an error that names the line."""
    text = layout.content[layout.start : layout.end].decode()
    has_open_quote = (layout.content.count(b'"', 0, layout.start) + text.count('"')) % 2
    # With the extra line end, a field that ends with a line end has an unclosed quotation mark.
    text = (text.rstrip() if width == 1 else text) + "\n"
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=layout.delimiter)
    last, is_below_blank = f"{layout.names[-1]}\n", False
    try:
        for row in rows:
            line = layout.n_lines + rows.line_num
            if len(row) < 2 and not "".join(row).strip():
                is_below_blank = True
                if width == 1 and rows.line_num > 0:
                    yield [""]
                continue
            last = row[-1]
            if len(row) == width:
                yield row
            elif not left.takes(layout.delimiter.join(row)):
                raise InputError(_length_message(path, line, row, width, is_below_blank))
            is_below_blank = False
    except csv.Error as error:
        raise InputError(
            f"{path}, line {layout.n_lines + rows.line_num}: {error}. Is a quotation mark left "
            "open before it?"
        ) from error
    if has_open_quote and last.endswith("\n"):
        raise InputError(
            f"{path} ends within a field that begins with {last[:20].strip()!r}: "
            "close its quotation mark."
        )


def _length_message(path: Path, line: int, row: list[str], width: int, is_apart: bool) -> str:
    """Return an error message for a row with another number of fields than names."""
    n_fields = f"{len(row)} field{'s' * (len(row) > 1)}"
    another = f" If another table begins there, --skip {line - 1} reads it alone." * is_apart
    return (
        f"{path}, line {line}: {n_fields} where the header has {width} ({shown(', '.join(row))})."
        f"{another} Complete or delete the row, put quotation marks around a field that contains "
        "the delimiter, or leave out all such rows by bad_lines='drop' (--bad-lines drop); if the "
        "names are not those of the table, skip= (--skip) gives the number of lines above them."
    )
