"""Files of tables: their endings, and the decompressed content of text files."""

from __future__ import annotations

import os
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import cast

from bochner._base.file_writing import absence
from bochner.files.errors import InputError

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
BINARY_ENDINGS = (
    ".parquet", ".feather", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".sqlite", ".sqlite3", ".db",
)  # fmt: skip
_ALL = (*TEXT_ENDINGS, *BINARY_ENDINGS)
_STANDARD_INPUT = "-"

_MOST_LISTED = 5
"""Files of a directory or of an archive that an error message lists."""

_PACKED = {
    ".gz": (b"\x1f\x8b", "gzip", "gzip"),
    ".bz2": (b"BZh", "bzip2", "bz2"),
    ".xz": (b"\xfd7zXZ", "xz", "lzma"),
    ".zst": (b"\x28\xb5\x2f\xfd", "Zstandard", ""),
    ".zip": (b"PK\x03\x04", "zip", ""),
}
"""First bytes, name and Python's module of each compression."""

COMPRESSIONS = tuple(_PACKED)

_STORED = {
    b"PAR1": "a Parquet file: rename it to .parquet",
    b"ARROW1": "a Feather file: rename it to .feather",
    b"SQLite format 3\0": "an SQLite file: rename it to .sqlite",
    b"PK\x03\x04": "a zip archive or a spreadsheet: rename it, or save it as CSV",
    **{mark: f"{name}-compressed: decompress it, or rename it to .csv{suffix}"
       for suffix, (mark, name, _) in _PACKED.items() if suffix != ".zip"},
}  # fmt: skip
"""First bytes of binary formats, their names, and the advice for such a file."""


def find(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the path of a file and the ending of its format, ".csv" for standard input."""
    path = Path(path)
    if str(path) == _STANDARD_INPUT:
        return path, ".csv"
    if path.is_dir():
        files = sorted(child.name for child in path.iterdir() if _ending(child))
        listed = f"; it holds {', '.join(files[:_MOST_LISTED])}" if files else ""
        raise IsADirectoryError(f"{path} is a directory: expected a file of a table{listed}.")
    if not path.exists():
        raise FileNotFoundError(absence(path))
    if not path.is_file():
        raise InputError(f"{path} is not an ordinary file: pass - and pipe the table as CSV.")
    if not (ending := _ending(path)):
        raise InputError(
            f"{path} has the ending {''.join(path.suffixes[-2:])!r}: expected one of "
            f"{', '.join(_ALL)}, or text compressed as {', '.join(_PACKED)}. Convert the file, or "
            "rename it if it is one of these."
        )
    return path, ending


def _ending(path: Path) -> str:
    """Return the file ending before that of a compression, empty if it is unknown."""
    suffix = path.suffix.lower()
    if suffix not in _PACKED:
        return suffix if suffix in _ALL else ""
    inner = Path(path.stem).suffix.lower() or ".csv"
    return inner if inner in TEXT_ENDINGS else ""


def place(path: Path) -> Path:
    """Return the path as shown in messages."""
    return Path("standard input") if str(path) == _STANDARD_INPUT else path


def content_of(path: Path) -> bytes:
    """Return the decompressed content of a text file, or of standard input."""
    suffix = path.suffix.lower()
    try:
        if str(path) != _STANDARD_INPUT:
            content = _unpacked(path, suffix) if suffix in _PACKED else path.read_bytes()
        elif sys.stdin is None:
            raise OSError("Standard input is closed: pipe a table into the command.")
        else:
            content = sys.stdin.buffer.read()
    except Exception as error:  # The exception type depends on the format and the damage
        if suffix not in _PACKED or isinstance(error, InputError | MemoryError | PermissionError):
            raise
        raise InputError(
            f"{path} is not a whole {_PACKED[suffix][1]} file ({error}): copy it again, or "
            "decompress it first."
        ) from error
    for mark, words in _STORED.items():
        if content.startswith(mark):
            raise InputError(f"{place(path)} is {words}.")
    return content


def _unpacked(path: Path, suffix: str) -> bytes:
    """Return the content of a compressed file."""
    if suffix == ".zst":
        import pyarrow as pa

        with pa.input_stream(str(path), compression="zstd") as stream:
            return cast(bytes, stream.read())
    if suffix != ".zip":  # Some builds of Python lack a module
        with import_module(_PACKED[suffix][2]).open(path) as file:
            return cast(bytes, file.read())
    with zipfile.ZipFile(path) as archive:
        # macOS adds an extra folder to archives.
        names = [name for name in archive.namelist()
                 if not (name.endswith("/") or name.startswith("__MACOSX/"))]  # fmt: skip
        if len(names) == 1:
            return archive.read(names[0])
    listed = ", ".join(names[:_MOST_LISTED]) + ", ..." * (len(names) > _MOST_LISTED)
    raise InputError(
        f"{path} holds {len(names)} files{f' ({listed})' if names else ''}: expected one table. "
        "Unpack it, and give the file of the table."
    )
