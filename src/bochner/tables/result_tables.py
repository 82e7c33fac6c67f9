"""Results that print as a table, become a data frame, and show themselves in notebooks."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Cells = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Headings (k,) and rows (n, k) of a table of texts."""


class ResultTable(ABC):
    """Base class of importance, effects and contributions."""

    __slots__ = ()

    @abstractmethod
    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the data frame."""

    @abstractmethod
    def cells(self) -> Cells:
        """Return headings and rows of the printed table, with as many digits as mean something."""

    def to_frame(self) -> "pd.DataFrame":
        """Return the numbers as a pandas.DataFrame."""
        import pandas as pd

        return pd.DataFrame(list(self))

    def __repr__(self) -> str:
        heading, rows = self.cells()
        columns = zip(heading, *rows, strict=True)
        widths = [max(map(len, column)) for column in columns]
        lines = [map(str.rjust, row, widths) for row in (heading, *rows)]
        return "\n".join("  ".join(line) for line in lines)

    def _repr_html_(self) -> str:
        heading, rows = self.cells()
        lines = [("th", heading), *(("td", row) for row in rows)]
        texts = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in lines)
        return f"<table><tr>{'</tr><tr>'.join(texts)}</tr></table>"
