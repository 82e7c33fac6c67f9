"""Content of a file or of standard input, decompressed if necessary."""

from __future__ import annotations

import gzip
import os
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from bochner._base.file_writing import absence, as_path
from bochner.files.errors import InputError

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
BINARY_ENDINGS = (
    ".parquet", ".feather", ".xlsx", ".xls", ".ods", ".sqlite", ".sqlite3", ".db",
)  # fmt: skip
STANDARD_INPUT = "-"

_MOST_LISTED = 5
"""Files of a directory or of an archive that an error message lists."""


def find(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return a path and the ending of its format, which is ".csv" for standard input.

    Raises FileNotFoundError, IsADirectoryError, and InputError for an unknown ending.
    """
    path = as_path(path)
    if is_standard_input(path):
        return path, ".csv"
    if path.is_dir():
        files = sorted(child.name for child in path.iterdir() if _is_known(child))
        listed = f"; it holds {', '.join(files[:_MOST_LISTED])}" if files else ""
        raise IsADirectoryError(f"{path} is a directory: expected a file of a table{listed}.")
    if not path.exists():
        raise FileNotFoundError(absence(path))
    if not path.is_file():
        raise InputError(
            f"{path} is not an ordinary file: pass - in its place, and pipe the table as CSV into "
            f"the command."
        )
    if not _is_known(path):
        endings = ", ".join((*TEXT_ENDINGS, *BINARY_ENDINGS))
        packed = ", ".join(_OPENERS)
        raise InputError(
            f"{path} has the ending {''.join(path.suffixes[-2:])!r}: expected one of {endings}, or "
            f"text compressed as {packed}. Convert the file, or rename it if it is one of these."
        )
    return path, _ending(path)


def is_standard_input(path: Path) -> bool:
    """Return whether a path means standard input."""
    return str(path) == STANDARD_INPUT


def place(path: Path) -> Path:
    """Return the path for a message."""
    return Path("standard input") if is_standard_input(path) else path


def content_of(path: Path) -> bytes:
    """Return the decompressed content of a text file, or of standard input.

    Raises InputError if an archive is damaged, encrypted, or has several files.
    """
    if is_standard_input(path):
        if sys.stdin is None:
            raise InputError(
                "Standard input is closed: give a file, or pipe rows into the command."
            )
        return sys.stdin.buffer.read()
    compression = path.suffix.lower()
    if compression not in _OPENERS:
        return path.read_bytes()
    try:
        return _OPENERS[compression](path)
    except PermissionError:
        raise
    except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
        name = _NAMES[compression]
        raise InputError(
            f"{path} is not a whole {name} file ({error}): copy it again, or decompress it first."
        ) from error
    except (RuntimeError, NotImplementedError) as error:  # a password, or a rare compression
        raise InputError(
            f"{path} cannot be decompressed ({error}): decompress it first."
        ) from error


def _is_known(path: Path) -> bool:
    return _ending(path) in (TEXT_ENDINGS if path.suffix.lower() in _OPENERS else _ALL)


def _ending(path: Path) -> str:
    """Return the ending below that of a compression; "data.gz" has that of text."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() or ".csv" if suffix in _OPENERS else suffix


def _open_zip(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        # macOS adds a folder of its own to archives.
        names = [name for name in archive.namelist()
                 if not (name.endswith("/") or name.startswith("__MACOSX/"))]  # fmt: skip
        if len(names) != 1:
            listed = ", ".join(names[:_MOST_LISTED]) + ", ..." * (len(names) > _MOST_LISTED)
            raise InputError(
                f"{path} holds {len(names)} files{f' ({listed})' if names else ''}: expected one "
                "table. Unpack it, and give the file of the table."
            )
        return archive.read(names[0])


def _open_zstandard(path: Path) -> bytes:
    import pyarrow as pa

    with pa.input_stream(str(path), compression="zstd") as file:
        return cast(bytes, file.read())


def _open_gzip(path: Path) -> bytes:
    with gzip.open(path) as file:
        return file.read()


def _open_bz2(path: Path) -> bytes:
    import bz2  # which some builds of Python lack, as lzma

    with bz2.open(path) as file:
        return file.read()


def _open_xz(path: Path) -> bytes:
    import lzma

    try:
        with lzma.open(path) as file:
            return file.read()
    except lzma.LZMAError as error:
        raise OSError(str(error)) from error


_OPENERS: Mapping[str, Callable[[Path], bytes]] = {
    ".gz": _open_gzip,
    ".bz2": _open_bz2,
    ".xz": _open_xz,
    ".zst": _open_zstandard,
    ".zip": _open_zip,
}
COMPRESSIONS = tuple(_OPENERS)
_NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "Zstandard", ".zip": "zip"}
_ALL = (*TEXT_ENDINGS, *BINARY_ENDINGS)
