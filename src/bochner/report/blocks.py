"""Parts of a report: sections with paragraphs, tables, figures and findings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import ClassVar

MOST_UNFOLDED = 12
"""Most columns that are shown without a click: more fill a screen."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    text: str
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True, slots=True)
class Bullets:
    """Short sentences below each other."""

    items: Sequence[str]
    kind: ClassVar[str] = "bullets"


@dataclass(frozen=True, slots=True)
class Listing:
    """Text to copy, such as a command."""

    title: str
    text: str
    kind: ClassVar[str] = "listing"


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values."""

    items: Mapping[str, str]
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True, slots=True)
class Cell:
    """A text in a table, and the number that it is sorted by, if it is one."""

    text: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, each row with its name first; columns of numbers are aligned on the right."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    emphasized: int | None = None  # Number of a row
    is_folded: bool = False  # Whether a click shows the rows
    kind: ClassVar[str] = "table"

    @property
    def numeric(self) -> list[bool]:
        """Whether the cells of each column are numbers."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.heads)
        return [any(cell.value is not None for cell in column) for column in columns]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with a caption."""

    title: str
    svg: str
    caption: str
    number: int = 0
    kind: ClassVar[str] = "figure"

    def numbered(self, number: int) -> "Figure":
        """Return the figure with a number."""
        return replace(self, number=number)


@dataclass(frozen=True, slots=True)
class Figures:
    """Small figures next to each other."""

    figures: Sequence[Figure]
    kind: ClassVar[str] = "figures"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check of the model or the data, its meaning and advice.

    ``weight`` is ``"check"`` if the reader has to act, ``"note"`` if the result is for information,
    and ``"fine"`` if nothing is wrong.
    """

    weight: str
    title: str
    meaning: str = ""
    advice: str = ""


def fine(title: str) -> Finding:
    """Return a finding for a check without problems."""
    return Finding("fine", title)


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings below each other."""

    items: Sequence[Finding]
    kind: ClassVar[str] = "findings"


Block = Paragraph | Bullets | Listing | Facts | Table | Figure | Figures | Findings


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with a title, blocks and optional subsections."""

    anchor: str
    title: str
    blocks: Sequence[Block] = ()
    parts: Sequence["Section"] = ()
    number: str = field(default="")


def numbered(sections: Sequence[Section]) -> list[Section]:
    """Return sections with their numbers, and figures and tables counted through."""
    return list(_numbered(sections, "", count(1)))


def _numbered(
    sections: Sequence[Section], prefix: str, numbers: Iterator[int]
) -> Iterator[Section]:
    for place, section in enumerate(sections, 1):
        number = f"{prefix}{place}"
        blocks = [_with_numbers(block, numbers) for block in section.blocks]
        parts = list(_numbered(section.parts, f"{number}.", numbers))
        yield replace(section, number=number, blocks=blocks, parts=parts)


def _with_numbers(block: Block, numbers: Iterator[int]) -> Block:
    if isinstance(block, Figure):
        return block.numbered(next(numbers))
    if isinstance(block, Figures):
        return Figures([figure.numbered(next(numbers)) for figure in block.figures])
    return block
