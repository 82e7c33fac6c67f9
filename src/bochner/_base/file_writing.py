"""Paths of files, and atomic writing."""

import errno
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bochner._base.names import nearest, shown

_TOKEN_BYTES = 8  # Random bytes in the name of an unfinished file: two files coincide once in 2^64
_ABANDONED = 3600.0
"""Seconds without a change after which an unfinished file has no writer: none pauses so long."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk, quota or file; these errors name no file."""


def as_path(path: object, name: str = "path") -> Path:
    """Convert an argument to a path; raise an error for anything else, or an impossible name."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be a str or path-like, got {shown(path)}.")
    converted = Path(path)
    try:
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            os.lstat(converted)
    except (ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(
            f"{name} must be the name of a file, got {shown(path)} ({reason}): choose another."
        ) from None
    return converted


def check_model_file(path: Path) -> None:
    """Raise ``ValueError`` unless ``path`` is an existing, nonempty regular file."""
    if path.is_dir():
        raise ValueError(f"{path} is a directory; give a model file in it.")
    if not path.exists():
        raise ValueError(absence(path))
    if not path.is_file():
        raise ValueError(f"{path} is not an ordinary file.")
    if not path.stat().st_size:
        raise ValueError(f"{path} is empty.")


def absence(path: Path) -> str:
    """Return the message that a file does not exist, with the most similar name in its folder."""
    if not path.parent.is_dir():
        return f"There is no file {path}. There is no folder {path.parent} either."
    if path.is_symlink():
        return f"{path} is a link to no file: name the file that you mean."
    near = nearest(path.name, (other.name for other in path.parent.iterdir()))
    hint = f"Did you mean {shown(near)}?" if near else "Check the name and the folder."
    return f"There is no file {path}. {hint}"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write, which replaces ``path`` only if the block succeeds.

    Raises ``OSError`` with the name of a file that may not be written.
    """
    try:
        path = path.resolve()
    except RuntimeError as error:
        raise OSError(f"{path} is a link that leads to itself: name another file.") from error
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not an ordinary file, and would be replaced: name another.")
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(f"{path} may not be written: change its permissions, or the name.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is no folder: create it, or name another file.")
    _remove_abandoned(path)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(_TOKEN_BYTES)}.partial")
    try:
        yield fresh
        _flush(fresh, os.O_RDWR)
        os.replace(fresh, path)
    except OSError as error:
        number = error.errno
        is_ours = str(error.filename) == str(fresh) or (number in _FULL and not error.filename)
        if number is not None and is_ours:
            raise OSError(number, os.strerror(number), str(path)) from error
        raise
    finally:
        fresh.unlink(missing_ok=True)
    with suppress(OSError):  # some systems cannot flush a folder; the file is complete
        _flush(path.parent, os.O_RDONLY)


def _flush(path: Path, flags: int) -> None:
    """Wait until the written data of a file or folder are on the disk."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_abandoned(path: Path) -> None:
    form = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{{2 * _TOKEN_BYTES}}}\.partial")
    with suppress(OSError):
        for other in path.parent.iterdir():
            if form.fullmatch(other.name) and time.time() - other.stat().st_mtime > _ABANDONED:
                other.unlink(missing_ok=True)
