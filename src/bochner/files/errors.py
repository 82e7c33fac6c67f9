"""InputError, raised for files and tables that cannot be used."""


class InputError(ValueError):
    """Error for a file or a table that cannot be used; the message says what to do."""
