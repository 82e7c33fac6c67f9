"""Progress of a fit, reported as messages."""

from collections.abc import Callable

Progress = Callable[[str], None]
"""A function that is called with a message at every stage of a fit."""


def silent(message: str) -> None:
    """Ignore the message."""
