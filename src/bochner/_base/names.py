"""Column names in messages: abbreviation, repeated names, and suggestions for misspelt ones."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

ColumnDetails = Sequence[tuple[str, str]]
"""Pairs of a column's name and a detail, which may be empty."""

MOST_NAMED = 5
"""Columns that a message names before it counts the rest: a message stays within a few lines."""

_LEAST_SIMILARITY, _OF_SHORT = 0.7, 0.65
"""difflib's ratio from which a name, or one of three letters or fewer, counts as a misspelling:
"Prize" and "price" have 0.8, "ntk" and "nkt" 0.67, but so have "linear" and "hellinger"."""

_FEWEST_LETTERS = 3
"""Letters from which a name counts as meant by a longer one: "mpg" by "comb_mpg"."""

MOST_LETTERS, _MOST_OF_NOTE, _MOST_OF_REASON = 60, 40, 400
"""Letters of a value in a message, of one of two in a note, and of another library's reason."""
_MOST_BITS = 128  # Bits of a shown whole number: they have 39 digits; Python writes no 4,301


def listed(parts: Sequence[str], most: int = MOST_NAMED) -> str:
    """Join the first ``most`` texts by commas, and count the remaining texts.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdefg"), 3)
    ('a', 'a, b and c', 'a, b, c and 4 more')
    """
    shown = [*parts[:most], *([f"{len(parts) - most} more"] if len(parts) > most else [])]
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def naming(columns: ColumnDetails) -> str:
    """Format the names and details of at most five columns, and the number of the rest."""
    texts = [f"{shown(name)} ({detail})" if detail else shown(name) for name, detail in columns]
    return f"column{'s' if len(columns) > 1 else ''} {listed(texts)}"


def refuse_repeated(names: Sequence[str], place: str = "the table", hint: str = "") -> None:
    """Raise ValueError if a column name occurs more than once in a table."""
    counts = Counter(names)
    repeated = [(name, f"{count} times") for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(
            f"Duplicate {naming(repeated)} in {place}: expected distinct names. "
            f"Rename or delete one of each.{hint}"
        )


def looks_like_numbers(names: Sequence[str]) -> str:
    """Return a hint if all column names are numbers, which suggests a missing header."""
    plain = (name.replace(".", "", 1).lstrip("+-") for name in names)
    if not all(name.isdigit() for name in plain):
        return ""
    return " The first line holds numbers only: is the line of column names missing?"


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate of similar spelling, or one that contains a name or is part of it.

    >>> nearest("Prise", ["size", "price"]), nearest("mpg", ["comb_mpg"]), nearest("nkt", ["ntk"])
    ('price', 'comb_mpg', 'ntk')
    >>> nearest("target", ["market"]), nearest("linear", ["hellinger"])
    (None, None)
    """
    folded, word = {candidate.casefold(): candidate for candidate in candidates}, name.casefold()
    cutoff = _LEAST_SIMILARITY if len(word) > _FEWEST_LETTERS else _OF_SHORT
    close = difflib.get_close_matches(word, folded, n=1, cutoff=cutoff)
    if not close:
        longer = [c for c in folded if min(len(c), len(word)) >= _FEWEST_LETTERS
                  and (c in word or word in c)]  # fmt: skip
        close = difflib.get_close_matches(word, longer, n=1, cutoff=0.0)
    return folded[close[0]] if close else None


_PLURALS = {"has": "have", "holds": "hold", "is": "are", "differs": "differ", "counts": "count"}


def shown(value: object) -> str:
    """Format a value for a message, shortened and without NumPy's type name."""
    plain: Any = value
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        plain = plain.item()  # Without an import of NumPy, which a command's start does not need
    if isinstance(plain, int) and plain.bit_length() > _MOST_BITS:
        return f"a whole number of {plain.bit_length()} bits"
    text = repr(plain)
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 4]}...{text[-1]}"


def brief(entry: object, most: int = _MOST_OF_NOTE) -> str:
    """Format an entry for a note, without quotes and control characters, and shortened."""
    text = str(entry)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= most else text[: most - 3] + "..."


def one_line(problem: object) -> str:
    """Return what an error says, as one line that is at most a few lines of a terminal."""
    return brief(" ".join(str(problem).split()), _MOST_OF_REASON)


class Remarks:
    """Collects remarks on columns, and merges columns with the same remark into one sentence."""

    def __init__(self) -> None:
        self._entries: dict[str, list[tuple[str, str]]] = {}

    def add(self, name: str, words: str, example: str = "") -> None:
        """Add a remark that begins with a verb, to follow the name of a column."""
        self._entries.setdefault(words, []).append((name, example))

    def forget(self, name: str) -> None:
        """Remove the remarks on a column."""
        remaining = {words: [entry for entry in entries if entry[0] != name]
                     for words, entries in self._entries.items()}  # fmt: skip
        self._entries = {words: entries for words, entries in remaining.items() if entries}

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each kind of remark, with the example of its first column."""
        return tuple(map(_sentence, self._entries, self._entries.values()))


def _sentence(words: str, entries: ColumnDetails) -> str:
    subject = listed([shown(name) for name, _ in entries])
    if len(entries) > 1:
        verb, _, rest = words.partition(" ")
        words = f"{_PLURALS[verb]} {rest.replace(' and is ', ' and are ')}"
    name, example = next((entry for entry in entries if entry[1]), ("", ""))
    example = f"{shown(name)}: {example}" if example and len(entries) > 1 else example
    return f"{subject} {words}{f' ({example})' if example else ''}."
