"""Error of a fitted model that does not support a kind of prediction for any rows."""


class NotPromisedError(ValueError):
    """A sound model has no such answer, because of its parameters."""
