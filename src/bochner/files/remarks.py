"""Notes on a table: one plain sentence for all columns of which the same is to be said."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_NAMED = 5
"""Columns that a note names before it counts the rest: a note stays within a few lines."""

_SHOWN_LENGTH = 40
"""Most characters of an entry that a note shows."""


class Remarks:
    """Remarks on columns, in the order in which the first of each kind is added."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[tuple[str, str]]] = {}

    def add(self, name: str, singular: str, plural: str, example: str = "") -> None:
        """Add a remark, in words that follow the name of one column or the names of several."""
        self._found.setdefault((singular, plural), []).append((name, example))

    def forget(self, name: str) -> None:
        """Take back the remarks on a column."""
        remaining = {words: [entry for entry in entries if entry[0] != name]
                for words, entries in self._found.items()}  # fmt: skip
        self._found = {words: entries for words, entries in remaining.items() if entries}

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each kind of remark, with the example of its first column."""
        return tuple(map(_sentence, self._found, self._found.values()))


def shown(entry: object) -> str:
    """Return an entry for a note, without control characters, and cut if it is long."""
    text = str(entry)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 3] + "..."


def _sentence(words: tuple[str, str], entries: Sequence[tuple[str, str]]) -> str:
    names = [repr(name) for name, _ in entries]
    n_unnamed = len(names) - _MOST_NAMED
    names = [*names[:_MOST_NAMED], f"{n_unnamed} more"] if n_unnamed > 0 else names
    subject = " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
    predicate = words[0] if len(entries) == 1 else words[1]
    name, example = next((entry for entry in entries if entry[1]), ("", ""))
    example = f"{name!r}: {example}" if example and len(entries) > 1 else example
    return f"{subject} {predicate}{f' ({example})' if example else ''}."
