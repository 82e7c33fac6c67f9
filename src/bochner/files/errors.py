"""The error of input that cannot be used."""


class InputError(ValueError):
    """A file or a table that cannot be used; the message says what to do."""
