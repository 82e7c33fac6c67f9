"""The error of input that cannot be used, and the remedy for misspelled names."""

import difflib
from collections.abc import Iterable

_LEAST_SIMILARITY = 0.5
"""difflib's ratio from which a name counts as a misspelling: "Prize" and "price" have 0.8."""


class InputError(ValueError):
    """A file or a table that cannot be used; the message says what to do."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to a name, ignoring case, or None."""
    folded = {candidate.casefold(): candidate for candidate in candidates}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=_LEAST_SIMILARITY)
    return folded[close[0]] if close else None
