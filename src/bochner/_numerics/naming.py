"""Column names in messages, and the check that column names are unique."""

from collections import Counter
from collections.abc import Sequence

ColumnDetails = Sequence[tuple[str, str]]
"""Pairs of a column's name and a detail, which may be empty."""

MOST_NAMED = 5
"""Columns that a message names before it counts the rest: a message stays within a few lines."""

_MOST_LETTERS = 60
"""Letters of a name that a message shows: most of a line."""


def naming(columns: ColumnDetails) -> str:
    """Return the names and details of at most five columns, and the number of further columns."""
    shown = [f"{_brief(name)} ({detail})" if detail else _brief(name) for name, detail in columns]
    n_unnamed = len(shown) - MOST_NAMED
    shown = [*shown[:MOST_NAMED], f"{n_unnamed} more"] if n_unnamed > 0 else shown
    listed = " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)
    return f"column{'s' if len(columns) > 1 else ''} {listed}"


def _brief(name: str) -> str:
    """Format a name for a message, shortened if it does not fit into a line."""
    return repr(name if len(name) <= _MOST_LETTERS else f"{name[:_MOST_LETTERS]}…")


def refuse_repeated(names: Sequence[str], place: str = "the table", hint: str = "") -> None:
    """Raise ValueError for names that a table has more than once."""
    counts = Counter(names)
    repeated = [(name, f"{count} times") for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(
            f"Duplicate {naming(repeated)} in {place}: expected distinct names. "
            f"Rename or delete one of each.{hint}"
        )
