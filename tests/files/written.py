"""Files of tables, and what is read from them."""

import pytest

from bochner.files.errors import InputError
from bochner.files.read_options import ReadOptions
from bochner.files.table_reading import read


def write(folder, name, content, encoding="utf-8"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def column(*entries, name="a", other="b", delimiter=";"):
    """A file of a column with these entries, and another one of text."""
    rows = [(name, other), *((entry, f"t{i % 2}") for i, entry in enumerate(entries))]
    return "\n".join(delimiter.join(row) for row in rows) + "\n"


def read_text(
    folder, text, *, keep=(), text_columns=(), levels=(), layout=None, name="t.csv", **options
):
    """What is read from a file with this text."""
    path = write(folder, name, text)
    return read(path, layout or ReadOptions(**options), text=text_columns, keep=keep, levels=levels)


def refusal(folder, text, error=InputError, **options):
    """The message with which a text is refused."""
    with pytest.raises(error) as caught:
        read_text(folder, text, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def kinds(found):
    """The rules by which the columns of a file were read."""
    return {name: record["rule"] for name, record in found.layout.decisions.items()}
