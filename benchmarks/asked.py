"""Tables of what was asked beside what was reached."""

from collections.abc import Sequence

from benchmarks.results import markdown_table

Line = tuple[str, str, str, bool]
"""What, asked, reached, and whether it is met."""


def asked_table(lines: Sequence[Line]) -> str:
    """Return the table, a line for each."""
    body = [[what, asked, reached, "yes" if met else "no"] for what, asked, reached, met in lines]
    return markdown_table(("", "asked", "reached", "met"), body)


def count(lines: Sequence[Line]) -> str:
    """Return how many are met, of how many."""
    return f"{sum(met for *_, met in lines)} of {len(lines)}"
