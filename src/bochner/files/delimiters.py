"""Delimiters of text files: characters, spaces, or fixed places, by the fields that they give."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from contextlib import suppress

_DELIMITERS = {",": 1.0, ";": 1.0, "\t": 1.0, "|": 1.0, " ": 0.8, "^": 0.7, "~": 0.7, "\x01": 0.7,
               ":": 0.6}  # fmt: skip
"""Candidate delimiters and factors of their scores; a blank is any number of blanks."""

_COMMON = ",;\t|"
"""Delimiters that need no line of names with as many fields as the rows."""

_COLUMNS_OF_SPACES = 0.7
"""Factor of the score of columns at fixed places, with blanks between them in each line."""

_SAMPLE_RECORDS, _TYPED_RECORDS = 200, 50
"""First records in which fields are counted, and those whose types are compared."""

_FEWEST_FIXED = 5
"""Fewest lines in which columns at fixed places are searched."""

_YEAR = re.compile(r"(?:19|20)\d\d")
_OTHER = re.compile(r"[;\t|]|,.*[^\W\d]|[^\W\d].*,")
_CROSSING = re.compile(r"\S\S")
_BLANKS = re.compile(rb"[ \t]+")
_MARGINS = re.compile(rb"(?m)^[ \t#%]+|[ \t]+(?=\r?$)")

Records = list[list[str]]


def records(text: str, delimiter: str, count: int | None = None) -> tuple[Records, list[int]]:
    """Return records of stripped fields, and for each the number of lines up to its end.

    Blank lines are empty records.
    """
    rows: Records = []
    lines: list[int] = []
    reading = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    with suppress(csv.Error):  # A field is too long: reading the rows reports the line
        for row in reading:
            fields = [field.strip() for field in row]
            rows.append(fields if len(fields) > 1 or any(fields) else [])
            lines.append(reading.line_num)
            if len(rows) == count:
                break
    return rows, lines


def delimiter_of(sample: str, preferred: str) -> str:
    """Return the delimiter by which most lines have the same number of fields of known types.

    If several do, it is the preferred one, or the one with more fields. Columns of spaces are
    " ", or " " and the places where they begin.
    """
    lines = sample.splitlines()[:_SAMPLE_RECORDS]
    best, best_score = preferred, (0.0, False, 0)
    for delimiter, factor in _DELIMITERS.items():
        text = with_tabs(sample.encode(), " ").decode() if delimiter == " " else sample
        rows, _ = records(text, "\t" if delimiter == " " else delimiter, _SAMPLE_RECORDS)
        share, width = _agreement(rows, needs_names=delimiter not in _COMMON)
        score = (factor * share, delimiter == preferred, width)
        if share > 0.0 and score > best_score:
            best, best_score = delimiter, score
    cuts = _cuts(lines) if best_score[0] < _COLUMNS_OF_SPACES else []
    share, _ = _agreement([_cells_at(line, cuts) for line in lines])
    is_better = _COLUMNS_OF_SPACES * share > best_score[0]
    return " " + ",".join(map(str, cuts)) if is_better else best


def _agreement(rows: Records, *, needs_names: bool = False) -> tuple[float, int]:
    """Return the share of records that have the most frequent number of fields, and that number.

    Fields that are no numbers or dates count as three quarters. With ``needs_names``, the first of
    the records must have names: text, or years.
    """
    from bochner.files.headings import DATE, EMPTY, NUMBER, TEXT, kind

    filled = [row for row in rows if row]
    counts = Counter(len(row) for row in filled if len(row) > 1)
    if not counts:
        return 0.0, 0
    width = max(counts, key=lambda width: (counts[width], width == len(filled[0])))
    alike = [row for row in filled if len(row) == width]
    if needs_names and any(kind(cell) != TEXT and not _YEAR.fullmatch(cell) for cell in alike[0]):
        return 0.0, width
    cells = [cell for row in alike[:_TYPED_RECORDS] for cell in row]
    kinds = Counter(kind(cell) for cell in cells if not _OTHER.search(cell))
    typed = (kinds[NUMBER] + kinds[DATE]) / max(len(cells) - kinds[EMPTY], 1)
    return len(alike) / len(filled) * (0.75 + 0.25 * typed), width


def _cuts(lines: list[str]) -> list[int]:
    """Return the places at which columns begin that are blank in each line but the first ones."""
    filled = [line for line in lines if line.strip()]
    body = filled[len(filled) // 3 :]
    width = max(map(len, body), default=0) if len(body) >= _FEWEST_FIXED else 0
    is_filled = [any(line[i : i + 1].strip() for line in body) for i in range(width)]
    cuts = []
    for gap in re.finditer("0+", "".join(str(int(filled)) for filled in is_filled).lstrip("0")):
        margin = is_filled.index(True)
        places = range(margin + gap.start() + 1, margin + gap.end() + 1)
        # Names may be wider than the entries below them; titles above the names matter less.
        crossed = {j: sum(i for i, line in enumerate(filled, 1) if _CROSSING.match(line, j - 1))
                   for j in places}  # fmt: skip
        cuts.append(min(reversed(places), key=crossed.__getitem__))
    return cuts


def with_tabs(text: bytes, spaces: str) -> bytes:
    """Return a text of columns of spaces as one with tabs between the columns."""
    if spaces == " ":
        return _BLANKS.sub(b"\t", _MARGINS.sub(b"", text))
    cuts = [int(cut) for cut in spaces[1:].split(",")]
    lines = ("\t".join(_cells_at(line, cuts)) for line in text.decode().splitlines())
    return "\n".join(lines).encode() + b"\n"


def _cells_at(line: str, cuts: list[int]) -> list[str]:
    """Return the cells of a line between places, or the whole line if a word crosses one."""
    if not line.strip() or any(_CROSSING.match(line, i - 1) for i in cuts):
        return [line.strip()]
    return [line[i:j].strip() for i, j in zip([0, *cuts], [*cuts, None], strict=True)]


def fitted(names: list[str], rows: Records) -> tuple[list[str], tuple[str, ...]]:
    """Return as many names as rows have fields if one end has empty fields, and a note on it."""
    names = [name.strip() for name in names]
    widths = Counter(len(row) for row in rows if row)
    width = max(widths, key=lambda width: (widths[width], width), default=len(names))
    typical = [row for row in rows if len(row) == width]
    if width > len(names) > 0 and not any(any(row[len(names) :]) for row in typical):
        note = "Rows end with a delimiter, and the names do not: the last field is left out."
        return names + [""] * (width - len(names)), (note,)
    if width == len(names) + 1 and len({row[0] for row in typical}) == len(typical) > 1:
        return ["", *names], ("Rows begin with a field that has no name, such as row names of R.",)
    if 0 < width < len(names) and not any(names[width:]):
        return names[:width], ("Names end with a delimiter, and the rows do not.",)
    return names, ()
