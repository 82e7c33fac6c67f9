"""The error of a fitted model that has no answer of a kind, whatever the rows."""


class NotPromisedError(ValueError):
    """A sound model has no such answer, because of its parameters."""
