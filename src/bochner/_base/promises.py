"""Error of a fitted model that does not support a kind of prediction for any rows."""


class NotPromisedError(ValueError):
    """A fitted model does not support a kind of prediction, because of its parameters."""
