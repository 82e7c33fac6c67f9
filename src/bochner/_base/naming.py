"""Names in messages, suggestions for misspelled ones, and the check of unique column names."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

ColumnDetails = Sequence[tuple[str, str]]
"""Pairs of a column's name and a detail, which may be empty."""

MOST_NAMED = 5
"""Columns that a message names before it counts the rest: a message stays within a few lines."""

_LEAST_SIMILARITY = 0.5
"""difflib's ratio from which a name counts as a misspelling: "Prize" and "price" have 0.8."""

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


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to a name, ignoring case, or None."""
    folded = {candidate.casefold(): candidate for candidate in candidates}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=_LEAST_SIMILARITY)
    return folded[close[0]] if close else None
