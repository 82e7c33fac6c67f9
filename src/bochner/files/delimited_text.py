"""Texts of the columns of a delimited file, with its delimiter, names and lines left out."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bochner._base.names import brief, looks_like_numbers, refuse_repeated
from bochner.files.errors import InputError
from bochner.files.headings import (
    DATE,
    EMPTY,
    LOOKED_AT,
    NUMBER,
    TEXT,
    Heading,
    Rows,
    all_named,
    find_heading,
    kind,
)
from bochner.files.read_options import ReadOptions
from bochner.files.text_files import content_of, place, to_utf8

if TYPE_CHECKING:
    import pandas as pd

_DELIMITERS = {",": 1.0, ";": 1.0, "\t": 1.0, "|": 1.0, " ": 0.8, "^": 0.7, "~": 0.7, "\x01": 0.7,
               ":": 0.6}  # fmt: skip
"""Candidate delimiters and factors of their scores; a blank is any number of blanks."""

_COMMON = ",;\t|"  # Delimiters that need no line of names with as many fields as the rows
_COLUMNS_OF_SPACES = 0.7
"""Factor of the score of columns at fixed places, with blanks between them in each line."""

_TYPED_RECORDS, _FEWEST_FIXED = 50, 5
"""First records whose types are compared, and fewest lines in which fixed places are searched."""

_SAMPLE_LENGTH = 1 << 16
"""Bytes of the file, or a few more, in which the delimiter is searched: hundreds of lines."""

_BLOCK_SIZE = 1 << 22
"""Bytes that Arrow parses at once, which bounds the length of a row: 4 MiB take the least time."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_FILLED = re.compile(rb"\S")
_YEAR = re.compile(r"(?:19|20)\d\d")
_OTHER = re.compile(r"[;\t|]|,.*[^\W\d]|[^\W\d].*,")
_DIVIDED = re.compile(r"[;\t|]")
_CROSSING = re.compile(r"\S\S")
_BLANKS = re.compile(r"[ \t]+")
_MARGINS = re.compile(r"(?m)^[ \t#%]+|[ \t]+(?=\r?$)")

_LABEL = re.compile(r"[^\W\d_]{3,}[^\W\d]*:")
"""A word and a colon, such as "created: 2021-07-21", at the beginning of a remark."""

_MOST_LISTED = 3  # Lines that the note on lines left out lists, the shortest ones
_IN_QUOTES = re.compile(r'\s*"((?:[^"]|"")*)"\s*|\s*$')
"""A line that is in quotation marks as a whole, or blank."""

_EXCEL_HINT = re.compile(rb"\s*\"?sep=(.)\"?\r?\n")
"""A first line that names the delimiter, which Excel reads."""


@dataclass(frozen=True, slots=True, eq=False)
class RawColumns:
    """Columns (n,) by name before conversion, the delimiter of a text file, and lines of names."""

    columns: dict[str, pd.Series]
    notes: tuple[str, ...] = ()
    delimiter: str = ""
    n_names: int | None = None
    encoding: str | None = None


def read_texts(path: Path, preferred: str, options: ReadOptions) -> RawColumns:
    """Return the columns of a file as texts; the ``preferred`` delimiter wins if it fits."""
    source = place(path)
    text, encoding, notes = to_utf8(
        source, content_of(path), options.encoding, is_recorded=options.recorded
    )
    hint = _EXCEL_HINT.match(text)
    n_skipped = (options.skip or 0) + bool(hint)
    first = _after_lines(text, 0, n_skipped)
    if _FILLED.search(text, first) is None:
        raise InputError(f"{source} is empty: expected a line of column names, then rows.")
    quoted, text = text, _without_outer_quotes(text, first, preferred)
    first = first if text is quoted else 0
    delimiter = hint[1].decode() if hint else delimiter_of(_sample(text, first), preferred)
    if delimiter[0] == " ":
        text, first, delimiter = _tabbed(text[first:].decode(), delimiter).encode(), 0, "\t"
    rows, lines = records(_sample(text, first), delimiter)
    heading = find_heading(rows, options, [line + bool(hint) for line in lines])
    n_head = heading.n_titles + heading.n_names
    if n_head > len(lines):
        raise InputError(
            f"{source} has {len(lines)} lines before its rows end, and {n_head} are to be above "
            "the rows: give a smaller header (--header) or skip (--skip)."
        )
    names, note = _fitted(heading, rows)
    named = [name for name in names if name]
    if hint_of_numbers := looks_like_numbers(named):
        refuse_repeated(named, f"the first line of {source}", hint_of_numbers)
    n_lines = lines[n_head - 1] if n_head else 0
    start = _after_lines(text, first, n_lines)
    end = len(text) if heading.end is None else _after_lines(text, first, lines[heading.end - 1])
    body = _Body(source, text, delimiter, names, start, end, n_lines + n_skipped, options)
    columns = body.columns()
    while len(names) > 1 and not names[-1] and columns[-1].isna().all():
        names, columns = names[:-1], columns[:-1]
    names, of_names = all_named(names)
    notes = (*notes, *heading.notes, *note, *of_names, *body.notes())
    return RawColumns(
        dict(zip(names, columns, strict=True)), notes, delimiter, heading.n_names, encoding
    )


def _without_outer_quotes(text: bytes, start: int, preferred: str) -> bytes:
    """Return a text whose lines are in quotation marks as a whole without these marks."""
    sample = _sample(text, start).splitlines()
    if not all(map(_IN_QUOTES.fullmatch, sample)):
        return text
    inner = "\n".join(_IN_QUOTES.sub(_content, line) for line in sample)
    delimiter = delimiter_of(inner, preferred)
    widths = {len(row) for row in records(inner, delimiter)[0] if row}
    if len(widths) != 1 or widths == {1} or delimiter not in _COMMON:
        return text
    lines = text[start:].decode().splitlines()
    return "\n".join(_IN_QUOTES.sub(_content, line) for line in lines).encode()


def _content(match: re.Match[str]) -> str:
    return (match[1] or "").replace('""', '"')


def _after_lines(text: bytes, start: int, count: int) -> int:
    """Return the offset after a number of lines, or the length of a shorter text."""
    ends = [match.end() for match in islice(_LINE_END.finditer(text, start), count)]
    return start if not count else ends[-1] if len(ends) == count else len(text)


def _sample(text: bytes, start: int) -> str:
    """Return the first lines of a text from an offset on."""
    match = _LINE_END.search(text, start + _SAMPLE_LENGTH)
    return text[start : match.end() if match else len(text)].decode()


def records(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Return the first records of stripped fields, and the number of lines up to each one's end."""
    text, delimiter = _tabbed(text, delimiter), delimiter.replace(" ", "\t")[0]
    rows: list[list[str]] = []
    lines: list[int] = []
    reading = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    with suppress(csv.Error):  # A field is too long: reading the rows reports the line
        for row in islice(reading, LOOKED_AT + 1):
            fields = [field.strip() for field in row]
            rows.append(fields if len(fields) > 1 or any(fields) else [])
            lines.append(reading.line_num)
    return rows, lines


def delimiter_of(sample: str, preferred: str) -> str:
    """Return the delimiter by which most lines have the same number of fields of known types.

    Columns of spaces are " ", or " " and the places where they begin.
    """
    best, best_score = preferred, (0.0, False, 0)
    places = " " + ",".join(map(str, _places(sample.splitlines()[:LOOKED_AT])))
    by_blanks = csv.reader(sample.splitlines()[:LOOKED_AT], delimiter=" ")
    has_quoted_blanks = any(" " in cell for row in by_blanks for cell in row)
    for delimiter, factor in ((places, _COLUMNS_OF_SPACES), *_DELIMITERS.items()):
        if has_quoted_blanks and delimiter[0] == " ":
            continue
        rows = [row for row in records(sample, delimiter)[0] if row]
        share, width = _agreement(rows, delimiter)
        score = (factor * share, delimiter == preferred, width)
        if share > 0.0 and score > best_score:
            best, best_score = delimiter, score
    return best


def _agreement(rows: Rows, delimiter: str) -> tuple[float, int]:
    """Return the share of records with the most frequent number of fields, and that number."""
    counts = Counter(len(row) for row in rows if len(row) > 1)
    if not counts:
        return 0.0, 0
    width = max(counts, key=lambda width: (counts[width], width == len(rows[0])))
    alike = [row for row in rows if len(row) == width]
    needs_no_names = delimiter in _COMMON or len(delimiter) > 1
    if not (needs_no_names or all(kind(x) == TEXT or _YEAR.fullmatch(x) for x in alike[0])):
        return 0.0, width
    if not needs_no_names and sum(len(row) == 1 for row in rows) > len(alike):
        return 0.0, width  # Names or remarks of several words above one column
    cells = [cell for row in alike[:_TYPED_RECORDS] for cell in row]
    kinds = Counter(kind(cell) for cell in cells if not _OTHER.search(cell))
    typed = (kinds[NUMBER] + kinds[DATE]) / max(len(cells) - kinds[EMPTY], 1)
    if delimiter not in _COMMON and sum(map(bool, rows[0])) == 1 and not typed:
        return 0.0, width  # A name above texts of several words
    divided = sum(_DIVIDED.search(cell) is not None for cell in cells) / len(cells)
    return len(alike) / len(rows) * (0.75 + 0.25 * typed) * (1.0 - 0.5 * divided), width


def _places(lines: list[str]) -> list[int]:
    """Return the places at which columns begin that are blank in each line but the first ones."""
    filled = [line for line in lines if line.strip()]
    body = filled[len(filled) // 3 :]
    if len(body) < _FEWEST_FIXED:
        return []
    is_filled = {match.start() for line in body for match in re.finditer(r"\S", line)}
    mask = "".join("01"[i in is_filled] for i in range(max(is_filled) + 1))
    places = []
    for gap in re.finditer("(?<=1)0+", mask):
        # Names may be wider than the entries below them; titles above the names matter less.
        crossed = {j: sum(i for i, line in enumerate(filled, 1) if _CROSSING.match(line, j - 1))
                   for j in range(gap.end(), gap.start(), -1)}  # fmt: skip
        places.append(min(crossed, key=crossed.__getitem__))
    return places


def _tabbed(text: str, delimiter: str) -> str:
    """Return a text of columns of spaces as one with tabs between the columns, others unchanged."""
    if delimiter[0] != " ":
        return text
    if delimiter == " ":
        return _BLANKS.sub("\t", _MARGINS.sub("", text))
    places = [int(place) for place in delimiter.split(",")]
    lines = []
    for line in text.splitlines():
        is_whole = not line.strip() or any(_CROSSING.match(line, i - 1) for i in places)
        parts = [(0, None)] if is_whole else zip([0, *places], [*places, None], strict=True)
        lines.append("\t".join(line[i:j].strip() for i, j in parts) + "\n")
    return "".join(lines)


def _fitted(heading: Heading, rows: Rows) -> tuple[list[str], tuple[str, ...]]:
    """Return as many names as rows have fields if one end has empty fields, and a note on it."""
    names = [name.strip() for name in heading.names]
    rows = [row for row in rows[heading.n_titles + heading.n_names : heading.end] if row]
    widths = Counter(map(len, rows))
    width = max(widths, key=lambda width: (widths[width], width), default=len(names))
    typical = [row for row in rows if len(row) == width]
    if width > len(names) > 0 and not any(any(row[len(names) :]) for row in typical):
        note = "Rows end with a delimiter, and the names do not: the last field is left out."
        return names + [""] * (width - len(names)), (note,)
    if width == len(names) + 1 and len({row[0] for row in typical}) == len(typical) > 1:
        return ["", *names], ("Rows begin with a field that has no name, such as row names of R.",)
    if 0 < width < len(names) and not any(names[width:]):
        return names[:width], ("Names end with a delimiter, and the rows do not.",)
    if 0 < len(names) - width < width and set(widths) == {width}:
        lacking = brief(", ".join(map(repr, names[width:])))
        return names[:width], (f"No row has a field for the last name, {lacking}: it is left out.",)
    return names, ()


@dataclass(slots=True, eq=False)
class _Body:
    """The rows of a text from ``start`` to ``end``, below ``n_lines`` lines of the file."""

    path: Path
    text: bytes
    delimiter: str
    names: list[str]
    start: int
    end: int
    n_lines: int
    options: ReadOptions
    left: list[str] = field(default_factory=list)

    def takes(self, row: Sequence[str]) -> bool:
        """Return whether a row of another length is left out, such as a remark, and record it."""
        line = self.delimiter.join(row).strip().strip(self.delimiter)
        fields = row[: max((i for i, cell in enumerate(row, 1) if cell.strip()), default=0)]
        is_remark = 2 * len(fields) <= len(self.names) and all(
            kind(cell) in (EMPTY, TEXT) or _LABEL.match(cell) for cell in fields
        )
        is_left = self.options.bad_lines == "drop" or line[:1] in "#%"
        is_left |= is_remark and self.options.skip is None
        self.left.extend([line] * bool(is_left and line))
        return is_left

    def _handle(self, row: Any) -> str:
        fields = next(csv.reader([row.text], delimiter=self.delimiter), [])
        return "skip" if self.takes(fields) else "error"

    def notes(self) -> tuple[str, ...]:
        """Return a note on the lines that were left out."""
        verb, count = ("s are" if len(self.left) > 1 else " is"), len(self.left)
        first = brief(" / ".join(sorted(dict.fromkeys(self.left), key=len)[:_MOST_LISTED]))
        return (f"{count} line{verb} left out: comments, remarks, or of another length than the "
                f"names ({first}).",) if count else ()  # fmt: skip

    def columns(self) -> list[pd.Series]:
        """Return the columns of texts."""
        import pandas as pd
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        text, width = self.text, len(self.names)
        n_quotes = text.count(b'"', self.start, self.end)
        if (n_quotes + text.count(b'"', 0, self.start)) % 2:
            self._check()
        body = pa.py_buffer(text).slice(self.start, self.end - self.start)
        if width == 1:  # Blank lines at the end are no rows
            body = text[self.start : self.end].rstrip(b"\r\n\t ") + b"\n"
        columns = [f"f{i}" for i in range(width)]
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(body),
                read_options=arrow_csv.ReadOptions(
                    use_threads=False,  # Threads keep up to a third of the memory
                    column_names=columns,
                    block_size=_BLOCK_SIZE,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=n_quotes > 0,
                    ignore_empty_lines=width > 1,
                    invalid_row_handler=self._handle,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(columns, pa.string()),
                    null_values=[""],
                    strings_can_be_null=True,
                    check_utf8=False,
                ),
            )
        except pa.ArrowInvalid as error:
            self._check()
            raise InputError(f"{self.path} cannot be read as a table ({error}).") from None
        if not len(table) or _FILLED.search(text, self.start, self.end) is None:
            self._check()
        pa.default_memory_pool().release_unused()  # Half of the columns' size, of the parser
        return [pd.Series(pd.arrays.ArrowExtensionArray(column)) for column in table.columns]

    def _check(self) -> None:
        """Raise InputError for a row of another length, an open quotation mark, or no rows."""
        width, n_rows, is_apart, last = len(self.names), 0, False, f"{self.names[-1]}\n"
        # With the extra line end, a field that ends with a line end has an unclosed quotation mark.
        text = self.text[self.start : self.end].decode() + "\n"
        reading = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter)
        try:
            for row in reading:
                is_blank = len(row) < 2 and not "".join(row).strip()
                last = last if is_blank else row[-1]
                if not (is_blank or len(row) == width or self.takes(row)):
                    raise InputError(self._length_message(reading.line_num, row, is_apart))
                n_rows += not is_blank and len(row) == width
                is_apart = is_blank
        except csv.Error as error:
            raise InputError(
                f"{self.path}, line {self.n_lines + reading.line_num}: {error}. Is a quotation "
                "mark left open before it?"
            ) from error
        if self.text.count(b'"', 0, self.end) % 2 and last.endswith("\n"):
            raise InputError(
                f"{self.path} ends within a field that begins with {last[:20].strip()!r}: "
                "close its quotation mark."
            )
        if not n_rows:
            raise InputError(
                f"{self.path} has a header but no rows: expected at least one below it. skip= "
                "(--skip) and header= (--header) say which lines are above the rows."
            )
        self.left.clear()

    def _length_message(self, line: int, row: list[str], is_apart: bool) -> str:
        """Return an error message for a row with another number of fields than names."""
        line += self.n_lines
        n_fields = f"{len(row)} field{'s' * (len(row) > 1)}"
        another = f" If another table begins there, --skip {line - 1} reads it alone." * is_apart
        return (
            f"{self.path}, line {line}: {n_fields} where the header has {len(self.names)} "
            f"({brief(', '.join(row))}).{another} Complete or delete the row, put quotation marks "
            "around a field that contains the delimiter, or leave out all such rows by "
            "bad_lines='drop' (--bad-lines drop); if the names are not those of the table, skip= "
            "(--skip) gives the number of lines above them."
        )
